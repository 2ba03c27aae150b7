"""Find small mistakes in a solution that no check notices.

It changes the solution in hundreds of ways. A mutant that passes every check is a survivor. Make a check stricter, or
list the survivor as equivalent with a reason. A run that was stopped goes on where it ended.

Exit status: 0 if every mutant is caught or listed with a reason that holds, 1 if not.
"""

import argparse
import math
import os
import time
from collections.abc import Sequence
from functools import cache, partial

from autograder.cli import JOBS, CommandParser, Screen, add_json, positive, say, show_count
from autograder.course import (
    Course,
    Exercise,
    Suite,
    UsageError,
    find_course,
    load_suite,
    read_course,
    refuse_kit,
    require_texts,
    resolve_exercise,
)
from autograder.ending import FAIL, PASS
from autograder.progress import write_json
from autograder.report import number, plural

from .mutants import (
    ExerciseMutants,
    Mutant,
    Options,
    Survivor,
    add_equivalents,
    changed_lines,
    equivalents_file,
    mutants_of,
    mutate_each,
    outcomes_of,
    patch_of,
    to_json,
)
from .naming import TEXTS, add_defaults, append_entry, entry_of

SECONDS_OF_MINUTE = 60


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add = parser.add_argument
    add("exercises", nargs="*", metavar="EX", help=f"{parser.exercise} (default: all)")
    add("--minutes", type=positive, metavar="N", help="begin no mutant after N minutes; the next run does the rest")
    does = "look for a difference in N more trials of each check (default: 10)"
    add("--search", type=positive, default=10, metavar="N", help=does)
    add("--force", action="store_true", help="run all mutants again, also those of an earlier run")
    add("--draft", metavar="ID", help="add the survivor ID to the misconceptions, with texts to fill in")
    does = "add a misconception, with its texts, for each standard check that none fails"
    add("--standard", action="store_true", help=does)
    does = "list the survivors as equivalent; needs --reason; may be repeated"
    add("--equivalent", nargs="+", action="extend", metavar="ID", help=does)
    add("--reason", metavar="TEXT", help="why no check can catch these survivors")
    add("--jobs", type=positive, metavar="N", help=JOBS)
    add("--seed", type=int, metavar="N", help="use different inputs and weights (default: the seed of course.toml)")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    course = read_course(find_course())
    refuse_kit(course, "mutate")
    if options.draft:
        return _draft(course, options.draft)
    if options.equivalent or options.reason:
        return _list_equivalents(course, options)
    named = {resolve_exercise(course, word).id for word in options.exercises}
    wanted = [exercise for exercise in course.exercises if not named or exercise.id in named]
    require_texts(course, wanted)
    suite = load_suite(course, wanted)
    if options.standard:
        return _add_defaults(suite)
    started = time.monotonic()
    chosen = Options(
        seed=course.seed if options.seed is None else options.seed,
        jobs=options.jobs or os.cpu_count() or 1,
        until=started + options.minutes * SECONDS_OF_MINUTE if options.minutes else math.inf,
        trials=options.search,
        fresh=options.force,
    )
    screen, results = Screen.of(options), []
    for result in mutate_each(suite, chosen, on_progress=_show_progress):
        results.append(result)
        if options.json != "-":
            _show(course, result, screen)
    seconds = time.monotonic() - started
    ok = all(result.ok for result in results)
    record = {"ok": ok, "seed": chosen.seed, "seconds": round(seconds, 3), "exercises": [*map(to_json, results)]}
    if not write_json(options.json, record):
        _show_sum(results, seconds, chosen.seed, screen)
    return PASS if ok else FAIL


def _show_progress(exercise: str, done: int, total: int) -> None:
    show_count(f"{number(exercise)}: {done} of {total} mutants", last=done == total)


def _show(course: Course, result: ExerciseMutants, screen: Screen) -> None:
    parts = [f"{result.caught} caught", f"{result.equivalent} equivalent", plural(len(result.survivors), "survivor")]
    if result.left:
        parts.append(f"{result.left} not run")
    screen.line(f"{result.exercise.id}: {plural(result.mutants, 'mutant')}, {', '.join(parts)}")
    solution = (course.solutions_dir / result.exercise.file).read_text("utf-8")
    for survivor in result.survivors:
        _show_survivor(survivor, result.exercise, solution, screen)
    for problem in result.problems:
        screen.line((f"  listed as equivalent, but {problem}", "red"))


def _show_survivor(survivor: Survivor, exercise: Exercise, solution: str, screen: Screen) -> None:
    mutant = survivor.mutant
    screen.gap()
    screen.line((f"  {mutant.id}", "yellow"), f"  {exercise.file}:{mutant.line} in {mutant.where}: {mutant.operator}")
    was, becomes = changed_lines(solution, mutant.source)
    for mark, lines, color in (("-", was, "red"), ("+", becomes, "green")):
        for line in lines:
            screen.line((f"  {mark} {line}", color))
    witness = survivor.witness
    screen.text(witness.sentence if witness else "No input was found on which it differs.")
    for text in witness.inputs if witness else ():
        screen.line(f"    {text}")


