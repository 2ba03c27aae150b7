"""What helps a learner on: the commands to run next, and the hints and the explanation of the last failure."""

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from autograder.checks import nearest_name
from autograder.course import (
    Activity,
    Course,
    Described,
    Exercise,
    StubError,
    UsageError,
    describe,
    is_number,
    nearest_ids,
    open_plain,
    outline_of_stub,
    read_text,
    resolve_exercise,
    stub_text,
    unknown,
)
from autograder.protocol import outline_of
from autograder.report import STATES
from autograder.results import KNOWN_AS, MISSING, Certainty, Todo, opened
from autograder.submission import (
    NOTEBOOKS,
    Submission,
    SubmissionError,
    notebook_file,
    read_own,
    todos_of,
)

from .events import UNTRIED, Event, LastReport, Progress, Standing, digest_of, now, read_last, save_events

if TYPE_CHECKING:
    from autograder.results import ExerciseResult, Report


Command: TypeAlias = tuple[str, str]
"""A command, and what it does."""

MOST_FAILURES = 3
"""A list of more commands than this is not read."""

UNWRITTEN = ("not_started", "missing")


def own_source(course: Course, exercise: Exercise) -> bytes | None:
    """Return the source of an exercise that counts, from a file or a notebook; None if there is neither."""
    return read_own(course, [exercise]).sources.get(exercise.file)


def is_missing(course: Course, exercise: Exercise) -> bool:
    """Say whether an exercise has neither a file nor a notebook with work."""
    own = read_own(course, [exercise])
    return exercise.file in own.missing and exercise.file not in own.unread


def missing_sentence(course: Course, exercise: Exercise) -> str:
    """Return what to say to a learner whose file is missing: every command says the same."""
    file = f"{course.exercises_dir.name}/{exercise.file}"
    command, does = stub_command(course, exercise)
    return f"There is no file {file}: `{command}` {does}."


def stub_command(course: Course, exercise: Exercise) -> tuple[str, str]:
    """Return the command that brings a missing file, and what it does: in a course that was never built, that is all.

    A file beside it may be the work under another name.
    """
    folders = ((course.exercises_dir, "*.py"), (course.exercises_dir / NOTEBOOKS, "*.ipynb"))
    if (course.solutions_dir / exercise.file).is_file() and not any(any(one.glob(of)) for one, of in folders):
        return "course build", "makes the stubs"
    if near := near_file(course.exercises_dir, exercise.file):
        where = os.path.relpath(course.exercises_dir)
        return (
            f"mv {shlex.quote(f'{where}/{near}')} {where}/{exercise.file}",
            "gives that file its name, if it has your work",
        )
    return f"course reset {exercise.number}", "restores the stub"


def near_file(folder: Path, file: str) -> str:
    """Return the name of a file that may be the missing one of an exercise; "" if there is none."""
    stems = [
        other.stem
        for other in sorted(folder.glob("*.py"))
        if other.name.startswith(file[:4]) or not re.match(r"ex\d\d_", other.name)
    ]
    near = nearest_name(Path(file).stem, stems[:100])
    return f"{near}.py" if near and f"{near}.py" != file else ""


def edit_command(course: Course, exercise: Exercise, does: str) -> Command:
    """Return the command that edits the file of an exercise."""
    return f"edit {_own_file(course, exercise).relative_to(course.exercises_dir.parent).as_posix()}", does


def _own_file(course: Course, exercise: Exercise) -> Path:
    """Return the file of an exercise that counts: a notebook if the work is there."""
    try:
        in_notebook = exercise.file in read_own(course, [exercise]).cells
    except SubmissionError:
        in_notebook = False
    return notebook_file(course, exercise) if in_notebook else course.exercises_dir / exercise.file


def after_check(course: Course, report: "Report", progress: Progress) -> list[Command]:
    """Return what to do after a check of your own exercises: fix the first failure, or move on."""
    from autograder.report import (  # not before it is needed: it takes time to load
        COURSE_PROBLEM,
        shown_first,
        state_of,
    )

    failing = shown_first(report)
    if failing is None:
        return _after_pass(course, report, progress)
    exercise = course.exercise(failing.id)
    again = f"course check {exercise.number}"
    if state_of(failing) is COURSE_PROBLEM:
        return [(f"course validate {exercise.number}", "for the author: shows the problem again"), (again, "try again")]
    if failing.status == "grader_error":
        return [(again, "try again"), ("course doctor", "look for a problem on this machine")]
    return _after_failure(course, exercise, failing, progress, again)


