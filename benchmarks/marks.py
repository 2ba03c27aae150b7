"""Check the marks of a class: a time for grading means nothing if the marks are wrong.

A grader that marks wrongly does less than it should, or something else: its time is meaningless. So whoever measures
compares the marks first, and `refuse` ends the program with status 1 where they differ.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from synthetic import Synthetic

Reports = Mapping[str, Mapping[str, Any]]
"""The reports of `course grade`, by student."""

Marks = Mapping[str, Mapping[str, int]]
"""The hundredths of each exercise, by student; a student or an exercise that is not there has no mark."""

Ended = Mapping[str, Mapping[str, Sequence[str]]]
"""The checks whose probes came to an end, by student and exercise."""

STOPPED = frozenset({"timeout", "memory"})
MOST_EXAMPLES = 8


@dataclass(frozen=True)
class Comparison:
    """How many marks there are, how many are ours, why others are not, and a sentence for each without a reason."""

    marks: int
    same: int
    reasons: Counter[str] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)


def refuse(whose: str, wrong: Sequence[str]) -> None:
    """Exit with status 1 and name the wrong marks, if there are any."""
    if wrong:
        examples = "".join(f"\n  {line}" for line in wrong[:MOST_EXAMPLES])
        more = f"\n  and {len(wrong) - MOST_EXAMPLES} more" if len(wrong) > MOST_EXAMPLES else ""
        raise SystemExit(f"no figure, for the marks of {whose} are wrong:{examples}{more}")


def reports_in(out: Path) -> Reports:
    """Read the reports that `course grade` wrote."""
    return {file.stem: json.loads(file.read_text("utf-8")) for file in (out / "reports").glob("*.json")}


def misgraded(submissions: Sequence[Synthetic], reports: Reports) -> Iterator[str]:
    """Yield a sentence for every wrong mark of this kit."""
    for submission in submissions:
        if submission.student not in reports:
            yield f"{submission.student} has no report"
            continue
        found = {exercise["id"]: exercise for exercise in reports[submission.student]["exercises"]}
        for exercise, made_of in submission.made_of.items():
            if sentence := _misgraded(found.get(exercise), deserved(submission, exercise)):
                yield f"{submission.student} {exercise} ({made_of}): {sentence}"


def _misgraded(found: Mapping[str, Any] | None, wanted: str) -> str | None:
    if found is None:
        return "not in the report"
    status, score, most = found["status"], found["score"], found["max_score"]
    failed = [check for check in found["checks"] if check["status"] != "pass"]
    lost = bool(failed) and not any(check["score"] for check in failed)
    right = {
        "full marks": status == "pass" and not failed and score >= most,  # more with a bonus
        "some marks": status in ("pass", "fail", "error", *STOPPED) and lost,
        "missing": status == "missing" and score == 0,
        "not started": status == "not_started" and score == 0,
        "any marks": status != "grader_error",
    }
    return None if right[wanted] else f"{status} with {score} of {most} hundredths, expected {wanted}"


def deserved(submission: Synthetic, exercise: str) -> str:
    """Return the right mark of an exercise, by the program it was made from."""
    made_of = submission.made_of[exercise]
    if made_of == "missing":
        return "missing"
    if made_of == "stub":
        return "not started"
    if exercise in submission.wrong:
        return "some marks"
    # the files of a whole program import names of their own from each other: one is right among the others alone
    others = set(submission.made_of.values())
    return "any marks" if len(others) > 1 and any("/" in other for other in others) else "full marks"


def compared(submissions: Sequence[Synthetic], ours: Reports, marks: Marks, *, rival: bool) -> Comparison:
    """Compare a grader's marks with ours, exercise by exercise; a grader of this kit has no reason to differ."""
    same, reasons, unexplained = 0, Counter[str](), []
    for submission in submissions:
        exercises = ours[submission.student]["exercises"]
        for exercise in exercises:
            theirs = marks.get(submission.student, {}).get(exercise["id"])
            if theirs is not None and theirs == exercise["score"]:
                same += 1
            elif rival and (reason := reason_of(exercise, theirs, exercises)):
                reasons[reason] += 1
            else:
                own = f"{exercise['score']} ({exercise['status']})"
                made_of = submission.made_of[exercise["id"]]
                unexplained.append(f"{submission.student} {exercise['id']} ({made_of}): {theirs}, by the kit {own}")
    return Comparison(same + reasons.total() + len(unexplained), same, reasons, unexplained)


def reason_of(exercise: Mapping[str, Any], theirs: int | None, others: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the feature of this kit that explains another mark of a rival; None if there is none."""
    if theirs is None:
        stopped = any(_statuses(other) & STOPPED for other in others)
        return "no mark for a submission of which ours stopped a part" if stopped else None
    if exercise["parts"] == "stand-in":
        return "this kit graded it again with reference parts for the wrong ones it uses"
    kinds = {check["finding"]["kind"] for check in exercise["checks"] if check["finding"]}
    if "forbidden" in kinds and theirs > exercise["score"]:
        return "ours saw a forbidden call"
    if _statuses(exercise) & STOPPED and theirs > exercise["score"]:
        return "ours stopped it"
    return None


def cut_short(ours: Reports, ended: Ended) -> Iterator[str]:
    """Yield a sentence for every check that passes on a student's own parts and whose probe did not end elsewhere."""
    for student, report in ours.items():
        for exercise in report["exercises"]:
            passed = {check["id"] for check in exercise["checks"] if check["status"] == "pass"}
            there = ended.get(student, {}).get(exercise["id"], ())
            if exercise["parts"] == "own" and (lacking := sorted(passed.difference(there))):
                yield f"{student} {exercise['id']}: the probes of {', '.join(lacking)} did not end"


def _statuses(exercise: Mapping[str, Any]) -> set[str]:
    return {check["status"] for check in exercise["checks"]}
