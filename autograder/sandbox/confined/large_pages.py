"""Move a zygote's memory into large pages, so that its children start, run and end faster. Linux 6.1 and later.

A fork copies the table of all pages with data, the child's end frees it, and each page of torch's code that a child
uses costs a page fault. If the kernel has no large pages, nothing changes. Sources: madvise(2), mremap(2), and the
kernel's admin-guide/mm on transhuge and pagemap.
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
            present = np.frombuffer(pagemap.read(LARGE // SMALL * 8), np.uint64) >> np.uint64(63)
            if present.sum() >= LEAST_USED:
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
