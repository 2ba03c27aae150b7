"""Canaries: forbidden things that a confined worker process tries, before anybody relies on its sandbox.

Each attempt has to fail. The judge plants bait that the canaries look for, and evaluates their outcomes; a process that
reports nothing has failed.
"""

import contextlib
import ctypes
import os
import resource
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from autograder.protocol import write_all, write_frame
from autograder.sandbox.confined.layers import (
    CLONE_NEWUSER,
    PR_GET_DUMPABLE,
    PR_GET_NO_NEW_PRIVS,
    PR_GET_SECCOMP,
    call,
    prctl,
    unshare,
)
from autograder.sandbox.confined.layers import capabilities as linux_capabilities
from autograder.worker import FILE_BYTES

HARMLESS = (
    *("HOME", "TMPDIR", "LANG", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "LD_LIBRARY_PATH", "PWD", "LC_CTYPE"),
    *("TRITON_INTERPRET", "TRITON_FRONT_END_DEBUGGING"),
)


def run_canaries(answers: int, bait: Mapping[str, Any]) -> None:
    """Try everything and send the outcomes: "" for each canary that was stopped, else a sentence about its success."""
    outcomes = {name: _outcome(attempt, bait) for name, attempt in CANARIES.items()}
    write_all(partial(os.write, answers), write_frame({"event": "canaries", "outcomes": outcomes}))


def _outcome(attempt: Callable[[Mapping[str, Any]], str], bait: Mapping[str, Any]) -> str:
    try:
        return attempt(bait)
    except Exception:
        return ""


def _secret(bait: Mapping[str, Any]) -> str:
    with open(bait["secret"], "rb") as file:  # noqa: PTH123
        return f"a file of the judge was read ({len(file.read())} bytes)"


def _folder(bait: Mapping[str, Any]) -> str:
    return f"a folder of the judge was listed ({len(os.listdir(bait['folder']))} names)"  # noqa: PTH208


def _own_view(bait: Mapping[str, Any]) -> str:
    """List a folder that is visible in the sandbox and that submissions do not need: only Landlock hides it."""
    folder = bait["hidden"] if bait["private"] else "/proc/self"
    os.listdir(folder)  # noqa: PTH208
    return f"{folder} was listed"


def _write(_: Mapping[str, Any]) -> str:
    return _write_below(("/", "/usr", "/dev", "/dev/shm", "/var/tmp", "/run"))


def _write_below(folders: Sequence[str]) -> str:
    for folder in folders:
        with contextlib.suppress(OSError):
            name = f"{folder}/canary-{os.getpid()}"
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
            os.unlink(name)  # noqa: PTH108
            return f"{folder} can be written to"
    return ""


def _scratch(bait: Mapping[str, Any]) -> str:
    """Look for files of others in the scratch folder, and fill it; without namespaces it must not be writable."""
    folder = bait["scratch"]
    if not bait["private"]:
        return _write_below((folder, "/tmp"))
    if os.listdir(folder):  # noqa: PTH208
        return f"{folder} has files of another process"
    with contextlib.suppress(OSError), open(f"{folder}/canary", "wb") as file:  # noqa: PTH123
        for _ in range(bait["scratch_mib"] + 1):
            file.write(bytes(1 << 20))
        return f"more than {bait['scratch_mib']} MiB were written to {folder}"
    return ""


def _connect(bait: Mapping[str, Any]) -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as stream:
        stream.settimeout(1)
        stream.connect(("127.0.0.1", bait["port"]))
    return "a connection to this machine was opened"


def _socket(_: Mapping[str, Any]) -> str:
    for family in (socket.AF_INET, socket.AF_UNIX, getattr(socket, "AF_VSOCK", 40), 16):
        with contextlib.suppress(OSError):
            socket.socket(family, socket.SOCK_DGRAM).close()
            return f"a socket of family {int(family)} was opened"
    return ""


def _fork(_: Mapping[str, Any]) -> str:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "a second process was started"


def _program(_: Mapping[str, Any]) -> str:
    """Run a program that does not exist: the kernel looks for it only if running programs is allowed."""
    try:
        os.execv("/nowhere/program", ["program"])
    except FileNotFoundError:
        return "another program can be run"


