"""The zygote: libraries loaded, warm and in large pages, so that none of its children has to load them."""

import contextlib
import ctypes
import fcntl
import gc
import importlib
import json
import mmap
import os
import resource
import select
import socket
import sys
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

# Move a zygote's memory into large pages, so that its children start, run and end faster. Linux 6.1 and later.
#
# A fork copies the table of all pages with data, the child's end frees it, and each page of torch's code that a child
# uses costs a page fault. If the kernel has no large pages, nothing changes. Sources: madvise(2), mremap(2), and the
# kernel's admin-guide/mm on transhuge and pagemap.

LARGE = 2 << 20
SMALL = 4 << 10
LEAST_USED = 256
"""Small pages in use, of 512, from which on a large page of code is worth its memory."""

MADV_COLLAPSE = 25
MREMAP_MAYMOVE, MREMAP_FIXED = 1, 2


class _Mapping(NamedTuple):
    start: int
    end: int
    kind: str
    file: str

    def large_pages(self) -> range:
        """Return the start addresses of the large pages that lie entirely within the mapping."""
        return range(-(-self.start // LARGE) * LARGE, self.end - LARGE + 1, LARGE)


def enlarge() -> None:
    """Move this process's data, and the code it has used, into large pages. It must have one thread only."""
    if sys.platform != "linux" or os.uname().machine != "x86_64" or mmap.PAGESIZE != SMALL:
        return
    mappings = list(_mappings())
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
    for mapping in mappings:
        if mapping.kind == "rw-p" and mapping.file in ("", "[heap]") and (pages := mapping.large_pages()):
            size = ctypes.c_size_t(LARGE * len(pages))
            libc.madvise(ctypes.c_void_p(pages[0]), size, ctypes.c_int(MADV_COLLAPSE))
    _enlarge_code(libc, [page for mapping in mappings if mapping.kind == "r-xp" for page in _used(mapping)])


def _mappings() -> Iterator[_Mapping]:
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, kind, _, _, _, *file = line.split(maxsplit=5)
        start, end = (int(address, 16) for address in addresses.split("-"))
        yield _Mapping(start, end, kind, file[0] if file else "")


def _used(code: _Mapping) -> Iterator[int]:
    """Yield the large pages of a file's code in which at least `LEAST_USED` small pages have been used."""
    if not code.file.startswith("/"):
        return
    with Path("/proc/self/pagemap").open("rb", buffering=0) as pagemap:
        for page in code.large_pages():
            pagemap.seek(page // SMALL * 8)
            present = (entry >> 63 for entry in array("Q", pagemap.read(LARGE // SMALL * 8)))
            if sum(present) >= LEAST_USED:
                yield page


def _enlarge_code(libc: ctypes.CDLL, pages: list[int]) -> None:
    """Replace pages of code by copies in large pages, at the same addresses; they are then no pages of a file."""
    size = LARGE * len(pages)
    writable = mmap.PROT_READ | mmap.PROT_WRITE
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    # One large page more than needed, so that an aligned start lies in it.
    area = libc.mmap(None, ctypes.c_size_t(size + LARGE), writable, private, -1, ctypes.c_long(0))
    if not pages or area == ctypes.c_void_p(-1).value:
        return
    start = -(-area // LARGE) * LARGE
    libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), mmap.MADV_HUGEPAGE)
    for i, page in enumerate(pages):
        ctypes.memmove(start + i * LARGE, page, LARGE)
    if libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(size), mmap.PROT_READ | mmap.PROT_EXEC) != 0:
        libc.munmap(ctypes.c_void_p(area), ctypes.c_size_t(size + LARGE))
        return
    for i, page in enumerate(pages):
        copy, original = ctypes.c_void_p(start + i * LARGE), ctypes.c_void_p(page)
        libc.mremap(copy, ctypes.c_size_t(LARGE), ctypes.c_size_t(LARGE), MREMAP_MAYMOVE | MREMAP_FIXED, original)


# Warm up a zygote: load the libraries and run everything once, so that none of its children has to.


def load(libraries: Sequence[str]) -> dict[str, Any]:
    """Load libraries and the language of the checks; return the version of Landlock.

    Loading makes hardly any garbage, and collecting it would take a third of the time. So collection starts in the
    children (`session.serve`), which ignore all objects older than themselves. A library that is missing is reported
    when the zygote is warmed up.
    """
    gc.disable()
    for name in ("worker.session", "sandbox.confined.layers"):
        importlib.import_module(f"autograder.{name}")
    from autograder.sandbox.confined.layers import version  # after the path is set
    from autograder.worker import LibraryMissing, load_support  # after the path is set

    with contextlib.suppress(LibraryMissing):
        load_support(libraries)
    return {"landlock": version()}


def warm(descriptor: int) -> None:
    """Run what is slow at first, and the job in the file `descriptor`.

    The job is the course's: its checks, on its reference parts, with its public seed. Its results do not matter.
    Nothing of the parts may remain afterwards: submissions run in copies of this process, and could use the parts.
    """
    _run_job(descriptor)
    gc.collect()  # classes are part of reference cycles: without this, those of the parts would remain
    gc.freeze()


def _run_job(descriptor: int) -> None:
    from autograder.protocol import read_frame  # after the path is set
    from autograder.worker import JOB_LIMITS, Job, load_support, loaded  # after the path is set

    job = read_frame(lambda size: os.read(descriptor, size), JOB_LIMITS)
    assert isinstance(job, dict)
    load_support(job.get("libraries", ()))
    own = loaded()
    own.start()
    own.warm_up(job.get("checks", {}))
    if job["plan"]:
        Job({**job, "limits": None}, lambda _: None).run()


# The zygote: a process that has libraries loaded and warm, and forks a confined worker process for each request.
#
# Zygote is the usual name for the process that a fork server copies: a fork takes milliseconds, loading torch
# seconds. It never runs a student's code itself.
#
# `python -I -S -X utf8 zygote.py CHANNEL [--library=NAME]... FOLDER...` gets a SEQPACKET socket as descriptor
# CHANNEL, and the folders with the libraries. It loads the named ones at once, and those of the job at `warm`.
# Requests are JSON: `warm` with a file that holds a job, `fork` with the ends of three pipes (jobs, answers, log),
# `split` with a channel for another zygote, as warm as this one, and `enlarge` for large pages. It answers with
# events: `ready`, `warm`, `enlarged`, `forked` with the number and a pidfd of the child, `failed`, and `ended` when a
# child has ended.

STATUS_UNCONFINED = 99


def main() -> None:
    """Load what every worker process needs, then serve the channel until it is closed."""
    kit = str(Path(__file__).resolve().parents[3])
    channel = socket.socket(fileno=int(sys.argv[1]))
    sys.path.insert(0, kit)
    given = dict(os.environ)
    from autograder.protocol import split_arguments  # after the path is set

    libraries, packages = split_arguments(sys.argv[2:])
    sys.argv[1:] = []
    sys.path += packages

    facts = load(libraries)
    if kit not in packages:
        sys.path.remove(kit)
    ForkServer(channel, facts, readable=[*_folders(kit), *packages], environment=given).serve()


def _folders(kit: str) -> list[str]:
    """Return the paths a child may read besides the installed packages: libraries, Python, the worker's code."""
    from autograder.protocol import SHIPPED  # after the path is set

    own = [f"{kit}/autograder/{name}" for name in SHIPPED]
    return ["/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", sys.base_prefix, *own]


class ForkServer:
    """Forks children, and reports their ends."""

    def __init__(
        self, channel: socket.socket, facts: dict[str, Any], readable: list[str], environment: dict[str, str]
    ) -> None:
        self.channel = channel
        self.facts = facts
        self.environment = environment
        self.readable = readable
        self.children: dict[int, int] = {}
        self.home = os.open("/proc/self/ns/pid", os.O_RDONLY)
        self.nothing = os.open(os.devnull, os.O_RDONLY)

    def serve(self) -> None:
        """Answer requests until the judge closes the channel."""
        self._send({"event": "ready", "pid": os.getpid(), **self.facts})
        while True:
            poll = select.poll()
            for descriptor in (self.channel.fileno(), *self.children):
                poll.register(descriptor, select.POLLIN)
            for descriptor, _ in poll.poll():
                if descriptor in self.children:
                    self._reap(descriptor)
                elif not self._answer():
                    return

    def _answer(self) -> bool:
        from autograder.protocol import MESSAGE_BYTES  # after the path is set

        message, descriptors, _, _ = socket.recv_fds(self.channel, MESSAGE_BYTES, 3)
        if not message:
            return False
        try:
            request = json.loads(message)
            if request["do"] == "warm":
                self._warm(descriptors[0])
            elif request["do"] == "split":
                self._split(descriptors[0])
            elif request["do"] == "enlarge":
                self._enlarge()
            else:
                self._fork(request, descriptors)
        except Exception as error:
            self._send({"event": "failed", "why": f"{type(error).__name__}: {error}"})
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return True

    def _warm(self, descriptor: int) -> None:
        warm(descriptor)
        os.environ.clear()
        os.environ.update(self.environment)
        self._send({"event": "warm", "threads": len(os.listdir("/proc/self/task"))})  # noqa: PTH208

    def _enlarge(self) -> None:
        _refuse_threads()
        with contextlib.suppress(OSError):  # if /proc may not be read, the pages stay small
            enlarge()
        self._send({"event": "enlarged"})

    def _split(self, channel: int) -> None:
        _refuse_threads()
        child = os.fork()
        if child == 0:
            self._become_zygote(channel)
        self._announce(child)

    def _become_zygote(self, channel: int) -> None:
        """In the child: close everything of this zygote, serve a channel of its own, and never return."""
        try:
            own = socket.socket(fileno=os.dup(channel))
            self.channel.close()
            for descriptor in (channel, self.home, self.nothing, *self.children):
                os.close(descriptor)
            ForkServer(own, self.facts, self.readable, self.environment).serve()
        except BaseException as error:
            os.write(2, f"the zygote ended: {type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(0)

    def _fork(self, request: dict[str, Any], descriptors: list[int]) -> None:
        _refuse_threads()
        from autograder.sandbox.confined import layers  # after the path is set

        confinement = layers.confinement_of(request, self.readable)
        own_pids = "namespaces" in confinement.layers
        if own_pids:  # applies to the next child, not to this process
            layers.unshare(layers.CLONE_NEWPID)
        try:
            child = os.fork()
            if child == 0:
                _become_worker(confinement, descriptors, self.nothing, request)
        finally:
            if own_pids:
                layers.enter(self.home)
        self._announce(child)

    def _announce(self, child: int) -> None:
        pidfd = os.pidfd_open(child)
        self.children[pidfd] = child
        socket.send_fds(self.channel, [json.dumps({"event": "forked", "child": child}).encode()], [pidfd])

    def _reap(self, pidfd: int) -> None:
        child = self.children.pop(pidfd)
        _, status, usage = os.wait4(child, 0)
        os.close(pidfd)
        self._send(
            {
                "event": "ended",
                "child": child,
                "status": os.waitstatus_to_exitcode(status),
                "cpu_seconds": usage.ru_utime + usage.ru_stime,
                "peak_kib": usage.ru_maxrss,
            }
        )

    def _send(self, event: dict[str, Any]) -> None:
        self.channel.send(json.dumps(event).encode())


def _refuse_threads() -> None:
    """Raise RuntimeError if there are other threads: a fork copies their locks, but not the threads to release them."""
    threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208
    if threads != 1:
        raise RuntimeError(f"the zygote has {threads} threads, so a child could wait for their locks for ever")


def _become_worker(confinement: Any, descriptors: list[int], nothing: int, request: dict[str, Any]) -> None:
    """In the child: keep three descriptors, apply the layers, serve jobs, and never return."""
    try:
        # First out of the way of the numbers 0 to 4, which they are about to get.
        requests, answers, log = (fcntl.fcntl(descriptor, fcntl.F_DUPFD, 64) for descriptor in descriptors)
        for descriptor, number in ((nothing, 0), (log, 1), (log, 2), (requests, 3), (answers, 4)):
            os.dup2(descriptor, number)
        from autograder.worker import record_address_space, serve  # after the path is set

        record_address_space()
        confinement.apply()
    except BaseException as error:
        os.write(2, f"the worker could not be confined: {type(error).__name__}: {error}\n".encode())
        os._exit(STATUS_UNCONFINED)
    try:
        if request.get("canaries"):
            from autograder.sandbox.confined.layers import run_canaries  # after the path is set

            run_canaries(4, request["canaries"])
        else:
            serve(3, 4)
        sys.stdout.flush()
    finally:
        os._exit(0)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
