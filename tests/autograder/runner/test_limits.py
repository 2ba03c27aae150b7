"""Time and memory: hangs take a bounded part of a slot, and no exercise is charged for what another one uses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Semaphore, Thread

import pytest

from autograder.course import Limits, find_course, load_suite, read_course
from autograder.judge import Grader, marking
from autograder.runner import Fault, Observed, Run, Runner, Timeouts, WorkerFailure, of_edited
from autograder.runner import runner as attempt_module
from autograder.runner import runner as runner_module
from autograder.runner.process import GRACE_SECONDS, START_SECONDS, End
from autograder.runner.runner import on_device
from autograder.sandbox import Isolation
from tests.support import fuzzing, tiny
from tests.support.fuzzing import Event, Script

SEED = tiny.COURSE.seed
PLAN = tiny.SUITE.plan(tiny.SUITE.exercises)
SLOT_SECONDS = 90.0
PART = tiny.part(tiny.FIRST, tiny.MEAN)


def test_hangs_in_every_exercise_of_the_course_are_waited_for_ninety_seconds_at_most() -> None:
    """Each function or class of the course loses all of its checks after a few, and no other one does."""
    suite = load_suite(read_course(find_course()))
    parts = {(exercise, check.of) for exercise, checks in suite.checks.items() for check in checks}
    patience, seconds = Timeouts(suite.course.limits), 0.0
    for number in range(len(parts)):
        unannounced = number == 0  # the first end in a check that was not announced
        for _ in range(unannounced + patience.most_deaths):
            seconds += patience.check_seconds + min(GRACE_SECONDS, patience.check_seconds / 3)
            patience.time_out()
    assert seconds < SLOT_SECONDS


def test_imports_that_hang_in_every_exercise_are_waited_for_ninety_seconds_at_most() -> None:
    course = read_course(find_course())
    patience, seconds = Timeouts(course.limits), 0.0
    for _ in range(1 + len(course.exercises)):
        seconds += patience.import_seconds + min(GRACE_SECONDS, patience.import_seconds / 3)
        patience.time_out(importing=True)
    assert seconds < SLOT_SECONDS


def test_a_submission_without_a_time_out_is_waited_for_as_the_course_says() -> None:
    patience = Timeouts(Limits(wall_seconds=15))
    assert (patience.check_seconds, patience.import_seconds, patience.function_seconds) == (15, 15, 15)


def test_checks_that_time_out_cost_an_import_no_time() -> None:
    """A library that draws may take seconds to load, where right checks take a moment."""
    patience = Timeouts(Limits(wall_seconds=15))
    for _ in range(9):
        patience.time_out()
    assert patience.import_seconds == 15


def test_an_accelerator_has_more_time_and_no_more_memory() -> None:
    limits = Limits(cpu_seconds=3, wall_seconds=15)
    assert on_device(limits, "cpu") == limits
    there = on_device(limits, "cuda:1")
    assert (there.cpu_seconds, there.wall_seconds) == (24, 120)
    assert replace(there, cpu_seconds=3, wall_seconds=15) == limits


@pytest.mark.parametrize("wall", [1, 2, 3, 15, 300])
def test_waits_never_grow_and_never_exceed_what_the_course_says(wall: int) -> None:
    patience = Timeouts(Limits(wall_seconds=wall))
    waits = []
    for _ in range(5):
        waits.append((patience.check_seconds, patience.import_seconds))
        patience.time_out(importing=True)
    assert waits == sorted(waits, reverse=True)
    assert waits[0] == (wall, wall)
    assert waits[-1][0] == min(wall, 1)


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.2, 3.0])
def test_an_edited_program_is_interrupted_before_it_times_out(seconds: float) -> None:
    patience = of_edited(Limits(wall_seconds=15), seconds)
    assert patience.interrupt_seconds is not None
    assert min(3 * seconds, 4.0) <= patience.interrupt_seconds < patience.check_seconds


@pytest.mark.worker
def test_a_trial_that_is_interrupted_ends_without_its_worker() -> None:
    text = tiny.mean_with("while True:\n        pass")
    patience = of_edited(tiny.COURSE.limits, 0.0)
    with Runner(tiny.SUITE, seed=SEED, shared=True) as own:
        outcomes = own.run(tiny.submitted(text).sources, PLAN, patience=patience).outcomes
        assert own.ready
    faults = [one for one in outcomes[tiny.FIRST].values() if isinstance(one, Fault)]
    assert {one.type for one in faults} == {"TimeoutError"}
    assert patience.timeouts == of_edited(tiny.COURSE.limits, 0.0).timeouts


@pytest.mark.worker
def test_a_program_waits_until_one_of_the_slots_is_free(forks: Isolation) -> None:
    slots, ended = Semaphore(0), SimpleQueue[Run]()

    def run() -> None:
        with Runner(tiny.SUITE, seed=SEED, start=forks.start, slots=slots) as own:
            ended.put(own.run(tiny.submitted().sources, PLAN))

    Thread(target=run, daemon=True).start()
    with pytest.raises(Empty):
        ended.get(timeout=0.5)
    slots.release()
    assert set(ended.get(timeout=60).outcomes) == {exercise.id for exercise in tiny.SUITE.exercises}
    assert slots.acquire(timeout=10), "the slot is free again"


@dataclass(frozen=True)
class Recording:
    """The events of a real worker for the whole plan, by exercise, and the surveys of the files."""

    surveys: Mapping[str, Event]
    of: Mapping[str, Sequence[Event]]


@pytest.fixture(scope="module")
def recording() -> Recording:
    with pytest.MonkeyPatch.context() as patch, Runner(tiny.SUITE, seed=SEED, shared=True) as own:
        patch.setattr(runner_module, "WorkerProcess", fuzzing.Recording)
        patch.setattr(fuzzing.Recording, "recorded", [], raising=False)
        own.run(tiny.submitted().sources, PLAN)
        kept = list(fuzzing.Recording.recorded)
    surveys = {event["exercise"]: event for event in kept if event["event"] == "surveyed"}
    loads = {event["exercise"]: event for event in kept if event["event"] == "load"}
    of: dict[str, list[Event]] = {name: [load] for name, load in loads.items()}
    for event in kept:
        if event["event"] == "observed":
            of[event["exercise"]] += [beginning(event), event]
    return Recording(surveys, of)


def beginning(end: Event) -> Event:
    """Return the event with which a worker announces a trial, from the event that ends it."""
    return {"event": "begin", **{name: end[name] for name in ("exercise", "check", "trial")}}


def first_beginning(recording: Recording, exercise: str) -> Event:
    """Return the event that announces the first check of an exercise."""
    return next(event for event in recording.of[exercise] if event["event"] == "begin")


def exhausted(where: Event, message: str = "", kind: str = "MemoryError") -> Event:
    """Return the event for a check that ran out of memory, threads or files."""
    fault = {"type": kind, "bases": [kind], "message": message, "kind": "other", "tensor": None}
    fault |= {"near": None, "refusals": []}
    of = {name: where[name] for name in ("exercise", "check", "trial")}
    return {"event": "raised", **of, "fault": {**fault, "frames": [], "values": []}, "seconds": 0.1}


STUCK: Event = {"event": "stuck", "frames": [{"file": tiny.FILES[1], "line": 3, "function": "matrix_power"}]}


@pytest.mark.worker
@pytest.mark.parametrize("how", ["stuck", "memory", "threads", "files", "timeout", "crashed"])
def test_what_ends_an_exercise_beside_another_ends_it_only_if_it_does_so_alone(recording: Recording, how: str) -> None:
    """In the first worker the second exercise fails; in one of its own it is right, and that counts."""
    begin = first_beginning(recording, tiny.SECOND)
    fails = {
        "stuck": [STUCK],
        "memory": [exhausted(begin)],
        "threads": [exhausted(begin, "can't start new thread", "RuntimeError")],
        "files": [exhausted(begin, "[Errno 24] Too many open files", "OSError")],
    }
    load = recording.of[tiny.SECOND][0]
    first = [*recording.of[tiny.FIRST][1:], load, begin, *fails.get(how, [])]
    ends = {"timeout": End("timeout"), "crashed": End("exit", -11)}
    script = Script(
        [(first, ends.get(how, End("exit", 0))), (recording.of[tiny.SECOND][1:], End("exit", 0))], recording.surveys
    )
    with pytest.MonkeyPatch.context() as patch:
        fuzzing.replace_workers(patch, script)
        found = fuzzing.scripted_runner(tiny.SUITE, SEED).run({}, PLAN)
    assert all(isinstance(outcome, Observed) for outcome in found.outcomes[tiny.SECOND].values())
    assert script.started == 2


@pytest.mark.worker
def test_an_exercise_that_lacks_memory_in_a_worker_of_its_own_is_charged_with_it(recording: Recording) -> None:
    begin = first_beginning(recording, tiny.SECOND)
    script = Script([([begin, exhausted(begin)], End("exit", 0))], recording.surveys)
    with pytest.MonkeyPatch.context() as patch:
        fuzzing.replace_workers(patch, script)
        found = fuzzing.scripted_runner(tiny.SUITE, SEED).run({}, {tiny.SECOND: PLAN[tiny.SECOND]})
    assert "MemoryError" in str(found.outcomes[tiny.SECOND][begin["check"], begin["trial"]])


@pytest.mark.worker
def test_a_worker_is_waited_for_longer_until_it_reads_the_first_file(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    next_event = fuzzing.Scripted.next_event

    def noted(worker: fuzzing.Scripted, seconds: float) -> Mapping[str, object] | End:
        waits.append(seconds)
        return next_event(worker, seconds)

    monkeypatch.setattr(fuzzing.Scripted, "next_event", noted)
    script = Script([(recording.of[tiny.FIRST][1:], End("exit", 0))], recording.surveys)
    fuzzing.replace_workers(monkeypatch, script)
    fuzzing.scripted_runner(tiny.SUITE, SEED).run({}, PLAN)
    wall = tiny.COURSE.limits.wall_seconds
    assert waits[:4] == [START_SECONDS, START_SECONDS, wall, wall]


@pytest.mark.worker
def test_a_worker_cannot_announce_another_exercise_than_the_next(recording: Recording) -> None:
    begin = first_beginning(recording, tiny.SECOND)
    for forged in ({**recording.of[tiny.SECOND][0]}, {"event": "read", "exercise": tiny.SECOND}, begin):
        script = Script([([forged], End("exit", 0))], recording.surveys)
        with pytest.MonkeyPatch.context() as patch:
            fuzzing.replace_workers(patch, script)
            found = fuzzing.scripted_runner(tiny.SUITE, SEED).run({}, {**PLAN})
        first = next(iter(found.outcomes[tiny.FIRST].values()))
        assert isinstance(first, WorkerFailure)
        assert "wrote to the channel" in first.sentence


@pytest.mark.worker
def test_a_program_that_lies_when_it_is_traced_is_not_traced_again(recording: Recording) -> None:
    forged: Event = {"event": "traced", "exercise": tiny.FIRST, "check": "values", "trial": 0, "files": 5}
    script = Script([([first_beginning(recording, tiny.FIRST), forged], End("exit", 0))], recording.surveys)
    with pytest.MonkeyPatch.context() as patch:
        fuzzing.replace_workers(patch, script)
        found = fuzzing.scripted_runner(tiny.SUITE, SEED).run({}, PLAN, trace=True)
    assert (script.started, found.traces) == (1, {})


@pytest.mark.worker
def test_what_needs_an_exercise_that_timed_out_is_not_waited_for(recording: Recording) -> None:
    begin = first_beginning(recording, tiny.FIRST)
    script = Script([([begin, STUCK], End("exit", 0))], recording.surveys)
    with pytest.MonkeyPatch.context() as patch:
        fuzzing.replace_workers(patch, script)
        runner = fuzzing.scripted_runner(tiny.SUITE, SEED)
        found = runner.run({}, PLAN, parts={tiny.SECOND: [tiny.FIRST]})
    assert {str(outcome) for outcome in found.outcomes[tiny.SECOND].values()} == {
        str(WorkerFailure("timeout", f"Not run: {tiny.FIRST} timed out, and this exercise uses it.", ran=False))
    }


@pytest.mark.worker
@pytest.mark.parametrize("free", [attempt_module.FREE_SECONDS, 2.0])
def test_only_a_function_whose_slow_checks_together_take_too_long_is_not_run_further(
    recording: Recording, monkeypatch: pytest.MonkeyPatch, free: float
) -> None:
    monkeypatch.setattr(attempt_module, "FREE_SECONDS", free)
    clock, next_event = [0.0], fuzzing.Scripted.next_event

    def slow(worker: fuzzing.Scripted, seconds: float) -> Mapping[str, object] | End:
        clock[0] += 2 if worker.script.started == 1 else 0
        return next_event(worker, seconds)

    monkeypatch.setattr(fuzzing.Scripted, "next_event", slow)
    monkeypatch.setattr(attempt_module.time, "monotonic", lambda: clock[0])  # type: ignore[attr-defined]
    others = {check.id for check in tiny.SUITE.checks[tiny.FIRST] if check.of != "running_mean"}
    rest = [event for event in recording.of[tiny.FIRST] if event.get("check") in others]
    first, second = recording.of[tiny.FIRST][1:], recording.of[tiny.SECOND]
    lives = [first, [*rest, *second]] if free < 2 else [[*first, *second]]
    script = Script([(events, End("exit", 0)) for events in lives], recording.surveys)
    fuzzing.replace_workers(monkeypatch, script)
    found = fuzzing.scripted_runner(tiny.SUITE, SEED).run({}, PLAN)
    ends = {at: end for at, end in found.outcomes[tiny.FIRST].items() if isinstance(end, WorkerFailure)}
    assert bool(ends) == (free < 2), "what takes no longer than what is free costs nothing"
    assert {(end.sentence, end.ran) for end in ends.values()} <= {
        ("Not run: the slow checks of running_mean before it took 6 s in all, the limit.", False)
    }
    assert others.isdisjoint(check for check, _ in ends), "another function keeps its checks"
    assert all(isinstance(end, Observed) for end in found.outcomes[tiny.SECOND].values())


BESIDE = f"""{tiny.MEAN}

