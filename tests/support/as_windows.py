"""Run a program of the engine with what Windows lacks taken away: `python tests/support/as_windows.py PROGRAM`.

Only modules of the engine see the difference: they import `os`, `signal`, `sys` and others without what only POSIX has,
and with `os.name` and `sys.platform` of Windows. Processes that they start run in the same way. Libraries and students'
code see this machine as it is. Paths, consoles and file locks of Windows are not imitated.
"""

import builtins
import os
import runpy
import select
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

ENGINE = str(Path(__file__).parents[2] / "autograder") + os.sep

NO_MODULES = {"curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "termios", "tty"}

NO_OS = """
    EX_OK O_ASYNC O_CLOEXEC O_DIRECTORY O_DSYNC O_NDELAY O_NOATIME O_NOCTTY O_NOFOLLOW O_NONBLOCK O_PATH O_SYNC
    O_TMPFILE P_ALL P_PID P_PIDFD WEXITED WNOHANG WIFEXITED WIFSIGNALED WEXITSTATUS WTERMSIG chown chroot
    confstr copy_file_range environb eventfd fchdir fchmod fchown fdatasync fork forkpty fpathconf fstatvfs
    getegid getenvb geteuid getgid getgrouplist getgroups getloadavg getpgid getpgrp getpriority getrandom
    getresgid getresuid getsid getuid getxattr initgroups killpg lchown listxattr lockf login_tty major makedev
    memfd_create minor mkfifo mknod nice openpty pathconf pidfd_open pipe2 posix_fadvise posix_spawn
    posix_spawnp pread preadv pwrite pwritev readv register_at_fork sched_getaffinity sched_setaffinity
    sched_yield sendfile set_blocking setegid seteuid setgid setgroups setpgid setpriority setsid setuid
    setxattr splice statvfs sync sysconf tcgetpgrp tcsetpgrp ttyname uname unshare wait wait3 wait4 waitid
    writev
"""

SIGNALS = ("SIGABRT", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM")
"""The signals that Windows has."""

NO_SIGNAL = [
    *(name for name in dir(signal) if name.startswith(("SIG", "ITIMER_", "pthread_", "sig"))),
    *("alarm", "getitimer", "pause", "setitimer"),
]
KEPT_SIGNAL = {*SIGNALS, "SIG_DFL", "SIG_IGN", "signal"}


class Without(ModuleType):
    """A module without some names, and with some others. All else is that of the real one."""

    def __init__(self, real: ModuleType, missing: set[str], **other: object) -> None:
        super().__init__(real.__name__)
        self.__dict__.update(other, _real=real, _missing=missing)

    def __getattr__(self, name: str) -> Any:
        if name in self._missing:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} on Windows")
        return getattr(self._real, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._real, name, value)


class SocketSelector(selectors.SelectSelector):
    """Waits for sockets alone, as Windows can."""

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """Register a socket. Raises OSError for anything else."""
        only_sockets([fileobj], [], [])
        return super().register(fileobj, events, data)


def only_sockets(*lists: list[Any]) -> None:
    """Raise the error of Windows unless all of these are sockets."""
    if not all(isinstance(one, socket.socket) for some in lists for one in some):
        raise OSError(10038, "an operation was attempted on something that is not a socket")


def select_sockets(read: list[Any], write: list[Any], other: list[Any], seconds: float | None = None) -> Any:
    """Wait for sockets."""
    only_sockets(read, write, other)
    return select.select(read, write, other, seconds)


def substitutes() -> Mapping[str, ModuleType]:
    """Return the modules that the engine gets in place of the real ones."""
    console = ModuleType("msvcrt")
    console.__dict__.update(LK_NBLCK=2, kbhit=lambda: False, getwch=lambda: "", locking=lambda *_: None)
    return {
        "msvcrt": console,
        "os": Without(os, set(NO_OS.split()), name="nt", supports_dir_fd=set(), supports_fd=set()),
        "select": Without(select, {"poll", "epoll"}, select=select_sockets),
        "selectors": Without(selectors, {"PollSelector", "EpollSelector"}, DefaultSelector=SocketSelector),
        "signal": Without(signal, set(NO_SIGNAL) - KEPT_SIGNAL),
        "socket": Without(socket, {"AF_UNIX"}),
        "sys": Without(sys, set(), platform="win32"),
        "time": Without(time, {"tzset"}),
    }


def install() -> None:
    """Take away what Windows lacks, from the engine's modules here and in the processes that they start."""
    found, real_import, real_start = substitutes(), builtins.__import__, subprocess.Popen.__init__

    def import_(name: str, globals: Any = None, *args: Any, **options: Any) -> ModuleType:
        if str((globals or {}).get("__file__", "")).startswith(ENGINE):
            if name in NO_MODULES:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            if name in found:
                return found[name]
        return real_import(name, globals, *args, **options)

    def start(self: Any, command: Any, *args: Any, **options: Any) -> None:
        programs = [at for at, word in enumerate(command) if str(word) == "-m" or str(word).startswith(ENGINE)]
        if programs and command[0] == sys.executable:
            command = [*command[: programs[0]], __file__, *command[programs[0] :]]
        real_start(self, command, *args, **options)

    builtins.__import__ = import_
    subprocess.Popen.__init__ = start  # type: ignore[method-assign, assignment]


if __name__ == "__main__":
    install()
    sys.argv = sys.argv[1:]
    if sys.argv[0] == "-m":
        sys.argv = sys.argv[1:]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(sys.argv[0], run_name="__main__")
