"""The attacks of a course, as files: what each tries, from which level it is contained, and the program it makes.

An attack is a Python file that begins with a note in TOML, between `# /// attack` and `# ///`. What follows the note is
put after (or before, or in place of) a program that is honest but wrong, the same that is graded without it. Where it
defines `hand_in(folder, files, targets)`, that function is called instead: it writes what is handed in.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from autograder.answer_key import patched
from autograder.answer_key import read_catalogue as read_misconceptions
from autograder.course import Course

Level = Literal["L0", "L1", "L2", "L3", "never"]
LEVELS: tuple[Level, ...] = get_args(Level)
Where = Literal["after", "before", "instead", "intake"]

NOTE = re.compile(r"\A# /// attack\n((?:# ?.*\n)*?)# ///\n")
KEYS = {
    "class",
    "title",
    "hope",
    "contained",
    "safe",
    "why",
    "where",
    "exercise",
    "wrong",
    "parts",
    "seconds",
    "raises",
    "flagged",
}

SHARED = """

import sys as _sys
{targets}
def tried():
    '''Say that it is done now: an attack that does not get that far shows nothing.'''
    print(TARGETS["tried"][::-1], flush=True)

def got(what):
    '''Say that something was reached that should not be.'''
    print(TARGETS["proof"][::-1], what, flush=True)