def _after_failure(
    course: Course, exercise: Exercise, result: "ExerciseResult", progress: Progress, again: str
) -> list[Command]:
    finding = result.first_failure.finding if result.first_failure else None
    place = finding.place if finding else None
    file = os.path.relpath(_own_file(course, exercise))
    if result.status == "missing":
        return [stub_command(course, exercise), (again, "after your next edit")]
    if result.in_progress or result.status == "not_started":
        return _to_write(course, exercise, result, again)
    line = f":{place.line}" if place and place.file == exercise.file else ""
    commands = [(f"edit {file}{line}", f"then {again}")]
    standing = progress.of(exercise)
    if standing.hints_shown < len(standing.hints):
        commands.append((f"course hint {exercise.number}", "the next hint, after an edit"))
    if finding and finding.known_as:
        commands.append((f"course why {finding.id}", f"explain the {finding.known_as}"))
    elif finding and finding.evidence:
        commands.append((f"course diff {exercise.number}", "show every measurement"))
    elif len(result.prints) > 1:
        commands.append((f"course diff {exercise.number}", "show all that your code printed"))
    return commands


def _to_write(course: Course, exercise: Exercise, result: "ExerciseResult", again: str) -> list[Command]:
    """Return what to do where a TODO is to be written next."""
    from autograder.report import todo_view  # not before it is needed: it takes time to load

    view = todo_view(result)
    if view is None:
        file = os.path.relpath(_own_file(course, exercise))
        return [(f"edit {file}", "each TODO says what to write"), (again, "after your next edit")]
    commands = [(f"edit {edit_place(course, view.next)}", f"then {again}")]
    functions = [todo for todo in result.todos if todo.is_written and "." not in todo.name]
    unchecked = next((function.name for function in functions if not function.checks), None)
    if unchecked and course.steps_file(exercise).is_file():
        commands.append((f"course try {exercise.number}", f"the lesson's example with {unchecked}"))
    return [*commands, (f"course hint {exercise.number}", f"how to begin {view.next.name}")]


def _after_pass(course: Course, report: "Report", progress: Progress) -> list[Command]:
    """Return the way on, and before it the reference solution if only one exercise was checked."""

    commands = []
    exercise = course.exercise(report.exercises[0].id) if len(report.exercises) == 1 else None
    if exercise is not None:
        if (course.solutions_dir / exercise.file).is_file():
            commands.append((f"course solution {exercise.number}", "compare with the reference solution"))
        if course.questions:
            commands.append((f"course quiz {exercise.number}", "three questions about your own program"))
        shows = ((activity, activity.milestones.get(exercise.id)) for activity in course.play)
        commands += [(f"course play {activity.id}", line) for activity, line in shows if line]
        commands += [(f"course play {activity.id}", activity.title) for activity in _ready(course, progress, exercise)]
    current = progress.current(course)
    if current is not None:
        commands.append(("course next", way_on(course, progress, exercise, current)))
    return commands


def _ready(course: Course, progress: Progress, exercise: Exercise) -> Iterator[Activity]:
    """Yield the activities that use an exercise, and for which every exercise passes."""
    for activity in course.play:
        used = course.used_by(activity)
        if not activity.milestones and exercise in used and all(progress.of(needed).passes_now for needed in used):
            yield activity


def after_submission(course: Course, report: "Report", submission: Path) -> list[Command]:
    """Return the commands that show the other failures of somebody's submission; the first is on the screen."""
    failing = [result for result in report.exercises if result.status not in ("pass", *UNWRITTEN)]
    return [
        (f"course check {course.exercise(result.id).number} --submission {submission}", f"what fails in {result.title}")
        for result in failing[1 : MOST_FAILURES + 1]
    ]


def after_hint(course: Course, exercise: Exercise, level: int, total: int) -> list[Command]:
    """Return what to do after hint `level` of `total`."""
    number = exercise.number
    if level < total:
        return [
            edit_command(course, exercise, f"then course check {number}"),
            (f"course hint {number}", f"hint {level + 1} of {total}, after an edit"),
            (f"course hint {number} --now", "the same, without an edit"),
        ]
    check = (f"course check {number}", "that was the last hint")
    if (course.solutions_dir / exercise.file).is_file():
        arrange = f"course arrange {number}", "order the lines of a right program"
        return [check, arrange, (f"course solution {number}", "if the hint does not help")]
    return [check]


