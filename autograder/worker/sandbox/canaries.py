"""What a confined child tries before anybody relies on its confinement: each attempt has to fail.

The judge plants what the canaries look for, and judges what they tell; a child that tells nothing has failed.
"""

import contextlib
import ctypes
import os
import resource
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.protocol import write_frame
from autograder.worker.sandbox import linux

HARMLESS = ("HOME", "TMPDIR", "LANG", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "LD_LIBRARY_PATH", "PWD", "LC_CTYPE")


def sing(answers: int, planted: Mapping[str, Any]) -> None:
    """Try everything, and tell what came of it: for each canary "" where it was held, else what got through."""
    told = {name: _outcome(attempt, planted) for name, attempt in CANARIES.items()}
    data = memoryview(write_frame({"event": "canaries", "told": told}))
    while data:
        data = data[os.write(answers, data) :]


def _outcome(attempt: Callable[[Mapping[str, Any]], str], planted: Mapping[str, Any]) -> str:
    try:
        return attempt(planted)
    except Exception:
        return ""


def _secret(planted: Mapping[str, Any]) -> str:
    with open(planted["secret"], "rb") as file:  # noqa: PTH123
        return f"a file of the judge's was read ({len(file.read())} bytes)"


def _folder(planted: Mapping[str, Any]) -> str:
    return f"a folder of the judge's was listed ({len(os.listdir(planted['folder']))} names)"  # noqa: PTH208


def _own_view(planted: Mapping[str, Any]) -> str:
    """What is in the view of the sandbox, but no business of a submission: only Landlock hides it."""
    folder = planted["hidden"] if planted["private"] else "/proc/self"
    os.listdir(folder)  # noqa: PTH208
    return f"{folder} was listed"


def _written(_: Mapping[str, Any]) -> str:
    return _written_to(("/", "/usr", "/dev", "/dev/shm", "/var/tmp", "/run"))


def _written_to(folders: Sequence[str]) -> str:
    for folder in folders:
        with contextlib.suppress(OSError):
            name = f"{folder}/canary-{os.getpid()}"
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
            os.unlink(name)  # noqa: PTH108
            return f"{folder} can be written to"
    return ""


def _scratch(planted: Mapping[str, Any]) -> str:
    """The scratch folder is empty, and its own; where there is none, it cannot be written to."""
    folder = planted["scratch"]
    if not planted["private"]:
        return _written_to((folder, "/tmp"))
    if os.listdir(folder):  # noqa: PTH208
        return f"{folder} has files of another"
    with contextlib.suppress(OSError), open(f"{folder}/canary", "wb") as file:  # noqa: PTH123
        for _ in range(planted["scratch_mib"] + 1):
            file.write(bytes(1 << 20))
        return f"more than {planted['scratch_mib']} MiB were written to {folder}"
    return ""


def _connected(planted: Mapping[str, Any]) -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as stream:
        stream.settimeout(1)
        stream.connect(("127.0.0.1", planted["port"]))
    return "a connection to this machine was made"


def _socket(_: Mapping[str, Any]) -> str:
    for family in (socket.AF_INET, socket.AF_UNIX, getattr(socket, "AF_VSOCK", 40), 16):
        with contextlib.suppress(OSError):
            socket.socket(family, socket.SOCK_DGRAM).close()
            return f"a socket of family {int(family)} was made"
    return ""


def _forked(_: Mapping[str, Any]) -> str:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "a second process was started"


def _program(_: Mapping[str, Any]) -> str:
    """A program that does not exist is looked for only where programs may be run."""
    try:
        os.execv("/nowhere/program", ["program"])
    except FileNotFoundError:
        return "another program can be run"


def _memory_file(_: Mapping[str, Any]) -> str:
    os.close(os.memfd_create("canary"))
    return "memory was taken that no limit counts"


def _namespace(_: Mapping[str, Any]) -> str:
    linux.unshare(linux.CLONE_NEWUSER)
    return "a namespace of its own was made"


def _traced(planted: Mapping[str, Any]) -> str:
    attach, detach = 16, 17
    linux.call("ptrace", ctypes.c_long(attach), ctypes.c_long(planted["zygote"]), None, None)
    linux.call("ptrace", ctypes.c_long(detach), ctypes.c_long(planted["zygote"]), None, None)
    return "the zygote was held"


def _zygote_memory(planted: Mapping[str, Any]) -> str:
    os.close(os.open(f"/proc/{planted['zygote']}/mem", os.O_RDONLY))
    return "the memory of the zygote was opened"


def _signalled(planted: Mapping[str, Any]) -> str:
    """Signal 0 only asks whether one could be sent."""
    for process in {planted["zygote"], os.getppid()} - {0, os.getpid()}:
        with contextlib.suppress(OSError):
            os.kill(process, 0)
            return f"process {process} can be killed"
    return ""


def _session(_: Mapping[str, Any]) -> str:
    return "" if os.getsid(0) == os.getpid() else "it shares a session and a process group"


def _others(planted: Mapping[str, Any]) -> str:
    return "" if not planted["private"] or os.getpid() == 1 else "it sees other processes"


def _open_files(_: Mapping[str, Any]) -> str:
    found = []
    for descriptor in range(5, 256):
        with contextlib.suppress(OSError):
            os.fstat(descriptor)
            found.append(descriptor)
    return f"descriptors {found} of the zygote are open" if found else ""


def _limits(planted: Mapping[str, Any]) -> str:
    wanted = {resource.RLIMIT_CORE: 0, resource.RLIMIT_CPU: planted["cpu_seconds"], resource.RLIMIT_FSIZE: 16 << 20}
    if planted["private"]:
        wanted[resource.RLIMIT_NPROC] = 64
    loose = [which for which, most in wanted.items() if not 0 <= resource.getrlimit(which)[1] <= most]
    return f"limits {loose} are not set" if loose else ""


def _capabilities(_: Mapping[str, Any]) -> str:
    held = linux.capabilities()
    return f"it has capabilities {held:#x}" if held else ""


def _new_privileges(_: Mapping[str, Any]) -> str:
    return "" if linux.prctl(linux.PR_GET_NO_NEW_PRIVS) == 1 else "a program could gain privileges"


def _dumpable(_: Mapping[str, Any]) -> str:
    return "" if linux.prctl(linux.PR_GET_DUMPABLE) == 0 else "another process of this user could read its memory"


def _filtered(_: Mapping[str, Any]) -> str:
    return "" if linux.prctl(linux.PR_GET_SECCOMP) == 2 else "no filter of system calls is in force"


def _environment(_: Mapping[str, Any]) -> str:
    more = [name for name in os.environ if name not in HARMLESS and not name.endswith("_NUM_THREADS")]
    return f"the environment holds {more}" if more else ""


def _stopped(_: Mapping[str, Any]) -> str:
    """Signals to the whole group reach nobody else; the judge sees whether the zygote lives."""
    with contextlib.suppress(OSError):
        os.kill(0, signal.SIGCONT)
    return ""


CANARIES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "secret": _secret,
    "folder": _folder,
    "own view": _own_view,
    "writing": _written,
    "scratch": _scratch,
    "network": _connected,
    "socket": _socket,
    "process": _forked,
    "program": _program,
    "memory file": _memory_file,
    "namespace": _namespace,
    "tracing": _traced,
    "zygote's memory": _zygote_memory,
    "signal": _signalled,
    "session": _session,
    "other processes": _others,
    "open files": _open_files,
    "limits": _limits,
    "capabilities": _capabilities,
    "new privileges": _new_privileges,
    "dumpable": _dumpable,
    "filter": _filtered,
    "environment": _environment,
    "group": _stopped,
}
