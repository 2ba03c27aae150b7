"""What a desk shows: the marks of a graded class as rows, the filters on them, and what students ask about checks."""

import email
import email.message
import email.policy
import hashlib
import mailbox
import re
import shlex
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from email.utils import parseaddr
from functools import cached_property
from pathlib import Path
from urllib.parse import urlencode

from autograder import gradebook
from autograder.course import FOLDER, Course, UsageError, find_assignment, read_course, resolve_exercise, suggestion
from autograder.gradebook import Entry, casefolded
from autograder.report import number, one_line, plural
from autograder.submission import Caps, FileError, Submission, SubmissionError, printable, read_plain

# What students ask: each claim is about one check of one student, or about a whole hand-in.

ANSWER = "Your question about {subject}: "
"""How the reason begins that answers a claim: by it the claim is known to be answered."""

MOST_BYTES = 1 << 20
MOST_MESSAGES = 5000
MOST_QUESTION = 2000
"""Characters of a question that are shown: a mail may quote all that was written before."""

_QUOTED = re.compile(r"^(\s?>)+\s?")
"""How a mail marks the lines that it answers."""

_FIELD = re.compile(rf"[\s*+-]*({'|'.join(gradebook.CLAIM)})\s*:\s*(.*)", re.IGNORECASE)
_QUESTION = gradebook.CLAIM[-1]


@dataclass(frozen=True)
class Message:
    """A text that may have claims: where it is from, its sender if it is a mail, and a problem if it has none."""

    source: str
    text: str = ""
    sender: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Claim:
    """What a student asks about a check; without one, about the whole hand-in.

    `exercise` is then the assignment, or `*`. `source` is its file or mail, and `notes` are what to know before
    answering. `earlier` counts the student's questions about the same before it: each needs an answer of its own.
    """

    student: str
    exercise: str
    check: str
    question: str
    source: str
    notes: tuple[str, ...] = ()
    earlier: int = 0

    @property
    def id(self) -> str:
        """A short name that is the same every time."""
        parts = "\n".join((self.student, self.exercise, self.check, self.question))
        return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:12]

    @property
    def subject(self) -> str:
        """What it is about, in words."""
        return self.check or "the hand-in"

    def is_answered(self, mark: gradebook.Mark) -> bool:
        """Say whether a decision that counts, or an accepted file, answers it."""
        decisions = [(row.is_whole or row.exercise, row.text) for row in mark.final.adjustments] if mark.final else []
        accepted = [(not one.name or Path(one.name).stem, one.reason) for one in mark.accepted]
        about, places = ANSWER.format(subject=self.subject).strip(), (True, self.exercise)
        answers = [about in text and (not self.check or of in places) for of, text in (*decisions, *accepted)]
        return sum(answers) > self.earlier


def read_messages(path: Path) -> tuple[Message, ...]:
    """Return the texts in a folder, in an mbox or in one file. Raises `UsageError` if there is nothing to read."""
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if not file.name.startswith("."))
        return (*map(_message, files[:MOST_MESSAGES]), *_left_out(path, len(files)))
    if not path.is_file():
        raise UsageError(f"{printable(path)} is not there, expected a folder of text files or an mbox; check the path")
    with path.open("rb") as stream:
        is_mbox = stream.read(5) == b"From "
    if not is_mbox:
        return (_message(path),)
    box = mailbox.mbox(path, create=False)
    try:
        keys = box.keys()
        mails = [
            _mail(f"{path.name}, message {at}", box.get_bytes(key)[:MOST_BYTES])
            for at, key in enumerate(keys[:MOST_MESSAGES], 1)
        ]
    finally:
        box.close()
    return (*mails, *_left_out(path, len(keys)))


def _left_out(path: Path, count: int) -> list[Message]:
    why = f"it has {count:,} messages, and the first {MOST_MESSAGES:,} were read; split it"
    return [Message(path.name, problem=why)] if count > MOST_MESSAGES else []


def _message(file: Path) -> Message:
    try:
        data = read_plain(file, MOST_BYTES)
    except FileError as error:
        return Message(file.name, problem=f"it {error}")
    if file.suffix.lower() == ".eml":
        return _mail(file.name, data)
    return Message(file.name, data.decode("utf-8-sig", "replace"))


