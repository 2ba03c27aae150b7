"""A verdict as labelled sentences, one fact a line: for screen readers, narrow terminals and logs."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from autograder.results import NOT_JUDGED, ExerciseResult, Report

from .class_table import ClassSummary
from .escaping import ASCII, ended, one_line, printable
from .failures import (
    MOST_LINES,
    Command,
    FailureView,
    LocationView,
    PrintPart,
    TodoView,
    failure_view,
    fitting_parts,
    print_parts,
    todo_view,
)
from .layout import show_sentence
from .pictures import MOST_PICTURES, in_words
from .states import (
    achieved,
    bonus_left,
    checks_pass,
    count_of,
    flag_sentences,
    have_run,
    listed,
    notes,
    number,
    plural,
    points_of,
    reference_parts,
    shown_first,
    spoken,
    state_of,
    student,
    total_of,
)

_MOST_UNUSED = 3
_TODO_WORDS = {"passed": "Passes", "failed": "Fails", "waiting": "Written"}


def show(console: Console, sentences: Iterable[str], *, are_whole: bool = False) -> None:
    """Print the sentences, one a line, in letters that every screen reader knows.

    A terminal shows a long sentence in several lines, unless they `are_whole` for a program that reads them.
    """
    for line in lines_of(sentences):
        show_sentence(console, Text(line), is_whole=are_whole)


def lines_of(sentences: Iterable[str]) -> list[str]:
    """Return the sentences, one a line, in letters that every screen reader knows."""
    return [ASCII.spell(printable(line).replace("\n", " ")) for line in sentences]


def exercise_sentences(
    exercise: ExerciseResult,
    next_commands: Sequence[Command],
    hint: int = 1,
    attempt: int | None = None,
    unused_hints: Sequence[str] = (),
    *,
    brief: bool = False,
) -> list[str]:
    """Return one exercise: what was achieved if it passes, else its first failure."""
    if exercise.status != "pass":
        return _failing(exercise, next_commands, hint, brief=brief)
    unused = [fact("A hint you did not need", one_line(hint)) for hint in unused_hints[:_MOST_UNUSED]]
    printed = print_sentences(print_parts(exercise.prints))
    return [*_passing(exercise, attempt), *printed, *unused, *next_sentences(next_commands)]


def report_sentences(report: Report, next_commands: Sequence[Command], *, brief: bool = False) -> list[str]:
    """Return a sentence for each exercise, the first failure, the total and the next commands."""
    first = shown_first(report)
    lines = [f"Student: {student(report)}."] if student(report) else []
    lines += [_summary(exercise) for exercise in report.exercises]
    lines += _failing(first, (), brief=brief) if first else []
    lines += [f"Total: {points_of(report.score, report.max_score)}."]
    others = [exercise for exercise in report.exercises if exercise is not first]
    lines += [f"Exercise {number(one.id)}: {flag}" for one in others for flag in flag_sentences(one)]
    return lines + [f"Note: {ended(note)}" for note in notes(report)] + next_sentences(next_commands)


def class_sentences(reports: Sequence[Report], summary: ClassSummary) -> list[str]:
    """Return a sentence for each student and exercise in the reports, and the summary of the whole class."""
    lines = []
    for report in reports:
        given = summary.decided.get(student(report))
        total = total_of(report) if given is None else points_of(given, summary.max_score)
        lines.append(f"{student(report)}: {total}.")
        lines += [f"{student(report)}. {_summary(exercise)}" for exercise in report.exercises]
    if cut := summary.first_of(len(reports)):
        lines.append(f"These are the {cut}.")
    lines.append(f"Class: {summary.sentence}.")
    lines += [
        f"Misconception: {name}, {key}, {count} of {plural(summary.submissions, 'student')}."
        for name, key, count in summary.misconceptions
    ]
    return lines + [f"Needs a look: {name}: {ended(why)}" for name, why in summary.need_a_look]


def failure_sentences(view: FailureView, most_printed: int = MOST_LINES) -> list[str]:
    """Return a check that does not pass, one fact a sentence, with at most that many lines of output."""
    sentences = [fact("Finding", view.message)]
    if view.detail:
        sentences.append(fact("Message" if view.is_quoted else "Because", one_line(" ".join(view.detail))))
    if view.misconception:
        parts = filter(None, (view.misconception.id, view.misconception.name))
        sentences.append(fact(view.misconception.label, ", ".join(parts)))
    if view.claim:
        sentences.append(fact("Check", view.claim))
    sentences += _location(view.location) if view.location else []
    sentences += evidence_sentences(view)
    sentences += print_sentences(view.prints, most_printed)
    sentences += [fact(label, hint) for label, hint in view.hints[-1:]]
    return sentences + next_sentences(view.next_commands)


def print_sentences(parts: Sequence[PrintPart], most: int = MOST_LINES) -> list[str]:
    """Return what the code printed, each line behind a label; the first of a trial says which."""
    shown, others = fitting_parts(parts, most)
    lines = []
    for part in shown:
        first, *rest = part.lines
        lines += [f"{part.label}: {first}", *(f"{part.words}: {line}" for line in rest)]
    return [*lines, *(["It printed more in other trials."] if others else [])]


def fact(label: str, text: str) -> str:
    """Return one fact behind its label."""
    return f"{label}: {ended(text)}"


def next_sentences(next_commands: Sequence[Command]) -> list[str]:
    """Return the commands to run next."""
    return [f"Next: {command}{_effect(effect)}" for command, effect in next_commands]


def _effect(effect: str) -> str:
    """Return what a command does, or what comes after it, as the end of a sentence."""
    return f"{', ' if effect.startswith('then ') else ': '}{ended(effect)}" if effect else ""


def _summary(exercise: ExerciseResult) -> str:
    """Return one exercise in one line."""
    score = "" if exercise.status in NOT_JUDGED else points_of(exercise.score, exercise.max_score)
    checks = "" if exercise.status == "held" else checks_pass(exercise.checks)
    facts = ", ".join(filter(None, (checks, score)))
    return (
        f"Exercise {number(exercise.id)}, {exercise.title}: {state_of(exercise).word}.{f' {facts}.' if facts else ''}"
    )


def _title(exercise: ExerciseResult) -> str:
    return f"{state_of(exercise).word}. Exercise {number(exercise.id)}, {exercise.title}."


def _passing(exercise: ExerciseResult, attempt: int | None) -> list[str]:
    built = fact("Built", one_line(exercise.built)) if exercise.built else ""
    pictures = (in_words(picture) for picture in exercise.pictures[:MOST_PICTURES])
    left = (f"Still open: {check}" for check in bonus_left(exercise))
    facts = filter(None, (reference_parts(exercise), *flag_sentences(exercise), built, *left, *pictures))
    return [f"{_title(exercise)} {achieved(exercise, attempt)}.", *facts]


def _failing(
    exercise: ExerciseResult, next_commands: Sequence[Command], hint: int = 1, *, brief: bool = False
) -> list[str]:
    state, check, todos = state_of(exercise), exercise.first_failure, todo_view(exercise)
    if check is None:
        return [_title(exercise), ended(state.meaning), *next_sentences(next_commands)]
    first = "Begin with" if state.mark == "waiting" else "First failure"
    begin = f"{first}: check {exercise.checks.index(check) + 1}, {spoken(check.id)}."
    view = failure_view(check, prints=exercise.prints, hints_shown=hint, next_commands=next_commands, todos=todos)
    if brief:
        return failure_sentences(view.brief)
    count = count_of(exercise)
    top = [f"{_title(exercise)} {count[:1].upper()}{count[1:]}."]
    if have_run(exercise) and (todos is None or check.status != "not_started"):
        top.append(begin)
    return [
        " ".join(top),
        *_todo_sentences(todos),
        *filter(None, [reference_parts(exercise), *flag_sentences(exercise)]),
        *failure_sentences(view),
    ]


def _todo_sentences(todos: TodoView | None) -> list[str]:
    """Return what is known of each TODO that has code, and the names of the others."""
    if todos is None or not todos.items:
        return []
    known = [item for item in todos.items if item.fact and not item.is_left]
    left = [item.name for item in todos.items if item.is_left]
    sentences = [f"{_TODO_WORDS[item.mark]}: {item.name if item.mark == 'waiting' else item.text}." for item in known]
    return [*sentences, f"Left to write: {listed(left)}."]


def _location(location: LocationView) -> list[str]:
    wrong = location.wrong
    code, marked = (wrong.text.strip(), wrong.marked.strip()) if wrong else ("", "")
    within = f"in {location.function}" if location.function else ""
    facts = ", ".join(filter(None, (f"{location.file} {location.line}", within, location.circumstance)))
    lines = [f"Place: {facts}: {code}" if code else f"Place: {facts}."]
    if marked and marked != code:
        lines.append(fact("Mark", f"{marked}: {location.label}") if location.label else f"Mark: {marked}")
    elif location.label:
        lines.append(fact("Mark", location.label))
    if location.agreeing:
        word = "Line" if len(location.agreeing) == 1 else "Lines"
        lines.append(f"{word} {listed([str(number) for number in location.agreeing])}: as expected.")
    return lines


def evidence_sentences(view: FailureView, *, only_wrong: bool = False) -> list[str]:
    """Return the numbers behind a failure, one fact a sentence; `only_wrong` leaves out those that are as expected."""
    lines = [f"{name}: {value}." for name, value in view.values.rows] if view.values else []
    for label, expected, yours in view.comparison.rows if view.comparison else ():
        if only_wrong and expected == yours:
            continue
        facts = f"{yours}, as expected" if expected == yours else f"expected {expected}, yours {yours}"
        lines.append(f"{view.comparison.name if view.comparison else ''} {label}: {facts}.".strip())
    if (witnesses := view.witnesses) is not None:
        axes = "" if witnesses.axes == "at" else f"{witnesses.axes} "
        within = f" ({witnesses.within.rstrip('.')})" if witnesses.within else ""
        lines += [fact("Numbers", f"{witnesses.title}{within}")] if witnesses.title else []
        lines += [f"At {axes}{at}: expected {expected}, yours {yours}." for at, expected, yours in witnesses.rows]
    return lines
