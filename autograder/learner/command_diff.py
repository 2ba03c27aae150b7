"""Show every measurement of your last failure.

Your values stand beside the expected ones. Nothing runs again.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from autograder import report
from autograder.cli import CommandParser, Screen, add_exercise, add_json, make_console
from autograder.course import Course, Exercise, find_course, read_course, resolve_exercise
from autograder.ending import PASS
from autograder.progress import (
    LastReport,
    evidence_json,
    has_changed,
    is_missing,
    missing_sentence,
    read_last_check,
    read_progress,
    stub_command,
    write_json,
)
from autograder.results import CheckResult, ExerciseResult, PrintOutput


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add_exercise(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    course = read_course(find_course())
    progress = read_progress(course)
    named = resolve_exercise(course, options.exercise) if options.exercise else progress.current(course)
    last = read_last_check(course, named)
    exercise = course.exercise(last.exercise["id"])
    changed = has_changed(course, exercise, last)
    if write_json(options.json, evidence_json(last, changed=changed)):
        return PASS
    screen = Screen.of(options)
    if is_missing(course, exercise):
        screen.text(missing_sentence(course, exercise), indent=0)
        screen.gap()
        screen.next([stub_command(course, exercise)])
        return PASS
    if changed:
        screen.text(f"{exercise.file} has changed since this check. The check was of the earlier version.", indent=0)
        screen.gap()
    if last.failure is None:
        screen.text(f"{exercise.number} {exercise.title} passes: there is no difference to show.", indent=0)
        console = make_console(options)
        render_prints(console, last.result.prints, glyphs=report.glyphs_for(console.encoding), plain=options.plain)
        screen.next([(f"course check {exercise.number}", "")] if changed else [("course next", "")])
        return PASS
    _show_evidence(options, course, exercise, last)
    return PASS


def _show_evidence(options: argparse.Namespace, course: Course, exercise: Exercise, last: LastReport) -> None:
    result = last.result
    check = result.first_failure
    if check is None:
        return
    finding = check.finding
    commands = [(f"course check {exercise.number}", "after your next edit")]
    if finding is not None and finding.known_as:
        commands.insert(0, (f"course why {finding.id}", f"explain the {finding.known_as}"))
    console = make_console(options)
    render_evidence(
        console,
        result,
        check,
        glyphs=report.glyphs_for(console.encoding),
        plain=options.plain,
        file_path=course.exercises_dir / exercise.file,
        next_commands=[] if options.has_keys else commands,
    )


def render_evidence(
    console: Console,
    exercise: ExerciseResult,
    check: CheckResult,
    *,
    glyphs: report.Glyphs,
    plain: bool = False,
    file_path: Path | None = None,
    next_commands: Sequence[report.Command] = (),
) -> None:
    """Show every measurement of a failed check."""
    view = report.failure_view(check, prints=exercise.prints, hints_shown=0, every_measurement=True)
    if plain or console.width < report.NARROWEST:
        about = f"Exercise {report.number(exercise.id)}, {exercise.title}: {report.spoken(check.id)}."
        head = f"{report.check_state(check).word}. {about}"
        numbers = number_sentences(view.maps) if view.maps else []
        failure = report.failure_sentences(view, report.WHOLE.printed)
        report.show(console, [head, *failure, *numbers, *report.next_sentences(next_commands)])
        return
    page = report.Page.on(console, glyphs, widest=console.width)
    title = Text.assemble(report.title_line(page, exercise), page.text(f", {report.spoken(check.id)}", "bold"))
    parts = (
        page.wrap(title, 0),
        report.failure_lines(page, view, file_path, report.WHOLE),
        number_lines(page, view.maps) if view.maps else [],
        report.next_lines(page, next_commands),
    )
    page.show(report.blocks(parts))


def render_prints(
    console: Console, prints: Sequence[PrintOutput], *, glyphs: report.Glyphs, plain: bool = False
) -> None:
    """Show all that the code printed."""
    parts = report.print_parts(prints)
    if plain or console.width < report.NARROWEST:
        report.show(console, report.print_sentences(parts, report.WHOLE.printed))
        return
    page = report.Page.on(console, glyphs, widest=console.width)
    if parts:
        page.show([Text(), *report.print_lines(page, parts, report.WHOLE.printed), Text()])


# The numbers of one slice, expected and yours.

_APART = 4
_SMALLEST, _LARGEST = 1e-2, 1e5  # numbers outside are written with an exponent


def number_lines(page: report.Page, maps: report.MapPair) -> list[Text]:
    """Return the numbers of one slice, expected beside yours if both fit; those that differ are marked."""
    differs = report.where_differs(maps.expected, maps.yours)
    all_differ = all(map(all, differs))
    legend = "every number differs" if all_differ else f"{page.glyphs.differs} marks a number that differs"
    for fewer in range(3):
        spell = _spelling(maps, fewer)
        expected = [page.text("expected", report.SECONDARY), *_numbers(page, maps.expected, spell)]
        yours = [
            page.text("yours", report.SECONDARY),
            *_numbers(page, maps.yours, spell, () if all_differ else differs),
        ]
        if max(report.breadth(expected), report.breadth(yours)) + 2 <= page.width:
            break
    together = report.breadth(expected) + _APART + report.breadth(yours) + 2 <= page.width
    lines = report.beside(expected, yours, _APART) if together else [*expected, Text(), *yours]
    caption = page.text(f"{maps.caption}; {legend}", report.SECONDARY)
    return [*(page.cut(report.indented(line, 2), page.width) for line in lines), *page.wrap(caption)]


def number_sentences(maps: report.MapPair) -> list[str]:
    """Return the numbers of one slice as sentences, one for each row."""
    spell = _spelling(maps)
    rows = enumerate(zip(maps.expected, maps.yours, strict=True))
    return [
        f"Slice: {maps.caption}.",
        *(
            f"Row {index}: as expected: {', '.join(map(spell, expected))}."
            if expected == yours
            else f"Row {index}: expected {', '.join(map(spell, expected))}; yours {', '.join(map(spell, yours))}."
            for index, (expected, yours) in rows
        ),
    ]


def _numbers(
    page: report.Page, grid: report.Grid, spell: Callable[[float | None], str], differs: Sequence[Sequence[bool]] = ()
) -> list[Text]:
    rows = []
    for index, row in enumerate(grid):
        wrong = differs[index] if differs else [False] * len(row)
        rows.append(
            [
                page.text(f"{page.glyphs.differs if is_wrong else ''}{spell(value)}", "bold red" if is_wrong else "")
                for value, is_wrong in zip(row, wrong, strict=True)
            ]
        )
    return report.columns(rows, (True,) * len(rows[0]), gap=1)


def _spelling(maps: report.MapPair, fewer: int = 0) -> Callable[[float | None], str]:
    """Return how the numbers are written: all with the same decimals if possible, `fewer` than there is room for."""
    most = maps.largest
    whole = all(value == int(value) for grid in (maps.expected, maps.yours) for value in report.finite(grid))
    decimals = 0 if whole else max((3 if most < 10 else 2 if most < 100 else 1) - fewer, 1)
    form = f".{decimals}f" if _SMALLEST <= most < _LARGEST else ".3g"
    return lambda value: "not finite" if value is None else format(value, form)
