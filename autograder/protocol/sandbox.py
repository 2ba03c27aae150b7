"""Facts that the judge and the sandbox share: the worker's code, its scratch folder and environment, message sizes."""

from collections.abc import Iterable, Sequence

SHIPPED = ("__init__.py", "checks", "edits", "protocol", "worker")
"""The part of the kit that a worker sees: neither the judge nor the course."""

SCRATCH = "/scratch"
SCRATCH_MIB = 16

MESSAGE_BYTES = 1 << 16
"""The longest message between the judge, a relay and a zygote: a request or an event in JSON."""


def worker_environment(folder: str) -> dict[str, str]:
    """Return the environment of a worker: one thread, no secrets, a home in `folder`, and a fixed order of sets."""
    return {
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
        "HOME": folder,
        "TMPDIR": folder,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
    }


LIBRARY = "--library="


def arguments_of(libraries: Iterable[str], packages: Iterable[str]) -> list[str]:
    """Return the arguments of a worker's programs: what to load at the start, and the folders to find it in."""
    return [*(f"{LIBRARY}{name}" for name in libraries), *packages]


def split_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the libraries and the folders among the arguments of a worker's program."""
    libraries = [argument.removeprefix(LIBRARY) for argument in arguments if argument.startswith(LIBRARY)]
    return libraries, [argument for argument in arguments if not argument.startswith(LIBRARY)]
