"""A seccomp filter with a list of allowed system calls; every other call fails with "operation not permitted".

Source: seccomp(2) and linux/filter.h. A call through another architecture's interface (x32, int 0x80), where the same
numbers mean other calls, kills the process.
"""

import ctypes
import errno
import struct
from collections.abc import Iterator

from autograder.worker.sandbox.linux import PR_SET_SECCOMP, SECCOMP_MODE_FILTER, machine, prctl
from autograder.worker.sandbox.system_calls import MACHINES, WITH_CONDITIONS

_LOAD = 0x20
_AND = 0x54
_EQUAL = 0x15
_AT_LEAST = 0x35
_MORE = 0x25
_RETURN = 0x06

KILL = 0x80000000
ALLOW = 0x7FFF0000
REFUSE = 0x00050000

_NUMBER, _ARCHITECTURE = 0, 4
_X32 = 0x40000000

_THREAD = 0x00010000 | 0x00000100 | 0x00000800  # CLONE_THREAD | CLONE_VM | CLONE_SIGHAND
_NAMESPACES = 0x7E020000 | 0x00000080  # CLONE_NEW*
_HARMLESS_IOCTL = (0x5401, 0x5413, 0x541B, 0x5450, 0x5451)  # TCGETS TIOCGWINSZ FIONREAD FIONCLEX FIOCLEX
_HARMLESS_PRCTL = (1, 3, 15, 16, 21, 23, 27, 39, 0x53564D41)
"""PDEATHSIG, GET_DUMPABLE, SET_NAME, GET_NAME, GET_SECCOMP, CAPBSET_READ, GET_SECUREBITS, GET_NO_NEW_PRIVS, SET_VMA."""

Instruction = tuple[int, int, int, int]


def install(pid: int) -> None:
    """Filter the calls of this process from now on. `pid` is its own process id: it may signal no other process.

    Raises OSError, also for a processor without a table of calls.
    """
    program = pack(program_for(machine(), pid))
    code = ctypes.create_string_buffer(program, len(program))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))

    filters = Program(len(program) // 8, ctypes.addressof(code))
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(filters))


def program_for(kind: str, pid: int) -> list[Instruction]:
    """Return the filter as instructions (code, jump if true, jump if false, constant); raises OSError."""
    if kind not in MACHINES:
        raise OSError(errno.ENOSYS, f"no list of system calls for the processor {kind}")
    architecture, numbers = MACHINES[kind]
    program: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, KILL),
    ]
    for first, last in _ranges(sorted(number for name, number in numbers.items() if name not in WITH_CONDITIONS)):
        program += [(_AT_LEAST, 0, 2, first), (_MORE, 1, 0, last), (_RETURN, 0, 0, ALLOW)]
    for name in ("kill", "tgkill"):
        program += _where_argument(numbers[name], 0, (pid,))
    program += _where_argument(numbers["prlimit64"], 0, (0, pid))
    program += _where_argument(numbers["ioctl"], 1, _HARMLESS_IOCTL)
    program += _where_argument(numbers["prctl"], 0, _HARMLESS_PRCTL)
    program += [
        (_EQUAL, 0, 5, numbers["clone"]),
        (_LOAD, 0, 0, _argument(0)),
        (_AND, 0, 0, _THREAD | _NAMESPACES),
        (_EQUAL, 0, 1, _THREAD),
        (_RETURN, 0, 0, ALLOW),
        (_RETURN, 0, 0, REFUSE | errno.EPERM),
        (_EQUAL, 0, 1, numbers["clone3"]),
        (_RETURN, 0, 0, REFUSE | errno.ENOSYS),  # so that the C library falls back on clone
    ]
    return [*program, (_RETURN, 0, 0, REFUSE | errno.EPERM)]


def pack(program: list[Instruction]) -> bytes:
    """Return the filter in the kernel's format, an array of `struct sock_filter`."""
    return b"".join(struct.pack("HBBI", *instruction) for instruction in program)


def _argument(index: int) -> int:
    """Return the offset of an argument in `struct seccomp_data`: its lower half, as all of them are 32 bits wide."""
    return 16 + 8 * index


def _where_argument(number: int, index: int, allowed: tuple[int, ...]) -> list[Instruction]:
    """Return the rule for a call that is allowed for some values of an argument, and refused for all others."""
    tests: list[Instruction] = [test for value in allowed for test in ((_EQUAL, 0, 1, value), (_RETURN, 0, 0, ALLOW))]
    body = [(_LOAD, 0, 0, _argument(index)), *tests, (_RETURN, 0, 0, REFUSE | errno.EPERM)]
    return [(_EQUAL, 0, len(body), number), *body]


def _ranges(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the runs of consecutive numbers: a test of a range is shorter than one test per call."""
    first = last = numbers[0]
    for number in numbers[1:]:
        if number > last + 1:
            yield first, last
            first = number
        last = number
    yield first, last
