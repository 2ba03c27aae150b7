"""Restrict this process with Landlock to parts of the file system, without network and other processes.

Source: Documentation/userspace-api/landlock.rst of the kernel. Each version of the interface restricts more accesses.
Those that the running kernel does not know are omitted; `version` returns the version that applies.
"""

import ctypes
import os
from collections.abc import Iterable

from autograder.worker.sandbox.linux import system_call

EXECUTE = 1 << 0
READ_FILE = 1 << 2
READ_DIR = 1 << 3
WRITE_FILE = 1 << 1
_ALL_FILE_ACCESSES = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
"""Every file access, by version: 2 adds REFER, 3 TRUNCATE (bit 14), 5 IOCTL_DEV (bit 15)."""

_ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | 1 << 14 | 1 << 15
"""Accesses that make sense for a file; the kernel refuses a rule with others."""

_BIND_AND_CONNECT_TCP = 3
_SCOPE_SOCKETS_AND_SIGNALS = 3

_CREATE_VERSION = 1
_RULE_PATH_BENEATH = 1


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("descriptor", ctypes.c_int32))


def version() -> int:
    """Return the version of Landlock in this kernel, 0 for none."""
    try:
        return system_call("landlock_create_ruleset", None, ctypes.c_size_t(0), ctypes.c_uint32(_CREATE_VERSION))
    except OSError:
        return 0


def restrict(readable: Iterable[str], writable: Iterable[str], used: Iterable[str]) -> None:
    """Allow only reading below some folders, everything but execution below others, and the use of some devices.

    If the kernel supports it, also forbid TCP, and signals and abstract sockets beyond this process. `no_new_privs` has
    to be set before. Raises OSError.
    """
    known = version()
    files = _ALL_FILE_ACCESSES[min(known, 5)]
    rules = _Ruleset(files, _BIND_AND_CONNECT_TCP if known >= 4 else 0, _SCOPE_SOCKETS_AND_SIGNALS if known >= 6 else 0)
    size = 24 if known >= 6 else 16 if known >= 4 else 8  # older kernels refuse a longer struct
    ruleset = system_call("landlock_create_ruleset", ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for path in readable:
            _allow(ruleset, path, READ_FILE | READ_DIR)
        for path in writable:
            _allow(ruleset, path, files & ~EXECUTE)
        for path in used:
            _allow(ruleset, path, READ_FILE | WRITE_FILE)
        system_call("landlock_restrict_self", ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:  # not every system has every folder of the list, /lib64 for one
        return
    try:
        if not os.path.isdir(path):  # noqa: PTH112 - the sandbox imports as little as it can
            access &= _ON_FILES
        rule = _PathBeneath(access, descriptor)
        system_call(
            "landlock_add_rule",
            ctypes.c_int(ruleset),
            ctypes.c_int(_RULE_PATH_BENEATH),
            ctypes.byref(rule),
            ctypes.c_uint32(0),
        )
    finally:
        os.close(descriptor)
