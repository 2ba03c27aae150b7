"""Start a zygote: in bubblewrap, as an unprivileged user, with only those files of this machine that it needs."""

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
from autograder.protocol.sandbox import SCRATCH, SCRATCH_MIB, SHIPPED, arguments_of
from autograder.runner.worker_handle import environment, package_folders

KIT = Path(__file__).parents[2]
ZYGOTE = KIT / "worker" / "sandbox" / "zygote.py"
STAGING = KIT / "worker" / "sandbox" / "staging.py"
HIDDEN = "/canary"
"""A folder that is visible in bubblewrap and that Landlock has to hide: a canary tries to list it."""

NOBODY = 65534
"""The user and group `nobody`."""

_STAGE = "/mnt"
"""Where the files that the sandbox needs are mounted, for a judge that is root (see worker/sandbox/staging.py)."""

_STARTER = ThreadPoolExecutor(1, "starter")


def start_lasting(command: Sequence[str], **options: Any) -> "subprocess.Popen[bytes]":
    """Start a program from a thread that never ends: bubblewrap dies with the thread that started it."""
    return _STARTER.submit(ending.started, lambda: subprocess.Popen(command, **options)).result()


@dataclass(frozen=True)
class Launch:
    """A way to start a zygote: inside bubblewrap (`outer`), or as a plain process that confines only its children.

    It loads the `libraries` at once, and those of its first job that it has not loaded yet.
    """

    outer: bool
    libraries: tuple[str, ...] = ()

    @property
    def scratch(self) -> str:
        """The folder in which a zygote may write."""
        return SCRATCH if self.outer else "/tmp"

    def command(self, channel: int) -> list[str]:
        """Return the command that starts the zygote on a channel, a descriptor that it inherits."""
        python = [os.path.realpath(sys.executable), "-I", "-S", "-X", "utf8"]
        zygote = [*python, str(ZYGOTE), str(channel), *arguments_of(self.libraries, package_folders())]
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
        """Return the user to start as: nobody instead of root. Bubblewrap drops root by itself."""
        root = os.geteuid() == 0 and not self.outer
        return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if root else {}


def bubblewrap_problem() -> str:
    """Return why bubblewrap cannot be used on this machine, or an empty text."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (Debian and Ubuntu: apt install bubblewrap)"
    command = ["bwrap", "--unshare-all", "--unshare-user", "--ro-bind", "/", "/", "true"]
    done = ending.run(command, 60)
    return "" if done.returncode == 0 else f"bubblewrap does not work here ({done.stderr.strip()[:200]})"


def _paths() -> dict[str, str]:
    """Return the folders and files the zygote needs outside of /usr, each mapped to itself."""
    needed = [sys.base_prefix, *package_folders(), *(str(KIT / name) for name in SHIPPED)]
    needed += [sysconfig.get_path(name) for name in ("stdlib", "platstdlib")]
    outside = [path for path in dict.fromkeys(map(os.path.realpath, needed)) if not _below(path, ["/usr"])]
    return {path: path for path in outside if not _below(path, [other for other in outside if other != path])}


def _below(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _bubblewrap(sources: dict[str, str]) -> list[str]:
    """Return bubblewrap with its options. `sources` maps each path in the sandbox to its source on this machine."""
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
        # The zygote needs these two to make namespaces for its children, which drop both.
        *("--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETFCAP"),
        *system,
        *binds,
        *("--dir", HIDDEN, "--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"),
        *("--size", str(SCRATCH_MIB << 20), "--tmpfs", SCRATCH),
        *("--remount-ro", "/", "--chdir", SCRATCH, "--"),
    ]
