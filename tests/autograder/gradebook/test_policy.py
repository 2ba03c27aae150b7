"""The grading policy: every rule as a law, also when the clocks change."""

import csv
import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.course import CourseError, Grading, read_course
from autograder.gradebook import (
    Adjustment,
    Adjustments,
    Policy,
    Roster,
    Student,
    can_earn,
    final_of,
    parse_time,
    policy_of,
    read_roster,
    scores_csv,
)
from autograder.gradebook.policy import days_late, deadline, final_score, late_penalty
from autograder.gradebook.roster import RosterError, format_time, to_utc
from autograder.results import ExerciseResult, Report
from tests.support import tiny

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = [UTC, BERLIN, *map(ZoneInfo, ("America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu"))]
DUE = datetime(2026, 3, 27, 23, 59)  # two nights before the clocks of Berlin go forward
RULES = Grading(DUE, BERLIN, grace_minutes=10, late_percent=Decimal(10), late_days=5)
POLICY = Policy(RULES)

bounded = settings(max_examples=300, derandomize=True, deadline=None, database=None)
local_times = st.datetimes(datetime(1995, 1, 1), datetime(2037, 1, 1))
gradings = st.builds(
    Grading,
    due=local_times,
    zone=st.sampled_from(ZONES),
    grace_minutes=st.integers(0, 600),
    late_percent=st.decimals(0, 100, places=2),
    late_of=st.sampled_from(["max", "score"]),
    late_most=st.decimals("0.01", 100, places=2),
    late_days=st.none() | st.integers(0, 20),
)
policies = st.builds(Policy, gradings, st.integers(1, 12_000))
moments = st.datetimes(datetime(1995, 1, 1), datetime(2037, 6, 1), timezones=st.just(UTC))
offsets = st.timedeltas(timedelta(days=-3), timedelta(days=30))
scores = st.integers(0, 12_000)


def berlin(day: int, hour: int, minute: int, second: int = 0) -> datetime:
    return datetime(2026, 3, day, hour, minute, second, tzinfo=BERLIN).astimezone(UTC)


@pytest.mark.parametrize(
    ("handed_in", "days"),
    [
        (berlin(27, 23, 59), 0),
        (berlin(28, 0, 9), 0),
        (berlin(28, 0, 9, 1), 1),
        (berlin(29, 0, 9), 1),
        (berlin(29, 0, 9, 1), 2),
        (berlin(30, 0, 9), 2),  # this day had 23 hours
        (berlin(30, 0, 9, 1), 3),
    ],
)
def test_a_day_ends_at_the_hour_of_the_due_date_and_the_grace_with_it(handed_in: datetime, days: int) -> None:
    assert days_late(POLICY, "ada", handed_in) == days
    assert late_penalty(POLICY, "ada", handed_in, 8000).penalty == days * 1000


def test_a_day_on_which_clocks_change_has_23_or_25_hours() -> None:
    spring = [at for days in range(4) if (at := deadline(POLICY, "ada", days)) is not None]
    assert [(after - before) / timedelta(hours=1) for before, after in pairwise(spring)] == [24, 23, 24]
    policy = Policy(replace(RULES, due=datetime(2026, 10, 24, 12)))
    autumn = [at for days in range(3) if (at := deadline(policy, "ada", days)) is not None]
    assert [(after - before) / timedelta(hours=1) for before, after in pairwise(autumn)] == [25, 24]


def test_a_time_that_clocks_show_twice_or_never_is_the_later() -> None:
    assert to_utc(datetime(2026, 10, 25, 2, 30), BERLIN) == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    assert to_utc(datetime(2026, 3, 29, 2, 30), BERLIN) == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)


@pytest.mark.long
@bounded
@given(policies, offsets, scores)
def test_days_are_the_least_by_which_the_deadline_was_met(policy: Policy, offset: timedelta, score: int) -> None:
    first = deadline(policy, "ada", 0)
    assert first is not None
    days = days_late(policy, "ada", first + offset)
    after = deadline(policy, "ada", days)
    before = deadline(policy, "ada", days - 1)
    assert after is not None
    assert first + offset <= after
    assert days == 0 or (before is not None and first + offset > before)


@pytest.mark.long
@bounded
@given(policies, moments, moments, scores)
def test_who_hands_in_later_is_never_better_off(policy: Policy, one: datetime, other: datetime, score: int) -> None:
    first, second = (late_penalty(policy, "ada", at, score) for at in sorted((one, other)))
    assert first.days is not None
    assert second.days is not None
    assert first.days <= second.days
    assert 0 <= first.penalty <= second.penalty <= score


