"""The layers of the sandbox, applied in a fresh child of the zygote, and the canaries that prove them."""

import contextlib
import ctypes
import errno
import os
import platform
import resource
import signal
import socket
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from autograder.protocol import SCRATCH, write_all, write_frame
from autograder.worker import FILE_BYTES

# The system calls that computation needs: the filter of a confined worker allows these and no others.
#
# The filter refuses every other call, also those that a later kernel adds: a confined worker can start no process or
# program, open no socket, mount nothing, make no namespace, use no anonymous memory file, and reach no other process,
# no key, BPF or io_uring.

_TABLE = """
read                      0   63
write                     1   64
open                      2    -
close                     3   57
stat                      4    -
fstat                     5   80
lstat                     6    -
poll                      7    -
lseek                     8   62
mmap                      9  222
mprotect                 10  226
munmap                   11  215
brk                      12  214
rt_sigaction             13  134
rt_sigprocmask           14  135
rt_sigreturn             15  139
pread64                  17   67
pwrite64                 18   68
readv                    19   65
writev                   20   66
access                   21    -
pipe                     22    -
select                   23    -
sched_yield              24  124
mremap                   25  216
msync                    26  227
mincore                  27  232
madvise                  28  233
dup                      32   23
dup2                     33    -
pause                    34    -
nanosleep                35  101
getitimer                36  102
alarm                    37    -
setitimer                38  103
getpid                   39  172
sendfile                 40   71
exit                     60   93
wait4                    61  260
uname                    63  160
fcntl                    72   25
flock                    73   32
fsync                    74   82
fdatasync                75   83
truncate                 76   45
ftruncate                77   46
getdents                 78    -
getcwd                   79   17
chdir                    80   49
fchdir                   81   50
rename                   82    -
mkdir                    83    -
rmdir                    84    -
creat                    85    -
link                     86    -
unlink                   87    -
symlink                  88    -
readlink                 89    -
chmod                    90    -
fchmod                   91   52
umask                    95  166
gettimeofday             96  169
getrlimit                97  163
setrlimit               160  164
getrusage                98  165
sysinfo                  99  179
times                   100  153
getuid                  102  174
getgid                  104  176
geteuid                 107  175
getegid                 108  177
getppid                 110  173
getpgrp                 111    -
getgroups               115  158
getresuid               118  148
getresgid               120  150
getpgid                 121  155
getsid                  124  156
capget                  125   90
rt_sigpending           127  136
rt_sigtimedwait         128  137
rt_sigsuspend           130  133
sigaltstack             131  132
statfs                  137   43
fstatfs                 138   44
getpriority             140  141
setpriority             141  140
sched_getparam          143  121
sched_getscheduler      145  120
sched_get_priority_max  146  125
sched_get_priority_min  147  126
arch_prctl              158    -
gettid                  186  178
futex                   202   98
time                    201    -
sched_setaffinity       203  122
sched_getaffinity       204  123
getdents64              217   61
set_tid_address         218   96
fadvise64               221  223
timer_create            222  107
timer_settime           223  110
timer_gettime           224  108
timer_getoverrun        225  109
timer_delete            226  111
clock_gettime           228  113
clock_getres            229  114
clock_nanosleep         230  115
exit_group              231   94
epoll_wait              232    -
epoll_ctl               233   21
utimes                  235    -
waitid                  247   95
openat                  257   56
mkdirat                 258   34
newfstatat              262   79
unlinkat                263   35
renameat                264   38
linkat                  265   37
symlinkat               266   36
readlinkat              267   78
fchmodat                268   53
faccessat               269   48
pselect6                270   72
ppoll                   271   73
set_robust_list         273   99
get_robust_list         274  100
utimensat               280   88
epoll_pwait             281   22
eventfd                 284    -
fallocate               285   47
eventfd2                290   19
epoll_create            213    -
epoll_create1           291   20
dup3                    292   24
pipe2                   293   59
preadv                  295   69
pwritev                 296   70
getcpu                  309  168
renameat2               316  276
getrandom               318  278
membarrier              324  283
statx                   332  291
rseq                    334  293
close_range             436  436
faccessat2              439  439
get_mempolicy           239  236
set_mempolicy           238  237
mbind                   237  235
restart_syscall         219  128
kill                     62  129
tgkill                  234  131
clone                    56  220
clone3                  435  435
ioctl                    16   29
prctl                   157  167
prlimit64               302  261
"""
"""Name, number on x86-64, number on AArch64, where `-` means that there is no such call.

Sources: the kernel's asm/unistd_64.h and asm-generic/unistd.h.
"""

WITH_CONDITIONS = frozenset({"kill", "tgkill", "clone", "clone3", "ioctl", "prctl", "prlimit64"})
"""Calls that the filter allows only for some values of their arguments."""


def _numbers(column: int) -> dict[str, int]:
    rows = [line.split() for line in _TABLE.split("\n") if line]
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}


MACHINES = {"x86_64": (0xC000003E, _numbers(1)), "aarch64": (0xC00000B7, _numbers(2))}
"""The audit architecture and the numbers, by the kernel's name of the processor."""


# Linux system calls that Python does not offer (x86-64 and AArch64). Sources: the manual pages of section 2.

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


