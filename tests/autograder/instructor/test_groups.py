"""Groups of the roster: one hand-in counts for all members, and what is decided about one stays theirs."""

import csv
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from autograder.course import read_course
from autograder.exports.feedback import feedback
from autograder.gradebook import GroupHandIns, Roster, Student, for_groups, read_graded, read_roster
from autograder.submission import Entry
from tests.support import tiny

ROSTER = Roster((Student("ada", group="G1"), Student("bob", group="G1"), Student("cem", group="G 2"), Student("eve")))
MONDAY, TUESDAY = (datetime(2026, 3, day, 12, tzinfo=UTC) for day in (2, 3))


def entry(student: str, time: datetime | None = None) -> Entry:
    return Entry(student, Path(student), time)


def together(*entries: Entry, roster: Roster = ROSTER, **decided: datetime) -> GroupHandIns:
    return for_groups(entries, roster, decided)


def owners(made: GroupHandIns) -> dict[str, str]:
    return {entry.student: str(entry.path) for entry in made.entries}


def test_one_hand_in_counts_for_all_members() -> None:
    made = together(entry("bob", MONDAY), entry("eve"))
    assert owners(made) == {"ada": "bob", "bob": "bob", "eve": "eve"}
    assert [one.handed_in for one in made.entries] == [MONDAY, MONDAY, None]
    assert made.entries[0].notes == ("handed in by bob for group G1",)
    assert made.notes == ("group G1: the hand-in of bob counts for all",)
    assert made.entries[0].ordinary == made.entries[0].notes, "nobody needs to look at it"


@pytest.mark.parametrize("name", ["g 2", "G 2_4711"])
def test_a_hand_in_may_have_the_name_of_the_group(name: str) -> None:
    assert owners(together(entry(name))) == {"cem": name}


def test_the_latest_counts_and_it_is_said() -> None:
    made = together(entry("ada", MONDAY), entry("bob", TUESDAY))
    assert owners(made) == {"ada": "bob", "bob": "bob"}
    assert made.entries[0].notes == ("handed in by bob for group G1; the earlier hand-in of ada does not count",)
    assert made.entries[0].ordinary == ()
    made = together(entry("ada", MONDAY), entry("bob"), bob=TUESDAY)
    assert owners(made) == {"ada": "bob", "bob": "bob"}
    assert made.entries[0].handed_in is None, "the time that was decided about bob stays his alone"
    known = Roster((Student("ada", group="G1", handed_in=TUESDAY), Student("bob", group="G1")))
    made = together(entry("ada", MONDAY), entry("bob", MONDAY), roster=known)
    assert [(one.student, one.handed_in) for one in made.entries] == [("ada", TUESDAY), ("bob", TUESDAY)]


@pytest.mark.parametrize("times", [(None, None), (MONDAY, None), (MONDAY, MONDAY)])
def test_without_times_nobody_loses_a_hand_in(times: tuple[datetime | None, datetime | None]) -> None:
    made = together(entry("ada", times[0]), entry("bob", times[1]))
    assert owners(made) == {"ada": "ada", "bob": "bob"}
    assert "group G1: ada and bob handed in, and no time says who was the latest" in made.problems[0]


def test_without_groups_nothing_changes() -> None:
    entries = (entry("eve", MONDAY), entry("G1", TUESDAY))
    plain = Roster(tuple(replace(row, group="") for row in ROSTER.students))
    assert set(for_groups(entries, plain, {}).entries) == set(entries)


def run(school: Path, *arguments: str, expected: int = 0) -> str:
    done = tiny.run_course(school / "course", *arguments)
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.worker
def test_a_class_with_groups_is_graded(tmp_path: Path, key_cache: Path) -> None:
    course = tiny.copied(tmp_path / "course", key_cache)
    (course / "roster.csv").write_text("student,group\nada,G1\nbob,G1\ncem,\ndee,G2\neve,G2\n")
    tiny.handed_in(tmp_path / "hand_in" / "bob", tiny.mean_with("return x.cumsum(dim=-1)"))
    tiny.handed_in(tmp_path / "hand_in" / "cem")
    grade = ("grade", str(tmp_path / "hand_in"), "--out", str(tmp_path / "out"), "--seed", "5", *tiny.TRUSTED)
    said = run(tmp_path, *grade)
    assert "group G1: the hand-in of bob counts for all" in said
    assert "2 students on the roster handed in nothing: dee and eve" in said
    assert "0 graded, 3 kept from before" in run(tmp_path, *grade)
    run(tmp_path, "adjust", "ada", "1", "add", "5", "--text", "explained it well", "--by", "Grace")
    run(tmp_path, "export", "scores", str(tmp_path / "out"), "--to", str(tmp_path / "scores.csv"))
    with (tmp_path / "scores.csv").open(newline="") as lines:
        rows = {row["student"]: row for row in csv.DictReader(lines)}
    assert float(rows["ada"]["final"]) == float(rows["bob"]["final"]) + 5
    assert "handed in by bob for group G1" in rows["ada"]["notes"]
    assert "handed in by bob for group G1" in rows["bob"]["notes"]
    read = read_course(course)
    graded = read_graded(read, read_roster(read, None), tmp_path / "out", ["ada"])
    assert "handed in by bob for group G1" in feedback(graded, graded.marks[0])
    said = run(tmp_path, "dashboard", str(tmp_path / "out"), str(tmp_path / "hand_in"), "--names")
    assert "left out" not in said
    with (tmp_path / "out" / "class" / "similar.csv").open(newline="") as lines:
        pairs = [{row["student"], row["and"]} for row in csv.DictReader(lines)]
    assert pairs == [{"ada", "cem"}], "cem has the same second file, and bob is of the group of ada"
    tiny.handed_in(tmp_path / "hand_in" / "ada")
    assert "no time says who was the latest" in run(tmp_path, *grade, expected=4)
    run(tmp_path, "adjust", "ada", "*", "handed_in", "2026-03-02 10:00", "--text", "mail", "--by", "Grace")
    run(tmp_path, "adjust", "bob", "*", "handed_in", "2026-03-01 10:00", "--text", "mail", "--by", "Grace")
    assert "the hand-in of ada counts for all; the earlier hand-in of bob does not count" in run(tmp_path, *grade)
    with (tmp_path / "out" / "scores.csv").open(newline="") as lines:
        rows = {row["student"]: row for row in csv.DictReader(lines)}
    assert (rows["ada"]["final"], rows["bob"]["final"]) == ("105.00", "100.00")