def _mail(source: str, data: bytes) -> Message:
    parsed = email.message_from_bytes(data, policy=email.policy.compat32)
    texts = [_text(part) for part in parsed.walk() if part.get_content_type() == "text/plain"]
    problem = "" if texts else "it has no part in plain text"
    return Message(source, "\n".join(texts), parseaddr(str(parsed.get("From", "")))[1], problem)


def _text(part: email.message.Message) -> str:
    data = part.get_payload(decode=True)
    try:
        return data.decode(part.get_content_charset() or "utf-8", "replace") if isinstance(data, bytes) else ""
    except LookupError:  # a charset that nobody knows
        return data.decode("utf-8", "replace") if isinstance(data, bytes) else ""


def claims_in(text: str) -> list[dict[str, str]]:
    """Return the fields of each claim in a text; a line with the student begins another one.

    A question ends where the next claim begins, and before the signature of a mail.
    """
    found: list[dict[str, str]] = []
    is_question = False
    for line in text.splitlines():
        words = _QUOTED.sub("", line).rstrip()
        match = _FIELD.match(words)
        name = match[1].lower() if match else ""
        if not found or name == gradebook.CLAIM[0]:
            found += [{}] if match else []
        if match and name not in found[-1]:
            found[-1][name] = match[2].strip()
            is_question = name == _QUESTION
        elif words == "--":
            is_question = False
        elif is_question:
            found[-1][_QUESTION] += f"\n{words}"
    return [{**claim, _QUESTION: claim.get(_QUESTION, "").strip()[:MOST_QUESTION]} for claim in found]


# The rows and their filters.

STATES = {
    "look": "to be looked at",
    "held": "held, waits for a decision",
    "flagged": "flagged",
    "late": "late",
    "missing": "nothing handed in",
    "decided": "with a decision of their own",
    "asks": "with an open question",
}
"""What the class can be filtered by, besides words and names."""


@dataclass(frozen=True, eq=False)
class Row:
    """One mark: a student and an assignment, or "" in a course without assignments.

    `looks` are why a person should look at it, `failing` the exercises that do not pass, and `misconceptions` are ids.
    """

    run: str
    mark: gradebook.Mark
    section: str = ""
    looks: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    misconceptions: Mapping[str, str] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    words: str = ""

    @cached_property
    def states(self) -> frozenset[str]:
        """The states of `STATES` that it is in."""
        report, final = self.mark.judged, self.mark.final
        exercises = report.exercises if report is not None else ()
        is_open = final is None or final.is_open
        holds = {
            "look": bool(self.looks),
            "held": is_open and any(exercise.status == "held" for exercise in exercises),
            "flagged": any(exercise.flags for exercise in exercises),
            "late": final is not None and bool(final.lateness.days),
            "missing": report is None,
            "decided": any(
                not one.is_imported_time and not one.is_for_everybody for one in (final.adjustments if final else ())
            )
            or bool(self.mark.accepted),
            "asks": bool(self.open_claims),
        }
        return frozenset(name for name, is_so in holds.items() if is_so)

    @property
    def open_claims(self) -> tuple[Claim, ...]:
        """The claims that no decision answers."""
        return tuple(claim for claim in self.claims if not claim.is_answered(self.mark))


@dataclass(frozen=True)
class Filter:
    """What is wanted of the rows, as it stands in the address of a page; "" is anything."""

    q: str = ""
    show: str = ""
    exercise: str = ""
    misconception: str = ""
    assignment: str = ""
    section: str = ""

    @classmethod
    def of(cls, values: Mapping[str, str]) -> "Filter":
        """Return the filter in the query of an address."""
        return cls(**{one.name: values.get(one.name, "").strip()[:200] for one in fields(cls)})

    @property
    def query(self) -> str:
        """The query of an address with this filter."""
        return urlencode({name: value for name, value in vars(self).items() if value})

    def takes(self, row: Row) -> bool:
        """Say whether a row is wanted."""
        return (
            all(word in row.words for word in _folded(self.q).split())
            and (not self.show or self.show in row.states)
            and (not self.exercise or self.exercise in row.failing)
            and (not self.misconception or self.misconception in row.misconceptions)
            and (not self.assignment or self.assignment == row.run)
            and (not self.section or self.section == row.section)
        )


