"""What each event changes in the standing of an exercise."""

from collections.abc import Mapping
from dataclasses import replace

from autograder.learner.progress.events import Event, seconds_of
from autograder.learner.progress.standing import UNTRIED, Standing

OFFER_AFTER = 4
"""After this many runs with the same finding, the second hint is shown without a request."""

BURST, BURST_SECONDS = 5, 60
"""This many runs in this many seconds, with ever smaller edits, look like guessing: advise a pause."""

LEVELS_KEPT = 20
"""Failures whose hint levels are stored; older ones are forgotten."""


def changed(before: Standing, event: Event) -> Standing:
    """Return the standing after an event of its exercise."""
    return _CHANGES[event.kind](before, event)


def _touched(before: Standing, event: Event) -> Standing:
    return replace(before, first_at=before.first_at or event.at, last_at=event.at)


def _after_check(before: Standing, event: Event) -> Standing:
    """Add a check. A failure shows its first hint; a pass keeps the hints, to show those that were not needed."""
    same = event.check is not None and (before.check, before.finding) == (event.check, event.finding)
    key = f"{event.check}:{event.finding or ''}"
    seen = before.levels.get(key, before.hints_shown if same else 0)
    shown = max(seen, 1) if event.hints else 0
    passes = event.result == "pass"
    standing = replace(
        _touched(before, event),
        status=event.result or "fail",
        score=event.score or 0,
        max_score=event.max_score or 0,
        passing=event.passing or 0,
        checks=event.checks or 0,
        first_passed=event.at if passes and not before.ever_passed else before.first_passed,
        version=event.version,
        check=event.check,
        title=before.title if same else None,
        finding=event.finding,
        hints=before.hints if same or passes else (),
        hints_shown=before.hints_shown if passes else shown,
        hint_file=before.hint_file if seen else event.file if shown else None,
        levels=_levels(before.levels, key, shown),
        file=event.file,
        runs=before.runs + 1,
        attempts=before.attempts + (event.file is None or event.file != before.file),
        in_progress=bool(event.in_progress),
        todos=event.todos or 0,
        written=event.written or 0,
        right=tuple((event.right or "").split()),
        newly_right=_newly_right(before, event),
    )
    if same and event.file is not None and event.file == before.file:
        return standing  # the same code gets the same advice
    return _with_advice(standing, before, event, same)


def _newly_right(before: Standing, event: Event) -> tuple[str, ...]:
    """Return the checks that pass, and did not in the check before; none if that is not known."""
    if not before.runs or len(before.right) != before.passing:
        return ()
    return tuple(check for check in (event.right or "").split() if check not in before.right)


def _with_advice(standing: Standing, before: Standing, event: Event, same: bool) -> Standing:
    """Add what the runs so far suggest: the second hint, or a pause."""
    if event.check is None or event.result in UNTRIED:
        return replace(standing, same_runs=0, recent=(), offering=False, pausing=False)
    at = seconds_of(event.at) or 0.0
    recent = tuple((time, edited) for time, edited in before.recent if 0 <= at - time <= BURST_SECONDS)
    recent = (*recent, (at, event.edited or 0))[-BURST:]
    edits = [edited for _, edited in recent[1:]]
    pausing = len(recent) == BURST and edits == sorted(edits, reverse=True)
    runs = before.same_runs + 1 if same else 1
    offering = runs >= OFFER_AFTER and standing.hints_shown == 1 and (event.hints or 0) > 1
    if offering:
        key = f"{event.check}:{event.finding or ''}"
        levels = _levels(standing.levels, key, 2)
        standing = replace(standing, hints_shown=2, hint_file=event.file, levels=levels)
    return replace(standing, same_runs=runs, recent=() if pausing else recent, offering=offering, pausing=pausing)


def _levels(levels: Mapping[str, int], key: str, shown: int) -> Mapping[str, int]:
    if not shown:
        return levels
    others = {name: level for name, level in levels.items() if name != key}
    return dict([*others.items(), (key, shown)][-LEVELS_KEPT:])


def _after_hint(before: Standing, event: Event) -> Standing:
    if event.todo is not None:
        levels = _levels(before.levels, f"todo:{event.todo}", event.hint or 0)
        return replace(_touched(before, event), hints_taken=before.hints_taken + 1, levels=levels)
    shown = max(before.hints_shown, event.hint or 0)
    return replace(
        _touched(before, event),
        hints_shown=shown,
        hint_file=event.file,
        hints_taken=before.hints_taken + (shown > before.hints_shown),
        hints_now=before.hints_now + bool(event.now),
        levels=_levels(before.levels, f"{before.check}:{before.finding or ''}", shown),
    )


def _after_solution(before: Standing, event: Event) -> Standing:
    return replace(_touched(before, event), solution_shown=before.solution_shown or event.at)


def _after_reset(before: Standing, event: Event) -> Standing:
    """Forget the result of the old file; a first pass and the hints shown still count."""
    return Standing(
        first_passed=before.first_passed,
        first_at=before.first_at,
        last_at=event.at,
        runs=before.runs,
        attempts=before.attempts,
        hints_taken=before.hints_taken,
        hints_now=before.hints_now,
        solution_shown=before.solution_shown,
        resets=before.resets + 1,
        levels=before.levels,
        answers=before.answers,
        unknown=before.unknown,
    )


def _after_question(before: Standing, event: Event) -> Standing:
    answers = {**before.answers, event.finding or "": event.result or "skipped"}
    return replace(_touched(before, event), answers=dict([*answers.items()][-LEVELS_KEPT:]))


def _after_next(before: Standing, _: Event) -> Standing:
    return before


_CHANGES = {
    "check": _after_check,
    "hint": _after_hint,
    "next": _after_next,
    "question": _after_question,
    "solution": _after_solution,
    "reset": _after_reset,
}
