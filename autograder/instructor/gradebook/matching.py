"""Whose row of somebody else's file is whose score: by number, by login or address, else by a name only one has."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autograder.instructor.gradebook.graded import Mark, named
from autograder.instructor.gradebook.roster import Roster, Student
from autograder.report.words import plural
from autograder.submission.names import Clue, folded


@dataclass(frozen=True)
class Person:
    """Whom a row is of: by the system's own number, by ids and addresses, and by name."""

    row: int
    numbers: tuple[str, ...]
    strong: tuple[str, ...]
    name: str


@dataclass(frozen=True)
class Matched:
    """The marks by row, what to tell of the others, and the students whose score has no place."""

    marks: Mapping[int, Mark]
    notes: tuple[str, ...]
    unplaced: tuple[str, ...]


def matched(people: Sequence[Person], marks: Sequence[Mark], file: str) -> Matched:
    """Return which row is whose. Where two rows fit one student, or two students one row, none is filled in."""
    index = _Index(marks)
    found = {person.row: index.find(person) for person in people}
    times = Counter(student for students in found.values() for student in students)
    by_student = {mark.student: mark for mark in marks}
    sure = {row: who[0] for row, who in found.items() if len(who) == 1 and times[who[0]] == 1}
    names = {person.row: person.name or next(iter((*person.strong, *person.numbers)), "?") for person in people}
    told = []
    if nobody := [names[row] for row, who in found.items() if not who]:
        told.append(
            f"{plural(len(nobody), 'row')} of {file} left as found, of whom there is no report: {named(nobody)}"
        )
    if unsure := [names[row] for row, who in found.items() if who and row not in sure]:
        told.append(
            f"{plural(len(unsure), 'row')} of {file} left as found, whose it is cannot be told: {named(unsure)}"
        )
    placed = set(sure.values())
    unplaced = tuple(mark.student for mark in marks if mark.score is not None and mark.student not in placed)
    if unplaced:
        hint = "name them in roster.csv as they are named there"
        told.append(f"{plural(len(unplaced), 'score')} of students that {file} has not: {named(unplaced)}; {hint}")
    return Matched({row: by_student[student] for row, student in sure.items()}, tuple(told), unplaced)


class _Index:
    """The students by everything they are known by."""

    def __init__(self, marks: Sequence[Mark]) -> None:
        rows = [_known(mark.row) for mark in marks]
        self._names = Roster(tuple(rows))
        self._numbers: dict[str, set[str]] = defaultdict(set)
        self._strong: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            self._numbers[row.lms_id or folded(row.student)].add(row.student)
            for key in filter(None, (row.student, row.login, row.email)):
                self._strong[folded(key)].add(row.student)

    def find(self, person: Person) -> tuple[str, ...]:
        """Return who it may be: one, none, or several where what is known disagrees."""
        numbers = {student for number in person.numbers for student in self._numbers.get(number, ())}
        strong = {student for key in person.strong for student in self._strong.get(folded(key), ())}
        return tuple(sorted(numbers | strong)) or (self._names.find(Clue("", name=person.name)) if person.name else ())


def _known(row: Student) -> Student:
    """Return a row with what an id says that Moodle's download gave: `Ada Lovelace_123`."""
    name, separator, number = row.student.rpartition("_")
    if row.name or row.lms_id or not (separator and number.isascii() and number.isdigit()):
        return row
    return Student(row.student, name=name, lms_id=number)