"""


class CatalogueError(Exception):
    """A catalogue that cannot be used; the message is a sentence for its author."""


@dataclass(frozen=True)
class Attack:
    """One attack. From the level `contained` on it gets nothing; below the level `safe` it would harm the machine.

    `title` says what it does, `hope` how that might pay, `why` what cannot be helped where it is contained late or
    never. `classes` are those of the catalogue it belongs to, `seconds` is how long grading may take at most. `raises`
    are the exceptions that its own code may end with: any other one is a mistake in the attack. One that is `flagged`
    may earn points, but a person looks at it.
    """

    name: str
    classes: tuple[str, ...]
    title: str
    hope: str
    text: str
    where: Where
    exercise: str
    wrong: str
    parts: tuple[str, ...] = ()
    contained: Level = "L0"
    safe: Level = "L0"
    why: str = ""
    seconds: float = 90.0
    raises: tuple[str, ...] = ()
    flagged: bool = False

    def claims(self, level: Level) -> bool:
        """Whether the attack gets nothing at that isolation level, according to its file."""
        return LEVELS.index(self.contained) <= LEVELS.index(level)

    def may_run(self, level: Level) -> bool:
        """Whether the attack leaves the machine as it is at that level."""
        return LEVELS.index(self.safe) <= LEVELS.index(level)


@dataclass(frozen=True)
class Catalogue:
    """All attacks of a course, the exercises that are graded, and the classes that no submission can express.

    `neighbours` are the misconceptions of the honest submissions beside an attack, "" for the solution.
    """

    folder: Path
    attacks: tuple[Attack, ...]
    exercises: tuple[str, ...]
    neighbours: tuple[tuple[str, str], ...]
    elsewhere: Mapping[str, Mapping[str, str]]

    def find(self, names: list[str]) -> list[Attack]:
        """Return the attacks whose names begin with one of these, all without any; raises `CatalogueError`."""
        found = [attack for attack in self.attacks if not names or attack.name.startswith(tuple(names))]
        unknown = [name for name in names if not any(attack.name.startswith(name) for attack in self.attacks)]
        if unknown:
            raise CatalogueError(
                f"no attack begins with {', '.join(unknown)}; the files of {self.folder} are the names there are"
            )
        return found


def read_catalogue(folder: Path) -> Catalogue:
    """Read `catalogue.toml` and every attack in a folder; raises `CatalogueError`."""
    file = folder / "catalogue.toml"
    try:
        data = tomllib.loads(file.read_text("utf-8"))
        neighbours = tuple((neighbour["exercise"], neighbour["wrong"]) for neighbour in data["neighbours"])
        attacks = [_attack(file, data["honest"]) for file in sorted(folder.glob("a[0-9]*.py"))]
        return Catalogue(folder, tuple(attacks), tuple(data["exercises"]), neighbours, data.get("elsewhere", {}))
    except OSError as error:
        raise CatalogueError(f"{file} cannot be read: {error.strerror}; expected a catalogue of attacks") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CatalogueError(f"{file} is no TOML: {error}") from error
    except KeyError as error:
        raise CatalogueError(f"{file} lacks {error}") from error


def _attack(file: Path, honest: Mapping[str, str]) -> Attack:
    text = file.read_text("utf-8")
    note = NOTE.match(text)
    if note is None:
        raise CatalogueError(f"{file} does not begin with a note between `# /// attack` and `# ///`")
    try:
        data: dict[str, Any] = tomllib.loads(re.sub("(?m)^# ?", "", note[1]))
    except tomllib.TOMLDecodeError as error:
        raise CatalogueError(f"{file}: its note is no TOML: {error}") from error
    if unknown := sorted(set(data) - KEYS):
        raise CatalogueError(f"{file}: {', '.join(unknown)} means nothing here; known are {', '.join(sorted(KEYS))}")
    if missing := sorted({"class", "title", "hope"} - set(data)):
        raise CatalogueError(f"{file}: its note lacks {', '.join(missing)}")
    levels = data.get("contained", "L0"), data.get("safe", "L0")
    if not set(levels) <= set(LEVELS):
        raise CatalogueError(f"{file}: the levels are {', '.join(LEVELS)}, found {' and '.join(levels)}")
    if levels[0] != "L0" and not data.get("why"):
        raise CatalogueError(f"{file}: say why it is contained from {levels[0]} on only, or never")
    return Attack(
        name=file.stem,
        classes=tuple(data["class"].split()),
        title=data["title"],
        hope=data["hope"],
        text=text[note.end() :],
        where=data.get("where", "after"),
        exercise=data.get("exercise", honest["exercise"]),
        wrong=data.get("wrong", honest["wrong"]),
        parts=tuple(data.get("parts", ())),
        contained=levels[0],
        safe=levels[1],
        why=data.get("why", ""),
        seconds=float(data.get("seconds", 90)),
        raises=tuple(data.get("raises", ())),
        flagged=data.get("flagged", False) is True,
    )


def honest_files(course: Course, exercises: tuple[str, ...], exercise: str, wrong: str) -> dict[str, str]:
    """Return the solutions of some exercises by file, one of them with a misconception; "" is none.

    Raises `CatalogueError` where there is no such misconception.
    """
    files = {}
    for chosen in (exercise for exercise in course.exercises if exercise.id in exercises):
        solution = (course.solutions_dir / chosen.file).read_text("utf-8")
        if chosen.id == exercise and wrong:
            catalogue = read_misconceptions(course.solutions_dir / "misconceptions" / f"{chosen.id}.toml", solution)
            found = next((one for one in catalogue if one.id == wrong), None)
            if found is None:
                raise CatalogueError(f"{exercise} has no misconception {wrong}")
            solution = patched(solution, found)
        files[chosen.file] = solution
    return files


def write_submission(
    attack: Attack, honest: Mapping[str, str], folder: Path, parts: Path, targets: Mapping[str, Any], student: str
) -> None:
    """Write the attacker's submission into a folder: the honest files with the attack in one of them.

    `targets` say where there is something to get; `parts` is the folder of what several attacks have in common.
    """
    shared = SHARED.format(targets=f"TARGETS = {dict(targets)!r}")
    text = shared + "\n".join([(parts / f"{part}.py").read_text("utf-8") for part in attack.parts] + [attack.text])
    if attack.where == "intake":
        _hand_in(attack)(folder, dict(honest), {**targets, "student": student})
        return
    name = f"{attack.exercise}.py"
    whole = {"after": honest[name] + text, "before": text + honest[name], "instead": text}[attack.where]
    own = folder / student
    own.mkdir(parents=True)
    for file, honest_text in honest.items():
        (own / file).write_text(whole if file == name else honest_text, "utf-8", newline="")


def _hand_in(attack: Attack) -> Callable[[Path, dict[str, str], dict[str, Any]], None]:
    names: dict[str, Any] = {}
    exec(compile(attack.text, f"{attack.name}.py", "exec"), names)
    found: Callable[[Path, dict[str, str], dict[str, Any]], None] = names["hand_in"]
    return found
