"""Show every measurement of your last failure.

Your values stand beside the expected ones. Nothing runs again.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

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
from autograder.report import (
    NARROWEST,
    SECONDARY,
    WHOLE,
    Command,
    Glyphs,
    Grid,
    MapPair,
    Page,
    beside,
    blocks,
    breadth,
    check_state,
    columns,
    failure_lines,
    failure_sentences,
    failure_view,
    finite,
    glyphs_for,
    indented,
    next_lines,
    next_sentences,
    number,
    print_lines,
    print_parts,
    print_sentences,
    show,
    spoken,
    title_line,
    where_differs,
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
        render_prints(console, last.result.prints, glyphs=glyphs_for(console.encoding), plain=options.plain)
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
        glyphs=glyphs_for(console.encoding),
        plain=options.plain,
        file_path=course.exercises_dir / exercise.file,
        next_commands=[] if options.has_keys else commands,
    )


def render_evidence(
    console: Console,
    exercise: ExerciseResult,
    check: CheckResult,
    *,
    glyphs: Glyphs,
    plain: bool = False,
    file_path: Path | None = None,
    next_commands: Sequence[Command] = (),
) -> None:
    """Show every measurement of a failed check."""
    view = failure_view(check, prints=exercise.prints, hints_shown=0, every_measurement=True)
    if plain or console.width < NARROWEST:
        head = f"{check_state(check).word}. Exercise {number(exercise.id)}, {exercise.title}: {spoken(check.id)}."
        numbers = number_sentences(view.maps) if view.maps else []
        failure = failure_sentences(view, WHOLE.printed)
        show(console, [head, *failure, *numbers, *next_sentences(next_commands)])
        return
    page = Page.on(console, glyphs, widest=console.width)
    title = Text.assemble(title_line(page, exercise), page.text(f", {spoken(check.id)}", "bold"))
    parts = (
        page.wrap(title, 0),
        failure_lines(page, view, file_path, WHOLE),
        number_lines(page, view.maps) if view.maps else [],
        next_lines(page, next_commands),
    )
    page.show(blocks(parts))


def render_prints(console: Console, prints: Sequence[PrintOutput], *, glyphs: Glyphs, plain: bool = False) -> None:
    """Show all that the code printed."""
    parts = print_parts(prints)
    if plain or console.width < NARROWEST:
        show(console, print_sentences(parts, WHOLE.printed))
        return
    page = Page.on(console, glyphs, widest=console.width)
    if parts:
        page.show([Text(), *print_lines(page, parts, WHOLE.printed), Text()])


# The numbers of one slice, expected and yours.

_APART = 4
_SMALLEST, _LARGEST = 1e-2, 1e5  # numbers outside are written with an exponent


def number_lines(page: Page, maps: MapPair) -> list[Text]:
    """Return the numbers of one slice, expected beside yours if both fit; those that differ are marked."""
    differs = where_differs(maps.expected, maps.yours)
    all_differ = all(map(all, differs))
    legend = "every number differs" if all_differ else f"{page.glyphs.differs} marks a number that differs"
    for fewer in range(3):
        spell = _spelling(maps, fewer)
        expected = [page.text("expected", SECONDARY), *_numbers(page, maps.expected, spell)]
        yours = [page.text("yours", SECONDARY), *_numbers(page, maps.yours, spell, () if all_differ else differs)]
        if max(breadth(expected), breadth(yours)) + 2 <= page.width:
            break
    together = breadth(expected) + _APART + breadth(yours) + 2 <= page.width
    lines = beside(expected, yours, _APART) if together else [*expected, Text(), *yours]
    caption = page.text(f"{maps.caption}; {legend}", SECONDARY)
    return [*(page.cut(indented(line, 2), page.width) for line in lines), *page.wrap(caption)]


def number_sentences(maps: MapPair) -> list[str]:
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
    page: Page, grid: Grid, spell: Callable[[float | None], str], differs: Sequence[Sequence[bool]] = ()
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
    return columns(rows, (True,) * len(rows[0]), gap=1)


def _spelling(maps: MapPair, fewer: int = 0) -> Callable[[float | None], str]:
    """Return how the numbers are written: all with the same decimals if possible, `fewer` than there is room for."""
    most = maps.largest
    whole = all(value == int(value) for grid in (maps.expected, maps.yours) for value in finite(grid))
    decimals = 0 if whole else max((3 if most < 10 else 2 if most < 100 else 1) - fewer, 1)
    form = f".{decimals}f" if _SMALLEST <= most < _LARGEST else ".3g"
    return lambda value: "not finite" if value is None else format(value, form)
