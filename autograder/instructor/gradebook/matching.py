"""Match the rows of an exported file with students: by number, by login or address, or else by a unique name."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autograder.instructor.gradebook.graded import Mark, named
from autograder.instructor.gradebook.roster import Roster, Student
from autograder.report.quantities import plural
from autograder.submission.names import Clue, casefolded


@dataclass(frozen=True)
class Person:
    """The student of a row: by numbers of the learning platform, by ids and addresses (`strong`), and by name."""

    row: int
    numbers: tuple[str, ...]
    strong: tuple[str, ...]
    name: str


@dataclass(frozen=True)
class RowMatches:
    """The marks by row, notes about the other rows, and the students whose score has no row."""

    marks: Mapping[int, Mark]
    notes: tuple[str, ...]
    unplaced: tuple[str, ...]


def match_rows(people: Sequence[Person], marks: Sequence[Mark], file: str) -> RowMatches:
    """Return the mark for each row; a row is left out if it fits several students, or its student fits several rows."""
    index = _Index(marks)
    candidates = {person.row: index.find(person) for person in people}
    times = Counter(student for students in candidates.values() for student in students)
    by_student = {mark.student: mark for mark in marks}
    # A wrong score in a row does more harm than none, so only unambiguous matches count.
    sure = {row: students[0] for row, students in candidates.items() if len(students) == 1 == times[students[0]]}
    names = {person.row: person.name or next(iter((*person.strong, *person.numbers)), "?") for person in people}
    notes = []
    if unknown := [names[row] for row, students in candidates.items() if not students]:
        notes.append(f"{plural(len(unknown), 'row')} of {file} left unchanged, without a report: {named(unknown)}")
    if unsure := [names[row] for row, students in candidates.items() if students and row not in sure]:
        notes.append(
            f"{plural(len(unsure), 'row')} of {file} left unchanged, with more than one possible owner: {named(unsure)}"
        )
    placed = set(sure.values())
    unplaced = tuple(mark.student for mark in marks if mark.score is not None and mark.student not in placed)
    if unplaced:
        hint = "give them the same names or ids in roster.csv"
        notes.append(f"{plural(len(unplaced), 'score')} without a row in {file}: {named(unplaced)}; {hint}")
    return RowMatches({row: by_student[student] for row, student in sure.items()}, tuple(notes), unplaced)


class _Index:
    """The students by number, id, login, address and name."""

    def __init__(self, marks: Sequence[Mark]) -> None:
        rows = [with_moodle_id(mark.row) for mark in marks]
        self._names = Roster(tuple(rows))
        self._numbers: dict[str, set[str]] = defaultdict(set)
        self._strong: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            self._numbers[row.lms_id or casefolded(row.student)].add(row.student)
            for key in filter(None, (row.student, row.login, row.email)):
                self._strong[casefolded(key)].add(row.student)

    def find(self, person: Person) -> tuple[str, ...]:
        """Return the possible students: none, one, or several if the keys of the row disagree."""
        numbers = {student for number in person.numbers for student in self._numbers.get(number, ())}
        strong = {student for key in person.strong for student in self._strong.get(casefolded(key), ())}
        return tuple(sorted(numbers | strong)) or (self._names.find(Clue("", name=person.name)) if person.name else ())


def with_moodle_id(row: Student) -> Student:
    """Return a row with the name and number of an id from a Moodle download, like `Ada Lovelace_123`."""
    name, separator, number = row.student.rpartition("_")
    if row.name or row.lms_id or not (separator and number.isascii() and number.isdigit()):
        return row
    return Student(row.student, name=name, lms_id=number)
