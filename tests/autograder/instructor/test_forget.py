"""`course forget` removes a student everywhere, also after an interruption; `course archive` proves what it wrote."""

import csv
import json
import shutil
import zipfile
from pathlib import Path

import pytest

from autograder.instructor import command_forget
from tests.support import export_examples as examples
from tests.support import tiny

HEAD = "student,exercise,kind,value,text,by,when\n"
ROWS = 'bob,*,comment,,"two\nlines",Grace,2026-03-05 10:00\nada,*,comment,,fine,Grace,2026-03-05 10:00\n'
LOG = "student,assignment,as,file,digest,reason,by,when\nbob,,ex01_running_mean.py,bob/001/a.py,0,sent,Grace,x\n"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A graded class with a class page, exports, decisions and an accepted file of bob."""
    course = examples.graded_class(tmp_path)
    out = tmp_path / "out"
    (course / "adjustments.csv").write_text(HEAD + ROWS)
    (course / "accepted" / "bob" / "001").mkdir(parents=True)
    (course / "accepted" / "bob" / "001" / "a.py").write_text("x = 1\n")
    (course / "accepted" / "log.csv").write_text(LOG)
    (out / "before").mkdir()
    shutil.copyfile(out / "reports" / "bob.json", out / "before" / "bob.json")
    (out / "run.json").write_text(
        json.dumps({"schema": 1, "suite": "sha256:1", "students": {"ada": None, "bob": None}})
    )
    for arguments in (
        ("dashboard", str(out)),
        ("export", "feedback", str(out), "--to", str(out / "pages")),
        ("export", "scores", str(out), "--to", str(out / "exports" / "table.csv")),
    ):
        done = tiny.run_course(course, *arguments)
        assert done.returncode in (0, 4), done.stderr
    return course


def run(course: Path, *arguments: str, expected: int = 0) -> str:
    done = tiny.run_course(course, *arguments)
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout + done.stderr


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def traces(folder: Path) -> list[str]:
    """Return the files that have bob, or the number of bob, in their name or in their bytes."""
    words = (b"bob", b"bu1")
    return [name for name, data in contents(folder).items() if "bob" in name or any(word in data for word in words)]


@pytest.mark.worker
def test_a_student_is_removed_everywhere_and_the_others_stay(course: Path) -> None:
    (course.parent / "out" / "exports" / "letter.txt").write_text("Dear Bob Ünal,\n", "utf-8")
    before = contents(course.parent)
    said = run(course, "forget", "bob", "../out")
    assert "add --yes to remove them" in said
    assert contents(course.parent).keys() - before.keys() <= {"course/.course/.gitignore"}
    assert all(contents(course.parent)[name] == data for name, data in before.items()), (
        "nothing is removed before --yes"
    )
    said = run(course, "forget", "bob", "../out", "--yes")
    assert traces(course.parent) == []
    assert "letter.txt still mentions bob" in said
    assert "Not looked at: hand-ins and downloads" in said
    assert (course / "adjustments.csv").read_text() == HEAD + ROWS.partition('lines",Grace,2026-03-05 10:00\n')[2]
    assert (course / "roster.csv").read_text("utf-8") == "".join(
        line for line in examples.ROSTER.splitlines(keepends=True) if not line.startswith("bob")
    )
    with (course.parent / "out" / "scores.csv").open(newline="", encoding="utf-8") as lines:
        assert [row["student"] for row in csv.DictReader(lines)] == ["ada", "eve", "fay", "'=cmd", "zoe"]
    assert json.loads((course.parent / "out" / "run.json").read_text())["students"] == {"ada": None}
    run(course, "export", "scores", "../out", "--to", "again.csv", expected=4)
    run(course, "dashboard", "../out")
    assert "nothing of bob is in" in run(course, "forget", "bob", "../out", "--yes", expected=2)
    assert "did you mean ada?" in run(course, "forget", "adaa", "../out", "--yes", expected=2)


@pytest.mark.worker
def test_an_interrupted_command_goes_on_from_there(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(course)
    real, left = command_forget.Removal.apply, 0

    def apply(removal: command_forget.Removal) -> None:
        nonlocal left
        if left == 0:
            raise KeyboardInterrupt
        left -= 1
        real(removal)

    monkeypatch.setattr(command_forget.Removal, "apply", apply)
    for stop in range(20):
        for name in ("course", "out"):
            shutil.copytree(course.parent / name, course.parent / f"{name}.kept", dirs_exist_ok=True)
        left = stop
        try:
            done = command_forget.run(options(course))
        except KeyboardInterrupt:
            left = 100
            assert command_forget.run(options(course)) == 0
            assert traces(course.parent / "out") + traces(course) == [], stop
        else:
            assert done == 0
            break
        for name in ("course", "out"):
            for file in (course.parent / f"{name}.kept").rglob("*"):
                if file.is_file():
                    target = course.parent / name / file.relative_to(course.parent / f"{name}.kept")
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, target)
    assert stop >= 8, "each of the places was the last one once"


def options(course: Path) -> object:
    from argparse import Namespace

    return Namespace(student="bob", outs=[course.parent / "out"], yes=True, course=course, roster=None)


@pytest.mark.worker
def test_a_folder_of_several_runs_is_searched_with_the_exports_beside_them(course: Path, tmp_path: Path) -> None:
    term = tmp_path / "term"
    shutil.move(course.parent / "out", term / "week1")
    (term / "pages").mkdir()
    (term / "pages" / "bob.html").write_text("Feedback for Bob")
    (term / "term.csv").write_text("student,term\nada,50\nbob,40\n")
    run(course, "forget", "bob", str(term), "--yes")
    assert traces(term) + traces(course) == []
    assert (term / "term.csv").read_text() == "student,term\nada,50\n"
    assert "Bob" not in "".join(file.read_text("utf-8", "replace") for file in term.rglob("*.html"))


@pytest.mark.parametrize("name", ["../out", "a/b", ""])
@pytest.mark.worker
def test_no_path_is_a_student(course: Path, name: str) -> None:
    before = contents(course.parent / "out")
    assert "cannot be a student's" in run(course, "forget", name, "../out", "--yes", expected=2)
    assert contents(course.parent / "out") == before


@pytest.mark.worker
def test_an_archive_has_a_term_and_can_be_read_back(course: Path) -> None:
    (course / ".course").mkdir(exist_ok=True)
    (course / ".course" / "grading_seed").write_text("5\n")
    file = course / "term.zip"
    said = run(course, "archive", "../out", "term.zip")
    with zipfile.ZipFile(file) as archive:
        names = set(archive.namelist())
        about = json.loads(archive.read("manifest.json"))
        assert archive.read("folders/out/scores.csv") == (course.parent / "out" / "scores.csv").read_bytes()
    wanted = {f"course/{name}" for name in ("course.toml", "roster.csv", "adjustments.csv", ".course/grading_seed")}
    assert wanted | {"course/accepted/bob/001/a.py", "folders/out/reports/ada.json"} <= names
    assert names == {*about["files"], "manifest.json"}
    assert not {name for name in names if name.endswith((".part", "index.sqlite", "/lock", ".pyc"))}
    assert f"term.zip has {len(names) - 1} files, all read back with the same SHA-256" in said
    assert file.stat().st_mode & 0o77 == 0
    assert "all read back" in run(course, "archive", "--check", "term.zip")
    assert "is there already" in run(course, "archive", "../out", "term.zip", expected=2)
    assert "would be inside" in run(course, "archive", "../out", "../out/term.zip", expected=2)
    assert "is not there, expected a folder" in run(course, "archive", "../ou", "other.zip", expected=2)
    assert [name for name in contents(course) if name.endswith(".part")] == []


@pytest.mark.worker
def test_a_damaged_archive_is_found_file_by_file(course: Path) -> None:
    run(course, "archive", "../out", "term.zip")
    data = bytearray((course / "term.zip").read_bytes())
    with zipfile.ZipFile(course / "term.zip") as archive:
        at = archive.getinfo("folders/out/scores.csv").header_offset + 100
    data[at] ^= 0xFF
    (course / "bad.zip").write_bytes(data)
    said = run(course, "archive", "--check", "bad.zip", expected=4)
    assert "folders/out/scores.csv is damaged, expected SHA-256" in said
    (course / "half.zip").write_bytes(data[: len(data) // 2])
    assert "half.zip is no archive of course archive" in run(course, "archive", "--check", "half.zip", expected=4)
    with zipfile.ZipFile(course / "term.zip") as whole, zipfile.ZipFile(course / "less.zip", "w") as less:
        for name in whole.namelist():
            if name != "course/roster.csv":
                less.writestr(name, whole.read(name))
    said = run(course, "archive", "--check", "less.zip", expected=4)
    assert "course/roster.csv is not in the archive" in said


@pytest.mark.worker
def test_the_page_of_a_section_is_of_its_students_alone_and_is_forgotten_too(tmp_path: Path) -> None:
    course, out = examples.graded_class(tmp_path), tmp_path / "out"
    rows = [line.split(",")[0] for line in examples.ROSTER.splitlines()[1:]]
    sections = dict(zip(rows, ["A", "B / 2", "B / 2", "A"], strict=True))
    (course / "roster.csv").write_text("student,section\n" + "".join(f"{who},{of}\n" for who, of in sections.items()))
    assert "class.html" in run(course, "dashboard", str(out), "--names")
    whole = (out / "class.html").read_bytes()
    assert "class-B%20%2F%202.html" in run(course, "dashboard", str(out), "--names", "--section", "B / 2")
    assert (out / "class.html").read_bytes() == whole
    page = (out / "class-B%20%2F%202.html").read_text("utf-8")
    assert "section B / 2" in page
    assert 'href="class-B%2520%252F%25202/marks.csv"' in page
    with (out / "class-B%20%2F%202" / "marks.csv").open(newline="") as table:
        assert [row["count"] for row in csv.DictReader(table)] == ["2"]
    assert "bob" in page
    assert "cmd" not in page
    assert "did you mean A?" in run(course, "dashboard", str(out), "--section", "a", expected=2)
    run(course, "forget", "bob", str(out), "--yes")
    assert not [file for file in out.iterdir() if file.name.startswith("class")]
