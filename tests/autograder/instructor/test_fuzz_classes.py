"""One student's submission never affects another student, whatever its name and content.

A class is made as each platform packs it, with names and contents that students choose. Another student, Eve, is
added to it, whose name and files are chosen to look like somebody else's. Then either all others are read as before,
or the folder or both entries are refused by name.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

from autograder.gradebook import Roster, Student, list_submissions
from autograder.gradebook.listing import Submissions
from autograder.submission import Caps, SubmissionError
from tests.support.fuzzing import bounded, seeds
from tests.support.submission_examples import FILES, ONE, TWO, laid_out, zip_of, zipped

CAPS = Caps(source_kib=1, entries=200, depth=6)
NAMES = ("Ada Lovelace", "Grace Hopper", "Jo", "Jo 2", "Marie", "Zoë", "李 娜", "a_b", "x-1", "Anon")
TIME = b"2026-03-03 00:00:00 UTC"

Files = dict[str, bytes]


@dataclass(frozen=True)
class Person:
    """Who hands in: a name, the platform's number, and what they hand in."""

    name: str
    number: int
    work: Files


EVE = b"<Eve>"


def tag(name: str) -> bytes:
    """Return what every source of a student holds."""
    return f"<<{name}>>".encode()


def work(random: Random, own: bytes) -> Files:
    """Return what an honest or an odd student hands in; every source of theirs has their tag."""
    files: Files = {random.choice((ONE, TWO)): own}
    for _ in range(random.randint(0, 3)):
        content = random.choice((own, own + b"#" * 2000, b"\xff\xfe" + own, zip_of({ONE: own, f"x/{TWO}": own})))
        folder = random.choice(("", "", "src/", "notes/", "a/b/", "__MACOSX/", "d/" * 9))
        name = random.choice((ONE, TWO, "more.zip", "README.md", "data.csv", "timestamp.txt", "broken.zip"))
        files[folder + name] = TIME if name == "timestamp.txt" else content
    if random.random() < 0.2:
        files[".git/HEAD"] = b"ref: refs/heads/main"
    return files


def plain(person: Person) -> Files:
    if person.number % 2:
        return {f"{person.name}.zip": zip_of(person.work)}
    return {f"{person.name}/{name}": content for name, content in person.work.items()}


def nbgrader(person: Person) -> Files:
    files = {f"{person.name}/hw/{name}": content for name, content in person.work.items() if name[0] != "."}
    return files | {f"{person.name}/hw/timestamp.txt": TIME}


def moodle(person: Person) -> Files:
    begins = f"{person.name}_{person.number}_assignsubmission_file"
    return {f"{begins}/{name}": content for name, content in person.work.items()}


def moodle_flat(person: Person) -> Files:
    begins = f"{person.name}_{person.number}_assignsubmission_file"
    return {f"{begins}_{name.replace('/', '_')}": content for name, content in person.work.items()}


def canvas(person: Person) -> Files:
    """Name files as Canvas does: the display name's own numbers are joined, then its punctuation is dropped."""
    name = re.sub(r"_(\d+)_", r"\1", person.name).lower()
    late = "_LATE" if person.number % 3 == 0 else ""
    begins = re.sub(r"\W", "", f"{name}{late}_{person.number}")
    named = enumerate(sorted(person.work.items()), start=person.number * 10_000)
    return {f"{begins}_{at}_{re.sub('[/:]', '_', name)}": content for at, (name, content) in named}


LAYOUTS: Sequence[Callable[[Person], Files]] = (plain, nbgrader, moodle, moodle_flat, canvas)


def crafted(random: Random, victim: Person, number: int) -> Person:
    """Return a student who looks like another one as far as the platform of the class lets them."""
    marker = f"_{victim.number}_assignsubmission_file"
    name = random.choice(
        (
            *("Eve", victim.name, victim.name.upper(), unicodedata.normalize("NFD", victim.name), f"{victim.name}-2"),
            *(f"{victim.name}_{victim.number}", f"{victim.name}{marker}", f"{victim.name}{marker}_x", "x_1_2_y"),
            *(f"{victim.name}_{victim.number}-_{victim.number * 10_000}-_x", f"{victim.name}__{victim.number}_"),
            *(f"anon_{victim.number}", "hw_2026_03_eve", "README", f"{victim.name}.zip", "feedback"),
        )
    )
    own = work(random, EVE)
    for _ in range(random.randint(0, 2)):
        file = random.choice(
            (
                *(f"{victim.name}{marker}_{ONE}", f"{marker}_{ONE}", f"{victim.number}_text.html", f"7_8_{ONE}"),
                *(f"{victim.name}_{victim.number}_5_{ONE}", f"_{victim.number}_5_w.zip", f"{victim.name}/{ONE}"),
            )
        )
        own[file] = zip_of({ONE: EVE}) if file.endswith(".zip") else EVE
    return Person(name, number, own)


