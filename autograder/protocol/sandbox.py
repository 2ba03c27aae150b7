"""Facts that the judge and the sandbox share: the worker's code, its scratch folder and environment, message sizes."""

SHIPPED = ("__init__.py", "checks", "protocol", "worker")
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
