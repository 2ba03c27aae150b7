"""Run the checks of a plan on a submission in worker processes, and turn answers and ends into outcomes."""

import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from autograder import ending
from autograder.checks import Key, column_of, derived_seed
from autograder.course import Limits, Suite
from autograder.protocol import MOST_SECONDS, TooLarge

from .outcomes import (
    Cancelled,
    EnvironmentProblem,
    Fault,
    GraderProblem,
    Observed,
    Outcome,
    Owners,
    Parts,
    Plan,
    Probes,
    Run,
    Survey,
    Surveyor,
    Where,
    WorkerFailure,
    as_number,
    as_observation,
    is_exhausted,
    read_edits,
    read_fault,
    read_frames,
    read_survey,
)
from .process import START_SECONDS, End, SpawnedWorker, WorkerHandle, WorkerProcess

if TYPE_CHECKING:
    from autograder.edits import Clues, Edit


# Time-outs for one submission: a hang in every exercise costs about a minute of a grader's slot in all.
#
# Each time-out shortens the later ones. Nearly all correct checks of the course take less than 0.1 s, so the marks of
# an exercise do not depend on what the other exercises do. Two checks take up to 0.9 s on a busy machine: a
# submission that times out more than five times elsewhere may lose them.

SHORT_SECONDS = 1.0
"""The time-out of a check after two others."""

LATER_SECONDS = 0.4
"""The time-out from the sixth on, so that a hang in each of 28 exercises costs less than a minute in all."""

EDITED_SECONDS = 0.25
"""A trial of an edited program may take this long: most right ones take less than 0.1 s."""

EDITED_WAITS = 3
"""It may take this many times as long as the slowest trial before the edit, if that is longer."""

EDITED_SHARE = 0.8
"""The largest share of a check's time-out after which it is interrupted, so that its worker lives on."""

FEW = 5
"""After so many time-outs a submission hangs on purpose, or everywhere."""

MOST_DEATHS = 2
"""How many checks of a function may end the process before its other checks are not run; one after a few time-outs."""

IMPORT_WAITS = 2
"""An import may take this many times as long: its first time-out ends the exercise, a check's only the second."""

FUNCTION_WAITS = 5
"""All checks of a function together may take this many times as long, without what is free."""

FREE_SECONDS = 0.2
"""So much of each trial does not count in that sum: on a busy machine, the quick trials of a right function took 5 s
together, and it lost points beside another one that hung.
"""

PATIENCE = 4
"""How many times as long a program of the course itself may take: the machine may be busy while a course is proved."""

ACCELERATOR_WAITS = 8
"""How many times as long a program on an accelerator may take: small tensors take five times as long on an H100 as on a
CPU, and the first call loads a library.
"""


@dataclass
class Timeouts:
    """The time-outs of one submission: first its limit, then a third of it, then one second, and less after a few.

    Only imports that time out shorten the time of later imports: a library that draws may take seconds to load.
    `careful` is set when a worker died and the judge did not know in which check: from then on each is announced.
    A trial that takes longer than `interrupt_seconds` raises TimeoutError, so that its worker lives on.
    """

    limits: Limits
    timeouts: int = 0
    imports: int = 0
    careful: bool = False
    interrupt_seconds: float | None = None

    def time_out(self, *, importing: bool = False) -> None:
        """Record that a check, an import or all checks of a function took too long."""
        self.timeouts += 1
        self.imports += importing
        self.careful = True

    @property
    def of_job(self) -> dict[str, float | None]:
        """Return what a worker has to know."""
        return {"careful": self.careful, "interrupt_seconds": self.interrupt_seconds}

    @property
    def check_seconds(self) -> float:
        """Return how long a run of a check may take."""
        return self._seconds_after(self.timeouts)

    @property
    def import_seconds(self) -> float:
        """Return how long the import of an exercise may take."""
        shortest = IMPORT_WAITS * _short(self.imports)
        return min(self.limits.wall_seconds, max(self._seconds_after(self.imports), shortest))

    @property
    def function_seconds(self) -> float:
        """Return how long all checks of a function may take together, without those that time out."""
        return max(self.check_seconds, FUNCTION_WAITS * _short(self.timeouts))

    @property
    def most_deaths(self) -> int:
        """Return how many checks of a function may end the process before its other checks are not run."""
        return MOST_DEATHS if self.timeouts <= FEW else 1

    def _seconds_after(self, timeouts: int) -> float:
        wall = self.limits.wall_seconds
        return min(wall, (wall, max(wall / 3, SHORT_SECONDS), _short(timeouts))[min(timeouts, 2)])


