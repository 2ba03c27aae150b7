"""adjustments.csv: what people decide about marks, from the file to the final score, against a plain computation."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from math import floor
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.cli import run as run_here
from autograder.course import Assignment, Grading
from autograder.gradebook import (
    Adjustment,
    Adjustments,
    Graded,
    Mark,
    Policy,
    Roster,
    Student,
    adjustment,
    append,
    effect_of,
    final_of,
    kept_beside,
    merged,
    missing,
    read_adjustments,
    read_times,
    warnings_about,
    without_effect,
)
from autograder.gradebook.decisions import COLUMNS, AdjustmentError
from autograder.gradebook.policy import deadline, lowest, on_curve
from autograder.instructor.command_adjust import _new_imports
from autograder.results import CheckResult, ExerciseResult, Report
from tests.support import tiny

IDS = ("ex01_a", "ex02_b", "ex03_c", "ex04_d")
WORTH = dict(zip(IDS, (4000, 3000, 2000, 1000), strict=True))
bounded = settings(max_examples=200, derandomize=True, deadline=None, database=None)
WHEN = "2026-03-09 10:00"


def row(student: str, exercise: str, kind: str, value: str = "", text: str = "why", by: str = "Grace") -> Adjustment:
    amount = round(float(value) * 100) if kind in ("points", "add") else int(value) if value.isdigit() else 0
    return Adjustment(student, exercise, kind, value, text, by, WHEN, amount)


def report(*scores: int | None) -> Report:
    exercises = tuple(
        ExerciseResult(id_, id_, "grader_error" if score is None else "fail", score or 0, WORTH[id_], "own", ())
        for id_, score in zip(IDS, scores, strict=True)
    )
    return Report("course", {"student": "ada"}, "suite", "cpu", "none", exercises)


def policy(*rows: Adjustment, **grading: object) -> Policy:
    rules = replace(Grading(), **grading)  # type: ignore[arg-type]
    maximum = sum(most for id_, most in WORTH.items() if id_ not in rules.bonus)
    return Policy(rules, maximum, Roster(), Adjustments(tuple(rows)), WORTH)


def score(results: Report | None, *rows: Adjustment, **grading: object) -> int | None:
    made = final_of(policy(*rows, **grading), "ada", None, results)
    if made.score is not None:
        assert sum(change for _, change in made.steps) == made.score
    return made.score


def test_points_replace_and_add_adds() -> None:
    results = report(4000, 1500, 0, 500)
    assert score(results) == 6000
    assert score(results, row("ada", "ex02_b", "points", "30")) == 7500
    assert score(results, row("ada", "ex02_b", "add", "2"), row("ada", "ex02_b", "add", "-1")) == 6100
    assert score(results, row("ada", "*", "points", "70"), row("ada", "*", "add", "1.5")) == 7150
    assert score(results, row("ada", "*", "add", "1.5"), row("ada", "*", "points", "70")) == 7150, "in any order"
    assert score(results, row("ada", "ex02_b", "add", "2"), row("ada", "ex02_b", "points", "20")) == 6700
    assert score(results, row("bob", "*", "points", "70")) == 6000


def test_a_later_row_replaces_an_earlier_one_and_a_withdrawal_takes_it_back() -> None:
    results = report(4000, 1500, 0, 500)
    first, second = row("ada", "ex02_b", "points", "30"), row("ada", "ex02_b", "points", "20")
    assert score(results, first, second) == 6500
    assert score(results, first, row("ada", "ex02_b", "withdraw", "points")) == 6000
    assert score(results, first, row("ada", "ex02_b", "excused")) == score(results, row("ada", "ex02_b", "excused"))


def test_the_effect_counts_students_and_says_when_marks_get_below_0() -> None:
    def graded(*rows: Adjustment) -> Graded:
        made = policy(*rows)
        reports = (report(4000, 0, 0, 0), report(1000, 0, 0, 0), report(None, 0, 0, 0))
        finals = [final_of(made, name, None, one) for name, one in zip(("ada", "bob", "cem"), reports, strict=True)]
        return Graded(tiny.COURSE, made, tuple(map(Mark, map(Student, ("ada", "bob", "cem")), reports, finals)))

    lines = [*effect_of(graded(), graded(row("cem", "*", "points", "10")))]
    assert lines[:2] == ["1 of 3 students gets another mark", "the mean goes from 25.00 to 20.00 of 100"]
    lines = [*effect_of(graded(), graded(row("bob", "*", "add", "-50")))]
    assert lines[-1] == "1 mark below 0, and they count: bob"


def test_a_time_is_read_in_the_zone_of_the_course() -> None:
    course = replace(tiny.COURSE, grading=Grading(zone=ZoneInfo("Europe/Berlin")))
    cells = {"student": "ada", "exercise": "*", "text": "mail", "by": "Grace", "when": WHEN}
    for kind, value, shown in (
        ("handed_in", "2026-11-22 23:00:30 UTC", "handed in at 2026-11-23 00:00:30 (Europe/Berlin)"),
        ("extension", "2026-11-22 23:00+00:00", "due 2026-11-23 00:00 (Europe/Berlin)"),
    ):
        made = adjustment(course, Roster(), {**cells, "kind": kind, "value": value})
        assert made.sentence.startswith(shown)
        assert made.row()["value"] == value


def test_the_date_of_a_folder_with_the_name_of_a_group_is_that_of_its_members(tmp_path: Path) -> None:
    roster = Roster(tuple(Student(name, group="Red") for name in ("ada", "bob")))
    for at, name in enumerate(("ada", "red_4711", "stranger")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "ex01.py").touch()
        os.utime(tmp_path / name / "ex01.py", (at, at))
    times = read_times(tmp_path, roster)
    assert times.found == {"bob": "1970-01-01 00:00:01 UTC", "ada": "1970-01-01 00:00:00 UTC"}
    assert (times.strangers, times.without) == (("stranger",), ())


def test_excused_is_neither_zero_nor_missing() -> None:
    results = report(4000, 0, 2000, 1000)
    assert score(results) == 7000
    assert score(results, row("ada", "ex02_b", "excused")) == 10_000
    made = final_of(policy(row("ada", "*", "excused")), "ada", None, results)
    assert (made.score, made.excused) == (None, True)
    assert final_of(policy(row("ada", "*", "excused")), "ada", None, None).excused


def test_what_was_not_judged_has_no_score_until_somebody_gives_one() -> None:
    failed = report(4000, None, 0, 500)
    assert score(failed) is None
    assert score(failed, row("ada", "ex02_b", "add", "3")) is None
    assert score(failed, row("ada", "ex02_b", "points", "3")) == 4800
    assert score(failed, row("ada", "ex02_b", "excused")) == floor(Fraction(4500 * 10_000, 7000) + Fraction(1, 2))
    assert score(None) is None
    assert score(None, row("ada", "*", "points", "55")) == 5500


def test_the_lowest_is_dropped_the_later_of_equals_and_never_a_bonus() -> None:
    assert lowest({"a": 5, "b": 0, "c": 0}, {"a": 10, "b": 10, "c": 10}, 1) == {"c"}
    assert lowest({"a": 5, "b": 0}, {"a": 10, "b": 10}, 5) == {"b"}
    assert score(report(4000, 3000, 0, 1000), drop_lowest=1) == 10_000
    assert score(report(4000, 3000, 2000, 0), drop_lowest=1, bonus=("ex04_d",)) == 9000
    notes = final_of(policy(drop_lowest=1), "ada", None, report(4000, 3000, 0, 1000)).notes
    assert notes == ("the lowest does not count: exercise 03",)


CURVE = ((Decimal(0), Decimal(0)), (Decimal(40), Decimal(50)), (Decimal(100), Decimal(100)))


def test_a_curve_is_shown_beside_the_mark_before_it() -> None:
    assert score(report(4000, 0, 0, 0), curve=CURVE) == 5000
    made = final_of(policy(curve=CURVE), "ada", None, report(4000, 0, 0, 0))
    assert made.notes == ("40.00 before the curve",)
    assert made.steps[-1] == ("curve", 1000)


@bounded
@given(st.integers(0, 12_000), st.integers(0, 12_000))
def test_a_curve_keeps_the_order_of_the_students(low: int, high: int) -> None:
    rules = policy(curve=CURVE)
    low, high = sorted((low, high))
    assert on_curve(rules, low) <= on_curve(rules, high)
    assert (on_curve(rules, 0), on_curve(rules, 10_000)) == (0, 10_000)


scores = st.tuples(*(st.integers(0, most) for most in WORTH.values()))
decisions = st.lists(
    st.tuples(st.sampled_from(IDS), st.sampled_from(["points", "add", "excused"]), st.integers(0, 3000)),
    max_size=6,
    unique_by=lambda one: one[:2],
)


@pytest.mark.long
@bounded
@given(scores, decisions, st.integers(0, 2), st.sampled_from([(), ("ex04_d",)]), st.randoms())
def test_marks_equal_a_plain_computation_in_any_order_of_rows(
    earned: tuple[int, ...], chosen: list[tuple[str, str, int]], drop: int, bonus: tuple[str, ...], random: object
) -> None:
    chosen = [one for one in chosen if not (one[1] == "points" and (one[0], "excused") in [o[:2] for o in chosen])]
    rows = [row("ada", id_, kind, "" if kind == "excused" else str(value / 100)) for id_, kind, value in chosen]
    table = dict(zip(IDS, map(Fraction, earned), strict=True))
    for id_, kind, value in sorted(chosen, key=lambda one: one[1], reverse=True):  # points before add
        table[id_] = Fraction(value) if kind == "points" else table[id_] + value if kind == "add" else table[id_]
    out = {id_ for id_, kind, _ in chosen if kind == "excused"}
    left = sorted((id_ for id_ in IDS if id_ not in out and id_ not in bonus), key=lambda id_: table[id_] / WORTH[id_])
    worst = sorted(left, key=lambda id_: (table[id_] / WORTH[id_], -IDS.index(id_)))[: min(drop, len(left) - 1)]
    kept = [id_ for id_ in left if id_ not in worst]
    maximum = sum(most for id_, most in WORTH.items() if id_ not in bonus)
    ordered = sorted(rows, key=lambda one: one.kind, reverse=True)
    by_exercise = sorted(ordered, key=lambda one: one.exercise)
    for arranged in (ordered, by_exercise):
        made = score(report(*earned), *arranged, drop_lowest=drop, bonus=bonus)
        if not kept:
            assert made is None
            continue
        exact = sum(table[id_] for id_ in kept) * maximum / sum(WORTH[id_] for id_ in kept)
        extra = sum(table[id_] for id_ in bonus if id_ not in out)
        assert made == floor(exact + Fraction(1, 2)) + extra


def test_an_extension_moves_the_due_date_of_one_student() -> None:
    due = datetime(2026, 3, 1, 12)
    late = datetime(2026, 3, 2, 10, tzinfo=UTC)
    rules = {"due": due, "late_percent": Decimal(10)}
    assert final_of(policy(**rules), "ada", late, report(4000, 3000, 2000, 1000)).score == 9000
    more = row("ada", "*", "extension", "1")
    assert final_of(policy(more, **rules), "ada", late, report(4000, 3000, 2000, 1000)).score == 10_000


HEADER = ",".join(COLUMNS)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("ada,01,point,3,why,Grace,2026-03-09 10:00", ":2: kind is point; did you mean points?"),
        ("ada,77,points,3,why,Grace,2026-03-09 10:00", ":2: There is no exercise `77`"),
        ("ada,01,points,,why,Grace,2026-03-09 10:00", ":2: value is empty, expected a number of points"),
        ("ada,01,points,-3,why,Grace,2026-03-09 10:00", ":2: value is -3, expected a number of points"),
        ("ada,01,points,3,,Grace,2026-03-09 10:00", ":2: text is empty, expected the reason"),
        ("ada,01,points,3,why,,2026-03-09 10:00", ":2: by is empty, expected who decided"),
        ("ada,01,points,3,why,Grace,March", ":2: when is March, expected a time like"),
        ("ada,01,excused,3,why,Grace,2026-03-09 10:00", ":2: value is 3, expected nothing"),
        ("ada,01,extension,3,why,Grace,2026-03-09 10:00", ":2: extension is for all exercises together"),
        ("*,01,void,,why,Grace,2026-03-09 10:00", ":2: value is empty, expected the name of a check of exercise 01"),
        (
            "ada,01,withdraw,praise,why,Grace,2026-03-09 10:00",
            ":2: value is praise, expected a kind, `void` with a check",
        ),
        ("*,*,void,values,why,Grace,2026-03-09 10:00", ":2: void is for one check, expected the exercise"),
        ("ada,*,extension,soon,why,Grace,2026-03-09 10:00", ":2: value is soon, expected a number of days"),
    ],
)
def test_a_mistake_is_a_sentence_with_its_line(tmp_path: Path, line: str, found: str) -> None:
    file = tmp_path / "adjustments.csv"
    file.write_text(f"{HEADER}\n{line}\n")
    with pytest.raises(AdjustmentError) as error:
        read_adjustments(tiny.COURSE, file)
    assert found in str(error.value)


def test_a_new_row_is_of_a_student_on_the_roster_and_one_in_the_file_may_be_of_one_who_left(tmp_path: Path) -> None:
    file = tmp_path / "adjustments.csv"
    file.write_text(f"{HEADER}\nabe,01,points,3,why,Grace,{WHEN}\n*,01,add,3,why,Grace,{WHEN}\n")
    roster = Roster((Student("ada"),))
    rows = read_adjustments(tiny.COURSE, file).rows
    cells = {**rows[0].row(), "student": "aba"}
    with pytest.raises(AdjustmentError, match="aba is no student of the roster; did you mean ada"):
        adjustment(tiny.COURSE, roster, cells)
    rules = replace(policy(*rows), roster=roster)
    [said] = without_effect(rules)
    assert said.startswith(
        "adjustments.csv has decisions about 1 student not on the roster: abe; if an id is misspelled"
    )
    assert missing(rules, []) == ("ada",)
    assert without_effect(policy(*rows)) == [], "without a roster everybody is listed"


@pytest.mark.parametrize("name", ["text", "by"])
def test_a_cell_of_spaces_is_empty_before_it_is_written_too(name: str) -> None:
    cells = dict(zip(COLUMNS, ("ada", "01", "points", "3", "why", "Grace", WHEN), strict=True))
    with pytest.raises(AdjustmentError, match=f"{name} is empty"):
        adjustment(tiny.COURSE, Roster(), {**cells, name: " \n"})


def test_what_is_added_is_read_again_whatever_its_text(tmp_path: Path) -> None:
    file = tmp_path / "adjustments.csv"
    rows = [
        Adjustment("ada", tiny.FIRST, "add", "1.5", '=1+1, "so" <b>', "Grace", WHEN, 150),
        Adjustment("ada", "*", "extension", "2026-03-08 23:59", "ill", "Grace", WHEN, 0, None),
    ]
    for one in rows:
        append(replace(tiny.COURSE, root=tmp_path), [one])
    read = read_adjustments(tiny.COURSE, file).rows
    assert [one.row() for one in read] == [one.row() for one in rows]
    assert read[1].due == datetime(2026, 3, 8, 23, 59, tzinfo=UTC)


CHECKS = {"ex01_a": (3000, 1000), "ex02_b": (1000, 1000, 1000), "ex03_c": (1500, 500), "ex04_d": (1000,)}


def checked(passed: Mapping[str, frozenset[int]], student: str = "ada") -> Report:
    """Return a report with the points of the checks that pass, named c0, c1 and so on."""
    exercises = []
    for id_, worths in CHECKS.items():
        passes = [at in passed.get(id_, ()) for at in range(len(worths))]
        checks = tuple(
            CheckResult(f"c{at}", "is right", "pass" if good else "fail", worth if good else 0, worth)
            for at, (good, worth) in enumerate(zip(passes, worths, strict=True))
        )
        points = sum(check.score for check in checks)
        exercises.append(ExerciseResult(id_, id_, "fail", points, WORTH[id_], checks))
    return Report("course", {"student": student}, "suite", "cpu", "none", tuple(exercises))


def test_a_decision_for_everybody_counts_for_each_student_who_is_graded_now_or_later() -> None:
    every = row("*", "ex02_b", "add", "2")
    assert score(report(4000, 1500, 0, 500), every) == 6200
    own = row("ada", "ex02_b", "points", "10")
    late = row("*", "ex02_b", "points", "30")
    assert score(report(4000, 1500, 0, 500), own, late) == 5500, "what is decided about one student counts first"
    assert score(report(4000, 1500, 0, 500), row("bob", "ex02_b", "points", "10"), late) == 7500
    assert Adjustments((own, late)).students == ("ada",)
    assert Adjustments((own, late)).of("*") == Adjustments((own, late)).of("zoe") == (late,)


WEEKS = tuple(Assignment(f"week{at}", "", ids, Grading()) for at, ids in enumerate((IDS[:2], IDS[2:3]), 1))


@pytest.mark.parametrize(
    ("own", "everybody", "named"),
    [
        (row("ada", "ex01_a", "points", "4"), row("*", "ex01_a", "void", "c0"), True),
        (row("ada", "ex01_a", "excused"), row("*", "ex01_a", "void", "c0"), True),
        (row("ada", "ex01_a", "excused"), row("*", "ex01_a", "add", "1"), True),
        (row("ada", "week1", "points", "4"), row("*", "ex01_a", "void", "c0"), True),
        (row("ada", "*", "excused"), row("*", "ex01_a", "points", "1"), True),
        (row("ada", "ex01_a", "points", "4"), row("*", "ex01_a", "points", "1"), True),
        (row("ada", "week2", "points", "4"), row("*", "ex01_a", "void", "c0"), False),
        (row("ada", "ex02_b", "points", "4"), row("*", "ex01_a", "void", "c0"), False),
        (row("ada", "ex01_a", "points", "4"), row("*", "ex01_a", "add", "1"), False),
        (row("ada", "ex01_a", "add", "4"), row("*", "ex01_a", "void", "c0"), False),
        (row("ada", "week1", "points", "4"), row("*", "week1", "add", "1"), False),
    ],
)
def test_a_student_is_named_for_whom_a_decision_for_everybody_changes_nothing(
    own: Adjustment, everybody: Adjustment, named: bool
) -> None:
    course = replace(tiny.COURSE, assignments=WEEKS)
    said = "1 student has a decision of their own, which counts before the one for everybody: ada" if named else ""
    assert kept_beside(course, Adjustments((own,)), [everybody]) == said
    back = row("*", everybody.exercise, "withdraw", everybody.target)
    assert kept_beside(course, Adjustments((own, everybody)), [back]) == said


def test_an_exercise_in_no_assignment_has_no_mark() -> None:
    course = replace(tiny.COURSE, assignments=WEEKS, exercises=tuple(replace(one) for one in tiny.COURSE.exercises))
    lost = row("ada", tiny.FIRST, "add", "1")
    assert "ada: exercise 01 is in no assignment, so this changes nothing" in warnings_about(course, lost)[0]
    assert warnings_about(replace(course, assignments=()), lost) == ()


def test_one_void_check_is_withdrawn_and_the_other_stays() -> None:
    values, axes = row("*", "ex01_a", "void", "values"), row("*", "ex01_a", "void", "axes")
    assert Adjustments((values, axes, row("*", "ex01_a", "withdraw", "void values"))).of("ada") == (axes,)
    assert Adjustments((values, axes, row("ada", "ex01_a", "withdraw", "void axes"))).of("ada") == (values,)


def test_one_row_of_several_is_withdrawn_and_of_two_equal_ones_one_stays() -> None:
    first, second = (row("ada", "ex01_a", "add", "1", text) for text in ("first", "second"))
    every, said = row("*", "ex01_a", "add", "1"), row("ada", "ex01_a", "comment", text="fine")
    kept = Adjustments((first, every, second, said, row("ada", "ex01_a", "withdraw", first.target)))
    assert kept.of("ada") == (every, second, said)
    own = Adjustments((first, every, second, said, row("ada", "ex01_a", "withdraw", every.target)))
    assert (own.of("ada"), own.of("bob")) == ((first, second, said), (every,))
    alike = Adjustments((first, first, row("ada", "ex01_a", "withdraw", first.target)))
    assert alike.of("ada") == (first,)
    assert Adjustments((first, second, row("ada", "ex01_a", "withdraw", "add"))).of("ada") == ()


def test_what_is_withdrawn_for_everybody_leaves_the_decisions_about_one_student() -> None:
    own, every = row("ada", "ex02_b", "add", "1"), row("*", "ex02_b", "add", "2")
    assert Adjustments((own, every, row("*", "ex02_b", "withdraw"))).of("ada") == (own,)
    without = Adjustments((every, row("ada", "ex02_b", "withdraw", "add")))
    assert (without.of("ada"), without.of("bob")) == ((), (every,))
    points, special = row("*", "ex02_b", "points", "2"), row("ada", "ex02_b", "points", "5")
    assert Adjustments((points, special, row("ada", "ex02_b", "withdraw"))).of("ada") == (points,)


def test_what_is_added_for_everybody_makes_no_mark_of_a_student_who_handed_in_nothing() -> None:
    assert score(None, row("*", "ex02_b", "add", "2"), row("*", "*", "add", "2")) is None
    assert score(None, row("*", "ex02_b", "void", "c0")) is None
    assert score(None, row("ada", "ex02_b", "add", "2")) == 200
    assert score(None, row("*", "ex02_b", "points", "30")) == 3000
    assert final_of(policy(row("*", "*", "excused")), "ada", None, None).excused


def test_an_extension_for_everybody_does_not_shorten_that_of_one_student() -> None:
    own, every = row("ada", "*", "extension", "7"), row("*", "*", "extension", "1")
    rules = policy(own, every, due=datetime(2026, 3, 1, 12))
    assert deadline(rules, "ada", 0) == datetime(2026, 3, 8, 12, tzinfo=UTC)
    assert deadline(rules, "bob", 0) == datetime(2026, 3, 2, 12, tzinfo=UTC)
    assert without_effect(policy(every)) == [
        "there is no due date, so more days change nothing for everybody; add due to [grading]"
    ]


def test_everybody_has_the_points_of_a_void_check() -> None:
    void = row("*", "ex01_a", "void", "c0")
    assert score(checked({}), void) == 3000
    assert score(checked({"ex01_a": frozenset({0})}), void) == 3000, "who passes it has them already"
    assert score(checked({}), void, row("*", "ex01_a", "void", "c1")) == 4000
    assert score(checked({}), void, void, row("*", "ex01_a", "withdraw", "void")) == 0
    assert score(checked({}), row("ada", "ex01_a", "points", "1"), void) == 100, "points are the whole exercise"
    assert score(report(None, 0, 0, 0), void) is None, "what was not judged has no score"
    made = final_of(policy(void), "ada", None, checked({}))
    assert [(label.partition(",")[0], change) for label, change in made.steps] == [
        ("checks", 0),
        ("check c0 of exercise 01 is void", 3000),
    ]
    assert "for everybody, by Grace" in made.notes[0]


NAMES = [(id_, f"c{at}") for id_, worths in CHECKS.items() for at in range(len(worths))]
passing = st.fixed_dictionaries({id_: st.frozensets(st.integers(0, len(CHECKS[id_]) - 1)) for id_ in CHECKS})
late_rules = {"due": datetime(2026, 3, 1, 12), "late_percent": Decimal(10)}


@pytest.mark.long
@bounded
@given(
    passing,
    st.lists(st.sampled_from(NAMES), max_size=3),
    decisions,
    st.integers(0, 2),
    st.sampled_from([(), ("ex04_d",)]),
    st.sampled_from([(), CURVE]),
    st.sampled_from(["max", "score"]),
)
def test_nobody_loses_points_by_a_void_check(
    passed: Mapping[str, frozenset[int]],
    void: list[tuple[str, str]],
    chosen: list[tuple[str, str, int]],
    drop: int,
    bonus: tuple[str, ...],
    curve: tuple[tuple[Decimal, Decimal], ...],
    late_of: str,
) -> None:
    rows = [row("ada", id_, kind, "" if kind == "excused" else str(value / 100)) for id_, kind, value in chosen]
    rules = {"drop_lowest": drop, "bonus": bonus, "curve": curve, "late_of": late_of, **late_rules}
    at, results = datetime(2026, 3, 3, tzinfo=UTC), checked(passed)
    before = final_of(policy(*rows, **rules), "ada", at, results).score
    for exercise, check in void:
        rows.append(row("*", exercise, "void", check))
        now = final_of(policy(*rows, **rules), "ada", at, results)
        assert (now.score is None) == (before is None)
        assert now.score is None or (before or 0) <= now.score == sum(change for _, change in now.steps)
        before = now.score


def test_a_void_check_that_would_change_which_exercise_is_dropped_costs_nothing() -> None:
    results = checked({"ex02_b": frozenset({0, 1, 2}), "ex04_d": frozenset({0})})
    void = row("*", "ex01_a", "void", "c1")
    rest = (row("ada", "ex03_c", "excused"), row("ada", "ex02_b", "points", "7"))
    assert score(results, *rest, drop_lowest=1) == score(results, *rest, void, drop_lowest=1)
    assert score(results, *rest, row("ada", "ex01_a", "points", "10"), drop_lowest=1) < 10_000 * 17 // 40


def time(student: str, value: str, text: str = "the time in week1", by: str = "Grace") -> Adjustment:
    at = datetime.fromisoformat(f"{value}+00:00")
    return Adjustment(student, "*", "handed_in", value, text, by, WHEN, due=at)


def test_a_time_that_somebody_decided_counts_before_an_imported_one_and_its_withdrawal_brings_that_back() -> None:
    imported, decided = time("ada", "2026-03-02 10:00"), time("ada", "2026-03-01 10:00", "the mail of Monday")
    newer, back = time("ada", "2026-03-03 10:00", by="Alan"), row("ada", "*", "withdraw", "handed_in")
    assert Adjustments((imported, newer)).of("ada") == (newer,)
    assert Adjustments((imported, decided)).of("ada") == Adjustments((decided, imported)).of("ada") == (decided,)
    assert Adjustments((imported, decided, newer, back)).of("ada") == (newer,)
    assert Adjustments((imported, decided, back, back)).of("ada") == ()
    every = time("*", "2026-03-01 12:00", "the server was down")
    assert Adjustments((every, imported)).of("ada") == (every,)
    assert Adjustments((every, imported, row("*", "*", "withdraw", "handed_in"))).of("ada") == (imported,)
    assert merged(Adjustments((imported,)), Adjustments((decided,)), None) == (decided,), "no conflict"
    assert decided.sentence.startswith("handed in at 2026-03-01 10:00 (UTC), decided by Grace on ")
    assert imported.sentence.startswith("handed in at 2026-03-02 10:00 (UTC), imported by Grace on ")


def test_what_was_taken_over_from_nbgrader_is_not_new_whoever_did_it_and_whatever_was_decided_since() -> None:
    def entered(value: str, text: str = "good (in nbgrader)", by: str = "Grace") -> Adjustment:
        return row("ada", "ex01_a", "points", value, text, by)

    old, decided = entered("5", "good", "nbgrader"), row("ada", "ex01_a", "points", "8", by="Alan")
    assert _new_imports([entered("5")], Adjustments((old, decided))) == ()
    assert _new_imports([entered("5", by="Alan")], Adjustments((entered("5"),))) == ()
    assert _new_imports([entered("6")], Adjustments((old, decided))) == (entered("6"),)
    assert [one.is_from_nbgrader for one in (old, entered("5"), decided)] == [True, True, False]


def test_two_graders_merge_without_loss_and_a_conflict_waits_for_a_person() -> None:
    base = row("ada", "ex01_a", "points", "30")
    mine = Adjustments((base, row("ada", "ex02_b", "points", "10"), row("bob", "*", "add", "1")))
    theirs = Adjustments((base, row("ada", "ex03_c", "excused", by="Alan"), row("bob", "*", "add", "1", by="Alan")))
    assert merged(mine, theirs, None) == theirs.rows[1:]
    other = Adjustments((base, row("ada", "ex02_b", "points", "20", by="Alan")))
    with pytest.raises(AdjustmentError, match="1 conflict, so nothing was added; choose with --keep mine"):
        merged(mine, other, None)
    assert merged(mine, other, "theirs") == other.rows[1:]
    assert merged(mine, other, "mine") == (*other.rows[1:], mine.rows[1]), "mine counts, and theirs stays as history"
    corrected = Adjustments((*mine.rows, row("ada", "ex02_b", "points", "20", by="Alan")))
    assert merged(mine, corrected, None) == corrected.rows[3:], "they knew of the decision that they replaced"


@pytest.mark.parametrize(
    "theirs",
    [
        (row("ada", "ex01_a", "points", "5", by="Alan"), row("ada", "ex01_a", "points", "8", by="Alan")),
        (row("ada", "ex01_a", "points", "5", by="Alan"), row("ada", "ex01_a", "withdraw", by="Alan")),
        (row("ada", "ex01_a", "excused", by="Alan"),),
        (row("ada", "ex01_a", "withdraw", "add", by="Alan"),),
        (row("*", "ex01_a", "points", "5", by="Alan"), row("ada", "ex01_a", "withdraw", by="Alan")),
    ],
)
def test_nothing_that_counts_here_is_lost_in_a_merge_by_accident(theirs: tuple[Adjustment, ...]) -> None:
    mine = Adjustments((row("ada", "ex01_a", "points", "7"), row("ada", "ex01_a", "add", "1")))
    with pytest.raises(AdjustmentError, match="so nothing was added"):
        merged(mine, Adjustments(theirs), None)
    kept = Adjustments((*mine.rows, *merged(mine, Adjustments(theirs), "mine")))
    assert {one.kind: one.amount for one in kept.of("ada")} == {"points": 700, "add": 100}
    taken = Adjustments((*mine.rows, *merged(mine, Adjustments(theirs), "theirs")))
    assert set(kept.rows) >= set(theirs) <= set(taken.rows)


def test_a_merge_keeps_what_counts_for_everybody() -> None:
    every = row("*", "ex01_a", "points", "7")
    special, back = row("ada", "ex01_a", "points", "5", by="Alan"), row("ada", "ex01_a", "withdraw", by="Alan")
    assert merged(Adjustments((every,)), Adjustments((special,)), None) == (special,), "that of one student is special"
    assert Adjustments((every, special, back)).of("ada") == (every,), "what is withdrawn is what counted"
    with pytest.raises(AdjustmentError, match="1 conflict"):
        merged(Adjustments((every,)), Adjustments((back,)), None)
    kept = Adjustments((every, *merged(Adjustments((every,)), Adjustments((back,)), "mine")))
    assert [(one.student, one.amount) for one in kept.of("ada")] == [("ada", 700)]
    other = Adjustments((row("*", "ex01_a", "points", "5", by="Alan"),))
    with pytest.raises(AdjustmentError, match="1 conflict"):
        merged(Adjustments((every,)), other, None)
    assert merged(Adjustments((every,)), other, "theirs") == other.rows


def test_the_same_decision_written_otherwise_is_no_conflict() -> None:
    mine = Adjustments((row("ada", "ex01_a", "points", "7"),))
    theirs = Adjustments((row("ada", "ex01_a", "points", "7.0", by="Alan"),))
    assert merged(mine, theirs, None) == theirs.rows


def run(course: Path, *arguments: str, expected: int = 0) -> str:
    done = tiny.run_course(course, *arguments)
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.worker
def test_the_command_notes_a_decision_and_every_mark_has_it(tmp_path: Path, key_cache: Path) -> None:
    course = tiny.copied(tmp_path / "course", key_cache)
    (course / "roster.csv").write_text("student\nada\nbob\nmax\n")
    tiny.handed_in(tmp_path / "hand_in" / "ada")
    tiny.handed_in(tmp_path / "hand_in" / "bob", tiny.mean_with("return x.cumsum(dim=-1)"), tiny.POWER_ALONE)
    grade = ("grade", str(tmp_path / "hand_in"), "--out", "out", "--seed", "5", *tiny.TRUSTED)
    run(course, *grade)
    said = run(course, "adjust", "bob", "1", "add", "10", "--text", "the idea is right", "--by", "Grace")
    assert "bob: +10 points for exercise 01, by Grace on" in said
    assert "the idea is right" in said
    run(course, "adjust", "max", "*", "excused", "--text", "ill", "--by", "Grace")
    assert "bob: +10 points for exercise 01" in run(course, "adjust", "--list")
    assert "did you mean bob?" in run(course, "adjust", "bop", "1", "excused", "--text", "x", expected=2)
    assert "course adjust has no KIND" in run(course, "adjust", "bob", "1", expected=2)
    said = run(course, "export", "scores", "out", "--to", "scores.csv")
    assert "1 student excused, and no score is written: max" in said
    lines = (course / "scores.csv").read_text().splitlines()
    assert ",70.00,100.00," in next(line for line in lines if line.startswith("bob"))
    assert ",excused,100.00," in next(line for line in lines if line.startswith("max"))
    run(course, "export", "feedback", "out", "--to", "pages")
    page = (course / "pages" / "bob.html").read_text()
    assert "the idea is right" in page
    assert "+10" in page
    assert "0 graded, 2 kept from before" in run(course, *grade)
    assert ",70.00,100.00," in (course / "out" / "scores.csv").read_text()
    run(course, "adjust", "bob", "1", "withdraw", "add", "--text", "a mistake", "--by", "Grace")
    run(course, "export", "scores", "out", "--to", "scores.csv")
    assert ",60.00,100.00," in (course / "scores.csv").read_text()
    theirs = course / "theirs.csv"
    theirs.write_text((course / "adjustments.csv").read_text())
    assert "0 rows added" in run(course, "adjust", "--merge", "theirs.csv")


@pytest.mark.worker
def test_times_that_are_taken_over_again_are_not_new_and_change_no_decision(tmp_path: Path) -> None:
    course = tiny.copied(tmp_path / "course")
    (course / "roster.csv").write_text("student,lms_id\nada,1\nbob,2\n")
    source = course / "canvas.json"
    times = [{"user_id": 1, "submitted_at": "2026-03-02T10:00:00Z"}, {"user_id": 2, "submitted_at": None}]
    source.write_text(json.dumps(times))
    take_over = ("adjust", "--times", "canvas.json", "--by")
    assert "1 row added" in run(course, *take_over, "Grace")
    said = run(course, "adjust", "ada", "*", "handed_in", "2026-03-01 10:00", "--text", "the mail", "--by", "Grace")
    assert "replaces" not in said, "an imported time is no decision"
    (course / "roster.csv").write_text("student,lms_id,group\nada,1,red\nbob,2,red\n")
    said = run(course, *take_over, "Alan")
    assert "0 rows added" in said
    assert "without a time" not in said, "the hand-in of ada is that of bob too"
    assert "1 time in canvas.json does not count, as a person decided otherwise: ada" in said
    assert "ada: handed in at 2026-03-01 10:00 (UTC), decided by Grace" in run(course, "adjust", "--list")
    run(course, "adjust", "ada", "*", "withdraw", "handed_in", "--text", "no", "--by", "Grace")
    assert "ada: handed in at 2026-03-02 10:00 (UTC), imported by Grace" in run(course, "adjust", "--list")
    times[0]["submitted_at"], times[1]["submitted_at"] = "2026-03-04T10:00:00Z", "2026-03-02T10:00:00Z"
    source.rename(course / "again.json").write_text(json.dumps(times))
    said = run(course, "adjust", "--times", "again.json", "--by", "Alan")
    assert "2 rows added" in said
    assert "does not count" not in said
    decide = ("adjust", "ada", "*", "handed_in", "2026-03-01 10:00")
    said = run(course, *decide[:-1], "2999-03-01 10:00", "--text", "mail", expected=2)
    assert "value is 2999-03-01 10:00, and nobody hands in later than now: it is 20" in said
    times[0]["submitted_at"] = "2999-03-04T10:00:00Z"
    (course / "again.json").write_text(json.dumps(times))
    said = run(course, "adjust", "--times", "again.json", "--by", "Alan")
    assert "1 time handed in lies in the future: ada; check the time zone of the source" in said
    said = run(course, *decide, "--text", "the time in a mail", expected=2)
    assert "the text begins with `the time in`, as that of an imported time does; begin it otherwise" in said


def test_a_command_for_many_counts_once_beside_another_at_the_same_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    course = tiny.copied(tmp_path / "course")
    (course / "roster.csv").write_text("student,section\nada,A\nbob,A\n")
    monkeypatch.chdir(course)
    monkeypatch.setenv("COURSE_TRUST", "1")
    words = ["adjust", "*", "1", "add", "3", "--section", "A", "--text", "why", "--by", "Grace"]
    other = [row("ada", tiny.FIRST, "add", "3"), row("bob", tiny.FIRST, "add", "3")]

    def meanwhile(name: str | None) -> str:
        append(tiny.course_at(course), other)
        return name or ""

    with monkeypatch.context() as patched:
        patched.setattr("autograder.gradebook.author", meanwhile)
        assert run_here(words) == 2
    assert "decided meanwhile, and nothing was written; run the same command again" in capsys.readouterr().err
    assert run_here(words) == 0
    assert "0 rows added" in capsys.readouterr().out
    assert read_adjustments(tiny.course_at(course)).rows == tuple(other)


@pytest.mark.worker
def test_a_roster_that_was_named_stays_chosen_until_it_is_taken_back(tmp_path: Path) -> None:
    course = tiny.copied(tmp_path / "course")
    (tmp_path / "other.csv").write_text("student\nada\n")
    (course / "roster.csv").write_text("student\nzoe\n")
    comment = ("*", "comment", "--text", "fine", "--by", "Grace")
    said = run(course, "adjust", "ada", *comment, "--roster", "../other.csv")
    assert f"later commands use the roster {tmp_path / 'other.csv'} too" in said
    said = run(course, "adjust", "ada", *comment)
    assert f"the roster is {tmp_path / 'other.csv'}, as chosen with --roster; to take that back, delete" in said
    (tmp_path / "other.csv").rename(tmp_path / "moved.csv")
    assert "is not there any more; name another with --roster" in run(course, "adjust", "ada", *comment, expected=2)
    (course / "adjustments.csv").unlink()
    run(course, "adjust", "zoe", *comment, "--roster", "roster.csv")
    assert not (course / ".course" / "roster").exists()
    assert "chosen" not in run(course, "adjust", "zoe", *comment)
    missing = run(course, "adjust", "zoe", *comment, "--roster", "none.csv", expected=2)
    assert "none.csv cannot be read" in missing
    assert not (course / ".course" / "roster").exists(), "a roster that cannot be read is not chosen"


@pytest.mark.worker
def test_a_decision_about_a_group_is_one_about_each_of_its_members(tmp_path: Path) -> None:
    course = tiny.copied(tmp_path / "course")
    (course / "roster.csv").write_text("student,group\nada,red\nbob,red\neve,\n")
    said = run(course, "adjust", "red", "*", "extension", "2", "--text", "they were ill", "--by", "Grace")
    assert "2 rows added" in said
    rows = (course / "adjustments.csv").read_text().splitlines()
    assert [line.partition(",")[0] for line in rows] == ["student", "ada", "bob"]
    assert "green is no student" in run(course, "adjust", "green", "*", "extension", "2", "--text", "x", expected=2)


@pytest.mark.worker
def test_the_same_command_for_many_adds_only_what_is_new_and_beats_no_later_decision(tmp_path: Path) -> None:
    course = tiny.copied(tmp_path / "course")
    (course / "roster.csv").write_text("student,section\nada,A\nbob,A\neve,B\n")
    many = ("adjust", "*", "1", "points", "3", "--text", "the room", "--section", "A", "--by", "Grace")
    run(course, "adjust", "ada", "1", "points", "9", "--text", "hers", "--by", "Alan")
    said = run(course, *many)
    assert "2 rows added" in said
    assert "1 student had a decision of their own, which this replaces: ada" in said
    run(course, "adjust", "bob", "1", "points", "5", "--text", "his", "--by", "Alan")
    (course / "roster.csv").write_text("student,section\nada,A\nbob,A\neve,A\n")
    said = run(course, *many[:-1], "Alan")
    assert "a later decision stays, so nothing is added for bob; to decide again, write another --text" in said
    assert "1 row added" in said
    listed = run(course, "adjust", "--list")
    assert "bob: 5 points" in listed
    assert "eve: 3 points" in listed
    for every in (("add", "2"), ("withdraw", "add"), ("add", "2")):
        said = run(course, "adjust", "*", "1", *every, "--text", "the room", "--by", "Grace")
    assert "a later decision stays, so nothing is added for everybody" in said
    assert "0 rows added to adjustments.csv; nothing is new" in said


@pytest.mark.worker
def test_the_list_names_a_row_that_the_command_takes_back_alone(tmp_path: Path) -> None:
    course = tiny.copied(tmp_path / "course")
    for text in ("first", "second"):
        run(course, "adjust", "ada", "1", "add", "1", "--text", text, "--by", "Grace")
    line = next(line for line in run(course, "adjust", "--list").splitlines() if "first" in line)
    name = line.partition("withdraw ")[2].rstrip("]").split()
    said = run(course, "adjust", "ada", "1", "withdraw", *name, "--text", "a mistake", "--by", "Grace")
    assert "takes back +1 points for exercise 01, by Grace" in said
    listed = run(course, "adjust", "--list")
    assert ["first" in listed, "second" in listed, "withdraw" in listed] == [False, True, False]
    said = run(course, "adjust", "ada", "1", "withdraw", *name, "--text", "a mistake", expected=2)
    assert "nothing like that counts for ada" in said


@pytest.mark.worker
def test_one_command_decides_for_many_and_shows_whose_marks_change(tmp_path: Path, key_cache: Path) -> None:
    course = tiny.copied(tmp_path / "course", key_cache)
    (course / "roster.csv").write_text("student,section\nada,A\nbob,B\neve,B\nzoe,A\n")
    tiny.handed_in(tmp_path / "hand_in" / "ada")
    tiny.handed_in(tmp_path / "hand_in" / "bob", tiny.mean_with("return x.cumsum(dim=-1)"), tiny.POWER_ALONE)
    grade = ("grade", str(tmp_path / "hand_in"), "--out", "out", "--seed", "5", *tiny.TRUSTED)
    run(course, *grade)
    because = ("--text", "the text was wrong", "--by", "Grace", "--out", "out")
    log = course / "adjustments.csv"
    said = run(course, "adjust", "*", "1", "void", "values", *because, "--try")
    assert "1 of 4 students gets another mark, by +17.14" in said
    assert "  bob  60.00 → 77.14" in said
    assert "Nothing is written" in said
    assert not log.exists()
    assert "needs --out OUT" in run(course, "adjust", "*", "1", "void", "values", "--text", "x", "--try", expected=2)
    assert "did you mean values?" in run(course, "adjust", "*", "1", "void", "vales", "--text", "x", expected=2)
    assert "Nothing is written" not in run(course, "adjust", "*", "1", "void", "values", *because)
    assert log.read_text().splitlines()[1].startswith("*,ex01_running_mean,void,values,the text was wrong,Grace,")
    assert "No mark in out changes" in run(course, "adjust", "*", "1", "void", "values", *because, "--try")
    tiny.handed_in(tmp_path / "hand_in" / "eve", tiny.mean_with("return x.cumsum(dim=-1)"), tiny.POWER_ALONE)
    said = run(course, *grade)
    assert "1 graded, 2 kept from before" in said
    rows = {line.split(",")[0]: line for line in (course / "out" / "scores.csv").read_text().splitlines()}
    assert ",60.00,100.00," in rows["eve"]
    assert ",77.14,100.00," in rows["eve"], "a student who is graded later has the points too"
    assert ",77.14,100.00," in rows["bob"], "the reports are kept, and counted again"
    said = run(course, "adjust", "*", "2", "add", "1", *because, "--section", "B")
    assert "2 of 4 students get another mark, by +1.00" in said
    assert [line.split(",")[0] for line in log.read_text().splitlines()] == ["student", "*", "bob", "eve"]
    assert "0 rows added" in run(course, "adjust", "*", "2", "add", "1", *because, "--section", "B")
    assert "expected one of A and B" in run(
        course, "adjust", "*", "2", "add", "1", *because, "--section", "x", expected=2
    )
    checks = json.loads((course / "out" / "reports" / "bob.json").read_text())["exercises"][0]["checks"]
    name = next(check["finding"]["id"] for check in checks if check["finding"])
    where = ("--where", f"misconception={name}")
    assert "bob: +2 points for exercise 01" in run(course, "adjust", "*", "1", "add", "2", *because, *where)
    other = ("--where", "misconception=other")
    said = run(course, "adjust", "*", "1", "add", "2", *because, *other, expected=2)
    assert "no report in out has the misconception other" in said
    assert "write '*' in the place" in run(course, "adjust", "bob", "1", "add", "2", *because, *where, expected=2)
    run(course, "export", "scores", "out", "--section", "A", "--to", "a.csv")
    assert [line.split(",")[0] for line in (course / "a.csv").read_text().splitlines()] == ["student", "ada", "zoe"]
    said = run(course, "adjust", "*", "*", "points", "10", *because)
    assert "4 of 4 students get another mark" in said
    listed = run(course, "adjust", "--list")
    assert "check values of exercise 01 is void, and its points are given, for everybody, by Grace on" in listed
    run(course, "adjust", "eve", "1", "withdraw", "void", "--text", "x")
    assert "the text was wrong; not for eve" in run(course, "adjust", "--list")
    said = run(course, "adjust", "*", "1", "points", "3", "--text", "x", "--by", "Grace")
    assert "decision" not in said
    run(course, "adjust", "eve", "1", "points", "4", "--text", "x", "--by", "Grace")
    said = run(course, "adjust", "*", "1", "points", "2", "--text", "x", "--by", "Grace")
    assert "1 student has a decision of their own, which counts before the one for everybody: eve" in said
    run(course, *grade[:3], "part", *grade[4:], "--take", "1")
    said = run(course, "adjust", "eve", "2", "add", "1", "--text", "x", "--out", "part", "--try")
    assert "No mark in part changes: exercise 02 is not in what was graded there" in said
    run(course, "adjust", "*", "1", "void", "axes", "--text", "x")
    said = run(course, "adjust", "*", "1", "withdraw", "void", "values", "--text", "x")
    assert "void check values withdrawn for exercise 01, for everybody, by" in said
    assert "everybody: void" not in said
    assert "check axes of exercise 01 is void" in run(course, "adjust", "--list")
    run(course, "adjust", "*", "1", "withdraw", "void", "--text", "x")
    run(course, "adjust", "*", "1", "withdraw", "points", "--text", "x")
    run(course, "adjust", "*", "*", "withdraw", "--text", "x")
    assert "everybody" not in run(course, "adjust", "--list")