def _memory_file(_: Mapping[str, Any]) -> str:
    os.close(os.memfd_create("canary"))
    return "memory was allocated that no limit counts"


def _namespace(_: Mapping[str, Any]) -> str:
    unshare(CLONE_NEWUSER)
    return "a new namespace was made"


def _trace(bait: Mapping[str, Any]) -> str:
    attach, detach = 16, 17
    call("ptrace", ctypes.c_long(attach), ctypes.c_long(bait["zygote"]), None, None)
    call("ptrace", ctypes.c_long(detach), ctypes.c_long(bait["zygote"]), None, None)
    return "the zygote was attached to"


def _zygote_memory(bait: Mapping[str, Any]) -> str:
    os.close(os.open(f"/proc/{bait['zygote']}/mem", os.O_RDONLY))
    return "the memory of the zygote was opened"


def _signal(bait: Mapping[str, Any]) -> str:
    """Send signal 0, which only asks whether a signal could be sent."""
    for process in {bait["zygote"], os.getppid()} - {0, os.getpid()}:
        with contextlib.suppress(OSError):
            os.kill(process, 0)
            return f"process {process} can be killed"
    return ""


def _session(_: Mapping[str, Any]) -> str:
    return "" if os.getsid(0) == os.getpid() else "its session and process group are shared"


def _others(bait: Mapping[str, Any]) -> str:
    return "" if not bait["private"] or os.getpid() == 1 else "other processes are visible"


def _open_files(_: Mapping[str, Any]) -> str:
    """Look for open descriptors beyond the five of a worker: standard streams, requests and answers."""
    descriptors = []
    for descriptor in range(5, 256):
        with contextlib.suppress(OSError):
            os.fstat(descriptor)
            descriptors.append(descriptor)
    return f"descriptors {descriptors} of the zygote are open" if descriptors else ""


def _limits(bait: Mapping[str, Any]) -> str:
    wanted = {resource.RLIMIT_CORE: 0, resource.RLIMIT_CPU: bait["cpu_seconds"], resource.RLIMIT_FSIZE: FILE_BYTES}
    if bait["private"]:
        wanted[resource.RLIMIT_NPROC] = 64
    loose = [which for which, most in wanted.items() if not 0 <= resource.getrlimit(which)[1] <= most]
    return f"limits {loose} are not set" if loose else ""


def _capabilities(_: Mapping[str, Any]) -> str:
    capabilities = linux_capabilities()
    return f"it has capabilities {capabilities:#x}" if capabilities else ""


def _new_privileges(_: Mapping[str, Any]) -> str:
    return "" if prctl(PR_GET_NO_NEW_PRIVS) == 1 else "a program could gain privileges"


def _dumpable(_: Mapping[str, Any]) -> str:
    return "" if prctl(PR_GET_DUMPABLE) == 0 else "another process of this user could read its memory"


def _filtered(_: Mapping[str, Any]) -> str:
    return "" if prctl(PR_GET_SECCOMP) == 2 else "system calls are not filtered"


def _environment(_: Mapping[str, Any]) -> str:
    unexpected = [name for name in os.environ if name not in HARMLESS and not name.endswith("_NUM_THREADS")]
    return f"the environment holds {unexpected}" if unexpected else ""


def _signal_group(_: Mapping[str, Any]) -> str:
    """Signal the process group: the judge notices if the zygote was in it, as it must survive its canaries."""
    with contextlib.suppress(OSError):
        os.kill(0, signal.SIGCONT)
    return ""


CANARIES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "secret": _secret,
    "folder": _folder,
    "own view": _own_view,
    "writing": _write,
    "scratch": _scratch,
    "network": _connect,
    "socket": _socket,
    "process": _fork,
    "program": _program,
    "memory file": _memory_file,
    "namespace": _namespace,
    "tracing": _trace,
    "zygote's memory": _zygote_memory,
    "signal": _signal,
    "session": _session,
    "other processes": _others,
    "open files": _open_files,
    "limits": _limits,
    "capabilities": _capabilities,
    "new privileges": _new_privileges,
    "dumpable": _dumpable,
    "filter": _filtered,
    "environment": _environment,
    "group": _signal_group,
}