def _show_sum(results: Sequence[ExerciseMutants], seconds: float, seed: int, screen: Screen) -> None:
    total = sum(result.mutants for result in results)
    caught, equivalent, left = (
        sum(getattr(result, name) for result in results) for name in ("caught", "equivalent", "left")
    )
    survivors = sum(len(result.survivors) for result in results)
    screen.line(
        f"{plural(total, 'mutant')}: {caught} caught, {equivalent} equivalent, {plural(survivors, 'survivor')}, "
        f"{left} not run, {seconds:.0f} s, seed {seed}"
    )
    first = next((survivor.mutant.id for result in results for survivor in result.survivors), None)
    if first is not None:
        screen.next(
            [
                (f"course mutate --draft {first}", "add it to the misconceptions, with texts to fill in"),
                (f'course mutate --equivalent {first} --reason "..."', "list it, if no check can catch it"),
            ]
        )
    elif left:
        screen.next([("course mutate", "run the rest")])


def _draft(course: Course, id_: str) -> int:
    """Add a misconception that is a mutant, with texts to fill in."""
    exercise, mutant = _find(course, id_)
    solution = (course.solutions_dir / exercise.file).read_text("utf-8")
    name = f"{mutant.operator.replace(' ', '-')}-{mutant.id}"
    entry = entry_of(
        exercise, name, "A mutant that was drafted.", [patch_of(solution, mutant.source)], TEXTS.get(mutant.operator)
    )
    file = append_entry(course, exercise, name, entry)
    say(entry.strip("\n"))
    say(f"\nAdded to {file.relative_to(course.root)}. Read its texts, then run `course validate {exercise.number}`")
    return PASS


def _add_defaults(suite: Suite) -> int:
    """Add the default misconceptions of standard checks. Exit with 1 if a check is left without one."""
    added, without = 0, 0
    for exercise in suite.exercises:
        show = partial(_show_progress, exercise.id)
        found = add_defaults(suite, exercise, on_progress=show)
        for entry in found.entries.values():
            say(entry.strip("\n") + "\n")
        for sentence in found.advice:
            say(f"{exercise.id}: {sentence}")
        if found.entries:
            file = f"solutions/misconceptions/{exercise.id}.toml"
            say(f"Added to {file}. Read the texts, then run `course validate {exercise.number}`")
        added, without = added + len(found.entries), without + len(found.without)
    if not added and not without:
        say("every standard check is failed by a misconception")
    return FAIL if without else PASS


def _list_equivalents(course: Course, options: argparse.Namespace) -> int:
    """List mutants as equivalent."""
    if not options.equivalent or not options.reason:
        raise UsageError("--equivalent and --reason belong together: course mutate --equivalent ID --reason TEXT")
    found: list[tuple[Exercise, Mutant]] = []
    for id_ in options.equivalent:
        show_count(f"{id_}: looking for the mutant, after {len(found)} of {len(options.equivalent)}", last=False)
        found.append(_find(course, id_))
    show_count(f"{len(found)} of {len(found)} mutants found", last=True)
    for exercise in dict.fromkeys(exercise.id for exercise, _ in found):
        mutants = [mutant for own, mutant in found if own.id == exercise]
        own = course.exercise(exercise)
        kept = outcomes_of(load_suite(course, [own]), own, course.seed if options.seed is None else options.seed)
        for mutant in mutants:
            if (catcher := kept.caught.get(mutant.id)) is not None:
                raise UsageError(f"{mutant.id} is caught by the check {catcher}, so it is not equivalent")
        file = equivalents_file(course, own)
        before = add_equivalents(file, mutants, options.reason)
        added = dict.fromkeys(mutant.id for mutant in mutants if mutant not in before)
        say(f"Listed {', '.join(added)} in {file.relative_to(course.root)}")
        if before:
            say(f"Listed there already: {', '.join(mutant.id for mutant in before)}")
    return PASS


_mutants = cache(mutants_of)
"""Making all mutants of an exercise takes seconds, and several of them may be listed at once."""


def _find(course: Course, id_: str) -> tuple[Exercise, Mutant]:
    """Return the mutant with an id; raises `UsageError` if there is none, or the solution has changed."""
    for exercise in course.exercises:
        if id_.startswith(f"{exercise.number}-"):
            require_texts(course, [exercise])
            solution = (course.solutions_dir / exercise.file).read_text("utf-8")
            for mutant in _mutants(solution, exercise.number):
                if mutant.id == id_:
                    return exercise, mutant
    raise UsageError(f"there is no mutant {id_!r}; `course mutate EX` lists the survivors with their ids")
