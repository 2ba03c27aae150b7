"""Install the kit in the folder .venv, on any system: `python3 install.py`, on Windows `py install.py`.

`python3 install.py dev` installs what instructors and authors need too. It says first what comes, checks what would
stop it half way, and prints a line per package. Run it again at any time: it goes on where it stopped.
"""

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 - old ones read this file too: nothing above needs a newer one
    sys.exit(
        f"install: Python 3.11 or later is needed, and this one is {platform.python_version()}. Name another: "
        "`make learn PYTHON=python3.12`, or `python3.12 install.py`. https://www.python.org/downloads has it."
    )

VENV = Path(".venv")
WINDOWS = sys.platform == "win32"
PYTHON = str(VENV / ("Scripts" if WINDOWS else "bin") / ("python.exe" if WINDOWS else "python"))
ACTIVATE = r".venv\Scripts\Activate.ps1; course" if WINDOWS else "source .venv/bin/activate && course"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
GIGABYTE = 1 << 30

EXTRAS = {"learn": ".[torch,review]", "dev": ".[dev]", "field": ".[field]"}
PARTS = {
    "learn": (
        ("torch", "190 MB", "your programs are made of its tensors and gradients"),
        ("NumPy", "17 MB", "compares your numbers with the solution's"),
        ("sympy, networkx", "8 MB", "torch needs them"),
        ("and small ones", "5 MB", "rich draws in the terminal; pytest, Jinja2 and fsrs"),
    ),
    "dev": (("and tools", "", "for authors: Jupyter, nbgrader, Dask, mypy, ruff"),),
    "field": (("transformers", "", "and peft, which the exercises are compared with"),),
}
"""What is downloaded, how much (on Linux, with the CPU build of torch), and why."""

OFFLINE = "no package index answers. Connect to the network, or {address}"
CAUSES = (
    (r"No space left|not enough space|Errno 28", "the disk is full: torch takes 1 GB. Free some space"),
    (r"(?i)proxy|tunnel", "the proxy refuses pip. Ask for its address, and set HTTPS_PROXY=http://HOST:PORT"),
    (r"(?i)certificate", "a proxy replaces certificates. Set PIP_CERT to the file with those of your network"),
    (r"Permission denied|Errno 13", "this folder cannot be written to. Copy the kit into a folder of your own"),
    (r"No matching distribution found for torch", "torch has no build for this Python and machine. {other}"),
    (r"(?i)from versions: none|connection|resolution|timed out", OFFLINE),
)
"""How the output of pip shows what stopped it, and what to do then."""

_WHEEL = re.compile(
    r"\s*(?:Downloading|Using cached|Processing) (?:\S*/)?([^\s/-]+)-([^\s/-]+)-\S+\.whl(?: \((\d.*)\)|$| )"
)


def main(command: str, what: str = "learn") -> int:
    """Install, and return the exit status: 0, or 1 after a sentence with the next command."""
    again = f"{command} install.py {what}".replace(" learn", "")
    if what not in EXTRAS:
        return fail(f"{what} is none of {', '.join(EXTRAS)}. Run: {command} install.py")
    problem = obstacle()
    if not problem:
        announce(what)
        problem = make_environment() or install("--constraint", "constraints.txt", "--editable", EXTRAS[what])
    if problem:
        return fail(f"{problem}. Then run `{again}` again: it goes on where it stopped.")
    checked = subprocess.run([PYTHON, "-m", "autograder", "doctor", "--plain"], stdout=subprocess.PIPE, check=False)
    if checked.returncode:
        print(checked.stdout.decode("utf-8", "replace"))
        return fail("everything is installed, and something does not work: the last lines above say what to do.")
    if "MAKELEVEL" not in os.environ:  # make has a last line of its own
        print(f"\nReady. Next: {ACTIVATE}")
    return 0


def fail(sentence: str) -> int:
    """Print why it ends."""
    print(f"install: {sentence}", file=sys.stderr)
    return 1