def _short(timeouts: int) -> float:
    return SHORT_SECONDS if timeouts <= FEW else LATER_SECONDS


def on_device(limits: Limits, device: str) -> Limits:
    """Return the limits of a course, with more time on an accelerator."""
    if device == "cpu":
        return limits
    times = ACCELERATOR_WAITS
    return replace(limits, cpu_seconds=times * limits.cpu_seconds, wall_seconds=times * limits.wall_seconds)


def of_edited(limits: Limits, seconds: float) -> Timeouts:
    """Return the time-outs of an edited program, whose slowest trial took so long before: many hang."""
    patience = Timeouts(limits, timeouts=1)
    wanted = max(EDITED_SECONDS, EDITED_WAITS * seconds)
    patience.interrupt_seconds = min(wanted, EDITED_SHARE * patience.check_seconds)
    return patience


def of_own_programs(limits: Limits) -> Timeouts:
    """Return the time-outs of a program that proves the course."""
    return Timeouts(replace(limits, wall_seconds=PATIENCE * limits.wall_seconds))


# Sentences about a worker process that ended, and about checks that were not run because of it.

UNREADABLE = "Your file is nested too deeply, or too long, to be analysed. Write it in smaller steps."
CHANNEL_CLOSED = "Your code closed the channel for its answers. Look for a call of os.close()."
OUT_OF_MEMORY = "Your code ran out of memory."
KILLED_BY_SYSTEM = (
    "The system killed the process, probably for lack of memory. Look for very large lists, arrays or tensors."
)


def over_wall_time(seconds: float) -> str:
    """Return the sentence about a check that the judge stopped waiting for."""
    advice = "Look for a loop that never ends, or a call that waits."
    return f"Timed out after {seconds:.3g} s, the limit for this run. {advice}"


def over_cpu_time(seconds: float) -> str:
    """Return the sentence about a check that used up its processor time."""
    most = f"{seconds} s of processor time"
    return f"Timed out after {most}, the limit for one run of a check. Look for a loop that never ends."


def function_given_up(function: str, ends: int, stopped_in: str | None = None) -> str:
    """Return why the other checks of a function were not run after so many checks ended the process.

    `stopped_in` is another function that the last of them stopped in.
    """
    checks = f"{ends} check{'s' if ends > 1 else ''} of {function or 'the whole file'}"
    where = f" {'The last one' if ends > 1 else 'It'} stopped in {stopped_in}." if stopped_in else ""
    return f"Not run: {checks} timed out or ended the process.{where}"


# Interpret the end of a worker process: the outcome, and whether it is the student's fault.


def outcome_of_exit(end: End, limits: Limits, seconds: float) -> WorkerFailure:
    """Return the outcome of a check whose worker ended, after the judge had waited for `seconds`."""
    match end.kind:
        case "timeout":
            return WorkerFailure("timeout", over_wall_time(seconds))
        case "log":
            kib = limits.output_kib
            most = f"{kib >> 10} MiB" if kib >= 1024 else f"{kib} KiB"
            return WorkerFailure("error", f"Your code printed more than {most}. Look for a print in a loop.")
        case "closed":
            return WorkerFailure("error", CHANNEL_CLOSED)
        case "large":
            return WorkerFailure("error", f"Your code returned more than a check accepts: {end.detail}. Return less.")
        case "malformed":
            wrote = f"Your code wrote to the channel for its answers: {end.detail}"
            return WorkerFailure("error", f"{wrote}. Remove writes to file descriptors.")
    status = end.status or 0
    if status == -getattr(signal, "SIGXCPU", 24):
        return WorkerFailure("timeout", over_cpu_time(limits.cpu_seconds))
    if status == -getattr(signal, "SIGKILL", 9):  # most often Linux ran out of memory
        return WorkerFailure("memory", KILLED_BY_SYSTEM)
    if status < 0:
        crashed = f"Your code crashed the Python interpreter ({ending.signal_name(-status)})"
        return WorkerFailure("error", f"{crashed}. Look for endless recursion or calls into C.")
    exited = f"Your code ended the process (exit status {status})"
    return WorkerFailure("error", f"{exited}. Remove calls of exit() and os._exit().")


