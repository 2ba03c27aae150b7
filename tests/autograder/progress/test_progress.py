"""Where a learner stands: events are the truth, the view is made from them, and nothing that happens loses either."""

import json
import multiprocessing
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.course import Course
from autograder.judge import Grader
from autograder.progress import Event, Progress, Standing, encouragement, read_progress, save_events
from autograder.progress import events as event_lines
from autograder.progress.events import exercise_version, line_digests, lines_edited, read_last, replay, standing_of
from autograder.runner import Runner
from tests.support import tiny

FIRST, SECOND = tiny.COURSE.exercises
MADE_NEW = {"title", "hints"}
"""Words of the course: they stand in the view and the last report, not in the events."""


@pytest.fixture
def empty(tmp_path: Path) -> Course:
    """A course in which nothing was done yet."""
    return tiny.course_at(tiny.copied(tmp_path / "course"))


def at(second: float) -> str:
    return f"2026-11-20T14:{int(second) // 60:02d}:{second % 60:06.3f}Z"


def run(
    second: float = 0, result: str = "fail", *, file: str = "f0", finding: str | None = "wrong", edited: int | None = 1
) -> Event:
    """Return a check that failed in the usual way, or passed."""
    fails = result != "pass"
    return Event(
        at(second),
        "check",
        FIRST.id,
        "check",
        result=result,
        check="values" if fails else None,
        finding=finding if fails else None,
        file=file,
        edited=edited,
        version="v1",
        passing=1,
        checks=4,
        score=0 if fails else 4000,
        max_score=4000,
        hints=3 if fails else 0,
        seconds=0.01,
    )


def hint(level: int, file: str = "f0", *, now: bool | None = None) -> Event:
    return Event(at(1), "hint", FIRST.id, "hint", file=file, hint=level, hints=3, now=now)


def standing(*events: Event) -> Standing:
    return replay(events).of(FIRST)


# What events add up to.


def worked(*seconds: float) -> list[int]:
    """Return the seconds of work after each run at these times."""
    runs = [run(second, file=f"f{number}") for number, second in enumerate(seconds)]
    return [standing(*runs[: number + 1]).seconds_worked for number in range(len(runs))]


def test_the_time_between_commands_is_work_but_a_long_gap_is_a_pause() -> None:
    assert worked(0, 60, 90) == [0, 60, 90]
    assert worked(0, 600, 1201, 1261) == [0, 600, 600, 660]
    assert worked(60, 0) == [0, 0], "a clock that was set back takes no time away"


def test_the_time_after_next_belongs_to_the_exercise_that_it_went_to() -> None:
    moved = Event(at(0), "next", SECOND.id, "next")
    progress = replay([run(0), replace(moved, at=at(30)), replace(run(90), exercise=SECOND.id)])
    assert (progress.of(FIRST).seconds_worked, progress.of(SECOND).seconds_worked) == (0, 90)
    at_once = replace(run(120), command="check --all")
    assert replay([at_once], progress).of(FIRST).seconds_worked == 0, "a check of everything is work on nothing"


def test_what_became_right_is_named_once() -> None:
    first = replace(run(0), right="axes", passing=1)
    second = replace(run(1, file="f1"), right="axes values dtype", passing=3)
    assert standing(first).newly_right == (), "there was nothing to compare with"
    assert standing(first, second).newly_right == ("values", "dtype")
    assert standing(first, second, replace(second, at=at(2))).newly_right == ()
    assert standing(run(0), second).newly_right == (), "an earlier version did not store which checks passed"


def test_news_are_the_checks_that_became_right_and_the_minutes_at_a_pass() -> None:
    assert encouragement(Standing()) == ""
    assert encouragement(Standing(newly_right=("look_ahead", "device"))) == "new: look ahead, device"
    many = Standing(newly_right=tuple("abcdefgh"), status="pass", seconds_worked=150)
    assert encouragement(many) == "new: a, b, c, d, e, 3 more; 2 min of work"


def test_breaking_an_exercise_again_takes_nothing_back() -> None:
    broken = standing(
        run(0), run(1, "pass", file="f1"), run(2, file="f2"), run(3, "pass", file="f3"), run(4, file="f4")
    )
    assert (broken.first_passed, broken.passes_now, broken.broken) == (at(1), False, True)
    assert replay([run(1, "pass"), run(2, file="f2")]).passed(tiny.COURSE) == 1