def backwards(x):
    return x.flip(-1)


def smooth(x):
    return running_mean(x)
"""


@pytest.mark.worker
@pytest.mark.parametrize("line", ["while True:\n        pass", "__import__('time').sleep(99)"])
def test_a_function_that_never_ends_costs_only_its_own_checks(forks: Isolation, line: str) -> None:
    """The first checks call it, and so do those of `smooth`, which is not blamed. Those of `backwards` pass."""
    checks = tiny.SUITE.checks[tiny.FIRST]
    probe = """
@check("a function beside it", of="{0}")
def test_{0}{1}(impl, given):
    return impl.{0}(given.normal(5))
"""
    beside = [(function, number) for function in ("smooth", "backwards") for number in (1, 2, 3)]
    file = f"test_{tiny.FIRST}.py"
    text = tiny.SUITE.sources[file].decode() + "".join(probe.format(*one) for one in beside)
    added = [replace(checks[0], id=f"{function}{number}", of=function) for function, number in beside]
    suite = replace(
        tiny.SUITE,
        sources={**tiny.SUITE.sources, file: text.encode()},
        checks={**tiny.SUITE.checks, tiny.FIRST: (*checks, *added)},
    )
    program = BESIDE.replace(tiny.RUNNING, f"    {line}")
    limits = replace(suite.course.limits, cpu_seconds=1, wall_seconds=3)
    with Runner(suite, seed=SEED, start=forks.start) as own:
        own.limits = limits
        found = own.run({tiny.FILES[0]: program.encode()}, suite.plan([suite.exercises[0]])).outcomes[tiny.FIRST]
    observed = {check for (check, _), end in found.items() if isinstance(end, Observed)}
    ends = {check: end for (check, _), end in found.items() if isinstance(end, WorkerFailure)}
    assert {"backwards1", "backwards2", "backwards3"} <= observed
    assert {end.status for end in ends.values()} == {"timeout"}
    assert ends["smooth1"].place is not None
    assert ends["smooth1"].place.function == "running_mean"
    assert ends["smooth3"].sentence.endswith(" stopped in running_mean.")


@pytest.mark.worker
def test_a_hang_that_is_announced_late_does_not_use_up_the_time_of_its_exercise(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside another exercise, a worker announces a check only when it hangs. Then the exercise runs alone."""
    begin, clock = first_beginning(recording, tiny.SECOND), [0.0]
    next_event = fuzzing.Scripted.next_event

    def late(worker: fuzzing.Scripted, seconds: float) -> Mapping[str, object] | End:
        event = next_event(worker, seconds)
        if not isinstance(event, End) and event["event"] == "begin" and worker.script.started == 1:
            clock[0] += 12
        return event

    monkeypatch.setattr(fuzzing.Scripted, "next_event", late)
    monkeypatch.setattr(attempt_module.time, "monotonic", lambda: clock[0])  # type: ignore[attr-defined]
    observed = [event for event in recording.of[tiny.FIRST] if event["event"] == "observed"]
    beside = [*observed, recording.of[tiny.SECOND][0], begin, STUCK]
    script = Script([(beside, End("exit", 0)), ([begin, STUCK], End("exit", 0))], recording.surveys)
    fuzzing.replace_workers(monkeypatch, script)
    found = fuzzing.scripted_runner(tiny.SUITE, SEED).run({}, PLAN)
    hangs = found.outcomes[tiny.SECOND][begin["check"], begin["trial"]]
    assert isinstance(hangs, WorkerFailure)
    assert hangs.sentence.startswith("Timed out after ")