def obstacle() -> str:
    """Return what would stop the installation half way, and what to do; "" if nothing does."""
    if importlib.util.find_spec("ensurepip") is None:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        return f"this Python cannot make environments. On Debian and Ubuntu: sudo apt install python{version}-venv"
    if not os.access(".", os.W_OK):
        return f"{Path.cwd()} cannot be written to. Copy the kit into a folder of your own, and go there"
    free = shutil.disk_usage(".").free / GIGABYTE
    if free < 2 and not has_pip():
        return f"the disk has {free:.1f} GB left, and 2 GB are needed. Free some space"
    return ""


def has_pip() -> bool:
    """Say whether there is an environment with pip: a try that was stopped may leave one without it."""
    if not Path(PYTHON).exists():
        return False
    return subprocess.run([PYTHON, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0


def announce(what: str) -> None:
    """Print what comes, how much, and why."""
    print("Installing in .venv, once: about 220 MB to download, 1 GB on the disk, minutes.")
    for name, size, reason in [*PARTS["learn"], *(PARTS[what] if what != "learn" else ())]:
        print(f"  {name.ljust(15)} {size.rjust(6)}  {reason}")
    index = os.environ.get("PIP_EXTRA_INDEX_URL", "") + os.environ.get("PIP_INDEX_URL", "")
    if sys.platform == "linux" and "cpu" not in index and shutil.which("nvidia-smi") is None:
        print("pip may take torch with CUDA, several GB; this machine shows no NVIDIA GPU.")
        print(f"For the small build, stop this and run first:\n  export PIP_EXTRA_INDEX_URL={CPU_INDEX}")
    print(flush=True)


def make_environment() -> str:
    """Make the environment if there is none that works. Return what stopped it, "" if nothing did."""
    if has_pip():
        return ""
    command = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    print("$", *command, flush=True)
    if subprocess.run(command, check=False).returncode:
        return "no environment was made, as it says above. Install Python from https://www.python.org/downloads"
    return install("--quiet", "--upgrade", "pip")  # older ones report no progress


def install(*options: str) -> str:
    """Run pip, with a line for each package. Return what stopped it and what to do, "" if nothing did."""
    command = [PYTHON, "-m", "pip", "install", *options]
    print("$", *command, flush=True)
    progress = sys.stdout.isatty() and "--quiet" not in options
    environment = {**os.environ, "PIP_PROGRESS_BAR": "raw"} if progress else os.environ
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8", "errors": "replace"}
    pip = subprocess.Popen(command, env=environment, **pipe)  # type: ignore[call-overload]
    seen = []
    for line in pip.stdout:
        done = re.match(r"Progress (\d+) of (\d+)", line)
        if done:
            percent = 100 * int(done[1]) // max(1, int(done[2]))
            print(f"\r{percent:4} %", end="\r" if percent == 100 else "", flush=True)
            continue
        seen.append(line)
        wheel = _WHEEL.match(line)
        if wheel:
            print(f"       {wheel[1]} {wheel[2]}  {wheel[3] or ''}".rstrip(), flush=True)
        elif line.startswith("Installing collected packages"):
            print(f"       unpacking {line.count(',') + 1} packages: a minute or two", flush=True)
    if pip.wait() == 0:
        return ""
    text = "".join(seen)
    print(text[-1000:], file=sys.stderr)
    cause = next((cause for pattern, cause in CAUSES if re.search(pattern, text)), "pip failed, as it says above")
    return cause.format(other=_other_machine(), address=_address())


def _address() -> str:
    """Return what to do about the address that pip asks: the variables that set one may be wrong."""
    names = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "PIP_PROXY", "PIP_INDEX_URL")
    given = [name for name in names if os.environ.get(name)]
    return f"correct {' and '.join(given)}" if given else "set HTTPS_PROXY"


def _other_machine() -> str:
    """Return what to do where torch has no build."""
    if sys.platform == "darwin" and platform.machine() == "x86_64":
        return "On Macs with Intel processors it ended with 2.2.2: docs/install.md says what to use"
    return "Use Python 3.11 to 3.14, 64 bit"


if __name__ == "__main__":
    NAME = "py" if WINDOWS else Path(sys.executable).name
    try:
        sys.exit(main(NAME, *sys.argv[1:2]))
    except KeyboardInterrupt:
        print(f"\ninstall: stopped. `{NAME} install.py` goes on.", file=sys.stderr)
        sys.exit(130)