def after_start(course: Course, exercise: Exercise, start: "StartHint") -> list[Command]:
    """Return what to do after a text on how to begin a TODO."""

    number = exercise.number
    commands = [(f"edit {edit_place(course, start.todo)}", f"then course check {number}")]
    if start.level < start.total:
        commands.append((f"course hint {number}", f"more on {start.todo.name}"))
    return commands


def after_explanation(progress: Progress, exercise: Exercise) -> list[Command]:
    """Return what to do after `course why`."""
    standing = progress.of(exercise)
    check = f"course check {exercise.number}"
    if standing.passes_now or not standing.runs:
        return [(check, "")]
    return [(f"course diff {exercise.number}", "show every measurement"), (check, "after your next edit")]


def after_refusal(exercise: Exercise, result: "ExerciseResult", submission: Path | None) -> Sequence[Command]:
    """Return the command that leads to the exercise that `course play` cannot use."""
    if result.status == "not_started" and not result.in_progress and submission is None:
        return [(f"course next {exercise.number}", "move on to this exercise")]
    source = f" --submission {submission}" if submission is not None else ""
    return [(f"course check {exercise.number}{source}", "what is wrong, and where")]


# The exercise to move on to, and the beginning of its lesson.

MOST_BYTES = 256 << 10
"""The lesson is at the top: a larger file is not read to its end."""

_LINK = re.compile(r"\[([^\]]+)\]\([^)\s]+\)")
"""A link of Markdown; its text is enough on a terminal."""

_MARKUP = str.maketrans("", "", "*`$")
_BRACES = re.compile(r"(?:\\\w+|(?<=_)|(?<=\^))\{(\w+)\}")
_SYMBOLS = {r"\cdot": "·", r"\times": "×", r"\sqrt": "√"}


def following_exercise(course: Course, progress: Progress, *, skip: bool = False) -> Exercise | None:
    """Return the exercise to work on next: the current one until it was tried or is to be skipped, then the next."""
    current = progress.current(course)
    if current is None or current.id != progress.here or not (skip or progress.of(current).runs):
        return current
    return progress.following(course, current) or current


def way_on(course: Course, progress: Progress, passed: Exercise | None, following: Exercise) -> str:
    """Return in words that the way goes on to an exercise, or back to one that was left open before."""
    name = f"{following.number} {following.title}"
    order = [exercise.id for exercise in course.exercises]
    if passed is None or passed.id not in order or order.index(passed.id) < order.index(following.id):
        return f"on to {name}"
    return f"back to {name}, which {'fails again' if progress.of(following).ever_passed else 'is still open'}"


def unfinished_exercise(course: Course, progress: Progress) -> Exercise | None:
    """Return the current exercise if it was tried and does not pass."""
    current = progress.current(course)
    if current is None or current.id != progress.here or not progress.of(current).runs:
        return None
    return None if progress.of(current).passes_now else current


def moved_on(course: Course, progress: Progress) -> str:
    """Return which exercise a check without a name is about, if the last one passed; else ""."""
    current = progress.current(course)
    here = next((exercise for exercise in course.exercises if exercise.id == progress.here), None)
    if here is None or current is None or here is current:
        return ""
    return f"{here.number} {here.title} passes. Checking {current.number} {current.title}."


def move_to(course: Course, progress: Progress, exercise: Exercise) -> str:
    """Make an exercise the current one. Return a warning if that could not be saved, else ""."""
    if progress.here == exercise.id:
        return ""
    return save_events(course, [Event(now(), "next", exercise.id, "next")]).warning