def call(name: str, *arguments: object, what: str = "") -> int:
    """Call a function of the C library that returns -1 on failure; raises OSError, which says `what` was called."""
    result = int(getattr(_libc, name)(*arguments))
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what or name}: {os.strerror(number)}")
    return result


def system_call(name: str, *arguments: object) -> int:
    """Call the kernel by number; raises OSError."""
    return call("syscall", ctypes.c_long(SYSTEM_CALLS[name]), *arguments, what=name)


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
    texts = (text.encode() if text is not None else None for text in (source, target, kind))
    settings = ctypes.c_ulong(flags), ctypes.c_char_p(options.encode())
    call("mount", *map(ctypes.c_char_p, texts), *settings, what=f"mount on {target}")


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


# Restrict this process with Landlock to parts of the file system, without network and other processes.
#
# Source: Documentation/userspace-api/landlock.rst of the kernel. Each version of the interface restricts more
# accesses. Those that the running kernel does not know are omitted; `version` returns the version that applies.

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


# A seccomp filter with a list of allowed system calls; every other call fails with "operation not permitted".
#
# Source: seccomp(2) and linux/filter.h. A call through another architecture's interface (x32, int 0x80), where the
# same numbers mean other calls, kills the process.

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
    program = pack(program_for(platform.machine(), pid))
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


THREADS = 32
OPEN_FILES = 64
SCRATCH_OPTIONS = f"size={FILE_BYTES},nr_inodes=256,mode=700"
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")


@dataclass(frozen=True)
class Confinement:
    """The layers a worker process applies, by name, the paths it may read, and its CPU seconds for all checks.

    The layers are session, descriptors, namespaces, limits, landlock, privileges and seccomp.
    """

    layers: Collection[str]
    readable: Sequence[str]
    cpu_seconds: int

    def apply(self) -> None:
        """Confine this process for good. Raises OSError if a layer cannot be applied; then the process has to end.

        The order matters: each layer still needs what the later ones take away.
        """
        private = "namespaces" in self.layers
        if "session" in self.layers:
            os.setsid()
        if "descriptors" in self.layers:
            os.closerange(5, os.sysconf("SC_OPEN_MAX"))  # keeps the standard streams, requests and answers
        if private:
            _own_namespaces()
        if "limits" in self.layers:
            _limit(self.cpu_seconds, threads=private)
        if "privileges" in self.layers or "seccomp" in self.layers or "landlock" in self.layers:
            prctl(PR_SET_NO_NEW_PRIVS, 1)
        if "landlock" in self.layers:
            restrict(self.readable, [SCRATCH] if private else [], DEVICES)
        if "privileges" in self.layers:
            drop_capabilities()
            prctl(PR_SET_DUMPABLE, 0)  # no other process of this user may read its memory
        if "seccomp" in self.layers:
            install(os.getpid())


def confinement_of(record: Mapping[str, object], readable: Sequence[str]) -> Confinement:
    """Return the confinement that a request asks for; raises KeyError or TypeError."""
    layers, cpu_seconds = record["layers"], record["cpu_seconds"]
    if not isinstance(layers, list) or not isinstance(cpu_seconds, int):
        raise TypeError("a confinement needs layers and cpu_seconds")
    return Confinement(tuple(map(str, layers)), readable, cpu_seconds)


def _own_namespaces() -> None:
    """Move into new, empty namespaces: no other process, no network, a private scratch folder."""
    user, group = os.getuid(), os.getgid()
    unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)
    _write("/proc/self/setgroups", "deny")  # the kernel demands it before a gid_map without privileges
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")
    mount(None, "/", None, MS_REC | MS_PRIVATE)  # so that no mount below reaches the zygote
    hidden = MS_NOSUID | MS_NODEV | MS_NOEXEC
    mount("tmpfs", SCRATCH, "tmpfs", hidden, SCRATCH_OPTIONS)
    mount("tmpfs", "/proc", "tmpfs", hidden | MS_RDONLY, "nr_inodes=2")
    os.chdir(SCRATCH)


def _limit(cpu_seconds: int, *, threads: bool) -> None:
    for which, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_CPU, cpu_seconds),
    ):
        resource.setrlimit(which, (most, most))
    if threads:  # without a user namespace the kernel counts every process of this user
        resource.setrlimit(resource.RLIMIT_NPROC, (THREADS, THREADS))


def _write(file: str, text: str) -> None:
    descriptor = os.open(file, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


# Canaries: forbidden things that a confined worker process tries, before anybody relies on its sandbox.
#
# Each attempt has to fail. The judge plants bait that the canaries look for, and evaluates their outcomes; a process
# that reports nothing has failed.

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
    found = capabilities()
    return f"it has capabilities {found:#x}" if found else ""


def _state(option: int, wanted: int, otherwise: str) -> Callable[[Mapping[str, Any]], str]:
    """Return a canary that reads a state of its process."""
    return lambda _: "" if prctl(option) == wanted else otherwise


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
    "writing": lambda _: _write_below(("/", "/usr", "/dev", "/dev/shm", "/var/tmp", "/run")),
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
    "new privileges": _state(PR_GET_NO_NEW_PRIVS, 1, "a program could gain privileges"),
    "dumpable": _state(PR_GET_DUMPABLE, 0, "another process of this user could read its memory"),
    "filter": _state(PR_GET_SECCOMP, SECCOMP_MODE_FILTER, "system calls are not filtered"),
    "environment": _environment,
    "group": _signal_group,
}
