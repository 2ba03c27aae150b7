"""Who needs a look in a class: held hand-ins, failures of the grader, and files that are missing or unusual."""

import io
from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.console import Console

from autograder.gradebook import facts_of, render_class, summary_of
from autograder.gradebook.class_table import ClassSummary
from autograder.report import ASCII
from autograder.results import CheckResult, ExerciseResult, Finding, Flag, Place, Report, Status

PLACE = Place("ex01_mean.py", 3, "<module>")
NOTHING = Finding("structure", "structure", "ex01_mean.py defines no mean; it defines nothing at all.")


def exercise(status: Status, *findings: Finding | None, number: str = "01") -> ExerciseResult:
    checks = tuple(
        CheckResult(f"check_{at}", "a title", status if finding else "pass", 0, 100, 0.0, finding)
        for at, finding in enumerate(findings)
    )
    return ExerciseResult(f"ex{number}_mean", "the mean", status, 0, 100 * len(checks), checks)


def report(*exercises: ExerciseResult, student: str = "ada", **submission: object) -> Report:
    return Report("course", {"student": student, "notes": [], **submission}, "sha256:1", "cpu", "sandbox", exercises)


def summarize(reports: Sequence[Report]) -> ClassSummary:
    return summary_of([facts_of(report) for report in reports])


def looks(*reports: Report) -> list[str]:
    return [why for _, why in summarize(reports).need_a_look]


@pytest.mark.parametrize(
    ("status", "finding", "why"),
    [
        ("fail", NOTHING, "ex01_mean.py defines no mean; it defines nothing at all."),
        (
            "error",
            Finding("exception", "SyntaxError", "Python cannot read ex01_mean.py: expected ':'.", place=PLACE),
            "Python cannot read ex01_mean.py: expected ':'.",
        ),
        (
            "error",
            Finding("exception", "FileNotFoundError", "It raised an error.", detail="No such file: 'x'", place=PLACE),
            "It raised an error. No such file: 'x'",
        ),
        ("error", Finding("structure", "unread", "ex01_mean.py is a link."), "ex01_mean.py is a link."),
    ],
)
def test_a_file_that_is_unusual_needs_a_look_once(status: Status, finding: Finding, why: str) -> None:
    assert looks(report(exercise(status, finding, finding))) == [f"01 the mean: {why}"]


def test_a_flag_comes_first_with_its_line_though_it_costs_nothing() -> None:
    flags = (Flag(Place("ex01_mean.py", 12), "torch.jit", "it compiles"), Flag(Place("ex01_mean.py", 14), "gc", "x"))
    odd = report(replace(exercise("pass"), flags=flags), student="bob")
    other = replace(exercise("pass"), flags=(Flag(Place("ex00_first.py", 3, cell=2), "eval", "it runs text"),))
    lost = report(exercise("held", Finding("structure", "held", "Nothing was read.")), student="eve", found=["a.rar"])
    assert [student for student, _ in summarize([lost, odd]).need_a_look] == ["bob", "eve"]
    assert looks(odd) == ["01 the mean: line 12 uses torch.jit: it compiles (and 1 more like this)"]
    assert looks(report(other)) == ["01 the mean: cell 2, line 3 of ex00_first.py uses eval: it runs text"]


def test_ordinary_mistakes_need_no_look() -> None:
    wrong = Finding("exception", "ValueError", "Your code raised ValueError.", place=PLACE)
    assert looks(report(exercise("error", wrong, wrong))) == []
    assert looks(report(exercise("fail", NOTHING, None))) == [], "other checks found what they need"
    assert looks(report(replace(exercise("fail", NOTHING), max_score=0))) == [], "it belongs to an earlier assignment"


def test_missing_files_are_listed_together_unless_a_note_names_them() -> None:
    missing = Finding("structure", "missing", "There is no file.")
    two = [exercise("missing", missing, number=number) for number in ("02", "05")]
    assert looks(report(*two)) == ["no file for exercise 02 and 05"]
    note = "ex05_mean.py is missing, and there is ex05_mean (1).py; rename it if that is the one"
    assert looks(report(*two, notes=[note])) == [note, "no file for exercise 02"]


def test_a_note_that_says_it_already_is_not_repeated() -> None:
    link = "ex01_mean.py is a link, and links are not followed; hand in the file itself"
    unread = Finding("structure", "unread", f"{link}.")
    assert looks(report(exercise("error", unread), notes=[link])) == [link]


