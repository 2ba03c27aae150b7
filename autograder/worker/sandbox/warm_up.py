"""Warm up a zygote: load the libraries and run everything once, so that none of its children has to."""

import contextlib
import gc
import importlib
import os
from collections.abc import Sequence
from typing import Any


def load(libraries: Sequence[str]) -> dict[str, Any]:
    """Load libraries and the language of the checks; return the version of Landlock.

    Loading makes hardly any garbage, and collecting it would take a third of the time. So collection starts in the
    children (`session.serve`), which ignore all objects older than themselves. A library that is missing is reported
    when the zygote is warmed up.
    """
    gc.disable()
    for name in ("session", "sandbox.canaries", "sandbox.layers"):
        importlib.import_module(f"autograder.worker.{name}")
    from autograder.worker import support
    from autograder.worker.sandbox import landlock

    with contextlib.suppress(support.LibraryMissing):
        support.load(libraries)
    return {"landlock": landlock.version()}


def warm(descriptor: int) -> None:
    """Run what is slow at first, and the job in the file `descriptor`.

    The job is the course's: its checks, on its reference parts, with its public seed. Its results do not matter.
    Nothing of the parts may remain afterwards: submissions run in copies of this process, and could use the parts.
    """
    _run_job(descriptor)
    gc.collect()  # classes are part of reference cycles: without this, those of the parts would remain
    gc.freeze()


def _run_job(descriptor: int) -> None:
    from autograder.protocol import read_frame
    from autograder.worker import support
    from autograder.worker.session import JOB_LIMITS, Job

    job = read_frame(lambda size: os.read(descriptor, size), JOB_LIMITS)
    assert isinstance(job, dict)
    support.load(job.get("libraries", ()))
    own = support.loaded()
    own.start()
    own.warm_up(job.get("checks", {}))
    if job["plan"]:
        Job({**job, "limits": None}, lambda _: None).run()
    if any(job.get("forbidden", {}).values()):
        own.guard()
