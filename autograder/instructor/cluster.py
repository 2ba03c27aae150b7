"""Grading on a Dask cluster: the same function on every Dask worker.

The scheduler and the Dask workers belong to the instructor and are as trusted as the machine that grades: they have the
solutions and the seed, and exchange pickles. A student's code runs only in the worker processes of a Grader.
"""

import contextlib
import io
import json
import logging
import tempfile
import threading
import time
from asyncio import CancelledError as Abandoned
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any
from uuid import uuid4
from zipfile import ZIP_DEFLATED, ZipFile

from distributed import Client, Future, WorkerPlugin

from autograder.course import FOLDER, Course, Exercise, load_suite, read_course, suite_files, trust_here
from autograder.gradebook import course_of_run
from autograder.judge import Grader
from autograder.results import Report, from_json
from autograder.runner import Cancelled, EnvironmentProblem
from autograder.sandbox import Isolation
from autograder.submission import Submission

from .bulk import Conditions, open_grading_isolation, runtime

CONNECT_SECONDS = 15
ARRIVAL_SECONDS = 60.0
"""How long a task waits for the course on a worker that has just joined; a course has a few megabytes."""

CACHE = Path(FOLDER) / "cache"

RETRIES = 2
"""How often a task that raised is tried again; the scheduler decides about tasks whose worker was lost."""


