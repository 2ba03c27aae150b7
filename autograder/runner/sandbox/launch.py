"""How a zygote is started: in bubblewrap, as nobody's user and with nothing of this machine but what it needs."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder import ending
from autograder.runner.child import environment, package_folders

KIT = Path(__file__).parents[2]
ZYGOTE = KIT / "worker" / "sandbox" / "zygote.py"
STAGING = KIT / "worker" / "sandbox" / "staging.py"
SHIPPED = ("__init__.py", "checks", "protocol", "worker")
"""All of the kit that a worker sees: neither the judge nor the course."""

HIDDEN = "/canary"
"""A file in the view of the sandbox that Landlock hides: a canary looks for it."""

SCRATCH = "/scratch"
SCRATCH_MIB = 16
NOBODY = 65534

_STARTER = ThreadPoolExecutor(1, "starter")


def start_lasting(command: Sequence[str], **options: Any) -> "subprocess.Popen[bytes]":
    """Start a program from a thread that lives as long as this one: bubblewrap dies with the thread that started it."""
    return _STARTER.submit(ending.started, lambda: subprocess.Popen(command, **options)).result()


@dataclass(frozen=True)
class Launch:
    """A way to start a zygote. `outer` says whether it is in bubblewrap; `command` lacks only the channel."""

    outer: bool

    @property
    def scratch(self) -> str:
        """Where a zygote may write."""
        return SCRATCH if self.outer else "/tmp"

    def command(self, channel: int) -> list[str]:
        """Return the command that starts the zygote on a channel, a descriptor it inherits."""
        python = [os.path.realpath(sys.executable), "-I", "-S", "-X", "utf8"]
        zygote = [*python, str(ZYGOTE), str(channel), *package_folders()]
        if not self.outer:
            return zygote
        if os.geteuid() != 0:
            return [*_bubblewrap(_paths()), *zygote]
        staged = [[path, f"{_STAGE}/{number}"] for number, path in enumerate(_paths())]
        wrapped = [*_bubblewrap(dict(staged)), *zygote]
        return [*python, "-B", str(STAGING), json.dumps({"stage": _STAGE, "binds": staged, "user": NOBODY}), *wrapped]

    def start(self, channel: int) -> subprocess.Popen[bytes]:
        """Start the zygote, with no environment and as an ordinary user; its log is a pipe. Raises OSError."""
        return start_lasting(
            self.command(channel),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=[channel],
            cwd="/",
            env=environment(self.scratch),
            start_new_session=True,
            **self.user(),
        )

    def user(self) -> dict[str, Any]:
        """Return the user to start as: nobody in place of root, whom bubblewrap takes away by itself."""
        root = os.geteuid() == 0 and not self.outer
        return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if root else {}


_STAGE = "/mnt"


def bubblewrap_problem() -> str:
    """Return why bubblewrap cannot be used on this machine, or an empty text."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (Debian and Ubuntu: apt install bubblewrap)"
    command = ["bwrap", "--unshare-all", "--unshare-user", "--ro-bind", "/", "/", "true"]
    done = ending.run(command, 60)
    return "" if done.returncode == 0 else f"bubblewrap does not work here ({done.stderr.strip()[:200]})"


def _paths() -> dict[str, str]:
    """Return the folders and files the zygote needs that are not the system's own, each as its own source."""
    needed = [sys.base_prefix, *package_folders(), *(str(KIT / each) for each in SHIPPED)]
    needed += [sysconfig.get_path(each) for each in ("stdlib", "platstdlib")]
    outside = [each for each in dict.fromkeys(map(os.path.realpath, needed)) if not _below(each, ["/usr"])]
    return {each: each for each in outside if not _below(each, [other for other in outside if other != each])}


def _below(path: str, folders: Sequence[str]) -> bool:
    return any(path == each or path.startswith(f"{each}/") for each in folders)


def _bubblewrap(sources: dict[str, str]) -> list[str]:
    """Return bubblewrap with its options. `sources` says where on this machine each path of the sandbox comes from."""
    system: list[str] = ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "lib", "lib32", "lib64", "libx32", "sbin"):
        path = Path("/", name)
        if path.is_symlink():
            system += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            system += ["--ro-bind", str(path), str(path)]
    for name in ("/etc/ld.so.cache", "/etc/localtime"):
        system += ["--ro-bind-try", name, name]
    binds = [part for path, source in sources.items() for part in ("--ro-bind", source, path)]
    return [
        "bwrap",
        *("--unshare-all", "--unshare-user", "--uid", "0", "--gid", "0"),
        *("--die-with-parent", "--new-session"),
        *("--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETFCAP"),
        *system,
        *binds,
        *("--dir", HIDDEN, "--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"),
        *("--size", str(SCRATCH_MIB << 20), "--tmpfs", SCRATCH),
        *("--remount-ro", "/", "--chdir", SCRATCH, "--"),
    ]