STARVED = WorkerFailure("memory", OUT_OF_MEMORY)
"""The end of a worker in which one exercise may lack what another one holds. It is charged to nobody."""


def is_own_fault(end: End | WorkerFailure) -> bool:
    """Say whether the program itself ended the worker, and nobody else can have done so."""
    if isinstance(end, WorkerFailure):
        return end is not STARVED
    return end.kind in ("malformed", "large", "timeout", "closed")


def is_timeout(end: End | WorkerFailure) -> bool:
    """Return whether a worker ended because of a time limit."""
    if isinstance(end, WorkerFailure):
        return end.status == "timeout"
    return end.kind == "timeout" or (end.kind == "exit" and end.status == -getattr(signal, "SIGXCPU", 24))


# Run one plan on one program: read the workers' answers, event by event, and charge their ends to trials.

MOST_LOSSES = 3
"""How often the process that workers are forked from may end before the grading fails."""

EVENTS_OF_CHECKS = frozenset({"begin", "traced", "observed", "raised"})

Owner = tuple[str, str]
"""An exercise, and the function or class in it that a check is about."""

KILLED = -int(getattr(signal, "SIGKILL", 9))


class Attempt:
    """The rest of a plan, and the state of the worker that runs it.

    `at` is the exercise and trial that runs now, `loading` is set once student code may have run, and `careful` if the
    worker announces every check. `untouched` is set while the worker is on its first job.
    """

    worker: WorkerProcess

    def __init__(
        self,
        run: Run,
        plan: Plan,
        patience: Timeouts,
        survey: Surveyor | None,
        *,
        parts: Parts,
        owners: Owners,
        exact: bool = False,
    ) -> None:
        """`parts` has the exercises that are not run once an exercise they need has timed out.

        `owners` has the function or class that each check is about: its time and its ends cost no other one a check.
        Without `survey` the worker reports no syntax.
        """
        self.run = run
        self.patience = patience
        self.limits = patience.limits
        self.survey = survey
        self.parts = parts
        self.owners = owners
        self.exact = exact
        self.loading = False
        self.plan = plan
        self.time_limit = 0.0
        self.spent: dict[Owner, float] = {}
        self.importing = False
        self.last: Owner | None = None
        self.announcing = 0.0
        self.at: Where | None = None
        self.seen: set[tuple[object, ...]] = set()
        self.untouched = False
        self.careful = False
        self.progress = 0
        self.progress_at_death = -1
        self.deaths: dict[Owner, int] = {}
        self.losses = 0
        self.killed: set[Where | None] = set()

    def receive(self, worker: WorkerProcess) -> End | WorkerFailure | None:
        """Read answers until the plan is done; return None, or why the worker ended before."""
        self.at = None
        self.seen.clear()
        self.loading = self.importing = False
        self.untouched = worker.sent == 1
        self.careful = self.patience.careful
        self.worker, self.announcing = worker, 0.0
        while True:
            event = self._next_event()
            if isinstance(event, End):
                return event
            if event["event"] == "done" and not self.plan:
                return None
            try:
                if (died := self._take(event)) is not None:
                    return died
            except TooLarge as error:
                return End("large", detail=str(error))
            except (LookupError, TypeError, ValueError, AttributeError, OverflowError):  # what hostile data may raise
                return End("malformed", detail=f"an invalid answer ({str(event['event'])[:40]})")
            if self._is_over_time():
                return End("timeout")

    def _next_event(self) -> Mapping[str, Any] | End:
        """Return the next answer, or the end of the worker. The wait counts as time of a function, if in time."""
        began, running = time.monotonic(), self.at if self.loading else None
        if running is None:  # only the kit's own code runs yet, and on a cold disk it loads libraries slowly
            is_first = self.untouched and self.at is None
            self.time_limit = START_SECONDS if is_first else self.limits.wall_seconds
        else:
            self.time_limit = self.patience.import_seconds if running[1] is None else self.patience.check_seconds
        event = self.worker.next_event(self.time_limit)
        self.announcing, self.last = 0.0, None
        if running is not None and not isinstance(event, End) and event["event"] in EVENTS_OF_CHECKS:
            # An import is announced, and has a limit of its own: its time is that of no check.
            took = max(time.monotonic() - began - FREE_SECONDS, 0.0)
            took = 0.0 if self.importing and event["event"] == "begin" else took
            self.last = self._owner(running[0], event.get("check"))
            self.spent[self.last] = self.spent.get(self.last, 0.0) + took
            self.announcing = took if event["event"] == "begin" else 0.0
            self.importing = False
        return event

    def _owner(self, exercise: str, check: object) -> Owner:
        """Return the function or class that a check is about; a check of a whole file has none."""
        return exercise, self.owners.get(exercise, {}).get(str(check), "")

    def _rest(self, owner: Owner) -> list[Key]:
        """Return the trials of the checks of a function that are left."""
        return [key for key in self.plan.get(owner[0], ()) if self._owner(owner[0], key[0]) == owner]

    def _is_over_time(self) -> bool:
        """Say whether the checks of a function have taken too long in all, and settle the rest of them if so."""
        most, owner = self.patience.function_seconds, self.last
        if owner is None or self.spent[owner] <= most or not (rest := self._rest(owner)):
            return False
        before = f"the slow checks of {owner[1] or 'the whole file'} before it took {most:.3g} s in all, the limit"
        for key in rest:
            self._put(owner[0], key, WorkerFailure("timeout", f"Not run: {before}.", ran=False))
        self.at = None
        return True

    def _take(self, event: Mapping[str, Any]) -> WorkerFailure | None:
        """Record one answer; return a reason to end the worker, if there is one.

        Raises an exception for an answer that an honest worker does not send at this point.
        """
        self._refuse_repetition(event)
        match event["event"]:
            case "unusable" if self.at is None and self.untouched:
                raise EnvironmentProblem(str(event["message"]))
            case "ready" if self.at is None:
                pass
            case "load" if event["exercise"] == next(iter(self.plan), None):
                self.loading = self.importing = True
                self.at = (self._planned(event["exercise"]), None)
                self.worker.loaded |= {event["exercise"]}
            case "read" if not self.loading:
                self.at = (self._planned(event["exercise"]), None)
            case "surveyed":
                self._note_survey(event)
            case "unloadable" if self._is_at(event["exercise"]):
                return self._take_fault(event, read_fault(event["fault"], at_import=True))
            case "begin" | "observed" | "raised" if self.survey and event["exercise"] not in self.run.surveys:
                return WorkerFailure("error", UNREADABLE)
            case "begin" if self._is_at(event["exercise"]):
                self.at = (self._planned(event["exercise"]), self._key(event))
            case "traced":
                self._note_trace(event)
            case "observed":
                seconds = as_number(event["seconds"], MOST_SECONDS)
                self._settle(event, Observed(as_observation(event["value"]), seconds))
            case "raised":
                seconds = as_number(event["seconds"], MOST_SECONDS)
                return self._take_fault(event, read_fault(event["fault"], seconds=seconds))
            case "stuck":
                return self._stuck(event)
            case other:
                raise ValueError(other)
        return None

    def _note_trace(self, event: Mapping[str, Any]) -> None:
        from .traces import read_trace  # NumPy, which a check that passes does not need

        key = self._key(event)
        self.run.traces.setdefault(event["exercise"], {})[key] = read_trace(event, sliced=self.exact)

    def _take_fault(self, event: Mapping[str, Any], fault: Fault) -> WorkerFailure | None:
        """Settle the trial, or the whole exercise, that raised; return `STARVED` if the exercise has to run alone."""
        if is_exhausted(fault) and self.at is not None and self._shares_worker(self.at[0]):
            return STARVED
        if fault.at_import:
            self._settle_exercise(self._planned(event["exercise"]), fault)
        else:
            self._settle(event, fault)
        return None

    def _is_at(self, exercise: str) -> bool:
        """Say whether an exercise is the one loaded last: the worker runs one after another."""
        return self.loading and self.at is not None and self.at[0] == exercise

    def _stuck(self, event: Mapping[str, Any]) -> WorkerFailure:
        # The processor time of an import is limited so that its wall time ends first, unless several threads run.
        is_wall = self.worker.timed_out or self.importing
        sentence = over_wall_time(self.time_limit) if is_wall else over_cpu_time(self.limits.cpu_seconds)
        return WorkerFailure("timeout", sentence, next(iter(read_frames(event["frames"])), None))

    def _note_survey(self, event: Mapping[str, Any]) -> None:
        """Record a survey, which counts only before any of the program has run; raises ValueError later."""
        if self.loading or self.survey is None:
            raise ValueError(event["event"])
        exercise = self._planned(event["exercise"])
        self.run.surveys[exercise] = self.survey(exercise, event)

    def _refuse_repetition(self, event: Mapping[str, Any]) -> None:
        """Raise ValueError for an answer that came before: a worker that repeats itself would never finish."""
        of_trial = ("check", "trial") if event["event"] not in ("load", "read", "surveyed") else ()
        identity = tuple(event.get(part) for part in ("event", "exercise", *of_trial))
        if identity in self.seen:
            raise ValueError(identity)
        self.seen.add(identity)

    def _planned(self, exercise: str) -> str:
        if exercise not in self.plan:
            raise ValueError(exercise)
        return exercise

    def _key(self, event: Mapping[str, Any]) -> Key:
        key = (event["check"], event["trial"])
        if key not in self.plan[self._planned(event["exercise"])]:
            raise ValueError(key)
        return key

    def _settle(self, event: Mapping[str, Any], outcome: Outcome) -> None:
        """Record the outcome of a trial: the announced one, or one that a worker need not announce.

        Those are trials of the same check, and, if the worker is not careful, all trials of the same exercise.
        """
        exercise, key = event["exercise"], self._key(event)
        if self.at is None or self.at[0] != exercise:
            raise ValueError(key)
        if self.careful and (self.at[1] is None or self.at[1][0] != key[0]):
            raise ValueError(key)
        self._put(exercise, key, outcome)
        left = any(check == key[0] for check, _ in self.plan.get(exercise, ()))
        self.at = (exercise, key if left else None)

    def _put(self, exercise: str, key: Key, outcome: Outcome) -> None:
        self.run.put(exercise, key, outcome)
        self.progress += 1
        self.plan[exercise].remove(key)
        if not self.plan[exercise]:
            del self.plan[exercise]

    def _settle_exercise(self, exercise: str, outcome: Outcome) -> None:
        for key in list(self.plan[exercise]):
            self._put(exercise, key, outcome)

    def charge(self, end: End | WorkerFailure, log: str) -> None:
        """Charge the end of a worker to the trial that ran; the rest of the plan can then run in a fresh worker.

        Charges nobody, so that the trial runs again, if something else may have ended the worker.
        """
        self.note(end)
        if self.at is not None and self.at[0] not in self.plan:
            return
        # A worker that is not careful announces a check only once it hangs: that wait is the hanging check's.
        if self.at is not None and self.at[1] is not None:
            owner = self._owner(self.at[0], self.at[1][0])
            self.spent[owner] = self.spent.get(owner, 0.0) - self.announcing
        if isinstance(end, End) and (self._may_be_unannounced(end) or self._may_be_an_accident(end)):
            return
        if self.at is None:
            if self.progress == self.progress_at_death or (isinstance(end, End) and end.kind == "start"):
                reason = _description(end)
                raise GraderProblem(f"the worker ended before any check ran ({reason}); its output: {log[-2000:]}")
            self.progress_at_death = self.progress
            return
        exercise, key = self.at
        if self._shares_worker(exercise):
            return
        died = end if isinstance(end, WorkerFailure) else outcome_of_exit(end, self.limits, self.time_limit)
        self._settle_end(exercise, key, died)
        if died.status == "timeout":
            self._settle_dependents(exercise)

    def note(self, end: End | WorkerFailure) -> None:
        """Count a time-out: later ones are shorter."""
        if is_timeout(end):
            self.patience.time_out(importing=self.importing)

    def _settle_end(self, exercise: str, key: Key | None, died: WorkerFailure) -> None:
        """Settle the check that ended the worker; all of a function if too many of its checks did, or the exercise."""
        if key is None:
            self._settle_exercise(exercise, replace(died, at_import=True))
            return
        for trial in [trial for trial in self.plan[exercise] if trial[0] == key[0]]:
            self._put(exercise, trial, died)
        owner = self._owner(exercise, key[0])
        self.deaths[owner] = self.deaths.get(owner, 0) + 1
        if self.deaths[owner] >= self.patience.most_deaths:
            given_up = function_given_up(owner[1], self.deaths[owner], self._stopped_in(owner, died))
            for trial in self._rest(owner):
                self._put(exercise, trial, WorkerFailure(died.status, given_up, ran=False))

    def _stopped_in(self, owner: Owner, died: WorkerFailure) -> str | None:
        """Return the other function of the exercise that a check of a function stopped in, if it has checks too."""
        stopped = (died.place.function if died.place is not None else None) or ""
        names = sorted(set(self.owners.get(owner[0], {}).values()) - {owner[1], ""})
        return next((name for name in names if f"{stopped}.".startswith(f"{name}.")), None)

    def _settle_dependents(self, exercise: str) -> None:
        """Skip exercises that would hang in the same code again: they run with a reference part anyway."""
        for dependent in [later for later in self.plan if exercise in self.parts.get(later, ())]:
            why = f"Not run: {exercise} timed out, and this exercise uses it."
            self._settle_exercise(dependent, WorkerFailure("timeout", why, ran=False))

    def _may_be_an_accident(self, end: End) -> bool:
        """Say whether the system or a person may have killed the worker: then the trial runs once more."""
        if end.kind == "lost":
            self.losses += 1
            if self.losses > MOST_LOSSES:
                raise GraderProblem(f"the sandbox ended by itself {self.losses} times")
            return True
        again = end.kind == "exit" and end.status == KILLED and self.at not in self.killed
        self.killed.add(self.at)
        return again

    def _may_be_unannounced(self, end: End) -> bool:
        """Say whether the worker may have ended in a check it had not announced: then the rest runs carefully."""
        first = not self.careful and end.kind not in ("start", "lost")
        self.patience.careful = self.patience.careful or first
        return first

    def _shares_worker(self, exercise: str) -> bool:
        """Say whether the worker ran another exercise before, whose memory, threads or files may be to blame.

        Then the exercise runs again in a worker of its own, and only that run counts.
        """
        return bool(self.worker.loaded - {exercise})


