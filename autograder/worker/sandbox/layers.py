"""Apply the layers of the sandbox, one after the other, in a fresh child of the zygote."""

import os
import resource
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from autograder.protocol.sandbox import SCRATCH
from autograder.worker.limits import FILE_BYTES
from autograder.worker.sandbox import landlock, linux, seccomp

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
            linux.close_from(5)  # keeps the standard streams, requests and answers
        if private:
            _own_namespaces()
        if "limits" in self.layers:
            _limit(self.cpu_seconds, threads=private)
        if "privileges" in self.layers or "seccomp" in self.layers or "landlock" in self.layers:
            linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
        if "landlock" in self.layers:
            landlock.restrict(self.readable, [SCRATCH] if private else [], DEVICES)
        if "privileges" in self.layers:
            linux.drop_capabilities()
            linux.prctl(linux.PR_SET_DUMPABLE, 0)  # no other process of this user may read its memory
        if "seccomp" in self.layers:
            seccomp.install(os.getpid())


def confinement_of(record: Mapping[str, object], readable: Sequence[str]) -> Confinement:
    """Return the confinement that a request asks for; raises KeyError or TypeError."""
    layers, cpu_seconds = record["layers"], record["cpu_seconds"]
    if not isinstance(layers, list) or not isinstance(cpu_seconds, int):
        raise TypeError("a confinement needs layers and cpu_seconds")
    return Confinement(tuple(map(str, layers)), readable, cpu_seconds)


def _own_namespaces() -> None:
    """Move into new, empty namespaces: no other process, no network, a private scratch folder."""
    user, group = os.getuid(), os.getgid()
    linux.unshare(
        linux.CLONE_NEWUSER
        | linux.CLONE_NEWNS
        | linux.CLONE_NEWNET
        | linux.CLONE_NEWIPC
        | linux.CLONE_NEWUTS
        | linux.CLONE_NEWCGROUP
    )
    _write("/proc/self/setgroups", "deny")  # the kernel demands it before a gid_map without privileges
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")
    linux.mount(None, "/", None, linux.MS_REC | linux.MS_PRIVATE)  # so that no mount below reaches the zygote
    hidden = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC
    linux.mount("tmpfs", SCRATCH, "tmpfs", hidden, SCRATCH_OPTIONS)
    linux.mount("tmpfs", "/proc", "tmpfs", hidden | linux.MS_RDONLY, "nr_inodes=2")
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
