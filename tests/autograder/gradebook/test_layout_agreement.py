"""A layout is recognised only if all entries have it; a mixture is refused, and its entries are named."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from autograder.gradebook import class_folder, list_submissions
from autograder.gradebook.listing import Submissions
from autograder.submission import Caps, SubmissionError
from tests.support.submission_examples import BOTH, FILES, ONE, TWO, laid_out, zip_of, zipped

STUDENTS = ("ada", "bob", "cem", "dee")
NOISE = {
    ".DS_Store": b"x",
    "__MACOSX/._ada": b"x",
    "desktop.ini": b"x",
    "Thumbs.db": b"x",
    "README.md": b"x",
    "scores.csv": b"student",
}
NOTED = ("README.md", "Thumbs.db", "desktop.ini", "scores.csv")


def zips(students: tuple[str, ...] = STUDENTS) -> dict[str, bytes]:
    return {f"{student}.zip": zip_of({ONE: student.encode()}) for student in students}


def moodle(students: tuple[str, ...] = STUDENTS) -> dict[str, bytes]:
    numbered = enumerate(students, start=501)
    return {f"{student}_{number}_assignsubmission_file/{ONE}": student.encode() for number, student in numbered}


def canvas(students: tuple[str, ...] = STUDENTS) -> dict[str, bytes]:
    return {f"{student}_{at}_{9000 + at}_{ONE}": student.encode() for at, student in enumerate(students, start=20)}


def nbgrader(students: tuple[str, ...] = STUDENTS) -> dict[str, bytes]:
    work = {f"{student}/hw/{ONE}": student.encode() for student in students}
    return work | {f"{student}/hw/timestamp.txt": b"2026-03-03 00:00:00 UTC" for student in students}


def sources(found: Submissions) -> dict[str, Mapping[str, bytes]]:
    return {entry.student: entry.read(FILES, Caps()).sources for entry in found.entries}


def refusal(folder: Path) -> str:
    with pytest.raises(SubmissionError) as caught:
        list_submissions(folder, FILES)
    return str(caught.value)


@pytest.mark.parametrize(
    "own",
    [
        {f"eve/{ONE}": b"eve", "eve/notes/timestamp.txt": b"2026-03-03 00:00:00 UTC"},
        {f"eve/src/{ONE}": b"eve", "eve/notes/timestamp.txt": b"2026-03-03 00:00:00 UTC"},
        {f"eve/src/{ONE}": b"eve", "eve/src/timestamp.txt": b"2026-03-03 00:00:00 UTC"},
        {f"eve/{ONE}": b"eve", "eve/.git/HEAD": b"ref: refs/heads/main"},
        {f"eve/{ONE}": b"eve", "eve/x_1_assignsubmission_file/a.py": b"", "eve/x_1_2_a.zip": b""},
    ],
)
def test_what_one_student_put_into_their_folder_leaves_nobody_out(tmp_path: Path, own: dict[str, bytes]) -> None:
    for name, others in (("zips", zips()), ("folders", {f"{student}/{ONE}": student.encode() for student in STUDENTS})):
        found = list_submissions(laid_out(tmp_path / name, others | own), FILES)
        assert (found.layout, found.problems) == ("plain", ())
        assert sources(found) == {student: {ONE: student.encode()} for student in (*STUDENTS, "eve")}
        assert all(entry.handed_in is None for entry in found.entries)


def test_a_folder_with_nothing_but_a_time_does_not_decide_the_layout(tmp_path: Path) -> None:
    found = list_submissions(laid_out(tmp_path, zips(("ada",)) | {"eve/notes/timestamp.txt": b"x"}), FILES)
    assert found.layout == "plain"
    assert sources(found) == {"ada": {ONE: b"ada"}, "eve": {}}


@pytest.mark.parametrize("odd", ["x_assignsubmission_file/a.py", "x_1_assignsubmission_file.zip", "x_1_2_a.zip"])
def test_one_entry_named_as_a_platform_names_them_is_refused_by_name(tmp_path: Path, odd: str) -> None:
    odd = odd.replace("file.zip", "file_a.zip")
    message = refusal(laid_out(tmp_path / "class", zips() | {odd: zip_of(BOTH)}))
    assert message.startswith("class mixes two layouts: 1 of 5 entries are named as in a download of ")
    assert f" ({odd.split('/')[0]}). Others are not (for example ada.zip). " in message
    assert "--layout plain" in message
    found = list_submissions(tmp_path / "class", FILES, "plain")
    assert {student: {ONE: student.encode()} for student in STUDENTS}.items() <= sources(found).items()


@pytest.mark.parametrize(("layout", "made"), [("moodle", moodle), ("canvas", canvas)])
def test_a_download_with_other_files_beside_it_is_refused_and_read_with_its_layout_given(
    tmp_path: Path, layout: str, made: object
) -> None:
    assert callable(made)
    folder = laid_out(tmp_path / "class", made() | {"feedback/ada.html": b"", "late.zip": zip_of(BOTH)})
    message = refusal(folder)
    assert message.startswith("class mixes two layouts: 4 of 6 entries are named as in a download of ")
    assert " Others are not (feedback, late.zip). " in message
    assert f"--layout {layout} leaves out the odd ones" in message
    found = list_submissions(folder, FILES, layout)
    assert sorted(source[ONE].decode() for source in sources(found).values()) == sorted(STUDENTS)
    assert [problem.split(" ")[0] for problem in found.problems] == ["feedback", "late.zip"]


def test_the_odd_ones_are_named_up_to_five_and_counted(tmp_path: Path) -> None:
    many = tuple(f"s{number}" for number in range(20))
    odd = {f"odd{number}/{ONE}": b"" for number in range(9)}
    message = refusal(laid_out(tmp_path, moodle(many) | odd))
    assert " Others are not (odd0, odd1, odd2, odd3, odd4 and 4 more). " in message


@pytest.mark.parametrize("made", [zips, moodle, canvas, nbgrader])
def test_what_is_no_submission_decides_nothing_and_is_named(tmp_path: Path, made: object) -> None:
    assert callable(made)
    found = list_submissions(laid_out(tmp_path, made() | NOISE), FILES)
    assert found.layout == ("plain" if made is zips else made.__name__)  # type: ignore[attr-defined]
    about_entries = [note for note in found.notes if not note.startswith("the times handed in")]
    assert about_entries == [f"{name} is not a submission; it was left out" for name in NOTED]
    assert (len(found.entries), found.problems) == (4, ())


@pytest.mark.parametrize("made", [moodle, canvas, nbgrader])
def test_the_zip_that_was_unpacked_beside_itself_is_left_out_with_a_note(tmp_path: Path, made: object) -> None:
    assert callable(made)
    folder = laid_out(tmp_path, made() | {"submissions.zip": zip_of(made())})
    found = list_submissions(folder, FILES)
    assert found.notes[0] == "submissions.zip is a copy of the files beside it; it was left out"
    assert (len(found.entries), found.problems) == (4, ())
    changed = next(iter(made()))
    zipped(folder / "submissions.zip", made() | {changed: b"another one"})
    differs = f"submissions.zip differs from the files beside it in {changed.split('/')[0]}; it was left out"
    assert list_submissions(folder, FILES).notes[0].startswith(differs)
    zipped(folder / "submissions.zip", made() | {f"more/{ONE}": b""})
    assert "(submissions.zip)" in refusal(folder)


@pytest.mark.parametrize("odd", [{f"zed/{ONE}": b"zed"}, {"zed.zip": zip_of(BOTH)}, {f"zed/hw/{ONE}": b"zed"}])
def test_an_entry_without_the_time_that_all_others_have_is_named(tmp_path: Path, odd: dict[str, bytes]) -> None:
    folder = laid_out(tmp_path / "submitted", nbgrader() | odd)
    message = refusal(folder)
    assert message.startswith("submitted mixes two layouts: 4 of 5 entries hold timestamp.txt beside the work")
    assert f" Others do not ({next(iter(odd)).split('/')[0]}). " in message
    found = list_submissions(folder, FILES, "nbgrader")
    assert {entry.student: entry.handed_in is not None for entry in found.entries}["ada"]


def test_names_like_canvas_by_chance_do_not_make_one_student_of_a_class(tmp_path: Path) -> None:
    files = {f"hw_2026_03_{student}.zip": zip_of({ONE: student.encode()}) for student in STUDENTS}
    message = refusal(laid_out(tmp_path / "class", files))
    assert "hw_2026_03_ada.zip and hw_2026_03_bob.zip share a number" in message
    assert len(list_submissions(tmp_path / "class", FILES, "plain").entries) == 4


def test_a_file_s_name_like_another_platform_s_does_not_stop_a_class_that_agrees(tmp_path: Path) -> None:
    found = list_submissions(
        laid_out(tmp_path / "c", canvas() | {"eve_66_99_x_1_assignsubmission_file_a.py": b""}), FILES
    )
    assert (found.layout, len(found.entries), found.problems) == ("canvas", 5, ())
    found = list_submissions(
        laid_out(tmp_path / "m", moodle() | {"Eve_66_assignsubmission_file_x_1_2_a.zip": b""}), FILES
    )
    assert (found.layout, len(found.entries), found.problems) == ("moodle", 5, ())


def test_names_that_are_all_of_two_platforms_are_asked_about(tmp_path: Path) -> None:
    message = refusal(laid_out(tmp_path / "class", {"Eve_66_99_x_1_assignsubmission_file_a.py": b""}))
    assert message.endswith("; choose --layout moodle or --layout canvas")


GRACE = "Grace Hopper_502"


@pytest.mark.parametrize(
    ("crafted", "problems"),
    [
        (f"{GRACE}_assignsubmission_file_666_assignsubmission_file/{ONE}", 0),
        (f"{GRACE}_assignsubmission_file_x_666_assignsubmission_file_/{ONE}", 0),
        (f"Eve_666_assignsubmission_file_{GRACE}_assignsubmission_file_{ONE}", 1),
        (f"{GRACE}_assignsubmission_file_Eve_666_assignsubmission_file_{ONE}", 1),
        (f"{GRACE}_assignsubmission_file__666_assignsubmission_file_work.zip", 1),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_crafted_name_adds_nothing_to_another_student_s_submission_in_moodle(
    tmp_path: Path, crafted: str, problems: int, packed: bool
) -> None:
    files = {f"{GRACE}_assignsubmission_file/{TWO}": b"grace", crafted: zip_of({ONE: b"eve"})}
    path = zipped(tmp_path / "c.zip", files) if packed else laid_out(tmp_path / "c", files)
    found = list_submissions(path, FILES)
    assert found.layout == "moodle"
    assert sources(found)[GRACE] == {TWO: b"grace"}
    assert len(found.problems) == problems
    assert len(found.entries) == 2 - problems


@pytest.mark.parametrize(
    ("crafted", "own"),
    [
        ("hoppergrace_13_66_99_work.zip", None),  # a display name that ends with _13
        ("hoppergrace_13_50_x_66_99_work.zip", None),  # one with _13-_50-_x, whose punctuation is dropped
        ("hoppergrace_13_50_ex01zip_66_99_work.zip", None),
        ("hoppergrace_13_LATE_66_99_work.zip", "66"),
        ("eve_66_99_hoppergrace_13_50_work.zip", None),  # a file's name
        ("eve_66_99_hoppergrace_13_text.html", "66"),
        ("eve_66_99_13_text.html", None),
    ],
)
def test_a_crafted_name_adds_nothing_to_another_student_s_submission_in_canvas(
    tmp_path: Path, crafted: str, own: str | None
) -> None:
    grace = {f"hoppergrace_13_50_{TWO}": b"grace"}
    found = list_submissions(laid_out(tmp_path, grace | {crafted: zip_of({ONE: b"eve"})}), FILES)
    assert found.layout == "canvas"
    entries = {entry.student: entry for entry in found.entries}
    assert entries["13"].read(FILES, Caps()).sources == {TWO: b"grace"}
    assert entries["13"].notes == ()
    assert sorted(entries) == sorted({"13", own} - {None})
    assert len(found.problems) == (own is None)


def test_one_student_of_moodle_in_a_zip_is_not_taken_for_the_folder_of_a_class(tmp_path: Path) -> None:
    files = {f"Ada_501_assignsubmission_file/bob/{ONE}": b"one", f"Ada_501_assignsubmission_file/cem/{TWO}": b"two"}
    assert sources(list_submissions(zipped(tmp_path / "c.zip", files), FILES)) == {
        "Ada_501": {ONE: b"one", TWO: b"two"}
    }


def test_a_zip_of_a_class_is_never_read_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_folder, "CLASS", Caps(entries=30, depth=12))
    files = {f"ada/{ONE}": b"", **{f"eve/{number}": b"" for number in range(40)}, f"zoe/{ONE}": b""}
    message = refusal(zipped(tmp_path / "class.zip", files))
    assert message.endswith("more than 30 entries; 29 of the first 30 belong to eve. Unpack it and give the folder")


def test_a_refused_file_in_the_zip_of_a_class_is_reported_to_its_student_alone(tmp_path: Path) -> None:
    files = {f"ada/{ONE}": b"", f"eve/{'d/' * 20}{TWO}": b"", **{f"eve/{'d/' * 20}{at}": b"" for at in range(500)}}
    found = list_submissions(zipped(tmp_path / "class.zip", files), FILES)
    assert (found.notes, found.problems) == ((), ())
    read = {entry.student: entry.read(FILES, Caps()) for entry in found.entries}
    assert read["ada"].notes == ()
    assert read["eve"].unread[TWO] == f"{TWO} is more than 12 folders deep, so it was not read; move it up"
