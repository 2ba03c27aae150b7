"""Large pages for a zygote, so that its children are made, run and end in less time. Linux 6.1 and later.

A fork copies the table of all pages that hold data, the child's end takes it apart, and each piece of torch's code that
a child uses costs it a fault. Where the kernel has no large pages, all stays as it was. Sources: madvise(2), mremap(2),
and the kernel's admin-guide/mm on transhuge and pagemap.
"""

import ctypes
import mmap
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

LARGE = 2 << 20
SMALL = 4 << 10
LEAST_USED = 256
"""A large page of code is worth its memory where so many of its small pages have been used."""

MADV_COLLAPSE = 25
MREMAP_MAYMOVE, MREMAP_FIXED = 1, 2


class _Mapping(NamedTuple):
    start: int
    end: int
    kind: str
    file: str

    def large_pages(self) -> range:
        """Return where a large page can begin that lies in it as a whole."""
        return range(-(-self.start // LARGE) * LARGE, self.end - LARGE + 1, LARGE)


def enlarge() -> None:
    """Put this process's data, and the code it has used, into large pages. Only for a process of one thread."""
    if sys.platform != "linux" or os.uname().machine != "x86_64" or mmap.PAGESIZE != SMALL:
        return
    mappings = list(_mappings())
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
    for each in mappings:
        if each.kind == "rw-p" and each.file in ("", "[heap]") and (at := each.large_pages()):
            libc.madvise(ctypes.c_void_p(at[0]), ctypes.c_size_t(LARGE * len(at)), ctypes.c_int(MADV_COLLAPSE))
    _enlarge_code(libc, [at for each in mappings if each.kind == "r-xp" for at in _used(each)])


def _mappings() -> Iterator[_Mapping]:
    for line in Path("/proc/self/maps").read_text().splitlines():
        place, kind, _, _, _, *file = line.split(maxsplit=5)
        start, end = (int(each, 16) for each in place.split("-"))
        yield _Mapping(start, end, kind, file[0] if file else "")


def _used(code: _Mapping) -> Iterator[int]:
    """Yield the large pages of a file's code of which many small ones have been used."""
    if not code.file.startswith("/"):
        return
    with Path("/proc/self/pagemap").open("rb", buffering=0) as pages:
        for at in code.large_pages():
            pages.seek(at // SMALL * 8)
            there = np.frombuffer(pages.read(LARGE // SMALL * 8), np.uint64) >> np.uint64(63)
            if there.sum() >= LEAST_USED:
                yield at


def _enlarge_code(libc: ctypes.CDLL, places: list[int]) -> None:
    """Put copies of code, in large pages, in its place: nobody can tell, but that it is no page of a file any more."""
    size = LARGE * len(places)
    writable = mmap.PROT_READ | mmap.PROT_WRITE
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    found = libc.mmap(None, ctypes.c_size_t(size + LARGE), writable, private, -1, ctypes.c_long(0))
    if not places or found == ctypes.c_void_p(-1).value:
        return
    start = -(-found // LARGE) * LARGE
    libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), mmap.MADV_HUGEPAGE)
    for i, at in enumerate(places):
        ctypes.memmove(start + i * LARGE, at, LARGE)
    if libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(size), mmap.PROT_READ | mmap.PROT_EXEC) != 0:
        libc.munmap(ctypes.c_void_p(found), ctypes.c_size_t(size + LARGE))
        return
    for i, at in enumerate(places):
        own, there = ctypes.c_void_p(start + i * LARGE), ctypes.c_void_p(at)
        libc.mremap(own, ctypes.c_size_t(LARGE), ctypes.c_size_t(LARGE), MREMAP_MAYMOVE | MREMAP_FIXED, there)