class Worklist:
    """A graded class, or the classes of a term, by the files of now: `refresh` reads what has changed on the disk."""

    def __init__(
        self,
        root: Path,
        out: Path,
        roster_file: Path | None = None,
        submissions: Path | None = None,
        layout: str | None = None,
        claims: Path | None = None,
    ) -> None:
        self.root, self.out = root, out
        self._roster_file, self._submissions, self._layout, self._claims = roster_file, submissions, layout, claims
        self.course: Course
        self.roster = gradebook.Roster()
        self.runs: dict[str, gradebook.Graded] = {}
        self.rows: tuple[Row, ...] = ()
        self.choices: dict[str, tuple[tuple[str, str], ...]] = {}
        """What each filter of the page offers: its value, and its words with the number of marks."""
        self.unmatched: tuple[tuple[str, str], ...] = ()
        self.notes: tuple[str, ...] = ()
        self._facts: dict[str, dict[str, gradebook.Facts]] = {}
        self._entries: dict[str, dict[str, Entry]] = {}
        self._messages: tuple[Message, ...] = ()
        self._folders: dict[str, Path] = {}
        self._by_student: dict[tuple[str, str], Row] = {}
        self._graded_state: tuple[str, ...] = ()
        self._decided_state: tuple[str, ...] = ()
        self._claims_state: tuple[str, ...] = ()

    def refresh(self) -> None:
        """Read what has changed since the last time. Raises `UsageError` if it cannot be read."""
        graded, decided, claims = self._states()
        if graded != self._graded_state:
            self._graded_state = ()
            self._read()
        elif decided != self._decided_state:
            self._decided_state = ()
            self.roster = gradebook.read_roster(self.course, self._roster_file)
            self.runs = self._decided()
        elif claims == self._claims_state:
            return
        if self._claims is not None and claims != self._claims_state:
            self._claims_state = ()
            self._messages = read_messages(self._claims)
        self._make_rows()
        self._graded_state, self._decided_state, self._claims_state = graded, decided, claims

    def find(self, run: str, student: str) -> Row | None:
        """Return the row of a student."""
        return self._by_student.get((run, student))

    def effect(self, made: gradebook.Adjustment) -> list[str]:
        """Return which marks a decision would change, as `course adjust --try` prints it; marks are indented."""
        lines = []
        for name, after in self._decided([made]).items():
            for line in gradebook.effect_of(self.runs[name], after):
                is_mark = line[:1] == " "
                lines.append(line if is_mark else f"{name}: {line}" if name else f"{line[:1].upper()}{line[1:]}")
        return lines or ["No mark changes"]

    def _decided(self, more: Sequence[gradebook.Adjustment] = ()) -> dict[str, gradebook.Graded]:
        """Return the classes by the decisions of now and some more."""
        return {
            name: gradebook.decided_again(run, self.course, self.roster, self._folders[name], more)
            for name, run in self.runs.items()
        }

    def adjustments(self) -> gradebook.Adjustments:
        """Return all decisions in the file of now."""
        return gradebook.read_adjustments(self.course)

    def submission(self, row: Row) -> tuple[Submission | None, str]:
        """Return what a student handed in, as it was graded, or why it is not shown."""
        if self._submissions is None:
            return None, "To see whole files, name the folder of the submissions: `course desk OUT DIR`."
        entry = self._entries.get(row.run, {}).get(row.mark.student)
        report = row.mark.judged
        if entry is None or report is None:
            return None, f"The hand-in is not in {printable(self._submissions)}."
        try:
            read = entry.read(self.runs[row.run].course.files, Caps(source_kib=self.course.limits.source_kib))
        except (SubmissionError, OSError) as error:
            return None, f"The hand-in cannot be read: {error}."
        if report.submission.get("digest") not in (None, read.digest):
            return None, "The hand-in was changed since it was graded, so its lines are not shown."
        return read, ""

    def command_due(self, row: Row) -> str:
        """Return the command after which it counts what is accepted for a student; "" if it counts already."""
        student, report = row.mark.student, row.mark.judged
        notes = {student: report.submission.get("notes", ()) if report is not None else ()}
        if student not in gradebook.graded_without(self.course, row.run, notes):
            return ""
        run, chosen = self.runs[row.run], self._submissions
        folder = "DIR" if chosen is None else str(chosen / row.run if gradebook.is_term(self.out) else chosen)
        words = ["course", "grade", folder, "--out", str(self._folders[row.run])]
        words += ["--assignment", row.run] if row.run else []
        words += [word for part in run.course.take for word in ("--take", part)]
        words += ["--layout", self._layout] if self._layout else []
        secret = self.root / FOLDER / "grading_seed"
        is_kept = secret.is_file() and secret.read_text("utf-8").strip() == str(run.seed)
        return shlex.join([*words, *([] if is_kept or run.seed is None else ["--seed", str(run.seed)])])

    def is_accepted(self, row: Row, exercise: str) -> bool:
        """Say whether the file of an exercise that is shown was accepted, and is not the student's own."""
        entry = self._entries.get(row.run, {}).get(row.mark.student)
        names = {Path(part.name or "").stem for part in entry.accepted} if entry is not None else set()
        return exercise in names or (entry is not None and self._is_kept(entry))

    def _is_kept(self, entry: Entry) -> bool:
        """Say whether a whole hand-in is one that was accepted."""
        return entry.path.is_relative_to(self.course.root / gradebook.FOLDER)

    def _states(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Return what changes with the files of the grading, of the decisions and of the claims."""
        outs = [self.out, *sorted(file.parent for file in self.out.glob("*/run.json"))]
        graded = [self.root / "course.toml", *(out / name for out in outs for name in ("run.json", "scores.csv"))]
        decided = [self.root / gradebook.FILE, self.root / gradebook.ROSTER_FILE, self.root / gradebook.FOLDER]
        decided += [self._roster_file] if self._roster_file is not None else []
        claims = [self._claims] if self._claims is not None else []
        claims += sorted(self._claims.iterdir()) if self._claims is not None and self._claims.is_dir() else []
        claims += [out / gradebook.PSEUDONYMS for out in outs] if self._claims is not None else []
        return tuple(map(_state, graded)), tuple(map(_state, decided)), tuple(map(_state, claims))

    def _read(self) -> None:
        """Read the course, the reports and the names of the submissions."""
        if self.out.is_file():
            raise UsageError(f"{printable(self.out)} is one file, expected the folder that course grade wrote")
        self.course = read_course(self.root)
        self.roster = gradebook.read_roster(self.course, self._roster_file)
        if gradebook.is_term(self.out):
            self.runs = {one.id: graded for one, graded in gradebook.read_term(self.course, self.roster, self.out)}
            folders = [file.parent for file in self.out.glob("*/run.json")]
            named = [(str((gradebook.read_run(folder) or {}).get("assignment")), folder) for folder in folders]
            self._folders = {find_assignment(self.course, name).id: folder for name, folder in named}
        else:
            graded = gradebook.read_graded(self.course, self.roster, self.out)
            name = graded.course.assignment.id if graded.course.assignment else ""
            self.runs, self._folders = {name: graded}, {name: self.out}
        self._facts = {
            name: {mark.student: gradebook.facts_of(mark.judged) for mark in run.marks if mark.judged is not None}
            for name, run in self.runs.items()
        }
        self._entries = {name: self._listed(name) for name in self.runs}

    def _listed(self, run: str) -> dict[str, Entry]:
        """Return the submissions of a run by student; none if their folder was not named."""
        folder = self._submissions
        if folder is None:
            return {}
        if gradebook.is_term(self.out):
            folder = folder / run
        if not folder.exists():
            raise UsageError(f"{printable(folder)} is not there, expected the submissions of {run or 'the class'}")
        try:
            return {entry.student: entry for entry in gradebook.graded_entries(self.runs[run], folder, self._layout)}
        except SubmissionError as error:
            raise UsageError(str(error)) from None

    def _make_rows(self) -> None:
        marks = {(name, mark.student): mark for name, run in self.runs.items() for mark in run.marks}
        claims, self.unmatched = self._matched(marks)
        counts: Counter[str] = Counter()
        names: dict[str, str] = {}
        rows = []
        for name, run in self.runs.items():
            facts = self._facts[name]
            decisions = {mark.student: mark.score for mark in run.marks if mark.is_decided}
            summary = gradebook.summary_of(list(facts.values()), run.policy.maximum, decisions)
            looks = defaultdict(list)
            for student, why in summary.need_a_look:
                looks[student].append(why)
            for mark in run.marks:
                own = facts[mark.student].misconceptions if mark.student in facts else {}
                counts.update(own.keys())
                names |= own
                found = tuple(looks[one_line(mark.student)]) if mark.judged else ()
                rows.append(_row(name, mark, found, own, claims.get((name, mark.student), ())))
        self.rows = tuple(rows)
        self.choices = _choices(self.rows, [(key, f"{names[key]} ({count})") for key, count in counts.most_common()])
        self._by_student = {(row.run, row.mark.student): row for row in rows}
        self.notes = tuple(note for run in self.runs.values() for note in run.notes)
        if self._submissions is not None and not any(
            entry.student in self._facts[name] and not self._is_kept(entry)
            for name, entries in self._entries.items()
            for entry in entries.values()
        ):
            unseen = f"{printable(self._submissions)} has no hand-in of a student who was graded"
            self.notes += (f"{unseen}, so no file is shown; name the folder that `course grade` read.",)
        if self.unmatched:
            self.notes += (f"{plural(len(self.unmatched), 'question')} could not be matched: see Questions.",)

    def _matched(
        self, marks: Mapping[tuple[str, str], gradebook.Mark]
    ) -> tuple[dict[tuple[str, str], tuple[Claim, ...]], tuple[tuple[str, str], ...]]:
        """Return the claims by run and student, and what could not be matched with the reason."""
        matched: defaultdict[tuple[str, str], dict[str, Claim]] = defaultdict(dict)
        unmatched = []
        for message in self._messages:
            parts = claims_in(message.text)
            if message.problem or not parts:
                why = message.problem or f"it has no line like `student: {next(iter(marks), ('', 'ID'))[1]}`"
                unmatched.append((message.source, why))
            for part in parts:
                try:
                    key, claim = self._claim(message, part, marks)
                except UsageError as error:
                    unmatched.append((message.source, str(error)))
                else:
                    own = matched[key]
                    earlier = sum((one.exercise, one.check) == (claim.exercise, claim.check) for one in own.values())
                    own.setdefault(claim.id, replace(claim, earlier=earlier))  # an answer quotes what it answers
        return {key: tuple(claims.values()) for key, claims in matched.items()}, tuple(unmatched)

    def _claim(
        self, message: Message, part: Mapping[str, str], marks: Mapping[tuple[str, str], gradebook.Mark]
    ) -> tuple[tuple[str, str], Claim]:
        """Return the run and the student of a claim, and the claim. Raises `UsageError` with the reason."""
        is_whole = not part.get("check") and part.get("exercise", "") in ("", *self.runs)
        for name in ("student", _QUESTION) if is_whole else ("student", "exercise", "check"):
            if not part.get(name):
                raise UsageError(f"it has no {name}; expected a line `{name}: ...` as the feedback page shows it")
        named, check = part["student"], part.get("check", "")
        known = {casefolded(mark.student): mark.student for mark in marks.values()}
        student = known.get(casefolded(named)) or self._by_pseudonym(named)
        if student is None:
            hint = suggestion(named, known.values(), "expected an id of the class")
            raise UsageError(f"there is no student {printable(named)}; {hint}")
        if is_whole:
            run, mark = self._hand_in(student, part, marks)
            exercise = run or gradebook.WHOLE
            notes = tuple(_notes(message, part, mark))
            return (run, student), Claim(student, exercise, "", part[_QUESTION], message.source, notes)
        exercise = resolve_exercise(self.course, part["exercise"]).id
        places = [
            (run, mark, result)
            for (run, name), mark in marks.items()
            for result in (mark.judged.exercises if name == student and mark.judged is not None else ())
            if result.id == exercise
        ]
        if not places:
            raise UsageError(f"there is no report of {printable(student)} with {exercise}")
        # An exercise may take part in a later assignment too, where it is worth nothing.
        run, mark, result = max(places, key=lambda place: place[2].max_score)
        ids = [one.id for one in result.checks]
        if check not in ids:
            hint = suggestion(check, ids, f"expected one of {', '.join(ids)}" if ids else "nothing of it was judged")
            raise UsageError(f"{exercise} has no check {printable(check)}; {hint}")
        return (run, student), Claim(
            student, exercise, check, part[_QUESTION], message.source, tuple(_notes(message, part, mark))
        )

    def _hand_in(
        self, student: str, part: Mapping[str, str], marks: Mapping[tuple[str, str], gradebook.Mark]
    ) -> tuple[str, gradebook.Mark]:
        """Return the run and the mark of a student that a claim without a check is about. Raises `UsageError`."""
        own = {run: mark for (run, name), mark in marks.items() if name == student}
        wanted = part.get("exercise") or next(
            (run for run, mark in own.items() if part.get("report") == gradebook.claim_digest(mark)), ""
        )
        if not wanted and len(own) > 1:
            raise UsageError(f"it names no assignment; expected a line `exercise: ...` with one of {', '.join(own)}")
        chosen = wanted or next(iter(own), "")
        if chosen not in own:
            raise UsageError(f"there is no mark of {printable(student)}{f' in {chosen}' if chosen else ''}")
        return chosen, own[chosen]

    def _by_pseudonym(self, name: str) -> str | None:
        """Return the student with a pseudonym of the class page; None if there is none. Raises `UsageError`.

        Each run has pseudonyms of its own.
        """
        files = [folder / gradebook.PSEUDONYMS for folder in self._folders.values()]
        found = {
            student
            for file in files
            for student, pseudonym in gradebook.read_pseudonyms(file).items()
            if casefolded(pseudonym) == casefolded(name)
        }
        if len(found) > 1:
            both = " and ".join(map(printable, sorted(found)))
            raise UsageError(f"{printable(name)} is the pseudonym of {both} in different assignments; write the id")
        return next(iter(found), None)


def _notes(message: Message, part: Mapping[str, str], mark: gradebook.Mark) -> Iterator[str]:
    if casefolded(part["student"]) != casefolded(mark.student):
        yield f"It has the pseudonym {one_line(part['student'])}."
    if part.get("report") and part["report"] != gradebook.claim_digest(mark):
        yield "It is about an earlier report."
    if not part[_QUESTION]:
        yield "It asks nothing: the question is empty."
    if message.sender and mark.row.email and casefolded(message.sender) != casefolded(mark.row.email):
        yield f"It was sent from {one_line(message.sender)}, and the roster has {one_line(mark.row.email)}."


def _choices(rows: Sequence[Row], misconceptions: Sequence[tuple[str, str]]) -> dict[str, tuple[tuple[str, str], ...]]:
    states = Counter(name for row in rows for name in row.states)
    exercises = {
        one.id: f"{number(one.id)} {one.title}" for row in rows if row.mark.judged for one in row.mark.judged.exercises
    }
    return {
        "show": tuple((name, f"{title} ({states[name]})") for name, title in STATES.items() if states[name]),
        "exercise": tuple(sorted(exercises.items())),
        "misconception": tuple(misconceptions),
        "section": tuple((name, name) for name in sorted({row.section for row in rows} - {""})),
    }


def _row(
    run: str, mark: gradebook.Mark, looks: tuple[str, ...], own: Mapping[str, str], claims: tuple[Claim, ...]
) -> Row:
    exercises = mark.judged.exercises if mark.judged is not None else ()
    section = str(getattr(mark.row, "section", ""))
    failing = tuple(exercise.id for exercise in exercises if exercise.status != "pass")
    words = _folded(" ".join((mark.student, mark.row.name, mark.row.email, mark.row.login, section, mark.row.group)))
    return Row(run, mark, section, looks, failing, own, claims, words)


_PLAIN = str.maketrans({"ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe"})
"""Letters that Unicode does not take apart into one of `a` to `z` and an accent."""


def _folded(text: str) -> str:
    """Return a text as it is searched: with `celik`, people look for `Çelik`."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(one for one in apart if not unicodedata.combining(one)).translate(_PLAIN)


def _state(file: Path) -> str:
    return f"{file.name} {gradebook.state_of(file)}"
