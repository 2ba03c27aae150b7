"""Facts that the judge and the sandbox have to agree on: the scratch folder, the environment, and message sizes."""

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