@pytest.mark.long
@bounded
@given(policies, moments, scores, scores)
def test_more_points_are_never_worth_less(policy: Policy, at: datetime, one: int, other: int) -> None:
    low, high = sorted((one, other))
    assert (
        low - late_penalty(policy, "ada", at, low).penalty <= high - late_penalty(policy, "ada", at, high).penalty + 1
    )


@pytest.mark.long
@bounded
@given(policies, moments, scores, st.integers(0, 100))
def test_an_extension_of_days_is_a_later_due_date_and_never_hurts(
    policy: Policy, at: datetime, score: int, days: int
) -> None:
    extended = Policy(policy.grading, policy.maximum, Roster((Student("ada", extension_days=days),)))
    assert policy.grading.due is not None
    moved = Policy(replace(policy.grading, due=policy.grading.due + timedelta(days=days)), policy.maximum)
    assert late_penalty(extended, "ada", at, score) == late_penalty(moved, "bob", at, score)
    assert late_penalty(extended, "ada", at, score).penalty <= late_penalty(policy, "ada", at, score).penalty


@pytest.mark.long
@bounded
@given(policies, offsets, scores)
def test_the_penalty_is_the_exact_one_to_the_nearest_hundredth_a_half_for_the_student(
    policy: Policy, offset: timedelta, score: int
) -> None:
    rules = policy.grading
    start = deadline(policy, "ada", 0)
    assert start is not None
    lateness = late_penalty(policy, "ada", start + offset, score)
    assert lateness.days is not None
    if not lateness.days or (rules.late_days is not None and lateness.days > rules.late_days):
        assert lateness.penalty == (score if lateness.days else 0)
        return
    base = policy.maximum if rules.late_of == "max" else score
    exact = min(base * min(rules.late_percent * lateness.days, rules.late_most) / 100, Decimal(score))
    assert Decimal("-0.5") <= lateness.penalty - exact < Decimal("0.5")


@pytest.mark.parametrize(
    ("late_of", "most", "days", "score", "penalty", "sentence"),
    [
        ("max", 100, 1, 8000, 1000, "1 day late: 10 % of the maximum taken off"),
        ("score", 100, 2, 8000, 1600, "2 days late: 20 % of the score taken off"),
        ("max", 25, 4, 8000, 2500, "4 days late: 25 % of the maximum taken off"),
        ("max", 100, 5, 3000, 3000, "5 days late: 50 % of the maximum taken off"),
        ("max", 100, 6, 8000, 8000, "6 days late: no points after 5 days"),
    ],
)
def test_the_cost_of_lateness_is_reported(
    late_of: Literal["max", "score"], most: int, days: int, score: int, penalty: int, sentence: str
) -> None:
    policy = Policy(replace(RULES, late_of=late_of, late_most=Decimal(most)))
    lateness = late_penalty(policy, "ada", deadline(policy, "ada", days), score)
    assert (lateness.days, lateness.penalty, lateness.sentence) == (days, penalty, sentence)


@pytest.mark.parametrize(
    ("rules", "open_after_days"),
    [
        (RULES, [0]),
        (replace(RULES, late_percent=Decimal(0)), [0, 2]),
        (replace(RULES, late_percent=Decimal(0), late_days=None), [0, 2, 10]),
        (replace(RULES, due=None), [0, 2, 10]),
    ],
)
def test_points_can_be_earned_until_something_is_taken_off(rules: Grading, open_after_days: list[int]) -> None:
    moments = {days: berlin(27, 23, 59) + timedelta(days=days) for days in (0, 2, 10)}
    assert [days for days, now in moments.items() if can_earn(Policy(rules), "ada", now, "ex01_a")] == open_after_days


def test_nothing_more_can_be_earned_where_somebody_decided() -> None:
    row = Adjustment("ada", "ex01_a", "points", "8", "why", "Grace", "2026-03-09 10:00", 800)
    policy = Policy(Grading(), adjustments=Adjustments((row, replace(row, student="bob", exercise="week1"))))
    asked = [("ada", "ex01_a"), ("ada", "ex02_b"), ("bob", "ex02_b"), ("cem", "ex01_a")]
    assert [can_earn(policy, student, berlin(1, 0, 0), id_) for student, id_ in asked] == [False, True, False, True]


def test_a_half_of_a_hundredth_is_the_students() -> None:
    policy = Policy(replace(RULES, late_of="score", late_percent=Decimal("0.5")))
    assert late_penalty(policy, "ada", deadline(policy, "ada", 1), 100).penalty == 0
    assert late_penalty(policy, "ada", deadline(policy, "ada", 1), 101).penalty == 1