HOARD = "HOARD = []\ntry:\n    while True: HOARD.append(bytearray(1 << 23))\nexcept MemoryError:\n    del HOARD[-4:]\n"
SLEEPS = "import time\ndef running_mean(x):\n    time.sleep(1000)\n"


@pytest.fixture
def cramped(key_cache: Path) -> Grader:
    """A grader with little memory and little time, that has a reference part for the first exercise."""
    limits = replace(tiny.COURSE.limits, memory_mib=160, wall_seconds=3)
    suite = replace(tiny.SUITE, course=replace(tiny.COURSE, limits=limits), reference_parts={tiny.FILES[0]: PART})
    return Grader(suite, seed=SEED, cache=key_cache)


def marks(grader: Grader, first: str, second: str) -> list[tuple[str, str, int]]:
    """Return the checks of the second exercise, beside a first one."""
    with grader:
        report = grader.grade(tiny.submitted(first, second))
    return [(check.id, check.status, check.score) for check in tiny.result_of(report, tiny.SECOND).checks]


def test_memory_that_one_exercise_holds_is_not_charged_to_the_next(cramped: Grader) -> None:
    needy = f"{tiny.POWER_ALONE}\nBIG = bytearray(96 << 20)\n"
    assert {status for _, status, _ in marks(cramped, f"{HOARD}{tiny.MEAN}", needy)} == {"pass"}


