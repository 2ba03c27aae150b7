"""The commands of learners without what only POSIX has, in other encodings, and in folders with unusual names.

`tests/support/as_windows.py` takes away what Windows lacks. Windows itself is not imitated further.
"""

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.cli.program import PACKAGES, _sentence_of
from autograder.learner import command_doctor
from tests.support import tiny

pytestmark = [pytest.mark.worker, pytest.mark.usefixtures("spawned")]

AS_WINDOWS = tiny.REPOSITORY / "tests" / "support" / "as_windows.py"
ENGINE = tiny.REPOSITORY / "autograder"
STRICT = ("-X", "warn_default_encoding", "-W", "error::EncodingWarning")
"""Every file and pipe names its encoding: that of Windows is another one."""

FILE = tiny.FILES[0]
WRONG = tiny.mean_with("return x.cumsum(dim=-1)")
HANGING = "def running_mean(x):\n    while True:\n        pass\n"
OLD_WINDOWS = {"PYTHONIOENCODING": "cp1252"}
C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.fixture
def root(tmp_path: Path, key_cache: Path) -> Path:
    """A course in a folder with a space and a letter beyond ASCII; its files end their lines as Windows does."""
    root = tiny.copied(tmp_path / "Kurs ü 1", key_cache)
    for file in (root / "exercises").glob("*.py"):
        write(root, file.read_text("utf-8"), file.name)
    return root


def write(root: Path, text: str, name: str = FILE) -> None:
    (root / "exercises" / name).write_bytes(text.replace("\n", "\r\n").encode())


def command(*arguments: str) -> list[str]:
    return [sys.executable, *STRICT, str(AS_WINDOWS), *arguments]