def test_where_the_time_is_not_known_nothing_is_taken_off_and_a_note_reports_it() -> None:
    lateness = late_penalty(POLICY, "ada", None, 8000)
    assert (lateness.days, lateness.penalty) == (None, 0)
    assert lateness.sentence == "the time of submission is unknown, so there is no late penalty"
    assert late_penalty(Policy(), "ada", None, 8000).sentence == ""


def test_a_failed_grading_is_no_zero_whatever_else_holds() -> None:
    policy = Policy(RULES, roster=Roster((Student("ada", points=500),)))
    made = final_score(policy, "ada", datetime(2027, 1, 1, tzinfo=UTC), None)
    assert made.score is None
    assert made.lateness.penalty == 0


GRADING = """
[grading]
due = 2026-03-01T23:59:00
time_zone = "Europe/Berlin"
grace_minutes = 10
late_percent = 12.5
late_of = "score"
late_most = 50
late_days = 7
bonus = ["ex02_matrix_power"]
"""


def course_with(folder: Path, grading: str) -> Path:
    tiny.copied(folder)
    (folder / "course.toml").write_text((tiny.ROOT / "course.toml").read_text("utf-8") + grading, "utf-8")
    return folder


def test_every_key_of_a_course_is_read(tmp_path: Path) -> None:
    course = read_course(course_with(tmp_path, GRADING))
    assert course.grading == Grading(
        datetime(2026, 3, 1, 23, 59), BERLIN, 10, Decimal("12.5"), "score", Decimal(50), 7, (tiny.SECOND,)
    )
    assert policy_of(course, Roster()).maximum == tiny.FULL[tiny.FIRST]
    assert policy_of(tiny.COURSE, Roster()) is not None
    assert policy_of(tiny.COURSE, Roster()).maximum == 10_000


def test_a_due_date_with_an_offset_needs_no_zone_and_is_that_moment_in_one(tmp_path: Path) -> None:
    alone = read_course(course_with(tmp_path / "a", "[grading]\ndue = 2026-03-01T23:59:00+01:00\n")).grading
    assert alone
    assert (alone.due, alone.zone) == (datetime(2026, 3, 1, 22, 59), UTC)
    zoned = read_course(
        course_with(tmp_path / "b", '[grading]\ndue = 2026-03-01T22:59:00Z\ntime_zone = "Europe/Berlin"\n')
    ).grading
    assert zoned
    assert zoned.due == datetime(2026, 3, 1, 23, 59)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("due = 2026-03-01", "due is 2026-03-01, expected a date and a time, like 2026-03-01T23:59:00"),
        ('due = "1.3.2026"', 'due is "1.3.2026", expected a date and a time'),
        ("due = 2026-03-01T23:59:00", "expected time_zone beside it, or a time with its offset, like +01:00"),
        ('time_zone = "Berlin"', 'time_zone is "Berlin", expected the name of a time zone, like Europe/Berlin'),
        ('time_zone = "../../etc/passwd"', "expected the name of a time zone"),
        ("grace_minutes = -1", "grace_minutes is -1, expected an integer from 0 to 10080"),
        ("late_percent = 101", "late_percent is 101, expected a number above 0 and at most 100"),
        ("late_percent = 3.333", "late_percent is 3.333, expected at most two decimals"),
        ('late_of = "min"', 'late_of is "min", expected "max" or "score"'),
        ("late_days = 2.5", "late_days is 2.5, expected an integer from 0 to 365"),
        ("late_days = 2", "late_days has no effect without due; add due, or remove late_days"),
        (
            'bonus = ["ex02_matrix_pow"]',
            'bonus lists "ex02_matrix_pow", which is not an exercise; did you mean ex02_matrix_power?',
        ),
        (f'bonus = ["{tiny.FIRST}", "{tiny.SECOND}"]', "bonus lists every exercise"),
        ("late_per_day = 3", "late_per_day is not a known key"),
    ],
)
def test_a_mistake_in_grading_is_a_sentence_with_its_line(tmp_path: Path, line: str, sentence: str) -> None:
    text = (tiny.ROOT / "course.toml").read_text("utf-8")
    with pytest.raises(CourseError) as caught:
        read_course(course_with(tmp_path, f"\n[grading]\n{line}\n"))
    assert sentence in str(caught.value)
    assert f"course.toml:{len(text.splitlines()) + 3}: grading: " in str(caught.value)


