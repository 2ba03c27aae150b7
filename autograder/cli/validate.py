"""`course validate`: the proof that solutions, stubs, misconceptions, variants and checks fit together."""

import argparse
import json
import os
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

from autograder.authoring.once import prove_once
from autograder.authoring.page import page
from autograder.authoring.places import Placed, measure_places
from autograder.authoring.validate import Validation, validate
from autograder.course import find_course, read_course, with_sizes
from autograder.course.handed_out import refuse_kit
from autograder.course.names import resolve_exercise
from autograder.course.suite import load_suite
from autograder.exits import FAIL, PASS
from autograder.learner.progress import write_whole
from autograder.report.words import number


def prove(options: argparse.Namespace) -> int:
    """Run the command."""
    course = read_course(find_course())
    refuse_kit(course, "validate")
    if options.sizes is not None:
        course = with_sizes(course, options.sizes)
    named = {resolve_exercise(course, word).id for word in options.exercises}
    suite = load_suite(course, [each for each in course.exercises if not named or each.id in named])
    seed = course.seed if options.seed is None else options.seed
    jobs = options.jobs or os.cpu_count() or 1
    result = validate(suite, seed=seed, jobs=jobs, on_progress=_progress)
    if options.once and result.ok:
        result = replace(
            result, once=tuple(prove_once(suite, seed=seed, jobs=jobs, every=options.once, on_progress=_progress))
        )
    places = None
    if options.places:
        places = measure_places(suite, seed=seed, jobs=jobs, every=options.places, on_progress=_progress)
    if options.json is not None:
        text = json.dumps(result.to_json(), indent=1, ensure_ascii=options.json == "-") + "\n"
        if options.json == "-":
            sys.stdout.write(text)
            return PASS if result.ok else FAIL
        write_whole(Path(options.json), text)
    if options.page is not None:
        options.page.parent.mkdir(parents=True, exist_ok=True)
        write_whole(options.page, page(suite, result))
    _show(result, options)
    if places is not None:
        print(_of_places(places))
    return PASS if result.ok else FAIL


def _of_places(places: Counter[Placed]) -> str:
    count = places.total()
    share = f"{places['right'] / count:.0%}" if count else "none"
    return (
        f"places: {places['right']} of {count} misconceptions ({share}) on the faulty line or the next, "
        f"{places['elsewhere']} on another, {places['nowhere']} on none"
    )


def _progress(done: int, everything: int) -> None:
    if sys.stderr.isatty():
        end = "\n" if done == everything else ""
        print(f"\r{done} of {everything} programs", end=end, file=sys.stderr, flush=True)


def _of_empty_programs(result: Validation, *, plain: bool) -> list[str]:
    """Return the points that each family of empty programs earns: by exercise, where it earns any."""
    proved = [each for each in result.exercises if each.empty]
    if not proved:
        return []
    families = list(proved[0].empty)
    totals = {family: sum(each.empty[family] for each in proved) for family in families}
    if plain or not any(totals.values()):
        head = f"empty programs: {len(families)} families, {max(totals.values()) / 100:g} points at most"
        return [head, *(f"{family}: {total / 100:g} points" for family, total in totals.items() if total)]
    rows = [
        ["empty program", *(number(each.id) for each in proved), "all"],
        *([name, *(f"{each.empty[name] / 100:g}" for each in proved), f"{totals[name] / 100:g}"] for name in families),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) if at == 0 else cell.rjust(width) for at, (cell, width) in enumerate(cells))
        for cells in (list(zip(row, widths, strict=True)) for row in rows)
    ]


def _show(result: Validation, options: argparse.Namespace) -> None:
    from rich.table import Table
    from rich.text import Text

    from autograder.report.terminal import make_console

    console = make_console(plain=options.plain, color=False if options.no_color else None)
    rows = [
        (
            each.id,
            str(each.checks),
            f"{each.caught} of {each.misconceptions}",
            f"{each.named} of {each.misconceptions}",
            f"{each.accepted_full} of {each.accepted}",
            str(len(each.survivors)),
        )
        for each in result.exercises
    ]
    heads = ("exercise", "checks", "caught", "named", "accepted", "idle checks")
    if options.plain:
        for row in rows:
            console.print(
                Text(". ".join(f"{head}: {cell}" for head, cell in zip(heads, row, strict=True)) + "."), soft_wrap=True
            )
    else:
        table = Table(box=None, pad_edge=False)
        for head in heads:
            table.add_column(head, justify="left" if head == "exercise" else "right")
        for row in rows:
            table.add_row(*map(Text, row))
        console.print(table)
    for line in _of_empty_programs(result, plain=options.plain):
        console.print(Text(line), soft_wrap=True)
    for problem in result.problems:
        console.print(Text(problem, "red"), soft_wrap=True)
    alone = sum(each.alone for each in result.exercises)
    count = sum(each.misconceptions for each in result.exercises)
    verdict = "the course holds" if result.ok else f"{len(result.problems)} problems"
    named = f"{alone} of {count} misconceptions named as themselves"
    console.print(Text(f"{verdict}: {named}, {result.seconds:.1f} s, seed {result.seed}"), soft_wrap=True)