def test_another_version_of_an_exercise_asks_for_another_check(empty: Course) -> None:
    version = exercise_version(empty, FIRST)
    passed = replace(standing(run(0, "pass")), version=version)
    assert not passed.stale(version)
    file = empty.checks_file(FIRST)
    file.write_text(file.read_text() + "\n# another check\n")
    assert passed.stale(exercise_version(empty, FIRST))
    assert not Standing().stale("another"), "what was never checked needs no second check"
    worded = replace(empty.exercises[1], title="another title", hints={})
    assert exercise_version(empty, worded) == exercise_version(empty, empty.exercises[1])
    assert exercise_version(empty, replace(worded, points=1)) == exercise_version(empty, worded)
    assert exercise_version(empty, replace(worded, forbidden=("torch.cumsum",))) != exercise_version(empty, worded)


def test_the_same_failure_keeps_its_hints_and_another_begins_anew() -> None:
    assert standing(run(), hint(2), run(2, file="f1")).hints_shown == 2
    assert standing(run(), hint(2), run(2, finding="other", file="f1")).hints_shown == 1
    back = standing(run(), hint(3), run(2, finding="other", file="f1"), run(3, file="f2"))
    assert back.hints_shown == 3, "an old mistake comes back with the hints that were shown for it"


def test_each_request_counts_also_for_a_hint_that_was_shown() -> None:
    assert standing(run(), hint(1), hint(1), hint(2, "f1")).hints_taken == 3


def test_asking_without_an_edit_is_counted() -> None:
    asked = standing(run(), hint(2, now=True), hint(3, "f1"))
    assert (asked.hints_taken, asked.hints_now, asked.hint_file) == (2, 1, "f1")


def test_after_four_runs_with_one_finding_the_second_hint_comes_by_itself_once() -> None:
    runs = [run(100 * number, file=f"f{number}") for number in range(6)]
    offered = [standing(*runs[: number + 1]) for number in range(6)]
    assert [state.hints_shown for state in offered] == [1, 1, 1, 2, 2, 2]
    assert standing(*runs[:3], run(301, finding="other", file="f3")).hints_shown == 1
    assert standing(runs[0], hint(3), *runs[1:4]).hints_shown == 3, "more was shown already"


def shrinking(edits: Sequence[int], seconds: float = 10) -> bool:
    runs = [run(seconds * number, file=f"f{number}", edited=edited) for number, edited in enumerate(edits)]
    return standing(*runs).pausing


def test_five_runs_in_a_minute_with_shrinking_edits_are_a_reason_to_step_back() -> None:
    assert shrinking([9, 4, 3, 1, 1])
    assert not shrinking([9, 4, 3, 1]), "four runs"
    assert not shrinking([9, 1, 3, 1, 4]), "the edits do not shrink"
    assert not shrinking([9, 4, 3, 1, 1], seconds=20), "not within a minute"
    assert not shrinking([9, 4, 3, 1, 1, 1]), "once for a burst"


def test_running_the_same_file_again_changes_no_advice() -> None:
    runs = [run(number, file="f0", edited=0) for number in range(9)]
    assert standing(*runs).hints_shown == 1
    assert not standing(*runs).pausing
    assert (standing(*runs).runs, standing(*runs).attempts) == (9, 1)


def test_after_a_pass_the_hints_that_were_not_needed_are_known() -> None:
    failed = replay([run()]).with_texts(FIRST.id, "title", ("one", "two", "three"))
    passed = failed.after(run(2, "pass", file="f1")).after(run(3, "pass", file="f1")).of(FIRST)
    assert passed.hints[passed.hints_shown :] == ("two", "three")


def test_the_current_exercise_follows_what_a_learner_did() -> None:
    assert Progress().current(tiny.COURSE) == FIRST
    second = replace(run(), exercise=SECOND.id)
    assert replay([second]).current(tiny.COURSE) == SECOND, "the exercise last worked on"
    assert replay([replace(second, command="check --all")]).current(tiny.COURSE) == FIRST
    assert replay([replace(run(0, "pass"), exercise=SECOND.id)]).current(tiny.COURSE) == FIRST, (
        "it passes: the first open"
    )
    both = [run(0, "pass"), replace(run(1, "pass"), exercise=SECOND.id)]
    assert replay(both).current(tiny.COURSE) is None
    broken = replace(run(2, file="f2"), command="check --all")
    assert replay([*both, broken]).current(tiny.COURSE) == FIRST, "everything must pass"


def test_a_reset_forgets_the_verdict_and_not_what_was_reached() -> None:
    reset = standing(run(0, "pass"), run(1, file="f1"), hint(2), Event(at(9), "reset", FIRST.id, "reset"))
    assert (reset.status, reset.check, reset.hints_shown) == ("not_started", None, 0)
    assert (reset.ever_passed, reset.runs, reset.hints_taken, reset.resets) == (True, 2, 1, 1)


# What is kept.