def roster(tmp_path: Path, text: str | bytes) -> Roster:
    file = tmp_path / "students.csv"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_roster(replace(tiny.COURSE, grading=RULES), file)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_a_roster_is_read_as_spreadsheets_write_it(tmp_path: Path, separator: str, start: str) -> None:
    lines = [
        "Student,name,section,lms_id,extension_days,due,handed_in,points,phone",
        "ada,Ada Lovelace,B,Participant 12,3,,2026-03-01 10:00,2.5,5",
        "grace,Grace Hopper,,,,2026-04-01T12:00:00+00:00,,-1,",
        ",,,,,,,,",
    ]
    read = roster(tmp_path, start + "\r\n".join(lines).replace(",", separator))
    at = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
    assert read.students == (
        Student("ada", "Ada Lovelace", lms_id="12", extension_days=3, handed_in=at, points=250, section="B"),
        Student("grace", "Grace Hopper", due=datetime(2026, 4, 1, 12, tzinfo=UTC), points=-100),
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", r"students.csv:1: the first line has nothing, expected a column student"),
        ("name\nAda", "the first line has name, expected a column student"),
        ("student,extention_days\nada,1", "extention_days is not a column of a roster; did you mean extension_days"),
        ("student,due,due\n", "the column due appears twice"),
        (
            "student\nada\nada\nADA",
            r"students.csv:3: student ada is already in line 2\n.*:4: student ADA is already in line 2",
        ),
        ("student,login\na,x\nb,x", r":3: login x is already in line 2"),
        ("student,name\n,Ada", r":2: student is empty, expected an id"),
        ("student\n../x", r":2: \.\./x has a name that cannot be a student's"),
        ("student,due\na,01.03.2026 23:59", r":2: due is 01.03.2026 23:59, expected a time like 2026-03-01 23:59"),
        ("student,extension_days\na,-1", r":2: extension_days is -1, expected an integer from 0 to 365"),
        ("student,points\na,1.234", r":2: points is 1.234, expected a number with at most two decimals"),
        ("student,points\na,nan", r":2: points is nan"),
        ("student,points\na,snan", r":2: points is snan"),
        ("student,points\na,1e999999", r":2: points is 1e999999, expected"),
        ("student,points\na,1e999990", r":2: points is 1e999990, expected"),
        ("student,points\na,10000.01", r":2: points is 10000.01, expected"),
        ("student,extension_days,due\na,1,2026-03-01 10:00", ":2: has due and extension_days, expected one of them"),
        (b"student\n\xe9", "is not UTF-8; save it as CSV UTF-8"),
        ('student\n"a', r":2: this is not valid CSV"),
    ],
)
def test_a_mistake_in_a_roster_is_a_sentence_with_its_line(tmp_path: Path, text: str | bytes, sentence: str) -> None:
    with pytest.raises(RosterError, match=sentence):
        roster(tmp_path, text)


def test_a_roster_that_is_named_must_be_there_and_one_beside_the_course_may(tmp_path: Path) -> None:
    with pytest.raises(RosterError, match=r"cannot be read .*expected a CSV file with a column student"):
        read_roster(tiny.COURSE, tmp_path / "nowhere.csv")
    course = read_course(tiny.copied(tmp_path / "course"))
    assert not read_roster(course, None)
    (course.root / "roster.csv").write_text("student\nada\n")
    assert [student.student for student in read_roster(course, None).students] == ["ada"]


def report(student: str, first: int, second: int | None) -> Report:
    exercises = tuple(
        ExerciseResult(name, name, "grader_error" if score is None else "pass", score or 0, tiny.FULL[name], ())
        for name, score in ((tiny.FIRST, first), (tiny.SECOND, second))
    )
    return Report("t", {"student": student, "digest": "", "notes": ["a note"]}, "", "cpu", "process", exercises)


