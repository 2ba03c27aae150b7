"""Groups of the roster: one hand-in counts for all members, and what is decided about one stays theirs."""

import csv
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from autograder.course import read_course
from autograder.exports.feedback import feedback
from autograder.gradebook import Entry, Roster, Student, for_groups, read_graded, read_roster
from autograder.gradebook.listing import GroupHandIns
from autograder.gradebook.roster import RosterError
from autograder.submission import notes_of
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
    assert [one.handed_in_by for one in made.entries] == ["bob", "bob", ""]
    assert notes_of("ordinary", made.entries[0].notes) == [*made.entries[0].notes], "nobody needs to look at it"


@pytest.mark.parametrize("name", ["g 2", "G 2_4711"])
def test_a_hand_in_may_have_the_name_of_the_group(name: str) -> None:
    assert owners(together(entry(name))) == {"cem": name}


def test_the_latest_counts_and_it_is_said() -> None:
    made = together(entry("ada", MONDAY), entry("bob", TUESDAY))
    assert owners(made) == {"ada": "bob", "bob": "bob"}
    assert made.entries[0].notes == ("handed in by bob for group G1; the earlier hand-in of ada does not count",)
    assert not notes_of("ordinary", made.entries[0].notes)
    made = together(entry("ada", MONDAY), entry("bob"), bob=TUESDAY)
    assert owners(made) == {"ada": "bob", "bob": "bob"}
    assert [one.handed_in_by for one in made.entries] == ["bob", "bob"], "so a time decided about bob is that of both"
    known = Roster((Student("ada", group="G1", handed_in=TUESDAY), Student("bob", group="G1")))
    made = together(entry("ada", MONDAY), entry("bob", MONDAY), roster=known)
    assert [(one.student, one.handed_in) for one in made.entries] == [("ada", TUESDAY), ("bob", TUESDAY)]


def test_the_time_of_a_folder_with_the_name_of_the_group_is_that_of_who_handed_in_nothing_else() -> None:
    assert owners(together(entry("ada"), entry("G1"), ada=MONDAY, bob=TUESDAY)) == {"ada": "G1", "bob": "G1"}
    assert owners(together(entry("ada"), entry("G1"), ada=TUESDAY, bob=MONDAY)) == {"ada": "ada", "bob": "ada"}


@pytest.mark.parametrize("times", [(None, None), (MONDAY, None), (MONDAY, MONDAY)])
def test_without_times_nobody_loses_a_hand_in(times: tuple[datetime | None, datetime | None]) -> None:
    made = together(entry("ada", times[0]), entry("bob", times[1]))
    assert owners(made) == {"ada": "ada", "bob": "bob"}
    assert (
        "group G1: ada and bob handed in, and no time says who was the latest; give the times with course adjust, or "
        in made.problems[0]
    )


def test_without_groups_nothing_changes() -> None:
    entries = (entry("eve", MONDAY), entry("G1", TUESDAY))
    plain = Roster(tuple(replace(row, group="") for row in ROSTER.students))
    assert set(for_groups(entries, plain, {}).entries) == set(entries)


CANVAS = """\
name,canvas_user_id,user_id,login_id,sections,group_name,canvas_group_id,group_id
"Lovelace, Ada",101,s1,al815,Monday,Group 1,55,
"Okri, Ben",102,s2,BOkri@example.org,Monday,Group 1,55,
"Kaya, Cem",103,s3,ck1,Monday and Friday,,,
"Ng, Dee",109,s4,dn7,Monday,Group 2,56,
"Zhu, Eva",110,s9,ez1,Monday,Group 2,56,
"""
MOODLE = """\
\ufeffGrouping,Group,"First name","Last name","Email address"
Projects,"Group 1",Ada,Lovelace,ada@example.org
Projects,"Group 1",Ben,Okri,bokri@example.org
Projects,"Group 2",Dee,Ng,dee@elsewhere.org
Projects,"Group 3",,,
"Not in a group","No group",Cem,Kaya,cem@example.org
"""
PEOPLE = """\
student,name,email,login,lms_id,group
ada,Ada Lovelace,ada@example.org,al815,101,old
ben,Ben Okri,bokri@example.org,,102,
cem,Cem Kaya,cem@example.org,ck1,103,old
dee,Dee Ng,,,,
"""


@pytest.fixture
def joined(tmp_path: Path) -> Callable[..., Roster]:
    """Return a function that reads the roster of a course from a file of groups."""

    def read(groups: str, people: str | None = PEOPLE) -> Roster:
        if people is not None:
            (tmp_path / "roster.csv").write_text(people)
        (tmp_path / "groups.csv").write_text(groups)
        return read_roster(replace(tiny.COURSE, root=tmp_path), tmp_path / "groups.csv")

    return read


