"""One class from a clean clone to the feedback: the commands of docs/classroom.md, run in their order.

The class takes four exercises; with PROOF=all, it takes the whole course.
"""

import base64
import csv
import gzip
import io
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from autograder.authoring.release import with_take
from autograder.course import read_course, taking
from autograder.exports.formats import find_formats
from autograder.submission import notebook_of, notebook_of_text, read_submission
from tests.support import tiny

pytestmark = [pytest.mark.slow(seconds=40), pytest.mark.worker]

ROOT = tiny.REPOSITORY
TAKE = () if tiny.EVERYTHING else ("ex01_embeddings", "ex04_masks", "ex05_attention", "ex06_multi_head_attention")
COURSE = taking(read_course(ROOT), TAKE)
MOST = sum(exercise.points for exercise in COURSE.exercises) // 100
PAGE = (ROOT / "docs" / "classroom.md").read_text("utf-8")
SECTIONS: dict[str, str] = dict(re.findall(r"^## (.+)\n((?:.|\n)*?)(?=^## |\Z)", PAGE, re.MULTILINE))
RELEASE, STUDENT, GRADE, EXPORT, FEEDBACK = SECTIONS

RIGHT = {exercise.file: (ROOT / "solutions" / exercise.file).read_text("utf-8") for exercise in COURSE.exercises}
ATTENTION, LAST = "ex05_attention.py", COURSE.files[-1]
UNSCALED = RIGHT[ATTENTION].replace("query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))", "query @ key.mT")
"""The planted misconception."""

IDS = {"123": "ada", "124": "ben", "125": "cem", "126": "dee"}
CANVAS = f"""\
Student,ID,SIS User ID,SIS Login ID,Section,Transformer (78)
    Points Possible,,,,,{MOST}
"Lovelace, Ada",123,,,A,
"Okri, Ben",124,,,A,
"Kaya, Cem",125,,,A,
"Ng, Dee",126,,,A,
"""
MOODLE = f"""\
Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade),Feedback comments
Participant 123,Ada Lovelace,ada@example.org,Submitted for grading,,{MOST}.00,-,
Participant 124,Ben Okri,ben@example.org,Submitted for grading,,{MOST}.00,-,
Participant 125,Cem Kaya,cem@example.org,Submitted for grading,,{MOST}.00,-,
Participant 126,Dee Ng,dee@example.org,No submission,,{MOST}.00,-,
"""


def blocks(title: str, kind: str = "sh") -> list[str]:
    """Return the blocks of a section of the page, as they stand there."""
    return re.findall(rf"```{kind}\n(.*?)```", SECTIONS[title], re.DOTALL)


def commands(block: str) -> list[str]:
    return [re.sub(r"\s+#.*", "", line).strip() for line in block.splitlines()]


