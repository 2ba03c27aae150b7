"""Linux system calls that Python does not offer (x86-64 and AArch64). Sources: the manual pages of section 2."""

import ctypes
import os
import platform

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18

PR_GET_DUMPABLE = 3
PR_SET_DUMPABLE = 4
PR_GET_SECCOMP = 21
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
PR_GET_NO_NEW_PRIVS = 39
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
SECCOMP_MODE_FILTER = 2

SYSTEM_CALLS = {
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
}
"""Calls without a function in the C library. Newer calls have the same number on every processor."""

_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None


def machine() -> str:
    """Return the kernel's name of the processor."""
    return platform.machine()


def call(name: str, *arguments: object) -> int:
    """Call a function of the C library that returns -1 on failure; raises OSError."""
    result = int(getattr(_libc, name)(*arguments))
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def system_call(name: str, *arguments: object) -> int:
    """Call the kernel by number; raises OSError."""
    try:
        return call("syscall", ctypes.c_long(SYSTEM_CALLS[name]), *arguments)
    except OSError as error:
        raise OSError(error.errno, f"{name}: {os.strerror(error.errno or 0)}") from None


def prctl(option: int, *arguments: int) -> int:
    """Call prctl(2) with integers; raises OSError."""
    padded = (*arguments, 0, 0, 0, 0)[:4]  # some options fail unless the unused arguments are 0
    return call("prctl", ctypes.c_int(option), *(ctypes.c_ulong(argument) for argument in padded))


def unshare(flags: int) -> None:
    """Move into new namespaces; raises OSError."""
    call("unshare", ctypes.c_int(flags))


def enter(namespace: int) -> None:
    """Move into the namespace of a descriptor; raises OSError."""
    call("setns", ctypes.c_int(namespace), ctypes.c_int(0))


def mount(source: str | None, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Call mount(2); raises OSError."""
    texts = [text.encode() if text is not None else None for text in (source, target, kind)]
    try:
        call("mount", *map(ctypes.c_char_p, texts), ctypes.c_ulong(flags), ctypes.c_char_p(options.encode()))
    except OSError as error:
        raise OSError(error.errno, f"mount on {target}: {os.strerror(error.errno or 0)}") from None


def drop_capabilities() -> None:
    """Give up every capability, for good; raises OSError."""
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    call("capset", ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))


def capabilities() -> int:
    """Return the effective capabilities of this process as bits; raises OSError."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)()
    call("capget", ctypes.byref(header), ctypes.byref(data))
    return data[0] | data[3] << 32


def close_from(lowest: int) -> None:
    """Close every descriptor from `lowest` on."""
    os.closerange(lowest, os.sysconf("SC_OPEN_MAX"))
