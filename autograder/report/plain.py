"""A verdict as labelled sentences, one fact a line: for screen readers, narrow terminals and logs."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from autograder.report.class_summary import summarize
from autograder.report.evidence import is_values, within_slice
from autograder.report.glyphs import ASCII
from autograder.report.passing import MOST_PICTURES
from autograder.report.picture_words import sentence
from autograder.report.printable import one_line, printable
from autograder.report.words import (
    STATES,
    achieved,
    bonus_left,
    checks_pass,
    circumstance,
    explanation,
    function,
    is_name,
    line_of,
    listed,
    message_of,
    notes,
    number,
    plural,
    points_of,
    reference_parts,
    shown_first,
    spoken,
    student,
    was_asked,
)
from autograder.results.model import CheckResult, Evidence, ExerciseResult, Finding, Place, Report

_PRINTED_LINES = 5
_MOST_UNUSED = 3


def show(console: Console, sentences: Iterable[str]) -> None:
    """Print the sentences, a line each, in letters that any screen reader says."""
    for line in lines_of(sentences):
        console.print(Text(line), soft_wrap=True, markup=False, highlight=False, emoji=False)


def lines_of(sentences: Iterable[str]) -> list[str]:
    """Return the sentences, a line each, in letters that any screen reader says."""
    return [ASCII.spell(printable(each).replace("\n", " ")) for each in sentences]


def exercise_sentences(
    exercise: ExerciseResult,
    next_commands: Sequence[tuple[str, str]],
    log: str = "",
    hint: int = 1,
    attempt: int | None = None,
    unused_hints: Sequence[str] = (),
) -> list[str]:
    """Return what is said about one exercise."""
    unused = [fact("A hint you did not need", one_line(each)) for each in unused_hints[:_MOST_UNUSED]]
    return [
        *_about(exercise, log, hint, attempt),
        *(unused if exercise.status == "pass" else []),
        *next_sentences(next_commands),
    ]


def report_sentences(report: Report, next_commands: Sequence[tuple[str, str]]) -> list[str]:
    """Return a sentence for each exercise, the first failure, the total and what to do next."""
    first = shown_first(report)
    lines = [f"Student: {student(report)}."] if student(report) else []
    lines += [_summary(each) for each in report.exercises]
    lines += _about(first, report.log) if first else []
    lines += [f"Total: {points_of(report.score, report.max_score)}."]
    return lines + [f"Note: {ended(each)}" for each in notes(report)] + next_sentences(next_commands)


def class_sentences(reports: Sequence[Report]) -> list[str]:
    """Return a sentence for each student and exercise, and what they add up to."""
    lines = []
    for report in reports:
        lines.append(f"{student(report)}: {points_of(report.score, report.max_score)}.")
        lines += [f"{student(report)}. {_summary(each)}" for each in report.exercises]
    summary = summarize(reports)
    lines.append(f"Class: {summary.sentence}.")
    lines += [
        f"Misconception: {name}, {key}, {count} of {plural(summary.submissions, 'student')}."
        for name, key, count in summary.misconceptions
    ]
    return lines + [f"Needs a look: {name}: {ended(why)}" for name, why in summary.need_a_look]


def _summary(exercise: ExerciseResult) -> str:
    """Return one exercise in one line."""
    earned = points_of(exercise.score, exercise.max_score)
    facts = filter(None, (checks_pass(exercise.checks), earned))
    return f"Exercise {number(exercise.id)}, {exercise.title}: {STATES[exercise.status].word}. {', '.join(facts)}."


def _about(exercise: ExerciseResult, log: str, hint: int = 1, attempt: int | None = None) -> list[str]:
    state = STATES[exercise.status]
    head = f"{state.word}. Exercise {number(exercise.id)}, {exercise.title}."
    if exercise.status == "pass":
        built = [fact("Built", one_line(exercise.built))] if exercise.built else []
        pictures = (sentence(each) for each in exercise.pictures[:MOST_PICTURES])
        left = (f"Still open: {each}" for each in bonus_left(exercise))
        facts = [reference_parts(exercise), *built, *left, *pictures]
        return [f"{head} {achieved(exercise, attempt)}.", *filter(None, facts)]
    check = exercise.first_failure
    if check is None:
        return [head, ended(state.meaning)]
    position = exercise.checks.index(check) + 1
    first = "Begin with" if state.mark == "waiting" else "First failure"
    lines = [f"{head} {checks_pass(exercise.checks)}. {first}: check {position}, {spoken(check.id)}."]
    return [
        *lines,
        *filter(None, [reference_parts(exercise)]),
        *failure_sentences(check),
        *_printed(log),
        *_hint(check, hint),
    ]


def failure_sentences(check: CheckResult) -> list[str]:
    """Return what is known about a check that fails."""
    finding = check.finding
    said = [fact("Finding", message_of(check.status, finding))]
    asked = [fact("Check", one_line(check.title))] if was_asked(check) else []
    if finding is None:
        return said + asked
    named = finding.kind == "misconception"
    explained = one_line(finding.detail or "" if named else explanation(check.status, finding))
    said += [fact("Message" if finding.kind == "exception" else "Because", explained)] if explained else []
    name = one_line(finding.name or "")
    called = "" if is_name(message_of(check.status, finding), name) else name
    said += [fact("Misconception", ", ".join(filter(None, (one_line(finding.id), called))))] if named else []
    return said + asked + _place(check, finding) + _evidence(finding.evidence)


def _place(check: CheckResult, finding: Finding) -> list[str]:
    place = finding.place
    if place is None:
        return []
    text = dict(finding.source).get(place.line, "")
    within = f"in {function(finding)}" if function(finding) else ""
    where = [f"Place: {one_line(place.file)} {line_of(place)}", within, circumstance(check.status, finding)]
    lines = [", ".join(filter(None, where)) + (f": {text.strip()}" if text.strip() else ".")]
    lines += _mark(finding, place, text)
    near = [number for number, _ in finding.source if number in finding.agrees and number != place.line]
    if near:
        word = "Line" if len(near) == 1 else "Lines"
        lines.append(f"{word} {listed([str(each) for each in near])}: as expected.")
    return lines


def _mark(finding: Finding, place: Place, text: str) -> list[str]:
    """Return what is wrong with the characters of a place."""
    marked = text[place.column or 0 : place.end].strip() if place.column is not None else ""
    label = one_line(finding.label or "")
    if marked and marked != text.strip():
        return [fact("Mark", f"{marked}: {label}") if label else f"Mark: {marked}"]
    return [fact("Mark", label)] if label else []


def _evidence(evidence: Evidence | None) -> list[str]:
    if evidence is None:
        return []
    if is_values(evidence):
        return [one_line(f"{label}: {value}.") for label, _, value in evidence.rows]
    lines = []
    for label, expected, yours in evidence.rows:
        facts = f"{yours}, as expected" if expected == yours else f"expected {expected}, yours {yours}"
        lines.append(one_line(f"{evidence.name} {label}: {facts}."))
    return lines + _elements(evidence)


def _elements(evidence: Evidence) -> list[str]:
    if not evidence.witnesses:
        return []
    title = one_line(evidence.witness_title)
    axes = "" if evidence.axes == "at" else f"{one_line(evidence.axes)} "
    slice_ = f" ({one_line(evidence.maps.caption).rstrip('.')})" if evidence.maps and within_slice(evidence) else ""
    head = fact("Numbers", f"{title[:1].upper()}{title[1:]}{slice_}") if title else ""
    each = [f"At {axes}{at}: expected {one}, yours {other}." for at, one, other in evidence.witnesses]
    return [one_line(line) for line in (head, *each) if line]


def _printed(log: str) -> list[str]:
    lines = printable(log[-10_000:]).strip("\n").split("\n") if log.strip() else []
    return [f"Your code printed: {line}" for line in lines[-_PRINTED_LINES:]]


def _hint(check: CheckResult, hint: int) -> list[str]:
    if not check.hints or hint < 1 or STATES[check.status].mark in ("waiting", "problem"):
        return []
    place = min(hint, len(check.hints))
    return [fact(f"Hint {place} of {len(check.hints)}", one_line(check.hints[place - 1]))]


def fact(label: str, text: str) -> str:
    """Return one fact behind its label."""
    return f"{label}: {ended(text)}"


def next_sentences(next_commands: Sequence[tuple[str, str]]) -> list[str]:
    """Return the commands to run next."""
    return [f"Next: {command}: {ended(what)}" if what else f"Next: {command}" for command, what in next_commands]


def ended(sentence: str) -> str:
    """Return the sentence with a mark at its end."""
    return sentence if sentence.endswith((".", "?", "!", ":")) else f"{sentence}."