def lesson_paragraphs(course: Course, exercise: Exercise) -> list[str]:
    """Return the first paragraph of the lesson in an exercise's file, without its heading."""
    try:
        with os.fdopen(open_plain(course.exercises_dir / exercise.file, below=course.root), "rb") as stream:
            text = stream.read(MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return []
    comments = [line.strip() for line in takewhile(lambda line: line.startswith("#"), text.splitlines())]
    prose = [line.removeprefix("#").strip() for line in comments if not line.startswith("# %%")]
    body = [line for line in prose if not line.startswith("#")]
    while body and not body[0]:
        body.pop(0)
    paragraph = _LINK.sub(r"\1", _without_latex(" ".join(takewhile(bool, body)))).translate(_MARKUP)
    if paragraph.endswith(":"):  # a formula or a table follows in the lesson, and not here
        paragraph = f"{paragraph[:-1]}."
    return [paragraph] if paragraph else []


def _without_latex(text: str) -> str:
    """Return a text in which the formulas of a line can be read on a terminal: `d_{model}` as `d_model`."""
    text = _BRACES.sub(r"\1", text)
    for command, symbol in _SYMBOLS.items():
        text = text.replace(command, symbol)
    return text


# How to begin a TODO: the state of each in the learner's file now, and the texts of the course for the next one.


@dataclass(frozen=True)
class StartHint:
    """A text on how to begin a TODO: `level` of `total`. `warning` says why this could not be saved, or ""."""

    todo: Todo
    text: str
    level: int
    total: int
    warning: str = ""

    @property
    def label(self) -> str:
        """The name of the text; a single one has no number."""
        return f"Hint {self.level} of {self.total}" if self.total > 1 else "Hint"


def read_todos(course: Course, exercise: Exercise, submission: Submission | None = None) -> tuple[Todo, ...]:
    """Return the TODOs of the learner's file as it is now; none if the file is missing or cannot be parsed."""
    own = submission if submission is not None else read_own(course, [exercise])
    source = own.sources.get(exercise.file)
    try:
        work = outline_of(source) if source is not None else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    todos = todos_of(outline_of_stub(course, exercise), work, exercise.file)
    if not own.cells:
        return todos
    from autograder.diagnosis import place_in  # only for a notebook: it takes time to load

    return tuple(Todo(todo.name, todo.state, place_in(own.cells, todo.place)) for todo in todos)


def next_todo(todos: tuple[Todo, ...]) -> Todo | None:
    """Return the first TODO that is not written."""
    return next((todo for todo in todos if not todo.is_written), None)


def may_start(standing: Standing) -> bool:
    """Say whether the last check asks for the next TODO, and not for a correction."""
    return standing.in_progress or standing.status in UNTRIED


def take_start(course: Course, exercise: Exercise, standing: Standing, todo: Todo) -> StartHint:
    """Show the next text on how to begin a TODO, and record the request. The last one is shown again."""
    texts = start_texts(course, exercise, todo)
    seen = standing.levels.get(f"todo:{todo.name}", 0)
    level = min(seen + 1, len(texts))
    event = Event(now(), "hint", exercise.id, "hint", todo=todo.name, hint=level, hints=len(texts))
    warning = save_events(course, [event]).warning
    return StartHint(todo, texts[level - 1], level, len(texts), warning)


def start_of_file(course: Course, exercise: Exercise, standing: Standing) -> StartHint | None:
    """Show how to begin the next TODO, if the last check asks for it and the learner's file still has one."""
    todo = next_todo(read_todos(course, exercise)) if may_start(standing) else None
    return take_start(course, exercise, standing, todo) if todo is not None else None


def start_texts(course: Course, exercise: Exercise, todo: Todo) -> tuple[str, ...]:
    """Return the course's texts on how to begin a TODO; without any, the TODO's comment in the stub, and its lesson."""
    if todo.name in exercise.start:
        return exercise.start[todo.name]
    lesson = f"The lesson at the top of {course.exercises_dir.name}/{exercise.file} explains what it needs."
    try:
        comment = _todo_comment(stub_text(course, exercise) or "", todo.name)
    except (StubError, OSError, ValueError):
        comment = ""
    return (f"{opened(comment)} {lesson}".strip(),)


def _todo_comment(stub: str, name: str) -> str:
    """Return the comment above the TODO of a function or method in a stub, without its `TODO` mark; "" without one."""
    todo = next((function.todo for function in outline_of(stub).functions if function.name == name), 0)
    lines = [line.strip() for line in stub.splitlines()[: max(todo - 1, 0)]]
    comment = list(takewhile(lambda line: line.startswith("#"), reversed(lines)))[::-1]
    text = " ".join(line.lstrip("# ") for line in comment)
    text = re.sub(r"^TODO[^:]*:\s*", "", text)
    return text if not text or text.endswith((".", "?", "!")) else f"{text}."


def edit_place(course: Course, todo: Todo) -> str:
    """Return the file of a TODO with its line, as an editor opens it; for a notebook without the line."""
    if todo.place.cell is not None:
        return os.path.relpath(course.exercises_dir / NOTEBOOKS / todo.place.file)
    return f"{os.path.relpath(course.exercises_dir / todo.place.file)}:{todo.place.line}"


# The hints for a learner's last failure: one after the other, from a question to the step.


@dataclass(frozen=True)
class HintSequence:
    """The hints shown so far, the newest last, out of `total`, and the title of the check they are about.

    `waits_for_edit` says that the next hint needs an edit first. `warning` says why this could not be saved, or "".
    """

    title: str
    hints: tuple[str, ...]
    total: int
    waits_for_edit: bool
    warning: str = ""


def take_hint(
    course: Course, exercise: Exercise, standing: Standing, digest: str | None, *, at_once: bool
) -> HintSequence:
    """Show the next hint, and record the request. After the first, the file must have changed, unless `at_once`.

    `digest` is that of the learner's file now. Raises `UsageError` if no check has failed.
    """
    title, hints = failure_texts(course, exercise, standing)
    if not hints:
        raise UsageError(_no_hint(exercise, standing))
    before = min(max(standing.hints_shown, 0), len(hints))
    unchanged = digest == standing.hint_file
    waits = 0 < before < len(hints) and unchanged and not at_once
    level = before if waits else min(before + 1, len(hints))
    forced = True if level > before and at_once and unchanged else None
    event = Event(now(), "hint", exercise.id, "hint", file=digest, hint=level, hints=len(hints), now=forced)
    warning = save_events(course, [event]).warning
    return HintSequence(title, tuple(hints[:level]), len(hints), waits, warning)


def _no_hint(exercise: Exercise, standing: Standing) -> str:
    """Return why there is no hint: nothing failed yet, or the failure is about a name, a call or an exception."""
    number = exercise.number
    if standing.runs and standing.status not in UNTRIED:
        reason = f"its message says what is wrong; `course check {number}` shows it again"
        return f"no hint for the last failure of {exercise.id}: {reason}"
    return f"no hint for {exercise.id} yet: run `course check {number}` first; hints explain a failure"


def no_hint_reason(course: Course, progress: Progress, exercise: Exercise | None) -> list[str]:
    """Return sentences on why there is nothing to hint at; none if there may be a hint."""
    if exercise is None:
        return ["Every exercise passes: there is nothing to hint at."]
    standing = progress.of(exercise)
    if standing.status == "pass":
        return [f"{exercise.number} {exercise.title} passes: there is nothing to hint at."]
    if is_missing(course, exercise):
        return [missing_sentence(course, exercise)]
    return _advice(course, exercise, standing)


def _advice(course: Course, exercise: Exercise, standing: Standing) -> list[str]:
    """Return what failed and what to look at, where the last failure has no hints; none if it may have some."""
    last = read_last(course, exercise)
    failure = last.failure if last else None
    is_hinted = failure is None or standing.status in UNTRIED or standing.in_progress
    if is_hinted or failure_texts(course, exercise, standing)[1] or failure is None:
        return []
    if failure["status"] in ("grader_error", *UNTRIED, "waits"):
        return []
    finding = failure.get("finding") or {}
    place = finding.get("place") or {}
    what = str(finding.get("message") or STATES[failure["status"]].meaning)
    where = [f"See line {place['line']} of {place['file']}."] if place.get("line") and place.get("cell") is None else []
    kind, id_, quoted = (str(finding.get(name) or "") for name in ("kind", "id", "detail"))
    return [what, *where, advice(failure["status"], kind, id_, what, quoted)]


# Advice on a failure for which an exercise has no hints: what to look at, by what happened.

_BY_STATUS: Mapping[str, str] = {
    "timeout": "A `while` needs a line that ends it. One call on a tensor is faster than a loop over its elements.",
    "memory": "Look for a tensor with an axis too many, or for a list that grows in a loop.",
}
_BY_ID: Mapping[str, str] = {
    "IndentationError": "Compare the spaces at the beginning of that line with those of the lines around it.",
    "TabError": "Indent every line with spaces only, as the stub does.",
    "ModuleNotFoundError": "Check the spelling of the name behind `import`. The imports of the stub are enough.",
    "ImportError": "Check the spelling of the names behind `import`. The imports of the stub are enough.",
    "NameError": "Python does not know that name. Compare its spelling with the line that assigns or imports it.",
    "UnboundLocalError": "That name has no value yet when the line runs. Assign it before, in every case.",
    "AttributeError": "Check the spelling of that name, and what kind of object stands before its dot.",
    "misspelt_attribute": "Compare the spelling of that name with the line that sets it.",
    "unset_attribute": "Give it a value in `__init__`, with `self.` before its name.",
    "set_without_self": "Write `self.` before that name in `__init__`: a name without it is gone when `__init__` ends.",
    "self_not_taken": "Python passes the object as the first argument of a method. By custom its name is `self`.",
    "not_imported": "A file knows only the modules and names that it imports itself.",
    "without_self": "Write `self.` before that name: what belongs to an object is reached through it.",
    "returns_nothing": "Let that function end with `return` and its result. Without one it gives None.",
    "unregistered": "A module registers the modules that are its attributes. In a plain list it does not see them.",
    "none": "A function without `return` gives None. Find out where that value comes from.",
    "signature": "Compare the parameters of your functions with those in the stub, and their order.",
    "type": "Read the type behind `->` in the stub. Make an object of that type from your values, and return it.",
    "count": "Read what the stub returns, and in which order. Your `return` needs the same values.",
    "dotted_import": "Behind `import` stand names without a dot. What is before the dot belongs behind `from`.",
    "SystemExit": "Remove that call: a function ends with `return`.",
}
_OF_CAUSES = ("misspelt_attribute", "unset_attribute", "without_self", "set_without_self", "returns_nothing")
_OF_BRACKETS = "Look for a bracket, a quote or a colon that is missing or too many, there or in the line above."
_OF_SYNTAX = "Python cannot read that line, and ran nothing of your file. Compare it with the stub."
_OF_EXCEPTION = "Print the values in that line, and of tensors the shapes. The next check shows what your code prints."
_OF_A_CALL = "Write that part yourself, with the operations of the lesson."
_OF_STRUCTURE = "Compare names and sizes with those in the stub. An attribute needs `self.` before its name."
_OTHERWISE = "Change just that, and check again."


def advice(status: str, kind: str, id_: str, message: str, quoted: str = "") -> str:
    """Return what to look at, for a check with this status and a finding of this kind, which says `message`.

    `quoted` is the text of the library that raised an exception.
    """
    from autograder.runner import found_in, library_step  # only for a failure

    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if id_ == "SyntaxError":
        return _OF_BRACKETS if found_in(message, "brackets") else _OF_SYNTAX
    if kind == "exception":
        step = library_step(quoted) if id_ not in _OF_CAUSES else ""
        return step or _BY_ID.get(id_, _OF_EXCEPTION)
    if kind == "structure":
        return _BY_ID.get(id_, _OF_STRUCTURE)
    return _OF_A_CALL if kind == "forbidden" else _OTHERWISE


def failure_texts(course: Course, exercise: Exercise, standing: Standing) -> tuple[str, tuple[str, ...]]:
    """Return the title of the check that failed first, and its hints.

    They are stored with the progress. If that was rebuilt, they come from the last report, or from the course.
    """
    if standing.hints or not standing.check:
        return standing.title or "", standing.hints
    last = read_last(course, exercise)
    failure = last.failure if last else None
    if failure and failure["id"] == standing.check:
        return str(failure.get("title", "")), tuple(str(hint) for hint in failure.get("hints") or ())
    hints = exercise.hints.get(standing.check, ()) if standing.hints_shown else ()
    return standing.title or standing.check.replace("_", " "), tuple(hints)


# The page of a misconception: what the catalogue says, and what was measured on the learner's own program.


ONLY_ALIKE = "Your code fails like a program with this mistake. It may have another one."


def find_page(course: Course, progress: Progress, wanted: str | None) -> tuple[Described, Exercise | None]:
    """Return the page of a misconception, by default the one behind the last failure, and its exercise.

    `wanted` is its id, or an exercise: then it is the one behind the last failure of that exercise. The correct lines
    are on it only if the learner has passed the exercise. The wrong line is that of the learner's own last failure: the
    catalogue's is a line that nobody wrote. Raises `UsageError` if there is no page.
    """
    page = _find(course, progress, _meant(course, progress, wanted))
    exercise = next((exercise for exercise in course.exercises if exercise.id == page.exercise), None)
    if exercise is None or not progress.of(exercise).ever_passed:
        page = replace(page, right=())
    if exercise is not None and progress.of(exercise).finding == page.id and progress.of(exercise).is_alike:
        page = replace(page, explanation=f"{ONLY_ALIKE} {page.explanation}")
    return replace(page, wrong=_own_line(course, progress, exercise, page.id) if exercise else ()), exercise


def _meant(course: Course, progress: Progress, wanted: str | None) -> str:
    """Return the id of the misconception that is meant: an exercise stands for the one behind its last failure."""
    if wanted is None:
        return _last_misconception(course, progress, progress.current(course))
    if describe(course, wanted) is not None:
        return wanted
    try:
        exercise = resolve_exercise(course, wanted)
    except UsageError:
        if is_number(wanted):
            raise
        return wanted
    return _last_misconception(course, progress, exercise)


def _own_line(course: Course, progress: Progress, exercise: Exercise, misconception: str) -> tuple[str, ...]:
    """Return the learner's line that the last failure points to, if it is about this misconception and is wrong."""
    finding = _last_finding(course, progress, exercise, misconception)
    place = finding.get("place") or {}
    is_sure = finding.get("certainty") in (Certainty.ALIKE.value, Certainty.SHOWN.value)
    if not is_sure or finding.get("label") in MISSING.values():
        return ()
    return tuple(str(text) for line, text in finding.get("source") or () if line == place.get("line"))


def _find(course: Course, progress: Progress, wanted: str) -> Described:
    reports = (_from_last_report(course, progress, exercise, wanted) for exercise in course.exercises)
    own = next((page for page in reports if page), None)
    page = describe(course, wanted)
    if page is not None:
        return replace(page, experiment=page.experiment or (own.experiment if own else ""))
    if own is not None:
        return own
    near = nearest_ids(course, wanted)
    raise UsageError(unknown("misconception", wanted, near, more="" if near else "Use the id that a failure shows."))


def _last_misconception(course: Course, progress: Progress, exercise: Exercise | None) -> str:
    """Return the id of the misconception behind the last failure of an exercise."""
    last = read_last(course, exercise) if exercise else None
    failure = last.failure if last else None
    if exercise is not None and is_missing(course, exercise):
        raise UsageError(missing_sentence(course, exercise))
    if exercise is None or failure is None:
        number = f" {exercise.number}" if exercise else ""
        before = _named_before(course, progress, exercise)
        raise UsageError(f"there is no failure to explain: run `course check{number}`, or name a misconception{before}")
    if failure["status"] == "not_started":
        raise UsageError(
            f"nothing fails in {exercise.id}, a part is not written yet: "
            f"`course hint {exercise.number}` says how to begin"
        )
    finding = failure.get("finding") or {}
    if finding.get("kind") not in KNOWN_AS:
        raise UsageError(
            f"the last failure of {exercise.id} has no page in the catalogue of mistakes: "
            f"`course diff {exercise.number}` shows every measurement{_named_before(course, progress, exercise)}"
        )
    return str(finding["id"])


def _named_before(course: Course, progress: Progress, exercise: Exercise | None) -> str:
    """Return a sentence with the misconceptions of an exercise that were named for the learner; "" without any."""
    names = [key.partition(":")[2] for key in progress.of(exercise).levels] if exercise else []
    commands = [f"`course why {name}`" for name in dict.fromkeys(names) if name and describe(course, name) is not None]
    return f". It explains earlier mistakes too: {', '.join(commands)}." if commands else ""


def _from_last_report(course: Course, progress: Progress, exercise: Exercise, wanted: str) -> Described | None:
    """Return what the last report on an exercise says of a misconception: a kit may have no catalogue."""
    finding = _last_finding(course, progress, exercise, wanted)
    if not finding:
        return None
    hints = progress.of(exercise).hints or ("",)
    return Described(
        id=wanted,
        exercise=exercise.id,
        name=str(finding.get("name") or finding.get("message")),
        explanation=str(finding.get("detail") or finding.get("message")),
        hint=str(hints[0]),
        experiment=_experiment(finding),
    )


def _last_finding(course: Course, progress: Progress, exercise: Exercise, misconception: str) -> Mapping[str, Any]:
    """Return the finding of the last failure of an exercise, if it names this misconception."""
    if progress.of(exercise).finding != misconception:
        return {}  # reports are large: open only the one that names it
    last = read_last(course, exercise)
    finding = ((last.failure if last else None) or {}).get("finding") or {}
    is_it = finding.get("kind") in KNOWN_AS and finding.get("id") == misconception
    return finding if is_it else {}


def _experiment(finding: Mapping[str, Any]) -> str:
    """Return what was measured on the learner's own program; "" without a number of it."""
    witnesses = (finding.get("evidence") or {}).get("witnesses") or []
    if not witnesses:
        return ""
    (at, expected, yours), name = witnesses[0], finding["evidence"]["name"]
    axes, index = (text.split(", ") for text in (finding["evidence"]["axes"], at))
    if all(part.isdecimal() for part in index):  # else it names the value itself
        is_named = len(axes) == len(index)
        where = ", ".join(map(" ".join, zip(axes, index, strict=True))) if is_named else f"index {at}"
        at = f"{name}, {where}"
    return f"{at}: {yours}, expected {expected}."


# The stored evidence of the last failure of an exercise, without another run.


def read_last_check(course: Course, exercise: Exercise | None) -> LastReport:
    """Return the last report on an exercise. Raises `UsageError` if there is none."""
    last = read_last(course, exercise) if exercise else None
    if last is None:
        if exercise is not None and is_missing(course, exercise):
            raise UsageError(missing_sentence(course, exercise))
        number = f" {exercise.number}" if exercise else " --all"
        own = f"it needs a check of your own files in {course.exercises_dir.name}/"
        raise UsageError(f"there is no failure to show: {own}; run `course check{number}` first")
    return last


def has_changed(course: Course, exercise: Exercise, last: LastReport) -> bool:
    """Return whether the learner's file has changed since its last check."""
    source = own_source(course, exercise)
    return (digest_of(source) if source is not None else None) != last.file


def evidence_json(last: LastReport, *, changed: bool) -> dict[str, Any]:
    """Return the last check for `--json`."""
    return {"exercise": last.exercise, "at": last.at, "changed_since": changed, "log": last.report.get("log", "")}


# The reference solution of an exercise: when a learner may see it, and its code.

LAST_HINT = 3
"""A learner who has seen this many hints may see the solution."""

_MARKS = ("### BEGIN SOLUTION", "### END SOLUTION")


def read_solution(course: Course, exercise: Exercise) -> str:
    """Return the source of the reference solution. Raises `UsageError` if this kit has none."""
    try:
        return read_text(course.solutions_dir / exercise.file)
    except FileNotFoundError:
        raise UsageError(
            f"this kit does not carry the solution of {exercise.id}; ask the person who gave it to you"
        ) from None


def require_attempt(course: Course, exercise: Exercise, standing: Standing, what: str = "see the solution of") -> None:
    """Raise `UsageError` if the learner should try something else before they see a solution.

    `what` is what they want to do with the exercise: it completes "you may" and "before you".
    """
    number = exercise.number
    if not standing.runs or standing.status in UNTRIED:
        raise UsageError(f"before you {what} {exercise.id}, write it and run `course check {number}`")
    _, hints = failure_texts(course, exercise, standing)
    seen = max([standing.hints_shown, *standing.levels.values()])
    if hints and seen < min(LAST_HINT, len(hints)):
        raise UsageError(
            f"you may {what} {exercise.id} after a pass or the last hint; "
            f"`course hint {number}` shows hint {seen + 1} of {len(hints)}"
        )


def code_lines(solution: str) -> list[str]:
    """Return the lines of code of a solution, without its lesson and the marks of its regions."""
    lines: list[str] = []
    prose = False
    for line in solution.splitlines():
        if line.startswith("# %%"):
            prose = "[markdown]" in line
        elif not prose and line.strip() not in _MARKS and not line.strip().startswith("# TODO ex"):
            lines.append(line)
    text = "\n".join(lines).strip("\n")
    while "\n\n\n\n" in text:  # what was cut out leaves gaps
        text = text.replace("\n\n\n\n", "\n\n\n")
    return text.split("\n")