def stray(random: Random, number: int) -> Person:
    """Return what somebody laid into the folder who is of no class, or of one on another platform."""
    name = random.choice(("Eve", "x_1_2_y", "hw_2026_03_eve", "feedback", "x_9_assignsubmission_file", "README"))
    return Person(name, number, work(random, EVE))


def class_of(random: Random, pack: Callable[[Person], Files]) -> list[Person]:
    names = random.sample(NAMES, random.randint(1, 5))
    tidy = (lambda name: name.replace("_", " ")) if pack in (moodle, moodle_flat, canvas) else (lambda name: name)
    people = [Person(tidy(name), number, work(random, tag(name))) for number, name in enumerate(names, start=11)]
    if pack in (moodle_flat, canvas):  # who hands in no folders has no names with folders
        return [Person(person.name, person.number, {ONE: person.work.get(ONE, b"")}) for person in people]
    return people


def written(folder: Path, files: Files, packed: bool) -> Path:
    return zipped(folder.with_suffix(".zip"), files) if packed else laid_out(folder, files)


def read(found: Submissions) -> Mapping[str, object]:
    each_one = {entry.student: (entry, entry.read(FILES, CAPS)) for entry in found.entries}
    return {
        student: (
            {name: bytes(source) for name, source in submission.sources.items()},
            dict(submission.unread),
            submission.notes,
            entry.handed_in if submission.sources else None,
        )
        for student, (entry, submission) in each_one.items()
    }


def roster_of(random: Random, people: Sequence[Person]) -> Roster:
    if random.random() < 0.6:
        return Roster()
    numbered = random.random() < 0.7
    return Roster(
        tuple(Student(f"id{person.number}", person.name, lms_id=str(person.number) * numbered) for person in people)
    )


def begins(name: str) -> str:
    """Return what a message says of an entry, whose name may be long, or a folder's of Moodle."""
    return name.split("/")[0].split("_assignsubmission")[0][:90] or name[:90]


def names_both(sentences: Sequence[str], one: Files, other: Files) -> bool:
    """Whether a sentence names an entry of the one and an entry of the other."""

    def named(sentence: str, files: Files) -> bool:
        return any(begins(name) in sentence for name in files)

    return any(named(sentence, one) and named(sentence, other) for sentence in sentences)


@pytest.mark.long
@pytest.mark.parametrize("pack", LAYOUTS)
@bounded(60)
@given(seeds)
def test_nobody_changes_anything_for_another_unless_by_name(pack: Callable[[Person], Files], seed: int) -> None:
    random = Random(seed)
    people = class_of(random, pack)
    victim = random.choice(people)
    is_stray = random.random() < 0.3
    added = random.choice(LAYOUTS)(stray(random, 78)) if is_stray else pack(crafted(random, victim, 77))
    files = {name: content for person in people for name, content in pack(person).items()}
    taken = {name.split("/")[0] for name in files}  # whoever unpacks a platform's zip has no two folders of one name
    hers = {name: content for name, content in added.items() if name.split("/")[0] not in taken}
    roster = roster_of(random, people)
    packed = len(people) > 1 and random.random() < 0.4  # a zip of one folder may be a class that was packed with it
    with TemporaryDirectory() as name:
        (Path(name) / "one").mkdir()
        try:
            before = list_submissions(written(Path(name) / "one" / "class", files, packed), FILES, None, roster)
        except SubmissionError:
            return
        (Path(name) / "two").mkdir()
        after: Submissions | None
        try:
            after = list_submissions(written(Path(name) / "two" / "class", files | hers, packed), FILES, None, roster)
        except SubmissionError as error:
            problem = str(error)
            after = None
        if after is None:
            assert any(begins(row) in problem for row in hers), problem
            return
        was, is_now = read(before), read(after)
    notes = (*after.problems, *after.notes)
    for person in people:
        own = pack(person)
        mine = [student for student, (sources, *_) in was.items() if tag(person.name) in b"".join(sources.values())]
        for student in mine:
            assert was[student] == is_now.get(student) or names_both(notes, own, hers), (student, notes)
    for sources, *_ in is_now.values():
        held = b"".join(sources.values())
        assert EVE not in held or not any(tag(person.name) in held for person in people), held
