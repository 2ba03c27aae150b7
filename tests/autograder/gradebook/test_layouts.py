"""The layouts of downloads, as folders and as zips: who handed in what, when, and which attempt counts."""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from autograder.course import read_course
from autograder.gradebook import Entry, Roster, Student, commit_time, list_submissions
from autograder.gradebook.listing import Submissions
from autograder.submission import Caps, SubmissionError, handout_of, notes_of
from tests.support import tiny
from tests.support.submission_examples import BOTH, FILES, ONE, TWO, laid_out, links, zip_of, zipped

CANVAS = {
    f"lovelaceada_LATE_12_67_{ONE}": b"ada one",
    f"lovelaceada_LATE_12_70_{TWO.replace('.py', '-1.py')}": b"ada two",
    "hopper_gracé_13_80_homework-2.zip": b"",
    f"curiemarie_14_90_{ONE}": b"old",
    f"curiemarie_14_95_{ONE.replace('.py', '-3.py')}": b"new",
    "noethere_15_text.html": b"<p>here it is</p>",
    f"anon_aB3dE_99_{ONE}": b"who",
}
MOODLE = {
    f"Ada Lovelace_501_assignsubmission_file/{ONE}": b"ada one",
    "Ada Lovelace_501_assignsubmission_onlinetext/onlinetext.html": b"",
    "Grace Hopper_502_assignsubmission_file_/homework.zip": b"",
    f"Participant_503_assignsubmission_file/src/{TWO}": b"blind",
    f"Marie Curie_504_assignsubmission_file_{ONE}": b"flat",
}
NBGRADER = {
    f"ada/a01/{ONE}": b"ada one",
    "ada/a01/timestamp.txt": b"2026-02-01 09:28:58.749302 America/Los_Angeles\n",
    f"grace/a01/{TWO}": b"grace two",
    "grace/a01/timestamp.txt": b"2026-03-03 00:00:00 UTC",
    f"marie/a01/{ONE}": b"",
    "marie/a01/timestamp.txt": b"",
    "eve/a01/timestamp.txt": b"tomorrow",
}