@pytest.mark.parametrize(
    "first",
    [SLEEPS, "while True: pass", f"{SLEEPS}time.sleep(1000)"],
    ids=["every check", "import loop", "import sleep"],
)
def test_what_uses_an_exercise_that_hangs_gets_the_marks_of_the_reference_part(cramped: Grader, first: str) -> None:
    assert {status for _, status, _ in marks(cramped, first, tiny.POWER)} == {"pass"}


def test_a_part_that_passes_but_leaves_no_memory_is_replaced_for_what_uses_it(cramped: Grader) -> None:
    needy = f"{tiny.POWER}\nBIG = bytearray(96 << 20)\n"
    assert {status for _, status, _ in marks(cramped, f"{HOARD}{tiny.MEAN}", needy)} == {"pass"}


def test_an_exercise_whose_place_takes_too_long_to_find_keeps_its_verdict(
    key_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = tiny.submitted(tiny.mean_with("return x.cumsum(dim=-1) / count * 1.25 + 0.1"))
    with Grader(tiny.SUITE, seed=SEED, cache=key_cache) as grader:
        located = tiny.check_of(grader.grade(wrong), tiny.FIRST, "values")
        monkeypatch.setattr(marking, "EXERCISE_SECONDS", -1.0)
        plain = tiny.check_of(grader.grade(wrong), tiny.FIRST, "values")
    assert (plain.status, plain.score) == (located.status, located.score) == ("fail", 0)
    assert located.finding is not None
    assert plain.finding is not None
    assert (located.finding.kind, plain.finding.kind) == ("place", "pattern")