class Cluster:
    """A cluster that has received a course. `grade` blocks, and may be called from many threads.

    `chosen` is what run.json notes about which exercises are graded. Raises `EnvironmentProblem` if no scheduler
    answers.
    """

    def __init__(
        self, address: str, conditions: Conditions, keys: Sequence[Path], chosen: Mapping[str, object]
    ) -> None:
        self.address = address
        self.conditions = conditions
        self._futures: set[Future] = set()
        self._lock = threading.Lock()
        self._cancelled = False
        self._name = f"course-{uuid4().hex}"
        plugin = CoursePlugin(self._name, pack(conditions.course, keys), conditions, chosen)
        # A lost scheduler is reported by our own sentence, not by tracebacks of the library.
        for name in ("distributed", "distributed.client", "distributed.core", "distributed.comm"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            self._client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
            self._client.register_plugin(plugin, name=self._name)
        except (OSError, ValueError, TimeoutError) as error:
            problem = f"no Dask scheduler answers at {address} ({error})"
            raise EnvironmentProblem(f"{problem}; start one, or give the address that it printed") from None

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(Exception, Abandoned):
            self._client.unregister_worker_plugin(self._name)
        self._client.close()

    def leave(self) -> None:
        """Make the workers stop grading and remove the course, before this process ends."""
        self.cancel()
        with contextlib.suppress(Exception, Abandoned):
            self._client.unregister_worker_plugin(self._name)

    @property
    def slots(self) -> int:
        """The number of submissions that its workers grade at a time, now."""
        return sum(self._client.nthreads().values())

    def cancel(self) -> None:
        """Cancel all running tasks: `grade` raises `Cancelled`."""
        with self._lock:
            self._cancelled = True
            futures = [*self._futures]
        with contextlib.suppress(Exception, Abandoned):
            self._client.cancel(futures, force=True)

    def grade(self, submission: Submission, exercises: Sequence[Exercise]) -> Report:
        """Return the report of a Dask worker on some exercises of a submission.

        Raises `EnvironmentProblem` if the cluster is gone, or has another kit than this machine. Any other exception
        means that the workers failed on this submission, or were lost repeatedly while grading it.
        """
        future = self._submitted(submission, exercises)
        try:
            answer = json.loads(future.result())
        except (Abandoned, CancelledError, OSError) as error:
            if self._cancelled:
                raise Cancelled from None
            problem = f"the Dask scheduler at {self.address} is gone ({type(error).__name__})"
            hint = "finished reports are kept: run the same command again when it is back"
            raise EnvironmentProblem(f"{problem}; {hint}") from None
        finally:
            with self._lock:
                self._futures.discard(future)
        self._require_same_kit(answer)
        return from_json(answer["report"])

    def _submitted(self, submission: Submission, exercises: Sequence[Exercise]) -> Future:
        with self._lock:
            if self._cancelled:
                raise Cancelled
            future = self._client.submit(
                grade_on_worker,
                self._name,
                submission,
                [exercise.id for exercise in exercises],
                pure=False,  # a forced second run must not get the cached result of the first
                retries=RETRIES,
            )
            self._futures.add(future)
        return future

    def _require_same_kit(self, answer: Mapping[str, Any]) -> None:
        mine = {"suite": self.conditions.suite, **self.conditions.runtime}
        theirs = {"suite": answer["report"]["suite"], **answer["runtime"]}
        for name, version in theirs.items():
            if mine.get(name) != version:
                what = "kit" if name == "suite" else name
                raise EnvironmentProblem(
                    f"the Dask worker {answer['worker']} has another {what} ({version}), "
                    f"expected the one of this machine ({mine.get(name)}); install the same on both"
                )


class CoursePlugin(WorkerPlugin):
    """Sends a course to a Dask worker, and removes it at the end."""

    def __init__(self, name: str, bundle: bytes, conditions: Conditions, chosen: Mapping[str, object]) -> None:
        self.name = name
        self.bundle = bundle
        self.chosen = chosen
        self.seed = conditions.seed
        self.device = conditions.device
        self.isolation = conditions.isolation

    def setup(self, worker: Any) -> None:
        """Make the course available to the tasks of this process."""
        COURSES[self.name] = SharedGrader(self, worker.address, worker.state.nthreads)

    def teardown(self, worker: Any) -> None:  # noqa: ARG002
        """Stop grading and remove the course, in a thread of its own, so that the Dask worker is not blocked."""
        if (grading := COURSES.pop(self.name, None)) is not None:
            threading.Thread(target=grading.close).start()


class SharedGrader:
    """A course and its Grader, shared by all threads of a Dask worker."""

    def __init__(self, plugin: CoursePlugin, address: str, threads: int) -> None:
        self.address = address
        self._plugin = plugin
        self._threads = threads
        self._lock = threading.Lock()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._isolation: Isolation | None = None
        self._made: Grader | None = None

    def grader(self) -> Grader:
        """Return the Grader; the first call unpacks the course, into a folder that only this user can read."""
        with self._lock:
            if self._made is None:
                self._folder = tempfile.TemporaryDirectory(prefix="course-", ignore_cleanup_errors=True)
                root = Path(self._folder.name)
                unpack(self._plugin.bundle, root)
                trust_here(root)
                at_once, asked = self._threads, self._plugin
                suite = load_suite(course_of_run(read_course(root), asked.chosen))
                self._isolation = open_grading_isolation(asked.isolation, suite, device=asked.device, jobs=at_once)
                self._made = Grader(
                    suite, seed=asked.seed, device=asked.device, finders=at_once, isolation=self._isolation
                )
            return self._made

    def close(self) -> None:
        """Stop grading, and remove the course."""
        with self._lock:
            if self._made is not None:
                self._made.cancel()
                self._made.__exit__()
            if self._isolation is not None:
                self._isolation.close()
            if self._folder is not None:
                self._folder.cleanup()


COURSES: dict[str, SharedGrader] = {}
"""The courses that this process has received, by name."""


def grade_on_worker(name: str, submission: Submission, exercises: Sequence[str]) -> bytes:
    """Grade some exercises of a submission in a Dask worker; return the report, versions and worker as JSON."""
    until = time.monotonic() + ARRIVAL_SECONDS
    while name not in COURSES and time.monotonic() < until:
        time.sleep(0.05)  # a worker that has just joined may be given work before the course has arrived
    grading = COURSES[name]
    grader = grading.grader()
    graded = {exercise.id: exercise for exercise in grader.suite.course.exercises}  # with the points they have here
    report = grader.grade(submission, [graded[exercise] for exercise in exercises])
    answer = {
        "report": report.to_json(),
        "runtime": runtime(grader.suite.course.every_library),
        "worker": grading.address,
    }
    return json.dumps(answer).encode()


def pack(course: Course, keys: Iterable[Path]) -> bytes:
    """Return a zip of the files that verdicts depend on, and of answer keys. Raises OSError."""
    data = io.BytesIO()
    # Sent once over a local network, where time matters more than size.
    with ZipFile(data, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        for file in suite_files(course):
            archive.write(file, file.relative_to(course.root))
        for file in keys:
            archive.write(file, CACHE / file.name)
    return data.getvalue()


def unpack(bundle: bytes, folder: Path) -> None:
    """Extract a course, packed by the same instructor and therefore trusted, into an empty folder. Raises OSError."""
    with ZipFile(io.BytesIO(bundle)) as archive:
        archive.extractall(folder)