@dataclass
class Story:
    """What came of the commands: the clone, the kits by student, and what every command said."""

    clone: Path
    home: Path
    said: dict[str, str] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)

    @property
    def build(self) -> Path:
        return self.clone / "build"

    def kit(self, student: str) -> Path:
        return self.home / student / "kit"

    def run(self, command: str, folder: Path, program: Path, expected: int = 0, **env: str) -> str:
        """Run a command of the page as a shell would, with the programs of a folder before all others."""
        path = os.pathsep.join([str(program), os.environ.get("PATH", "")])
        done = subprocess.run(
            shlex.split(command),
            cwd=folder,
            env=tiny.environment({"PATH": path, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INDEX": "1", **env}),
            executable=shutil.which(shlex.split(command)[0], path=path),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=600,
            check=False,
        )
        output = done.stdout + done.stderr
        assert done.returncode == expected, f"{command}\n{output}"
        assert "Traceback" not in output, output
        self.said[command] = output
        return done.stdout

    def instruct(self, title: str, which: slice = slice(None)) -> None:
        """Run the commands of a section where the course is written."""
        for block in blocks(title)[which]:
            for command in commands(block):
                self.run(command, self.clone, Path(sys.executable).parent, PYTHONPATH=str(self.clone))


def cloned(folder: Path) -> Path:
    """Copy the project without what is not part of it, for what the class takes, with answer keys made before."""
    ignored = shutil.ignore_patterns(".git", ".venv", ".course", "__pycache__", ".*_cache", "build", ".hypothesis")
    clone = shutil.copytree(ROOT, folder / "clone", ignore=ignored)
    text = (ROOT / "course.toml").read_text("utf-8")
    (clone / "course.toml").write_text(with_take(text, TAKE), "utf-8")
    (clone / ".course").mkdir()
    if (ROOT / ".course" / "cache").is_dir():
        shutil.copytree(ROOT / ".course" / "cache", clone / ".course" / "cache", copy_function=tiny.linked)
    return clone


def installed(story: Story, kit: Path) -> Path:
    """Run the two commands of the page in a kit, in an environment of its own, and return where its programs are.

    Nothing is fetched: torch is where these tests have it, and pip finds it there.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", story.home / "venv"], check=True)
    [site] = (story.home / "venv").glob("lib/python*/site-packages")
    (site / "others.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
    programs = story.home / "venv" / "bin"
    install, check = commands(blocks(STUDENT)[0])
    pip = f"{shlex.quote(sys.executable)} -m pip --python {shlex.quote(str(programs / 'python'))} install --quiet"
    assert install.startswith("pip install ")
    story.run(install.replace("pip install", f"{pip} --no-deps --no-build-isolation"), kit, programs)
    story.run(check, kit, programs, expected=1)  # nothing is written yet
    return programs


def plain(text: str) -> str:
    """Return a solution as a student who has it would write it."""
    return "".join(line for line in text.splitlines(keepends=True) if "### BEGIN" not in line and "### END" not in line)


def write(kit: Path, texts: dict[str, str], notebooks: set[str]) -> None:
    """Fill in exercises in a kit, some of them in their notebooks."""
    for exercise in COURSE.exercises:
        if exercise.file not in texts:
            continue
        if exercise.file in notebooks:
            book = kit / "exercises" / "notebooks" / notebook_of(exercise.file)
            book.write_text(notebook_of_text(texts[exercise.file], exercise), "utf-8")
        else:
            (kit / "exercises" / exercise.file).write_text(plain(texts[exercise.file]), "utf-8")


def hand_in(story: Story, student: str, programs: Path) -> None:
    [command] = commands(blocks(STUDENT)[1])
    story.run(command, story.kit(student), programs)
    found = re.search(r"sha256:\w+", story.said[command])
    assert found
    story.digests[student] = found[0]
    shutil.copy(story.kit(student) / "submission.zip", story.build / "class" / f"{student}.zip")


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    folder = tmp_path_factory.mktemp("classroom")
    story = Story(cloned(folder), folder / "elsewhere")
    story.build.mkdir()
    story.instruct(RELEASE)
    for student in ("ada", "ben", "cem"):
        with zipfile.ZipFile(story.build / "kit.zip") as archive:
            archive.extractall(story.home / student)
    programs = installed(story, story.kit("ada"))
    write(story.kit("ada"), {**RIGHT, ATTENTION: UNSCALED}, set())
    write(story.kit("ben"), RIGHT, set(RIGHT))
    write(story.kit("cem"), {name: text for name, text in RIGHT.items() if name != LAST}, set(COURSE.files[::2]))
    (story.build / "class").mkdir()
    for student in ("ada", "ben", "cem"):
        hand_in(story, student, programs)
    [roster] = blocks(GRADE, "csv")
    (story.clone / "roster.csv").write_text(roster, "utf-8")
    (story.clone / ".course" / "grading_seed").write_text(f"{COURSE.seed}\n")  # its answer keys are there already
    story.instruct(GRADE)
    (story.build / "canvas.csv").write_text(CANVAS, "utf-8")
    (story.build / "moodle.csv").write_text(MOODLE, "utf-8")
    story.instruct(EXPORT)
    story.instruct(FEEDBACK)
    return story


@pytest.fixture(scope="module")
def reports(story: Story) -> dict[str, Any]:
    folder = story.build / "grades" / "reports"
    return {file.stem: json.loads(file.read_text("utf-8")) for file in folder.glob("*.json")}


def scores(file: Path) -> dict[str, str]:
    with file.open(encoding="utf-8", newline="") as lines:
        return {row["student"]: row["final"] for row in csv.DictReader(lines)}


def test_the_page_has_every_format_and_the_commands_of_the_kits_readme(story: Story) -> None:
    formats = [line.split()[2] for title in (EXPORT, FEEDBACK) for block in blocks(title) for line in commands(block)]
    in_repositories = {"annotations", "code-quality", "classroom50", "prairielearn"}
    assert sorted({*formats, *in_repositories}) == sorted(find_formats())
    [readme] = re.findall(r"```sh\n.*?```", (story.kit("ben") / "README.md").read_text("utf-8"), re.DOTALL)
    assert readme == f"```sh\n{blocks(STUDENT)[0]}```"


def test_a_kit_was_installed_elsewhere_and_knows_nothing_of_the_course(story: Story) -> None:
    assert not [path for path in story.kit("ben").rglob("*") if "solutions" in path.parts]
    assert "NOT STARTED" in story.said["course check"]
    programs = story.home / "venv" / "bin"
    asked = f"{programs / 'python'} -c 'import autograder; print(autograder.__file__)'"
    assert Path(story.run(asked, story.home, programs).strip()).is_relative_to(story.kit("ada"))


def test_what_was_handed_in_is_what_was_graded(story: Story, reports: dict[str, Any]) -> None:
    assert {student: report["submission"]["digest"] for student, report in reports.items()} == story.digests
    assert sorted(story.digests) == ["ada", "ben", "cem"]
    of_ben = read_submission(story.build / "class" / "ben.zip", COURSE.files)
    assert "scaled_dot_product_attention" in of_ben.sources[ATTENTION].decode()


def test_each_is_graded_as_it_was_written(reports: dict[str, Any]) -> None:
    states = {
        student: {exercise["id"]: exercise["status"] for exercise in report["exercises"]}
        for student, report in reports.items()
    }
    assert set(states["ben"].values()) == {"pass"}, "all in notebooks"
    assert [name for name, state in states["cem"].items() if state != "pass"] == [LAST.removesuffix(".py")]
    assert [name for name, state in states["ada"].items() if state != "pass"] == ["ex05_attention"]
    [failed] = [
        check for exercise in reports["ada"]["exercises"] for check in exercise["checks"] if check["status"] == "fail"
    ]
    assert failed["finding"]["id"] == "attention-not-scaled"
    assert {report["level"] for report in reports.values()} <= {"L2", "L3"}


def test_every_format_has_the_same_scores_and_none_for_who_handed_in_nothing(story: Story) -> None:
    build = story.build
    final = scores(build / "grades" / "scores.csv")
    assert scores(build / "scores.csv") == final
    assert final.pop("dee") == ""
    assert all(float(grade) > MOST / 2 for grade in final.values())
    assert float(final["ada"]) < float(final["ben"]) > float(final["cem"])
    grades = {student: float(grade) for student, grade in final.items()}
    for name, score, who in (
        ("canvas-filled.csv", "Transformer (78)", IDS),
        ("moodle-filled.csv", "Grade", {f"Participant {key}": student for key, student in IDS.items()}),
    ):
        text = (build / name).read_text("utf-8-sig")
        rows = [[*row.values(), row[score]] for row in csv.DictReader(io.StringIO(text))]
        filled = {who[cell]: row[-1] for row in rows for cell in row[:2] if cell in who}
        assert filled.pop("dee") == ""
        assert {student: float(grade) for student, grade in filled.items()} == grades, name
    with sqlite3.connect(build / "class.db") as gradebook:
        asked = (
            "select s.student_id, sum(g.auto_score) from grade g join submitted_notebook n on g.notebook_id = n.id "
            "join submitted_assignment s on n.assignment_id = s.id group by s.student_id"
        )
        assert {who: pytest.approx(score) for who, score in gradebook.execute(asked)} == grades
    for student, grade in grades.items():
        shown = json.loads((build / "gradescope" / f"{student}.json").read_text("utf-8"))
        assert shown["score"] == pytest.approx(grade)
        assert f": {grade:g} of " in (build / "markdown" / f"{student}.md").read_text("utf-8")
        cases = ElementTree.parse(build / "junit" / f"{student}.xml").getroot()
        points = [
            float(entry.get("value") or "nan") for entry in cases.iter("property") if entry.get("name") == "score"
        ]
        assert sum(points) == pytest.approx(grade)
    assert [file.name for file in build.rglob("dee*")] == []
    for platform in ("classroom50", "prairielearn"):
        assert (build / platform / "kit" / "key" / "manifest.json").is_file()
        assert not list((build / platform).rglob("solutions"))
    with zipfile.ZipFile(build / "feedback-moodle.zip") as archive:
        assert sorted(name.split("_")[1] for name in archive.namelist()) == ["123", "124", "125"]


def test_each_gets_a_page_that_says_why(story: Story, reports: dict[str, Any]) -> None:
    pages = {file.stem: file.read_text("utf-8") for file in (story.build / "feedback").iterdir()}
    assert set(pages) == {"ada", "ben", "cem"}
    ada = pages["ada"]
    assert "Feedback for Ada Lovelace: " in ada
    assert f"{reports['ada']['score'] / 100:g} of {MOST} points" in ada
    assert "The scores are not divided by √K." in ada
    assert "scores = <u>query @ key.mT</u>" in ada
    for student, page in pages.items():
        assert story.digests[student] in page
        assert "default-src 'none'" in page
        assert not re.search(r"<script|https?://|src=", page)
    assert "not divided" not in pages["ben"] + pages["cem"]
    assert "NOT STARTED" in pages["cem"]


LINE = "    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # (..., T, S)"
SEED = "3141592653589793238"


def noted(text: str, note: str) -> str:
    """Return a notebook with a note in the metadata of its first cell."""
    book = json.loads(text)
    book["cells"][0]["metadata"]["note"] = note
    return json.dumps(book)


def zipped(text: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.py", text)
    return stream.getvalue()


def plant(kit: Path) -> Iterator[str]:
    """Put ten leaks into a kit, and yield the names of the files that have them."""
    solution = RIGHT[ATTENTION]
    catalogue = (ROOT / "solutions" / "misconceptions" / "ex05_attention.toml").read_bytes()
    [variant, *_] = sorted((ROOT / "solutions" / "accepted" / "ex05_attention").glob("*.py"))
    checks, book = kit / "tests" / "exercises" / "test_ex05_attention.py", kit / "exercises" / "notebooks"
    planted = {
        "tests/exercises/test_ex05_attention.py": f"{checks.read_text('utf-8')}\n# {LINE.strip()}\n".encode(),
        "exercises/notebooks/ex05_attention.ipynb": noted(
            (book / "ex05_attention.ipynb").read_text("utf-8"), LINE
        ).encode(),
        "exercises/ex05_attention.py": solution.encode(),
        "README.md": f"# Notes\n\nSome write `{LINE.strip()}`.\n".encode(),
        "course.toml": (kit / "course.toml").read_bytes() + f"\n# graded with {SEED}\n".encode(),
        "key/ex05_attention/more.bin": base64.b64encode(gzip.compress(solution.encode())),
        "notes.zip": zipped(solution),
        "known.toml": catalogue,
        "another_way.py": variant.read_bytes(),
        ".git/objects/aa/bb": zlib.compress(b"blob 9\0" + solution.encode()),
    }
    for name, data in planted.items():
        (kit / name).parent.mkdir(parents=True, exist_ok=True)
        (kit / name).write_bytes(data)
        yield name


def test_ten_planted_leaks_are_each_found(story: Story, tmp_path: Path) -> None:
    kit = shutil.copytree(story.build / "kit", tmp_path / "kit")
    planted = list(plant(kit))
    (story.clone / ".course" / "grading_seed").write_text(SEED)
    command = f"course release {kit} --check"
    story.run(command, story.clone, Path(sys.executable).parent, expected=1, PYTHONPATH=str(story.clone))
    named = [line.removeprefix("course: ").split(" ")[0] for line in story.said[command].splitlines()]
    assert sorted(named[:-1]) == sorted(planted)
    assert story.said[command].endswith("10 files have what students must not get; take it out of there\n")
