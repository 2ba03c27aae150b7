"""Installing the kit: what is said first, what would stop it half way, and what pip's failures mean."""

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.autograder.project.test_docs import LEARN
from tests.support import tiny

SCRIPT = tiny.REPOSITORY / "install.py"

PIP = """
Collecting torch<2.16,>=2.4
  Downloading torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl.metadata (28 kB)
  Downloading torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl (190.3 MB)
Processing /wheels/numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.whl (from build-a-transformer==0.2.0)
Requirement already satisfied: rich>=13.7 in ./.venv/lib/python3.11/site-packages (15.0.0)
Installing collected packages: torch, numpy
Successfully installed numpy-2.4.6 torch-2.13.0+cpu
"""

FAILURES = {
    "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device": "the disk is full",
    "WARNING: Retrying ... ProxyError('Cannot connect to proxy.', OSError('403 Forbidden'))": "the proxy refuses pip",
    "SSLCertVerificationError(1, 'certificate verify failed: self-signed certificate')": "Set PIP_CERT",
    "NewConnectionError: [Errno -3] Temporary failure in name resolution": "Connect to the network, or",
    "ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied": "a folder of your own",
    "ERROR: No matching distribution found for torch<2.16,>=2.4": "Use Python 3.11 to 3.14, 64 bit",
    "ERROR: Could not find a version that satisfies hatchling>=1.25 (from versions: none)": "or set HTTPS_PROXY",
    "ERROR: something new": "pip failed, as it says above",
}


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, in an empty folder."""
    spec = importlib.util.spec_from_file_location("install", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.chdir(tmp_path)
    return module


@pytest.fixture
def pip_prints(install: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """A function that makes pip print a text and end with a status."""

    def make(text: str, status: int) -> None:
        folder = tmp_path / "fake" / "pip"
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
        (folder / "__main__.py").write_text(f"print({text!r})\nraise SystemExit({status})\n", "utf-8")
        monkeypatch.setenv("PYTHONPATH", str(folder.parent))
        monkeypatch.setattr(install, "PYTHON", sys.executable)

    return make


def test_the_script_begins_on_old_versions_of_python_and_asks_for_a_new_one() -> None:
    ast.parse(SCRIPT.read_text("utf-8"), feature_version=(3, 7))


def test_what_it_says_first_fits_in_a_terminal(install: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    for what in install.EXTRAS:
        install.announce(what)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_it_runs_what_the_readme_says_to_run_without_make(install: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[str, ...]] = []
    monkeypatch.setattr(install, "make_environment", lambda: "")
    monkeypatch.setattr(install, "install", lambda *options: ran.append(options) or "stop")
    assert install.main("python3") == 1
    [line] = LEARN
    assert " ".join(ran[0]) == line.removeprefix("python -m pip install ").replace('"', "")


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("ensurepip", "sudo apt install python3."),
        ("folder", "Copy the kit into a folder of your own"),
        ("disk", "the disk has 1.0 GB left, and 2 GB are needed"),
    ],
)
def test_what_would_stop_it_half_way_is_found_before_anything_is_made(
    install: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fault: str,
    expected: str,
) -> None:
    if fault == "ensurepip":
        monkeypatch.setattr(install.importlib.util, "find_spec", lambda name: None)
    if fault == "folder":
        monkeypatch.setattr(install.os, "access", lambda *_: False)
    if fault == "disk":
        usage = shutil.disk_usage(tmp_path)
        monkeypatch.setattr(install.shutil, "disk_usage", lambda _: usage._replace(free=1 << 30))
    assert install.main("python3", "dev") == 1
    said = capsys.readouterr()
    assert expected in said.err
    assert said.err.endswith("Then run `python3 install.py dev` again: it goes on where it stopped.\n")
    assert said.out == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.worker
def test_an_environment_without_pip_is_made_again(install: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not install.has_pip(), "there is none"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", ".venv"], check=True)
    assert not install.has_pip(), "a try that was stopped leaves one like this"
    monkeypatch.setattr(install, "install", lambda *options: "")
    (install.VENV / "rest").touch()
    assert install.make_environment() == ""
    assert install.has_pip()
    assert not (install.VENV / "rest").exists()


@pytest.mark.worker
def test_there_is_a_line_for_each_package(
    install: ModuleType, pip_prints: object, capsys: pytest.CaptureFixture[str]
) -> None:
    pip_prints(PIP, 0)  # type: ignore[operator]
    assert install.install("x") == ""
    assert [line.split() for line in capsys.readouterr().out.splitlines()[1:]] == [
        ["torch", "2.13.0+cpu", "190.3", "MB"],
        ["numpy", "2.4.6"],
        ["unpacking", "2", "packages:", "a", "minute", "or", "two"],
    ]


@pytest.mark.worker
@pytest.mark.parametrize(("text", "expected"), FAILURES.items(), ids=list(FAILURES.values()))
def test_a_failure_of_pip_is_a_sentence(
    install: ModuleType, pip_prints: object, monkeypatch: pytest.MonkeyPatch, text: str, expected: str
) -> None:
    monkeypatch.setattr(install, "_address", lambda: "set HTTPS_PROXY")
    pip_prints(text, 1)  # type: ignore[operator]
    assert expected in install.install("x")


def test_an_address_that_somebody_set_is_named(install: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "PIP_PROXY", "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    assert install.OFFLINE.format(address=install._address()).endswith("or set HTTPS_PROXY")
    for name in ("HTTPS_PROXY", "PIP_INDEX_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert install.OFFLINE.format(address=install._address()).endswith("or correct HTTPS_PROXY and PIP_INDEX_URL")


def test_the_page_has_a_row_for_each_sentence(install: ModuleType) -> None:
    page = " ".join((tiny.REPOSITORY / "docs" / "install.md").read_text("utf-8").split())
    for _, sentence in install.CAUSES:
        assert re.split(r"[:.,]", sentence)[0].replace("this folder ", "") in page, sentence


def test_on_an_intel_mac_it_names_the_last_torch(install: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install.sys, "platform", "darwin")
    monkeypatch.setattr(install.platform, "machine", lambda: "x86_64")
    assert "ended with 2.2.2" in install._other_machine()


def test_the_large_build_is_announced_where_it_may_come(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(install.sys, "platform", "linux")
    monkeypatch.setattr(install.shutil, "which", lambda _: None)
    for index, announced in (("", True), (install.CPU_INDEX, False)):
        monkeypatch.setenv("PIP_EXTRA_INDEX_URL", index)
        install.announce("learn")
        said = capsys.readouterr().out
        assert ("torch with CUDA, several GB" in said) == announced
        assert all(name in said for name in ("torch", "NumPy", "220 MB"))