def without_words(progress: Progress) -> dict[str, dict[str, object]]:
    return {
        name: {key: value for key, value in state.to_json().items() if key not in MADE_NEW}
        for name, state in progress.standings.items()
    }


def view(course: Course) -> Path:
    return course.root / ".course" / event_lines.VIEW


def log(course: Course) -> Path:
    return course.root / ".course" / event_lines.EVENTS


@pytest.mark.parametrize(
    "damage", [None, "", "{", "[]", "\0", '{"exercises": 5}', '{"exercises": {"x": {"runs": "y"}}}']
)
def test_the_view_is_made_again_from_the_events(empty: Course, damage: str | None) -> None:
    kept = save_events(empty, [run(), hint(2), run(5, "pass", file="f1")]).progress
    if damage is None:
        view(empty).unlink()
    else:
        view(empty).write_text(damage)
    assert without_words(read_progress(empty)) == without_words(kept)


@pytest.mark.parametrize(
    "line",
    [
        b"<<<<<<< HEAD\n",
        b"\n\n",
        b"{\n",
        b"\xff\xfe\n",
        b'{"kind": "check"}\n',
        b'{"kind": "check", "exercise": 7, "at": "", "command": ""}\n',
        b'{"kind": "carried", "exercises": 7}\n',
        b'{"kind": "dance", "exercise": "ex01_running_mean", "at": "", "command": ""}\n',
        b"[" * 100_000 + b"\n",
    ],
)
def test_a_line_that_cannot_be_read_is_skipped(empty: Course, line: bytes) -> None:
    save_events(empty, [run()])
    with log(empty).open("ab") as stream:
        stream.write(line)
    save_events(empty, [run(5, "pass", file="f1")])
    view(empty).unlink()
    assert read_progress(empty).of(FIRST).runs == 2
    assert line.strip() in log(empty).read_bytes(), "whatever it is, it stays"


def test_a_line_cut_short_takes_no_other_with_it(empty: Course) -> None:
    save_events(empty, [run()])
    log(empty).write_bytes(log(empty).read_bytes() + run(1).line[:40])
    save_events(empty, [run(2, file="f2")])
    assert read_progress(empty).of(FIRST).runs == 2
    view(empty).unlink()
    assert read_progress(empty).of(FIRST).runs == 2


def test_events_of_another_process_are_seen_before_the_view_has_them(empty: Course) -> None:
    save_events(empty, [run()])
    event_lines.append(log(empty), [run(3, "pass", file="f1")])
    assert read_progress(empty).of(FIRST).passes_now
    assert save_events(empty, [hint(2)]).progress.of(FIRST).runs == 2


def test_a_view_of_the_first_version_without_events_still_counts(empty: Course) -> None:
    old = {"status": "fail", "score": 1, "max_score": 4000, "passing": 1, "checks": 4, "ever_passed": True}
    texts = {"check": "values", "title": "t", "finding": "wrong", "hints": ["a", "b", "c"], "hints_shown": 2}
    view(empty).parent.mkdir()
    view(empty).write_text(json.dumps({"version": 1, "exercises": {FIRST.id: {**old, **texts}}}))
    read = read_progress(empty).of(FIRST)
    assert (read.ever_passed, read.first_passed, read.hints_shown) == (True, "", 2)
    save_events(empty, [replace(run(), exercise=SECOND.id)])
    view(empty).unlink()
    assert read_progress(empty).of(FIRST).broken, "the events carry what was there before them"


def test_unknown_names_are_preserved(empty: Course) -> None:
    save_events(empty, [replace(run(), exercise="ex99_of_another_year"), run()])
    data = json.loads(view(empty).read_text())
    data["house"] = "blue"
    data["exercises"][FIRST.id]["colour"] = "green"
    view(empty).write_text(json.dumps(data))
    save_events(empty, [run(5, "pass", file="f1")])
    data = json.loads(view(empty).read_text())
    assert data["house"] == "blue"
    assert data["exercises"][FIRST.id]["colour"] == "green"
    assert data["exercises"]["ex99_of_another_year"]["runs"] == 1


def test_deleted_events_leave_what_the_view_knows(empty: Course) -> None:
    save_events(empty, [run(0, "pass"), replace(run(), exercise=SECOND.id)])
    log(empty).unlink()
    assert read_progress(empty).of(FIRST).passes_now
    event_lines.append(log(empty), [run(9, file="f9")])
    assert read_progress(empty).of(FIRST).broken
    assert read_progress(empty).of(SECOND).runs == 1