def test_those_without_a_score_come_first() -> None:
    held = report(exercise("held", NOTHING), student="bob", found=["a.rar (3 bytes)"])
    odd = report(exercise("fail", NOTHING))
    assert [student for student, _ in summarize([odd, held]).need_a_look] == ["bob", "ada"]
    assert looks(held) == ["held, no score: a.rar (3 bytes)"]


def test_what_costs_nothing_is_no_row_and_the_rest_is_sorted_by_what_it_can_cost() -> None:
    ordinary = ["ex01_mean.py is the code of ex01_mean.ipynb", "a.zip counts, not b.zip: it has the highest number"]
    twice = "ex01_mean.py is there 2 times; ex01_mean.py counts, not old/ex01_mean.py"
    whole = replace(exercise("pass", None), score=100)
    intake = {"notes": [*ordinary, twice], "ordinary": ordinary}
    assert looks(report(whole, **intake)) == []
    assert looks(report(exercise("fail", Finding("pattern", "x", "Wrong.")), **intake)) == [twice]
    late = "Canvas marks it as late, and does not give the time"
    assert looks(report(whole, notes=[late], of_time=[late])) == [late], "it may cost points in the end"
    small, large = (
        report(exercise("fail", *[NOTHING] * count), student=name) for count, name in ((1, "small"), (3, "large"))
    )
    assert [name for name, _ in summarize([small, large]).need_a_look] == ["large", "small"]


def test_a_file_that_raises_at_import_is_a_row_and_says_in_which_cell() -> None:
    place = Place("ex01_mean.ipynb", 2, "<module>", cell=4)
    message = "Your code raised ModuleNotFoundError while it was imported."
    lost = Finding(
        "exception", "ModuleNotFoundError", message, detail="No module named 'x'", place=place, at_import=True
    )
    [why] = looks(report(exercise("error", lost, lost)))
    assert why == f"01 the mean: {message} No module named 'x' (cell 4, line 2)"


def test_a_held_exercise_names_the_file_in_one_row() -> None:
    doubt = "ex01_mean.py counts and holds no work, and old/ex01_mean.py has work; keep the one that is meant"
    held = exercise("held", Finding("structure", "held", f"{doubt}."))
    assert looks(report(held, replace(exercise("pass", None), score=100), notes=[doubt])) == [
        f"held, no score for exercise 01: {doubt}"
    ]
    decided = exercise("held", Finding("structure", "decided", "Your teacher decided on the score."))
    assert looks(report(decided, notes=[doubt]))[1:] == [], "nothing is left to decide"


def full(student: str) -> Report:
    return report(replace(exercise("pass", None), score=100), student=student)


def rendered(reports: list[Report], plain: bool, summary: ClassSummary | None = None) -> str:
    file = io.StringIO()
    render_class(Console(file=file, width=80), reports, glyphs=ASCII, plain=plain, summary=summary)
    return file.getvalue()


def test_a_table_that_is_cut_says_so_and_its_summary_is_of_everybody() -> None:
    held = report(exercise("held", NOTHING), student="s199", found=["essay.docx"])
    none = report(exercise("fail", NOTHING), student="s198")
    everybody = [*(full(f"s{number:03}") for number in range(197)), none, held]
    summary = summarize(everybody)
    assert summary.sentence == "199 submissions, 1 without a score, 197 with full marks, mean 1.0 of 1 points"
    assert [student for student, _ in summary.need_a_look] == ["s199", "s198"]
    for plain in (False, True):
        said = rendered(everybody[:60], plain, summary)
        assert "first 60 of 199 submissions; scores.csv has all of them" in said
        assert summary.sentence in said
        assert "held, no score: essay.docx" in said
        assert plain or all(len(line) <= 80 for line in said.splitlines())
        assert "first" not in rendered(everybody, plain)


def test_a_held_hand_in_that_somebody_decided_about_waits_for_nobody() -> None:
    held = report(exercise("held", NOTHING), student="ada", found=["essay.docx"])
    other = report(exercise("held", NOTHING), student="bob", found=[])
    excused = report(exercise("held", NOTHING), student="cy", found=[])
    facts = [facts_of(one) for one in (held, other, excused)]
    summary = summary_of(facts, 100, {"ada": 50, "cy": None})
    assert summary.sentence == "3 submissions, 2 without a score, 0 with full marks, mean 0.5 of 1 points"
    assert [student for student, _ in summary.need_a_look] == ["bob"]
    assert summary.decided == {"ada": 50}