def _description(end: End | WorkerFailure) -> str:
    if isinstance(end, WorkerFailure):
        return end.sentence
    return f"{end.kind} {end.status if end.status is not None else ''} {end.detail}"


OF_TRUSTED: dict[str, Any] = {"surveys": False, "forbidden": {}}
"""What the job of a trusted program has: nothing is forbidden to it."""


class Runner:
    """Runs programs one after another. With `shared` they use one worker; else each gets a fresh one, killed after it.

    Only programs that may affect each other share a worker: the course's own, or the exercises of one submission.
    `start` starts a worker, if not a plain process on this machine. Of the runners that share `slots`, a semaphore, as
    many run a job at a time as it has.
    """

    def __init__(
        self,
        suite: Suite,
        *,
        seed: int,
        device: str = "cpu",
        shared: bool = False,
        start: Callable[[], WorkerHandle] | None = None,
        slots: AbstractContextManager[object] | None = None,
    ) -> None:
        self.suite = suite
        self.start = start or partial(SpawnedWorker, suite.course.libraries)
        self._slots = slots or nullcontext()
        self._surveys: dict[tuple[str, bytes], Survey] = {}
        self.seed = seed
        self.device = device
        self.shared = shared
        self.limits = on_device(suite.course.limits, device)
        self._worker: WorkerProcess | None = None
        self._spare: WorkerProcess | None = None
        self._attempt: Attempt | None = None
        self._cancelled = False
        self._lock = threading.Lock()

    @property
    def at(self) -> "Where | None":
        """The exercise that runs now, and the trial of a check in it if one has begun."""
        attempt = self._attempt
        return attempt.at if attempt is not None else None

    @property
    def ready(self) -> bool:
        """Whether there is a worker that has loaded its libraries and answered."""
        worker = self._worker
        return worker is not None and worker.ready

    def prepare(self) -> None:
        """Start a worker now, so that it is ready for the first program. Raises `Cancelled` after `cancel`."""
        with self._lock:
            if self._cancelled:
                raise Cancelled
            if self._worker is None:
                self._worker, self._spare = self._spare or self._start_worker(), None

    def _start_worker(self) -> WorkerProcess:
        return WorkerProcess(self.start(), output_kib=self.suite.course.limits.output_kib)

    def _start_spare(self) -> None:
        """Let another worker start while one runs that is likely to time out. A forked worker needs no spare.

        Raises `Cancelled`.
        """
        with self._lock:
            if self._cancelled:
                raise Cancelled
            if self._spare is None and self._worker is not None and self._worker.fresh:
                self._spare = self._start_worker()

    def cancel(self) -> None:
        """Kill all workers and start no more: `run`, in another thread, then raises `Cancelled`."""
        with self._lock:
            self._cancelled = True
            for worker in (self._worker, self._spare):
                if worker is not None:
                    worker.kill()

    def close(self) -> None:
        """Kill all workers."""
        self._close_worker()
        with self._lock:
            spare, self._spare = self._spare, None
        if spare is not None:
            spare.close()

    def _close_worker(self) -> None:
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(
        self,
        sources: Mapping[str, bytes],
        plan: Plan,
        *,
        exact: bool = False,
        trace: bool = False,
        probes: Probes = "checks",
        reference_parts: Mapping[str, bytes] | None = None,
        patience: Timeouts | None = None,
        parts: Parts | None = None,
        anew: bool = False,
        prints: bool = False,
        trusted: bool = False,
    ) -> Run:
        """Run a plan on the files of one program; reference parts replace the contract's names in some of them.

        With `trace`, also record the trace of each trial. Pictures and steps, if the plan names such `probes`, get the
        inputs of the course's public seed. `patience` has the time-outs of the whole submission, `parts` the exercises
        that need not run once one they need has timed out. `anew` starts a fresh worker, `prints` keeps the output, and
        `trusted` forbids nothing. Raises `GraderProblem` or `EnvironmentProblem`: never the program's fault.
        """
        if anew:
            self._close_worker()
        left = {exercise: list(keys) for exercise, keys in plan.items() if keys}
        survey, patience = partial(self._survey, sources), patience or Timeouts(self.limits)
        reader, owners = None if trusted else survey, _owners(self.suite)
        attempt = Attempt(Run(), left, patience, reader, parts=parts or {}, owners=owners, exact=exact)
        self._attempt, seed = attempt, self.seed if probes == "checks" else self.suite.course.seed
        while attempt.plan:
            own = {"exact": exact, "trace": trace, "probes": probes, "prints": prints, **patience.of_job}
            job = self._job(sources, attempt.plan, reference_parts or {}, seed) | own | (OF_TRUSTED if trusted else {})
            if (end := self._run_job(attempt, job, plan)) is None:
                continue
            if trace and not exact and is_own_fault(end):
                attempt.note(end)
                break  # a trace only helps to explain a mistake, so one attempt is enough
            attempt.charge(end, attempt.run.log)
        self._attempt = None
        return attempt.run

    def repairs(self, source: str, lines: Sequence[int], most: int, clues: "Clues") -> "list[Edit]":
        """Return edits that may mend a program, the likeliest first; `lines` are suspected. None if that fails.

        A worker finds them, since it may take long, or too much memory, to read a program. Raises `Cancelled`.
        """
        self.prepare()
        assert self._worker is not None
        self._worker.send({"repairs": [source, list(lines), most, asdict(clues)]})
        while True:
            event = self._worker.next_event(self.limits.wall_seconds)
            if self._cancelled:
                raise Cancelled
            if isinstance(event, End):
                self._close_worker()
                return []
            if event["event"] == "ready":
                continue
            try:
                return read_edits(event, source, most)
            except (LookupError, TypeError, ValueError):
                self._close_worker()
                return []

    def _run_job(self, attempt: Attempt, job: dict[str, Any], plan: Plan) -> End | WorkerFailure | None:
        """Run a job in a worker; return how the worker ended, None if it answered to the end."""
        self.prepare()
        assert self._worker is not None
        with self._slots:
            self._worker.send(job, keeps_log=job["prints"])
            if attempt.patience.timeouts:
                self._start_spare()
            end = attempt.receive(self._worker)
        if end is not None:
            ending.hold()
        if self._cancelled:
            raise Cancelled
        attempt.run.add_log(self._worker.take_log(), plan)
        if end is not None or not self.shared:
            self._close_worker()
        return end

    def _survey(self, sources: Mapping[str, bytes], exercise: str, event: Mapping[str, Any]) -> Survey:
        """Return the first survey of a file, from a worker that had run none of the program; else read the event.

        The helpers and the flags depend on the other files of the run. No verdict depends on them.
        """
        survey, key = read_survey(event), (exercise, sources.get(f"{exercise}.py", b""))
        return replace(self._surveys.setdefault(key, survey), helpers=survey.helpers, flags=survey.flags)

    def warm_up(self) -> dict[str, Any]:
        """Return a job that warms up a zygote: all checks on the course's reference parts, with its public seed."""
        parts = self.suite.reference_parts
        plan = self.suite.plan(exercise for exercise in self.suite.exercises if exercise.file in parts)
        own = {"exact": False, "trace": False, "probes": "checks", "prints": False}
        return self._job({}, plan, parts, self.suite.course.seed) | own | Timeouts(self.limits).of_job

    def _job(
        self, sources: Mapping[str, bytes], plan: Plan, reference_parts: Mapping[str, bytes], seed: int
    ) -> dict[str, Any]:
        """Return what a worker has to know, but for the options of a run."""
        course, parts = self.suite.course, self.suite.reference_parts
        absent = {other.file for other in course.others if other.file in parts and other.file not in sources}
        sizes = {exercise: course.sizes_of(course.exercise(exercise)) for exercise in plan}

        def trial(exercise: str, key: Key) -> list[Any]:
            return [*key, derived_seed(seed, exercise, *key), column_of(len(sizes[exercise]), seed, exercise, *key)]

        return {
            "sources": dict(sources),
            "reference_parts": {**{file: parts[file] for file in absent}, **reference_parts},
            "checks": dict(self.suite.sources),
            "plan": [[exercise, [trial(exercise, key) for key in keys]] for exercise, keys in plan.items()],
            "surveys": True,
            "sizes": {exercise: [dict(column) for column in columns] for exercise, columns in sizes.items()},
            "libraries": list(course.libraries),
            "device": self.device,
            "forbidden": {exercise.id: list(exercise.forbidden) for exercise in course.exercises},
            "usual": [list(course.usual.names), [[why, list(entries)] for why, entries in course.usual.odd]],
            "limits": asdict(self.limits),
        }


def _owners(suite: Suite) -> Owners:
    """Return the function or class that each check is about."""
    return {exercise: {check.id: check.of or "" for check in checks} for exercise, checks in suite.checks.items()}