def test_a_long_file_of_events_is_folded_and_says_the_same(empty: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_lines, "MOST_BYTES", 8 << 10)
    monkeypatch.setattr(event_lines, "LINES_KEPT", 10)
    everything = [run(number % 3000, "pass" if number == 7 else "fail", file=f"f{number}") for number in range(200)]
    for start in range(0, 200, 5):
        save_events(empty, everything[start : start + 5])
        assert log(empty).stat().st_size < 10 << 10
    assert without_words(read_progress(empty)) == without_words(replay(everything))
    view(empty).unlink()
    made = read_progress(empty).of(FIRST)
    assert (made.runs, made.first_passed, made.file) == (200, at(7), "f199")


def _check_often(root: Path, name: str) -> None:
    course = tiny.course_at(root)
    for number in range(25):
        kept = save_events(course, [replace(run(number, file=f"{name}{number}"), exercise=FIRST.id)])
        assert kept.problem is None


def test_processes_at_once_lose_no_event_and_damage_nothing(empty: Course) -> None:
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=_check_often, args=(empty.root, name)) for name in "abc"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert all(json.loads(line)["kind"] == "check" for line in log(empty).read_bytes().splitlines())
    assert read_progress(empty).of(FIRST).runs == 75
    view(empty).unlink()
    assert read_progress(empty).of(FIRST).runs == 75


def test_where_nothing_can_be_written_the_progress_is_right_all_the_same(empty: Course) -> None:
    (empty.root / ".course").write_text("in the way")
    kept = save_events(empty, [run()])
    assert kept.problem is not None
    assert kept.progress.of(FIRST).runs == 1


@pytest.mark.parametrize("key", ["runs", "hints_shown", "status", "recent", "levels", "hints"])
def test_a_standing_of_wrong_types_is_none(key: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        standing_of({**Standing().to_json(), key: 7 if key in ("status", "recent", "levels", "hints") else "7"})


# What is kept of a report.

SECRET = "my_very_own_words"
WRONG = tiny.mean_with(f"return x.cumsum(dim=-1)  # {SECRET}")


def checked(course: Course, grader: Grader, runner: Runner, text: str) -> Progress:
    return tiny.checked(course.root, grader, runner, text)


def test_there_is_no_code_no_name_and_no_path_in_what_is_handed_in(
    empty: Course, grader: Grader, runner: Runner
) -> None:
    checked(empty, grader, runner, WRONG)
    checked(empty, grader, runner, tiny.mean_with(f"raise KeyError('{SECRET}')"))
    kept = view(empty).read_text() + log(empty).read_text()
    for private in (SECRET, "cumsum", "ada", str(empty.root), str(Path.home())):
        assert private not in kept
    ignored = (empty.root / ".course" / ".gitignore").read_text().split()
    assert {"/last/", "/backups/", "/cache/", "/grading_seed"} <= set(ignored)
    assert not {"/progress.json", "/events.jsonl"} & set(ignored)


def test_a_strange_name_of_an_exception_is_not_stored(empty: Course, grader: Grader, runner: Runner) -> None:
    name = "E" * 300
    checked(empty, grader, runner, tiny.mean_with(f"raise type('{name}', (Exception,), {{}})()"))
    assert name not in log(empty).read_text()


def test_the_last_report_is_stored_whole(empty: Course, grader: Grader, runner: Runner) -> None:
    checked(empty, grader, runner, WRONG)
    last = read_last(empty, FIRST)
    assert last is not None
    assert last.failure is not None
    assert last.failure["finding"]["id"] == "mean-not-divided"
    assert last.failure["finding"]["evidence"]["rows"]
    file = empty.root / ".course" / "last" / f"{FIRST.id}.json"
    for damage in ("", "{}", '{"report": {"exercises": []}}', "[1]"):
        file.write_text(damage)
        assert read_last(empty, FIRST) is None


def test_edits_are_counted_in_lines() -> None:
    before = line_digests(b"a\nb\nc\n")
    assert lines_edited(before, line_digests(b"a\nb\nc\n")) == 0
    assert lines_edited(before, line_digests(b"a\nx\nc\n")) == 1
    assert lines_edited(before, line_digests(b"c\nb\na\n")) == 0
    assert lines_edited(before, line_digests(b"a\nb\nc\nd\ne\n")) == 2
    assert lines_edited([], before) == 4


def test_the_events_are_readable_by_others(empty: Course, grader: Grader, runner: Runner) -> None:
    checked(empty, grader, runner, WRONG)
    [line] = log(empty).read_text().splitlines()
    event = json.loads(line)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", event["at"])
    assert (event["exercise"], event["check"], event["result"]) == (FIRST.id, "values", "fail")
    assert event["finding"] == "mean-not-divided"
    assert re.fullmatch("[0-9a-f]{16}", event["file"])
    assert (event["command"], event["hints"]) == ("check", 3)
    assert event["seconds"] >= 0