def run(root: Path, line: str, typed: str = "", **env: str) -> tuple[int, str]:
    """Run `course` as on Windows, and return its exit status and output."""
    done = subprocess.run(
        command(str(ENGINE / "__main__.py"), *line.split()),
        cwd=root,
        env=tiny.environment(env),
        input=typed.encode(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    output = (done.stdout + done.stderr).decode(env.get("PYTHONIOENCODING", "utf-8"))
    assert not re.search("Traceback|Warning|the grader itself", output), output
    return done.returncode, output


def test_a_learner_gets_both_verdicts_and_a_hint(root: Path) -> None:
    write(root, WRONG)
    status, output = run(root, "check 01", **OLD_WINDOWS)
    assert (status, "The running sum is not divided" in output) == (1, True), output
    assert run(root, "hint", **OLD_WINDOWS)[0] == 0
    write(root, tiny.MEAN)
    assert run(root, "check 01", **OLD_WINDOWS)[0] == 0


@pytest.mark.slow
def test_every_other_command_of_a_learner_works(root: Path) -> None:
    write(root, WRONG)
    assert run(root, "check 01", **OLD_WINDOWS)[0] == 1
    for line in ("", "why", "diff", "list", "status"):
        assert run(root, line, **OLD_WINDOWS)[0] == 0, line
    write(root, tiny.MEAN)
    assert run(root, "check 01", **OLD_WINDOWS)[0] == 0
    for line in ("next", "hint 02", "solution 01", "submit", "report --html report.html", "review", "arrange 01"):
        assert run(root, line, **OLD_WINDOWS)[0] == 0, line
    assert run(root, "hunt 01", **OLD_WINDOWS)[0] == 0
    assert run(root, "hunt --check", **OLD_WINDOWS)[0] == 1
    assert run(root, "reset 01", "yes\n", **OLD_WINDOWS)[0] == 0
    assert next((root / ".course" / "backups").iterdir()).read_bytes().count(b"\r\n") > 9
    assert run(root, "try 01", **OLD_WINDOWS)[0] == 2, "this course has no examples"
    assert run(root, "play", **OLD_WINDOWS)[0] == 2, "nor anything to play with"


def test_a_locale_without_an_encoding_prints_in_ascii(root: Path) -> None:
    write(root, tiny.MEAN)
    status, output = run(root, "check 01", **C_LOCALE)
    assert (status, output.isascii()) == (0, True), output


def test_a_hanging_program_ends_by_the_clock_alone(root: Path) -> None:
    write(root, HANGING)
    status, output = run(root, "check 01", **OLD_WINDOWS)
    assert (status, "Timed out after" in output) == (1, True), output


@pytest.mark.slow
def test_the_doctor_says_that_only_linux_confines_submissions(root: Path) -> None:
    status, output = run(root, "doctor")
    assert (status, "only Linux confines submissions: on Windows grade in WSL" in output) == (0, True), output


def test_watch_checks_a_save(root: Path) -> None:
    write(root, WRONG)
    process = subprocess.Popen(
        command(str(ENGINE / "__main__.py"), "watch", "--plain"),
        cwd=root,
        env=tiny.environment({}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        assert process.stdout is not None
        for expected, text in (("The running sum is not divided", tiny.MEAN), ("PASS", "")):
            assert any(expected in line for line in process.stdout)
            if text:
                write(root, text)
    finally:
        process.kill()
        process.communicate()


def test_a_cell_of_a_notebook_checks(root: Path) -> None:
    write(root, WRONG)
    script = root / "cell.py"
    script.write_text('from autograder.notebook import check, hint\ncheck("ex01")\nhint("ex01")\n', "utf-8")
    done = subprocess.run(
        command(str(script)), cwd=root, env=tiny.environment({}), capture_output=True, encoding="utf-8", check=False
    )
    assert "The running sum is not divided" in done.stdout, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_every_module_but_the_sandbox_of_linux_loads(tmp_path: Path) -> None:
    files = [file for file in sorted(ENGINE.glob("**/*.py")) if "confined" not in file.parts]
    names = [".".join(file.relative_to(ENGINE.parent).with_suffix("").parts) for file in files]
    script = tmp_path / "load.py"
    loaded = [name for name in names if not name.endswith(("__main__", "__init__"))]
    script.write_text(f"import importlib\nfor name in {loaded}:\n    importlib.import_module(name)\n", "utf-8")
    done = subprocess.run(
        [sys.executable, str(AS_WINDOWS), str(script)], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(loaded) > 150


# Faults of a machine, each as a sentence with what to do.


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (errno.ENOSPC, "No space left on device (notes); free some space, then run the same command again"),
        (errno.EDQUOT, "Disk quota exceeded (notes); free some space, then run the same command again"),
        (errno.EROFS, "Read-only file system (notes); copy the course into a folder that you may write to"),
        (errno.ENOENT, "No such file or directory (notes)"),
    ],
)
def test_what_the_system_refuses_comes_with_a_remedy(number: int, expected: str) -> None:
    assert _sentence_of(OSError(number, os.strerror(number), "notes")) == expected


def test_without_a_temporary_folder_the_sentence_says_which_variable_to_set() -> None:
    error = FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")
    assert _sentence_of(error).endswith("['/tmp']; set TMPDIR to a folder that you may write to")


@pytest.mark.parametrize("name", sorted(PACKAGES.keys() - {"pytest", "jinja2"}))
def test_a_missing_package_is_named_with_the_next_command(course: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.py").write_text(f"raise ModuleNotFoundError('No module', name={name!r})\n", "utf-8")
    (course / "exercises" / FILE).write_text(WRONG, "utf-8")
    done = tiny.run_course(course, "check", "01", PYTHONPATH=str(tmp_path))
    said = done.stdout + done.stderr
    assert "course doctor" in said or "The running sum is not divided" in said, said


@pytest.mark.parametrize(
    ("stderr", "expected"),
    [
        ("OSError: [WinError 126] ... Error loading c10.dll or one of its DLL dependencies", "vc_redist.x64.exe"),
        ("ImportError: libc10.so: undefined symbol", "pip install --force-reinstall --no-deps torch"),
        ("ModuleNotFoundError: No module named 'torch'", "No module named 'torch'"),
    ],
)
def test_the_doctor_says_how_to_mend_torch(monkeypatch: pytest.MonkeyPatch, stderr: str, expected: str) -> None:
    broken = subprocess.CompletedProcess[str]([], 1, "", stderr)
    monkeypatch.setattr(command_doctor.ending, "run", lambda *_: broken)
    assert command_doctor._torch().wrong.endswith(expected)
