"""Grading a folder of submissions: several at a time, one report each, going on where it stopped."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from autograder.judge.grader import Grader
from autograder.progress import write_whole
from autograder.report import Report
from autograder.report.reading import read_report
from autograder.submission import Caps, Entry, Submission


@dataclass(frozen=True)
class Graded:
    """One submission's report, and whether it was there already."""

    report: Report
    kept: bool

    @property
    def failed(self) -> bool:
        """Whether the grader failed on some of it, so that there is no mark to trust."""
        return "grader_error" in self.report.statuses


class Bulk:
    """Grades submissions into a folder of reports. What was graded before, by the same suite and seed, is kept."""

    def __init__(self, grader: Grader, out: Path) -> None:
        self.grader = grader
        self.out = out

    def grade_all(self, entries: Sequence[Entry], jobs: int, told: Callable[[Graded], None]) -> list[Graded]:
        """Grade every entry; `told` hears of each one. Raises OSError, and stops, when a report cannot be written."""
        (self.out / "reports").mkdir(parents=True, exist_ok=True)
        done: dict[str, Graded] = {}
        pool = ThreadPoolExecutor(jobs)
        futures = {pool.submit(self.grade_one, entry): entry.student for entry in entries}
        try:
            for future in as_completed(futures):
                done[futures[future]] = future.result()
                told(done[futures[future]])
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        return [done[entry.student] for entry in entries]

    def anything_new(self, entries: Sequence[Entry]) -> bool:
        """Whether any submission is still to be graded."""
        return any(self._known(self._read(entry)) is None for entry in entries)

    def grade_one(self, entry: Entry) -> Graded:
        """Grade one submission, or keep its report if nothing it depends on has changed."""
        submission = self._read(entry)
        known = self._known(submission)
        if known is not None:
            return Graded(known, kept=True)
        report = self.grader.grade(submission)
        text = json.dumps({**report.to_json(), "run": self._run(submission)}, indent=1, ensure_ascii=False)
        write_whole(self._file(submission), text + "\n")
        return Graded(report, kept=False)

    def _file(self, submission: Submission) -> Path:
        return self.out / "reports" / f"{submission.student}.json"

    def _known(self, submission: Submission) -> Report | None:
        """Return the report that is there, if it is of this very submission, suite and seed."""
        known = read_report(self._file(submission))
        if known is None or known[1].get("run") != self._run(submission) or "grader_error" in known[0].statuses:
            return None
        return known[0]

    def _read(self, entry: Entry) -> Submission:
        course = self.grader.suite.course
        return entry.read(course.files, Caps(source_kib=course.limits.source_kib))

    def _run(self, submission: Submission) -> str:
        """Return the digest of everything the report depends on."""
        parts = (
            submission.digest,
            self.grader.suite_digest,
            self.grader.seed,
            self.grader.device,
            submission.notes,
            self.grader.isolation.name,
        )
        return f"sha256:{hashlib.sha256(repr(parts).encode()).hexdigest()}"


def counted(graded: Iterable[Graded]) -> tuple[int, int, int]:
    """Return how many were graded now, how many were kept, and on how many the grader failed."""
    all_ = list(graded)
    kept = sum(each.kept for each in all_)
    return len(all_) - kept, kept, sum(each.failed for each in all_)