def groups_of(roster: Roster) -> dict[str, str]:
    return {row.student: row.group for row in roster.students}


def test_the_groups_of_canvas_are_joined_to_the_roster_by_number_and_login(joined: Callable[..., Roster]) -> None:
    roster = joined(CANVAS)
    assert groups_of(roster) == {"ada": "Group 1", "ben": "Group 1", "cem": "", "dee": "Group 2"}
    assert roster.notes == (
        "1 student of groups.csv not on the roster: Zhu, Eva",
        "1 student of the roster in no group of groups.csv: cem",
    )
    plain = CANVAS.replace("canvas_user_id,user_id,", "canvas_user_id,").replace(",canvas_group_id,group_id", "")
    assert groups_of(joined(plain.replace(",s1,", ",")))["ada"] == "Group 1", "without the columns of SIS ids"


def test_a_student_who_may_be_two_of_the_roster_is_named(joined: Callable[..., Roster]) -> None:
    """An id counts before a name: with the SIS id `cem`, Dee Ng is cem."""
    assert groups_of(joined(CANVAS.replace("109,s4", "109,cem")))["cem"] == "Group 2"
    for groups, people in (
        (CANVAS.replace("109,s4", "101,cem"), PEOPLE),
        (CANVAS, PEOPLE + "dora,Dee Ng,,,,\n"),
    ):
        roster = joined(groups, people)
        assert "1 student of groups.csv may be several of the roster: Ng, Dee" in roster.notes
        assert roster["dee"].group == ""


def test_the_groups_of_moodle_are_joined_by_address_and_else_by_name(joined: Callable[..., Roster]) -> None:
    roster = joined(MOODLE)
    assert groups_of(roster) == {"ada": "Group 1", "ben": "Group 1", "cem": "", "dee": "Group 2"}
    assert roster.notes == ("1 student of the roster in no group of groups.csv: cem",)


def test_a_student_in_two_groups_is_refused(joined: Callable[..., Roster]) -> None:
    with pytest.raises(RosterError, match=r"groups\.csv:7: ada is in Group 1 and in Pairs 4, expected one group"):
        joined(MOODLE + 'Pairs,"Pairs 4",Ada,Lovelace,ada@example.org\n')


def test_without_a_roster_the_file_of_canvas_is_one(joined: Callable[..., Roster]) -> None:
    roster = joined(CANVAS, people=None)
    assert [row.student for row in roster.students] == ["101", "102", "103", "109", "110"]
    assert roster["101"] == Student("101", "Lovelace, Ada", "", "al815", "101", section="Monday", group="Group 1")
    with pytest.raises(RosterError, match=r"has groups, and .*roster\.csv is not there to say who the students are"):
        joined(MOODLE, people=None)


def run(school: Path, *arguments: str, expected: int = 0) -> str:
    done = tiny.run_course(school / "course", *arguments)
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.worker
def test_commands_use_a_file_of_groups_and_forget_a_student_in_it(tmp_path: Path, key_cache: Path) -> None:
    course = tiny.copied(tmp_path / "course", key_cache)
    (course / "roster.csv").write_text(PEOPLE)
    (tmp_path / "groups.csv").write_text(CANVAS)
    tiny.handed_in(tmp_path / "hand_in" / "ada")
    grade = ("grade", str(tmp_path / "hand_in"), "--out", str(tmp_path / "out"), "--seed", "5", *tiny.TRUSTED)
    said = run(tmp_path, *grade, "--roster", str(tmp_path / "groups.csv"))
    assert "group Group 1: the hand-in of ada counts for all" in said
    assert "1 student of groups.csv not on the roster: Zhu, Eva" in said
    assert "0 graded, 2 kept from before" in run(tmp_path, *grade)
    said = run(tmp_path, "forget", "ben", str(tmp_path / "out"), "--yes")
    assert "groups.csv: the row of the groups" in said
    assert (tmp_path / "groups.csv").read_text() == CANVAS.replace(CANVAS.splitlines(keepends=True)[2], "")
    assert "ben" not in (course / "roster.csv").read_text()


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
    assert rows["bob"]["handed_in"] == rows["ada"]["handed_in"] == "2026-03-02 10:00:00+00:00"
    assert "2026-03-01" not in rows["bob"]["notes"], "the time of a file that does not count"
    run(tmp_path, "adjust", "ada", "*", "handed_in", "2026-03-05 10:00", "--text", "mail", "--by", "Grace")
    run(tmp_path, "export", "feedback", str(tmp_path / "out"), "--to", str(tmp_path / "pages"))
    for student in ("ada", "bob"):
        assert "2026-03-05 10:00 (UTC)" in (tmp_path / "pages" / f"{student}.html").read_text()