def test_the_table_keeps_its_columns_and_explains_each_score() -> None:
    people = Roster((Student("ada", extension_days=1), Student("bob", points=250), Student("zoe"), Student("eve")))
    policy = Policy(replace(RULES, bonus=(tiny.SECOND,)), 4000, people)
    times = {"ada": berlin(29, 0, 0), "bob": berlin(29, 0, 0), "eve": berlin(20, 0, 0)}
    reports = [report("ada", 4000, 6000), report("bob", 4000, 0), report("eve", 4000, None), report("mel", 0, 0)]
    text = scores_csv(reports, [tiny.FIRST, tiny.SECOND], policy, times)
    lines = list(csv.reader(io.StringIO(text)))
    later = ["handed_in", "days_late", "penalty", "final", "final_max", "notes"]
    assert lines[0] == ["student", "score", "max_score", tiny.FIRST, tiny.SECOND, *later]
    at = "2026-03-29 00:00:00+01:00"
    assert lines[1][1:] == ["100.00", "40.00", "40.00", "60.00", at, "0", "0.00", "100.00", "40.00", "a note"]
    assert lines[2][5:-1] == [at, "1", "4.00", "38.50", "40.00"]
    assert lines[2][-1] == "a note | 1 day late: 10 % of the maximum taken off | +2.50 points by hand"
    assert lines[3][1:] == ["", "40.00", "40.00", "", "2026-03-20 00:00:00+01:00", "0", "", "", "40.00", "a note"]
    note = "a note | the time of submission is unknown, so there is no late penalty | not on the roster"
    assert lines[4][5:] == ["", "", "0.00", "0.00", "40.00", note]
    assert lines[5] == ["zoe", *[""] * 9, "missing: no submission"]
    assert len(lines) == 6


def test_a_time_on_the_roster_counts_before_that_of_the_download() -> None:
    policy = Policy(RULES, roster=Roster((Student("ada", handed_in=berlin(20, 0, 0)),)))
    assert final_of(policy, "ada", berlin(30, 0, 0), report("ada", 4000, 0)).lateness.days == 0


def test_every_member_of_a_group_has_the_time_of_the_hand_in_that_counts() -> None:
    def at(student: str, day: int) -> Adjustment:
        time = berlin(day, 23, 0)
        return Adjustment(student, "*", "handed_in", f"{time}", "mail", "Grace", "2026-03-28 10:00", due=time)

    def days(by: str, *rows: Adjustment, is_known: bool = True) -> list[int | None]:
        known = berlin(28, 23, 0) if is_known else None
        policy = Policy(RULES, roster=pair, adjustments=Adjustments(rows))
        reports = [report(student, 4000, 0) for student in ("ada", "bob")]
        of_group = [replace(one, submission={**one.submission, "handed_in_by": by}) for one in reports]
        finals = [final_of(policy, str(one.submission["student"]), known, one) for one in of_group]
        assert len({final.handed_in for final in finals}) == 1
        assert [final.notes for final in finals] == [finals[0].notes] * 2, "their pages say the same"
        return [final.lateness.days for final in finals]

    pair = Roster((Student("ada", group="G"), Student("bob", group="G")))
    assert days("ada") == [1, 1]
    assert days("ada", at("ada", 30)) == [3, 3]
    assert days("ada", at("ada", 30), at("bob", 27)) == [3, 3], "the earlier file of bob does not count"
    assert days("ada", at("bob", 27)) == [1, 1]
    assert days("ada", at("bob", 29), is_known=False) == [2, 2]
    assert days("g", at("ada", 29), at("bob", 29)) == [2, 2], "a folder with the name of the group"
    pair = Roster((Student("ada", group="G", handed_in=berlin(29, 0, 30)), Student("bob", group="G")))
    assert days("ada") == [2, 2]


def test_without_rules_every_score_stays() -> None:
    made = final_score(Policy(), "ada", datetime(2026, 1, 1, tzinfo=UTC), 8000)
    assert (made.score, made.notes) == (8000, ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2015-02-01 09:28:58.749302 America/Los_Angeles\n", "2015-02-01 17:28:58+00:00"),
        ("2019-05-30 11:44:01.911849 UTC", "2019-05-30 11:44:01+00:00"),
        ("2026-03-01T23:59Z", "2026-03-01 23:59:00+00:00"),
        ("2026-03-01 23:59 +0530", "2026-03-01 18:29:00+00:00"),
        ("2026-03-01 23:59", "2026-03-01 22:59:00+00:00"),
        ("2026-02-30 10:00", ""),
        ("0001-01-01 00:00", ""),
        ("9999-12-31 23:59", ""),
        ("2026-03-01 23:59 ../../etc/passwd", ""),
        ("2026-03-01 23:59 Nowhere/Land", ""),
        ("tomorrow", ""),
        ("", ""),
    ],
)
def test_times_as_others_write_them(text: str, expected: str) -> None:
    assert format_time(parse_time(text, BERLIN)) == expected


@pytest.mark.long
@bounded
@given(st.text(max_size=60) | st.from_regex(r"\d{4}-\d\d-\d\d \d\d:\d\d( [A-Za-z/+0-9]{1,12})?", fullmatch=True))
def test_any_text_is_a_moment_or_none(text: str) -> None:
    parse_time(text, BERLIN)