def filled(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files, every empty zip a zip of two solutions."""
    packed = zip_of({f"work/{name}": content for name, content in BOTH.items()})
    return {name: packed if name.endswith(".zip") else content for name, content in files.items()}


@pytest.fixture(params=["folder", "zip", "zip of the folder"])
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def made(tmp_path: Path, files: dict[str, bytes], form: str) -> Path:
    """Write a download in one of its forms."""
    if form == "folder":
        return laid_out(tmp_path / "download", filled(files))
    top = "download/" if form == "zip of the folder" else ""
    return zipped(tmp_path / "download.zip", {top + name: content for name, content in filled(files).items()})


def sources(found: Submissions) -> dict[str, dict[str, bytes]]:
    return {entry.student: dict(entry.read(FILES, Caps()).sources) for entry in found.entries}


def notes_on(found: Submissions, student: str) -> tuple[str, ...]:
    return next(entry for entry in found.entries if entry.student == student).read(FILES, Caps()).notes


def test_a_canvas_download_is_recognised_and_every_file_goes_to_its_student(tmp_path: Path, form: str) -> None:
    found = list_submissions(made(tmp_path, CANVAS, form), FILES)
    assert found.layout == "canvas"
    assert found.problems == ()
    assert sources(found) == {
        "12": {ONE: b"ada one", TWO: b"ada two"},
        "13": BOTH,
        "14": {ONE: b"new"},
        "15": {},
        "anon_aB3dE": {ONE: b"who"},
    }
    assert notes_on(found, "12") == ("Canvas marks it as late, and does not give the time",)
    [choice] = [note for note in notes_on(found, "14") if "times" in note]
    assert "-3.py counts, not curiemarie_14_90_" in choice
    assert notes_on(found, "15")[0] == "a text or a link was handed in, expected files"
    assert all(entry.handed_in is None for entry in found.entries)


def test_a_moodle_download_is_recognised_in_folders_and_flat(tmp_path: Path, form: str) -> None:
    found = list_submissions(made(tmp_path, MOODLE, form), FILES)
    assert found.layout == "moodle"
    assert sources(found) == {
        "Ada Lovelace_501": {ONE: b"ada one"},
        "Grace Hopper_502": BOTH,
        "Marie Curie_504": {ONE: b"flat"},
        "Participant_503": {TWO: b"blind"},
    }


def test_nbgraders_folders_are_recognised_and_their_times_read(tmp_path: Path, form: str) -> None:
    found = list_submissions(made(tmp_path, NBGRADER, form), FILES)
    assert found.layout == "nbgrader"
    assert sources(found) == {"ada": {ONE: b"ada one"}, "eve": {}, "grace": {TWO: b"grace two"}, "marie": {ONE: b""}}
    times = {entry.student: entry.handed_in for entry in found.entries}
    assert times["ada"] == datetime(2026, 2, 1, 17, 28, 58, 749302, UTC)
    assert times["grace"] == datetime(2026, 3, 3, tzinfo=UTC)
    assert times["marie"] is times["eve"] is None
    assert any("are those of their timestamp.txt, and students can set them" in note for note in found.notes)
    assert notes_on(found, "eve")[0].startswith("a timestamp.txt cannot be read, expected a time like 2026-03-03")


def test_a_zip_of_folders_and_zips_is_read_as_the_folder_would_be(tmp_path: Path, form: str) -> None:
    files = {f"ada/{ONE}": b"ada", "grace.zip": b"", f"marie/deep/{TWO}": b"marie", "roster.csv": b"student"}
    found = list_submissions(made(tmp_path, files, form), FILES)
    assert found.layout == "plain"
    assert sources(found) == {"ada": {ONE: b"ada"}, "grace": BOTH, "marie": {TWO: b"marie"}}
    assert found.notes == ("roster.csv is not a submission; it was left out",)


def git(folder: Path, *arguments: str, at: int = 0) -> None:
    me = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_COMMITTER_DATE": f"{at} +0200"}
    subprocess.run(["git", "-C", str(folder), *arguments], env={**os.environ, **me, **quiet}, check=True)


def cloned(folder: Path, at: int, commits: int = 1) -> Path:
    """Make a repository whose last commit is of that second."""
    laid_out(folder, BOTH)
    git(folder, "init", "-q", "-b", "main")
    for number in range(commits):
        (folder / TWO).write_text(f"two = {number}\n")
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", f"{number} " + "the same long words " * 40, at=at - commits + 1 + number)
    return folder


@pytest.mark.worker
def test_clones_are_recognised_with_the_times_of_their_last_commits(tmp_path: Path) -> None:
    top = tmp_path / "hw-submissions"
    cloned(top / "hw-ada-k", 1_700_000_000)
    cloned(top / "hw-ada-b", 1_700_000_500)
    found = list_submissions(top, FILES)
    assert found.layout == "clones"
    assert [entry.student for entry in found.entries] == ["ada-b", "ada-k"]
    assert [entry.handed_in.timestamp() for entry in found.entries if entry.handed_in] == [1_700_000_500, 1_700_000_000]
    assert found.entries[0].notes == ()
    assert any("are those of their last commits, and students can set them" in note for note in found.notes)


def test_a_hand_in_with_the_name_of_a_group_is_that_of_no_stranger(tmp_path: Path) -> None:
    for name in ("red", "green"):
        (tmp_path / name).mkdir()
        (tmp_path / name / FILES[0]).write_text("x = 1\n", "utf-8")
    roster = Roster((Student("s1", group="red"), Student("s2", group="red")))
    found = list_submissions(tmp_path, FILES, roster=roster)
    assert [entry.student for entry in found.entries] == ["green", "red"]
    assert [note for note in found.notes if "roster" in note] == ["green is not on the roster; it is graded as green"]


@pytest.mark.worker
def test_without_the_name_of_the_assignment_a_clone_keeps_its_name_unless_the_roster_knows_the_login(
    tmp_path: Path,
) -> None:
    for name in ("hw-x-b", "hw-b", "hw-c"):
        cloned(tmp_path / "here" / name, 1_700_000_000)
    assert [entry.student for entry in list_submissions(tmp_path / "here", FILES).entries] == ["hw-b", "hw-c", "hw-x-b"]
    roster = Roster((Student("s1", login="b"), Student("s2", login="x-b")))
    found = list_submissions(tmp_path / "here", FILES, roster=roster)
    assert [entry.student for entry in found.entries] == ["hw-c", "s1", "s2"]
    assert "hw-c is not on the roster; it is graded as hw-c" in found.notes


@pytest.mark.worker
@pytest.mark.parametrize("packed", [False, True])
def test_every_commit_is_dated_as_git_dates_it(tmp_path: Path, packed: bool) -> None:
    folder = cloned(tmp_path / "clone", 1_700_000_000, commits=12)
    if packed:
        git(folder, "repack", "-a", "-d", "-f", "-q", "--depth=50", "--window=100")
        git(folder, "pack-refs", "--all")
    listed = subprocess.run(
        ["git", "-C", str(folder), "log", "--format=%H %ct"], capture_output=True, text=True, check=True
    ).stdout
    for line in listed.splitlines():
        name, seconds = line.split()
        (folder / ".git" / "HEAD").write_text(f"{name}\n")
        time = commit_time(folder)
        assert time is not None
        assert time.timestamp() == int(seconds)


@pytest.mark.worker
def test_nothing_of_a_strangers_repository_is_run(tmp_path: Path) -> None:
    folder = cloned(tmp_path / "here" / "eve", 1_700_000_000)
    mark = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "gpg.program", "diff.external"):
        git(folder, "config", key, str(program))
    git(folder, "config", "log.showSignature", "true")
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        (folder / ".git" / "hooks").mkdir(exist_ok=True)
        shutil.copy(program, folder / ".git" / "hooks" / hook)
    [entry] = list_submissions(tmp_path / "here", FILES).entries
    entry.read(FILES, Caps())
    entry.stamp()
    assert entry.handed_in is not None
    assert not mark.exists()


@pytest.mark.worker
@links
def test_a_git_folder_of_links_and_nonsense_has_no_time_and_does_not_hang(tmp_path: Path) -> None:
    true = cloned(tmp_path / "true", 1_700_000_000)
    linked = laid_out(tmp_path / "linked", BOTH)
    (linked / ".git").symlink_to(true / ".git", target_is_directory=True)
    assert commit_time(linked) is None
    inside = laid_out(tmp_path / "inside", {".git/HEAD": (true / ".git" / "HEAD").read_bytes()})
    (inside / ".git" / "refs").symlink_to(true / ".git" / "refs", target_is_directory=True)
    (inside / ".git" / "objects").symlink_to(true / ".git" / "objects", target_is_directory=True)
    assert commit_time(inside) is None
    circle = laid_out(tmp_path / "circle", {".git/HEAD": b"ref: refs/a", ".git/refs/a": b"ref: refs/a"})
    assert commit_time(circle) is None
    name = "ab" * 20
    for head in (b"", b"\xff", b"ref: ../../secret", b"0" * 40, b"g" * 40, b"ref: refs/x\0"):
        nonsense = laid_out(tmp_path / "nonsense", {".git/HEAD": head, ".git/objects/info": b""})
        assert commit_time(nonsense) is None
    index = b"\xfftOc" + (2).to_bytes(4) + b"\xff" * 1024
    packs = {".git/objects/pack/a.idx": index, ".git/objects/pack/a.pack": b"PACK" * 9, ".git/HEAD": name.encode()}
    assert commit_time(laid_out(tmp_path / "packs", packs)) is None


@pytest.mark.worker
@pytest.mark.parametrize("damage", range(40))
def test_a_broken_pack_has_a_time_or_none_and_raises_nothing(tmp_path: Path, damage: int) -> None:
    folder = cloned(tmp_path / "clone", 1_700_000_000, commits=3)
    git(folder, "repack", "-a", "-d", "-f", "-q", "--depth=50")
    for file in (folder / ".git" / "objects" / "pack").glob("pack-*.*"):
        file.chmod(0o644)
        content = bytearray(file.read_bytes())
        for at in range(damage, len(content), 41):
            content[at] ^= 0x80 | damage
        file.write_bytes(content[: len(content) - damage])
    commit_time(folder)


def test_an_ambiguous_layout_has_to_be_chosen(tmp_path: Path) -> None:
    top = laid_out(tmp_path / "both", {f"lovelaceada_12_67_{ONE}": b"", f"grace/{ONE}": b""})
    with pytest.raises(SubmissionError, match=r"1 of 2 entries are named as in a download of Canvas, .* not .grace"):
        list_submissions(top, FILES)
    found = list_submissions(top, FILES, "canvas")
    assert [entry.student for entry in found.entries] == ["12"]
    assert found.problems == ("grace has no name of this layout, so it was left out; rename it as the others",)
    assert [entry.student for entry in list_submissions(top, FILES, "plain").entries] == ["grace"]


ROSTER = Roster(
    (
        Student("ada1", "Ada Lovelace", "ada@uni.example", "ada", "12"),
        Student("grace1", "Hopper, Grace"),
        Student("marie1", "Marie Skłodowska Curie", lms_id="501"),
        Student("twin1", "Jo Twin"),
        Student("twin2", "Jo Twin", lms_id="77"),
    )
)


def attributed(tmp_path: Path, files: dict[str, bytes], layout: str | None = None) -> Submissions:
    return list_submissions(laid_out(tmp_path / "class", files), FILES, layout, ROSTER)


def test_names_numbers_logins_and_addresses_are_mapped_to_the_ids_of_the_roster(tmp_path: Path) -> None:
    folders = ("Lovelace, Ada", "hopper grace", "Marie SKŁODOWSKA curie")
    found = attributed(tmp_path, {f"{folder}/{ONE}": b"" for folder in folders})
    assert [entry.student for entry in found.entries] == ["ada1", "grace1", "marie1"]
    assert found.notes == ()
    for name in ("ada", "ADA1", "ada@uni.example"):
        folder = tmp_path / name
        laid_out(folder, {f"{name}/{ONE}": b""})
        assert [entry.student for entry in list_submissions(folder, FILES, None, ROSTER).entries] == ["ada1"]


def test_a_canvas_number_decides_between_two_of_one_name_and_without_it_nobody_is_guessed(tmp_path: Path) -> None:
    found = attributed(tmp_path, {f"twinjo_77_1_{ONE}": b"two", f"twinjo_78_2_{ONE}": b"unsure"})
    assert sources(found) == {"twin2": {ONE: b"two"}, "78": {ONE: b"unsure"}}
    assert found.notes == (f"twinjo_78_2_{ONE} fits twin1, twin2 on the roster; it is graded as 78",)


def test_a_number_and_a_name_that_disagree_are_nobodys(tmp_path: Path) -> None:
    found = attributed(tmp_path, {f"Ada Lovelace_501_assignsubmission_file/{ONE}": b""})
    assert [entry.student for entry in found.entries] == ["Ada Lovelace_501"]
    assert found.notes[0].startswith("Ada Lovelace_501 fits ada1, marie1 on the roster")


@pytest.mark.parametrize("numbers", [False, True])
def test_whoever_takes_the_name_of_another_does_not_replace_the_others_work(tmp_path: Path, numbers: bool) -> None:
    names = ("Grace Hopper_502", "Grace Hopper_666")
    top = laid_out(tmp_path, {f"{name}_assignsubmission_file/{ONE}": name.encode() for name in names})
    roster = Roster((Student("grace1", "Grace Hopper", lms_id="502" if numbers else ""),))
    found = list_submissions(top, FILES, None, roster)
    if numbers:
        assert sources(found) == {"grace1": {ONE: b"Grace Hopper_502"}}
    else:
        assert found.entries == ()
    several = "match grace1 by name but belong to several people, so none of them is graded as one"
    message = f"{several}; put lms_id on the roster"
    assert found.problems == (f"{'Grace Hopper_666' if numbers else ', '.join(names)} {message}",)


def test_a_name_with_numbers_does_not_pass_for_another_user_of_canvas(tmp_path: Path) -> None:
    files = {f"gracehopper_13_50_{ONE}": b"grace", f"eve_13_66_99_{ONE}": b"eve", f"bob_7_8_2024_{ONE}": b"bob"}
    found = list_submissions(laid_out(tmp_path, files), FILES)
    assert sources(found) == {"13": {ONE: b"grace"}}
    assert [problem.partition(":")[0] for problem in found.problems] == [
        f"bob_7_8_2024_{ONE} may belong to 7 or to 8",
        f"eve_13_66_99_{ONE} may belong to 13 or to 66",
    ]


def test_what_would_take_the_id_of_another_is_a_problem_and_loses_nothing_else(tmp_path: Path) -> None:
    roster = Roster((Student("13", "Ada Lovelace"), Student("s2", "Grace Hopper")))
    top = laid_out(tmp_path / "class", {f"eve_13_1_{ONE}": b"", f"hoppergrace_14_2_{ONE}": b""})
    found = list_submissions(top, FILES, None, roster)
    assert [entry.student for entry in found.entries] == ["s2"]
    [problem] = found.problems
    assert problem.startswith(f"eve_13_1_{ONE} would be graded as 13, and another student on the roster has that id")


def test_the_highest_number_counts_where_the_roster_says_that_they_are_of_one_student(tmp_path: Path) -> None:
    names = ("grace1", "grace1-2", "grace1 (10)", "grace1_attempt3")
    found = attributed(tmp_path, {f"{name}/{ONE}": name.encode() for name in names})
    [entry] = found.entries
    assert entry.read(FILES, Caps()).sources == {ONE: b"grace1 (10)"}
    counts = "grace1 (10) counts, not grace1, grace1-2, grace1_attempt3: it has the highest number"
    assert [*entry.notes] == notes_of("ordinary", entry.notes) == [counts]


@pytest.mark.worker
def test_a_login_that_is_another_student_s_id_does_not_replace_their_work(tmp_path: Path) -> None:
    for name, at in (("hw-ada", 1_700_000_100), ("hw-ada1", 1_700_000_900)):
        cloned(tmp_path / "hw-submissions" / name, at)
    found = list_submissions(tmp_path / "hw-submissions", FILES, None, ROSTER)
    [entry] = found.entries
    assert (entry.student, entry.path.name) == ("ada1", "hw-ada")
    message = "match ada1 by name but belong to several people, so none of them is graded as one"
    assert found.problems == (f"hw-ada1 {message}; put login on the roster",)


def test_folders_of_several_names_that_fit_one_student_are_not_chosen_from(tmp_path: Path) -> None:
    found = attributed(tmp_path, {f"ada/{ONE}": b"one", f"Ada Lovelace/{ONE}": b"two", f"hopper grace/{ONE}": b""})
    assert [entry.student for entry in found.entries] == ["ada1", "grace1"]
    assert sources(found)["ada1"] == {ONE: b"one"}, "the login on the roster decides"
    (tmp_path / "class" / "ada").rename(tmp_path / "class" / "ada@uni.example")
    found = list_submissions(tmp_path / "class", FILES, None, ROSTER)
    assert [entry.student for entry in found.entries] == ["grace1"]
    message = "match ada1 by name but belong to several people, so none of them is graded as one"
    assert found.problems == (f"Ada Lovelace, ada@uni.example {message}; keep one, or rename them",)


def test_ids_are_of_one_spelling_so_that_reports_never_collide(tmp_path: Path) -> None:
    laid_out(tmp_path, {f"Rene\u0301/{ONE}": b"one", f"Ren\u00e9.x/{TWO}": b""})
    zipped(tmp_path / "Ren\u00e9.zip", {ONE: b"other"})
    found = list_submissions(tmp_path, FILES)
    assert [entry.student for entry in found.entries] == ["Ren\u00e9", "Ren\u00e9.x"]


@pytest.mark.parametrize("name", ["a*b", "what?", "a|b", 'q"q'])
def test_a_name_that_is_none_everywhere_is_a_problem(tmp_path: Path, name: str) -> None:
    found = list_submissions(zipped(tmp_path / "class.zip", {f"{name}/{ONE}": b"", f"ok/{ONE}": b""}), FILES)
    assert [entry.student for entry in found.entries] == ["ok"]
    assert "has a name that cannot be a student's" in found.problems[0]


def test_zips_in_zips_have_an_end(tmp_path: Path) -> None:
    deep = zip_of({ONE: b"deep"})
    for _ in range(2):
        deep = zip_of({"more.zip": deep})
    top = laid_out(tmp_path / "class", {"eve/a.zip": deep, "bob/a.zip": zip_of({"b.zip": zip_of({ONE: b"x"})})})
    found = list_submissions(top, FILES)
    assert sources(found) == {"bob": {ONE: b"x"}, "eve": {}}
    assert "was not opened: at most 20 zips" in notes_on(found, "eve")[-1]


def test_many_zips_and_great_zips_inside_are_left_alone_with_a_word(tmp_path: Path) -> None:
    many = {f"eve/{number:02}.zip": zip_of({ONE: b"x"}) for number in range(30)}
    top = laid_out(tmp_path / "class", {**many, "bob/a.zip": b"\0" * (17 << 20), f"bob/{TWO}": b"two"})
    found = list_submissions(top, FILES)
    assert sources(found) == {"bob": {TWO: b"two"}, "eve": {ONE: b"x"}}
    assert any("17,825,792 bytes, more than the 16,384 KiB" in note for note in notes_on(found, "bob"))
    assert any("20.zip was not opened: at most 20 zips" in note for note in notes_on(found, "eve"))


def test_a_broken_zip_inside_loses_nothing_else(tmp_path: Path) -> None:
    top = laid_out(tmp_path / "class", {"bob/a.zip": b"PK\3\4 nothing", f"bob/{TWO}": b"two", f"eve_1_2_{ONE}": b""})
    found = list_submissions(top, FILES, "plain")
    assert sources(found) == {"bob": {TWO: b"two"}}
    assert any("is not a zip, or is incomplete" in note for note in notes_on(found, "bob"))


@pytest.mark.parametrize("name", ["../../x.py", "/etc/x.py", "ok/../../x.py", "C:/x.py"])
def test_a_class_zip_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    path = zipped(tmp_path / "class.zip", {name: b"x", f"ok/{ONE}": b"y"})
    found = list_submissions(path, FILES)
    assert sources(found) == {"ok": {ONE: b"y"}}
    assert found.notes
    assert sorted(tmp_path.iterdir()) == [path]


def test_reading_a_class_writes_nothing_to_disk(tmp_path: Path, form: str) -> None:
    path = made(tmp_path, CANVAS, form)
    before = sorted(tmp_path.rglob("*"))
    sources(list_submissions(path, FILES))
    assert sorted(tmp_path.rglob("*")) == before


def one(path: Path) -> Entry:
    return next(entry for entry in list_submissions(path, FILES).entries if entry.student == "ada")


def test_a_stamp_is_equal_as_long_as_nothing_changes_and_changes_with_all_that_is_read(tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "class", {f"ada/{ONE}": b"one", "ada/sub/x.txt": b"", f"bob/{ONE}": b""})
    first = one(folder).stamp()
    assert one(folder).stamp() == first
    status = (folder / "ada" / ONE).stat()
    (folder / "ada" / ONE).write_bytes(b"two")
    os.utime(folder / "ada" / ONE, ns=(status.st_atime_ns, status.st_mtime_ns))
    second = one(folder).stamp()
    assert second != first, "the same size and time of writing, and other bytes"
    laid_out(folder, {f"bob/{TWO}": b""})
    assert one(folder).stamp() == second, "another student's work is no matter"
    laid_out(folder, {f"ada/sub/{TWO}": b""})
    third = one(folder).stamp()
    assert third != second
    (folder / "ada" / ONE).rename(folder / "ada" / TWO)
    assert one(folder).stamp() != third


@pytest.mark.long
@links
def test_a_stamp_ends_on_hostile_folders_and_opens_nothing(tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "class", {f"ada/{ONE}": b"one"})
    (folder / "ada" / "circle").symlink_to(folder / "ada", target_is_directory=True)
    (folder / "ada" / "away").symlink_to("/", target_is_directory=True)
    os.mkfifo(folder / "ada" / "pipe")
    deep = folder / "ada"
    for _ in range(40):
        deep = deep / "d"
    deep.mkdir(parents=True)
    for number in range(6000):
        (folder / "ada" / f"{number}").touch()
    assert one(folder).stamp() == one(folder).stamp()


def test_a_stamp_of_a_zip_in_a_zip_changes_with_it(tmp_path: Path) -> None:
    path = zipped(tmp_path / "class.zip", {f"ada/{ONE}": b"one", f"bob/{ONE}": b"one"})
    first = one(path).stamp()
    assert one(path).stamp() == first
    zipped(path, {f"ada/{ONE}": b"two", f"bob/{ONE}": b"one"})
    assert one(path).stamp() != first


def test_whoever_reads_a_class_zip_from_several_threads_reads_the_same(tmp_path: Path) -> None:
    files = {f"s{number:03}/{ONE}": f"work = {number}\n".encode() * 500 for number in range(60)}
    found = list_submissions(zipped(tmp_path / "class.zip", files), FILES)
    with ThreadPoolExecutor(8) as pool:
        read = list(pool.map(lambda entry: entry.read(FILES, Caps()).sources[ONE], found.entries))
    assert read == list(files.values())


def test_what_was_handed_out_is_known_whatever_was_written_into_the_exercises(tmp_path: Path) -> None:
    root = tiny.copied(tmp_path / "course")
    stub = (root / "exercises" / tiny.FILES[0]).read_bytes()
    (root / "exercises" / tiny.FILES[0]).write_text("work = 1\n")
    laid_out(root / "exercises" / "notebooks", {f"{tiny.FIRST}.ipynb": b"{}"})
    given = handout_of(read_course(root))
    assert sorted(given.files) == sorted([*tiny.FILES, f"{tiny.FIRST}.ipynb"])
    assert given.is_stub(tiny.FILES[0], stub)
    assert not given.is_stub(tiny.FILES[0], b"work = 1\n")
