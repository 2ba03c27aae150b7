"""Judges the outcomes of an exercise with its answer key. What explains a failure is imported where there is one."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from autograder import comparison  # its face loads NumPy when a name is used
from autograder.answer_key import AnswerKey, Failures
from autograder.checks import Check, Key, Raises, SameInputs, counted_checks, missing_ideas, names_any, sizes_of
from autograder.comparison import Difference, judge_observation
from autograder.course import Exercise, Suite
from autograder.diagnosis import (
    NOTHING_READ,
    UNJUDGED_DEVICE,
    Diagnosis,
    EarlierUnwritten,
    Judgement,
    Trials,
    Verdict,
    failed_grader,
    forbidden_call,
    missing_file,
    place_in,
    required_checks,
    unread_file,
    unused_argument,
    work_elsewhere,
    wrong_course_file,
)
from autograder.protocol import UNUSED, Refusal, lines_of
from autograder.results import (
    REFUSED,
    Certainty,
    CheckResult,
    ExerciseResult,
    Finding,
    Flag,
    Place,
    PrintOutput,
    Status,
    first_failing,
)
from autograder.runner import Fault, Observed, Outcome, Prints, Survey, WorkerFailure, found_in, is_out_of_memory
from autograder.submission import Cells

from .matching import Agreement, agreements, failures_of, is_unwritten, name, returns, todos_in

if TYPE_CHECKING:
    from autograder.results import Fact

# Places that the syntax of a file gives: where a checked value is returned, and where its part is defined.
#
# A call that should raise and does not has the definition of what was called, and so has a function without a return.
# One that raises something else has the `raise` statement.


def place_of(trials: Trials, check: Check, file: str, *, is_named: bool) -> Place | None:
    """Return where the checked value is returned, what should raise is defined, or the part that it lacks is made.

    A known mistake has a place of its own, so the return is none for it.
    """
    survey, outcomes = trials.survey, trials.of(check)
    if all(isinstance(outcome, Observed) for outcome in outcomes):
        if isinstance(check.judge, Raises):
            missing = missing_exception(survey, check, file, outcomes)
            return missing or raise_statement(survey, check, file, outcomes, trials.source)
        return None if is_named else return_line(survey, check, file)
    faults = [outcome for outcome in outcomes if isinstance(outcome, Fault)]
    refused = next((fault for fault in faults if fault.kind == "structure"), None)
    if refused is not None:
        return definition(survey, check, file, refused.refusal)
    misused = [fault.message for fault in faults if not fault.frames and not fault.at_import]
    if any(found_in(message, "NoneType") for message in misused):
        return without_return(survey, check, file)
    is_returned = any(found_in(message, "count") or found_in(message, "attribute") for message in misused)
    return return_line(survey, check, file) if is_returned else None


def return_line(survey: Survey, check: Check, file: str) -> Place | None:
    """Return where the checked value leaves the student's code: its one return; None where there are several.

    A function without one has its definition.
    """
    if check.of is None:
        return None
    lines = survey.places.get(check.of, ())
    function = _function(survey, check.of)
    return Place(file, lines[1], function) if len(lines) == 2 else without_return(survey, check, file)


def definition_of(survey: Survey, check: Check, file: str) -> Place | None:
    """Return the definition of a checked function; of a class that of its `forward`."""
    lines = survey.places.get(check.of or "", ())
    return Place(file, lines[0], _function(survey, check.of)) if check.of and lines else None


def without_return(survey: Survey, check: Check, file: str) -> Place | None:
    """Return the definition of a checked function that has no return."""
    if check.of is None:
        return None
    function = _function(survey, check.of)
    lines = survey.places.get(function, ())
    return Place(file, lines[0], function) if len(lines) == 1 else None


def missing_exception(survey: Survey, check: Check, file: str, outcomes: Sequence[Outcome]) -> Place | None:
    """Return the definition of what should raise and did not: a function, or the constructor of a class.

    None where something was raised, and where that function is in another file.
    """
    returned = [_returned(outcome) for outcome in outcomes]
    if check.of is None or None in returned:
        return None
    is_made = returned[0] == check.of
    function = f"{check.of}.__init__" if is_made else _function(survey, check.of)
    lines = survey.places.get(function)
    return Place(file, lines[0], function) if lines else None


def raise_statement(
    survey: Survey, check: Check, file: str, outcomes: Sequence[Outcome], source: bytes
) -> Place | None:
    """Return the line that raised an exception which a check refuses; None where several lines may have raised it.

    An observation has no line, so it is the one that raises this type with words that the message has. A library may
    raise such a type too: then the words differ.
    """
    raised = [_raised(outcome) for outcome in outcomes]
    first = raised[0] if raised else None
    if first is None or any(other is None or other[0] != first[0] for other in raised):
        return None
    type_, message = first
    statements = {line: texts for line, texts in _statements(source, type_).items() if survey.runs(line)}
    found = [at for at, texts in statements.items() if _has(message, texts) and (texts or len(statements) == 1)]
    owner = (check.of or "").split(".")[0]
    within = [at for at in found if (function_at(survey, at) or "").split(".")[0] == owner]
    lines_left = within if len(found) > 1 else found
    return Place(file, lines_left[0], function_at(survey, lines_left[0])) if len(lines_left) == 1 else None


def _raised(outcome: Outcome) -> tuple[str, str] | None:
    """Return the type and the message of the exception that a check observed; None if nothing was raised."""
    match outcome:
        case Observed({"raised": [str(type_), *_], "message": str(message)}):
            return type_, message
    return None


def _statements(source: bytes, type_: str) -> dict[int, list[str]]:
    """Return the lines that raise an exception of this type, each with the texts in its argument."""
    lines = lines_of(source)
    begun = re.compile(rf"\s*(?:if .*:\s*|else:\s*)?raise {re.escape(type_)}\b")
    found = {}
    for at, line in enumerate(lines):
        if match := begun.match(line):
            argument = line[match.end() :]
            for more in lines[at + 1 : at + MOST_LINES]:
                if argument.count("(") <= argument.count(")"):
                    break
                argument += more
            found[at + 1] = [text[2] for text in _QUOTED.finditer(argument)]
    return found


def _has(message: str, texts: Sequence[str]) -> bool:
    return all(part.strip() in message for text in texts for part in _FIELD.split(text))


MOST_LINES = 6
"""Lines of a `raise` that are read: its argument is seldom longer."""

_QUOTED = re.compile(r"""(["'])(.*?)\1""")
_FIELD = re.compile(r"\{[^}]*\}|\\.")
"""A text in quotes, and what stands in it for something else: a field of an f-string, or an escaped character."""


def _function(survey: Survey, part: str) -> str:
    """Return the function that runs where a part is called: of a module its `forward`."""
    forward = f"{part}.forward"
    return forward if forward in survey.places else part


def _returned(outcome: Outcome) -> str | None:
    match outcome:
        case Observed({"raised": [], "returned": str(type_)}):
            return type_
    return None


def definition(survey: Survey, check: Check, file: str, refusal: Refusal) -> Place | None:
    """Return where the part is made that a check refuses: its assignment, else the `__init__` that does not make it.

    None where the part is made in several places, or inside another one, whose class may be to blame. If the first part
    of a list is wrong, the fault may be in its class; if only a later one is, it is in the list.
    """
    near, lacks = refusal.near, refusal.lacks
    if near and lacks != "parameter":
        names = {near, f"{refusal.owner}.{near}"}  # a function or class, or a method
        lines = [function.line for function in survey.functions if function.name in names]
        if lines:  # a class is no function, and an attribute is neither
            return Place(file, lines[0], near)
        if lacks == "definition":
            return None
    owner = _owner(survey, check, refusal)
    if owner is None or lacks == "method":  # of a missing method no line is wrong
        return None
    init = f"{owner}.__init__"
    for named in (refusal.name, near) if lacks in ("parameter", "shape") else ():
        part, *inside = named.split(".")
        lines = [line for of, own, line in survey.assignments if (of, own) == (owner, f"self.{part}")]
        if lines:
            return Place(file, lines[0], init) if len(lines) == 1 and inside[:1] != ["0"] else None
    lines_of = survey.places.get(init) or survey.places.get(owner)
    return Place(file, lines_of[0], init if init in survey.places else owner) if lines_of else None


def function_at(survey: Survey, line: int) -> str | None:
    """Return the function or method that a line belongs to; None outside of all."""
    return next((function.name for function in survey.functions if function.line <= line <= function.end), None)


def misplaced(survey: Survey, place: Place, tensor: str | None) -> Place:
    """Return where the tensor on the wrong device is assigned, if that is one line of the function that failed."""
    if tensor is None or place.function is None:
        return place
    owner = place.function.split(".")[0] if tensor.startswith("self.") else place.function
    lines = [line for of, name, line in survey.assignments if (of, name) == (owner, tensor)]
    return Place(place.file, lines[0], place.function) if len(lines) == 1 else place


def _owner(survey: Survey, check: Check, refusal: Refusal) -> str | None:
    """Return the class that a refusal is about, else the part that is checked; None if it is in another file."""
    if refusal.lacks in ("", "definition") or refusal.owner == check.of:
        return check.of
    return refusal.owner if f"{refusal.owner}.__init__" in survey.places else None


# What a learner's code printed, made short: the same output of the trials of a check once, repeated lines counted.

MOST_TEXT = 2_000
"""Characters of one trial: 25 lines of 80 columns. A longer text is cut in its middle."""

NEWLINE = "\n"

MOST_OUTPUTS = 40
MOST_IN_ALL = 20_000
"""Characters of one exercise: more than anybody reads, and little in the file of the last report."""


def outputs_of(prints: Prints, first_failure: str | None) -> tuple[PrintOutput, ...]:
    """Return what an exercise printed: while it was imported, then in the first failing check, then in the others."""
    in_order = sorted(prints.items(), key=lambda item: (item[0] is not None, item[0] and item[0][0] != first_failure))
    outputs: list[PrintOutput] = []
    room = MOST_IN_ALL
    for (check, text), trials in _by_text(in_order).items():
        if len(outputs) == MOST_OUTPUTS or len(text) > room:
            break
        room -= len(text)
        outputs.append(PrintOutput(text, check, trials[0] + 1, len(trials)))
    return tuple(outputs)


def _by_text(prints: Iterable[tuple[Key | None, str]]) -> dict[tuple[str | None, str], list[int]]:
    found: dict[tuple[str | None, str], list[int]] = {}
    for key, text in prints:
        if text.strip():
            check, trial = key or (None, 0)
            found.setdefault((check, _shortened(text)), []).append(trial)
    return found


def _shortened(text: str) -> str:
    """Return a text with each run of equal lines as one line, and without its middle if it is long."""
    lines = text.strip("\n").split("\n")
    runs = ((line, len(list(run))) for line, run in groupby(lines))
    short = "\n".join(line if count == 1 or not line.strip() else f"{line}  ({count} times)" for line, count in runs)
    if len(short) <= MOST_TEXT:
        return short
    begin, end = short[: MOST_TEXT // 2], short[-MOST_TEXT // 2 :]
    return f"{begin[: begin.rfind(NEWLINE) if NEWLINE in begin else None]}\n…\n{end[end.find(NEWLINE) + 1 :]}"


# Makes the result of an exercise of its judgement: the last step, in which findings are put into words.
#
# The words are imported where there is a finding.


def result_of(judgement: Judgement, cells: Mapping[str, Cells] | None = None) -> ExerciseResult:
    """Return the complete result, with the location of each check's mistake where it was found.

    `cells` say of each file that was made of a notebook where its lines come from.
    """
    exercise, trials, survey = judgement.exercise, judgement.trials, judgement.survey
    found = _findings(judgement, cells or {})
    checks = tuple(_check(judgement, verdict, found.get(verdict.check.id)) for verdict in judgement.verdicts)
    return ExerciseResult(
        exercise.id,
        exercise.title,
        judgement.status,
        judgement.score,
        sum(verdict.max_score for verdict in judgement.verdicts),
        checks,
        "stand-in" if judgement.stood_in else "own",
        judgement.stood_in,
        prints=outputs_of(judgement.prints, first.id if (first := first_failing(checks)) else None),
        todos=tuple(
            replace(todo, place=place_in(cells or {}, todo.place)) for todo in (trials.todos if trials else ())
        ),
        helpers=survey.helpers,
        flags=tuple(
            Flag(place_in(cells or {}, Place(file, line)), found, why) for file, line, found, why in survey.flags
        ),
    )


def with_left_out(result: ExerciseResult, sentences: Sequence[str]) -> ExerciseResult:
    """Return a result in which every finding about a missing name says what of the file was left out."""
    detail = " ".join(f"{sentence}." for sentence in sentences)
    checks = tuple(
        replace(check, finding=replace(check.finding, detail=detail))
        if check.finding is not None and check.finding.id in REFUSED
        else check
        for check in result.checks
    )
    return replace(result, checks=checks)


def _findings(judgement: Judgement, cells: Mapping[str, Cells]) -> Mapping[str, Finding]:
    diagnoses = {verdict.check.id: verdict.diagnosis for verdict in judgement.verdicts if verdict.diagnosis is not None}
    if not diagnoses:
        return {}
    from autograder.diagnosis import Source, finding_of  # only for a failure

    data = judgement.trials.source if judgement.trials is not None else b""
    functions = frozenset(part for name in judgement.survey.places for part in name.split("."))
    source = Source(judgement.exercise.file, data, functions, cells)
    return {id_: finding_of(diagnosis, source, judgement.locations.get(id_)) for id_, diagnosis in diagnoses.items()}


def _check(judgement: Judgement, verdict: Verdict, finding: Finding | None) -> CheckResult:
    return CheckResult(
        verdict.check.id,
        verdict.check.title,
        verdict.status,
        verdict.score,
        verdict.max_score,
        round(verdict.seconds, 6),
        finding,
        _hints(judgement, verdict),
        verdict.bonus,
        verdict.output,
        verdict.of,
    )


def _hints(judgement: Judgement, verdict: Verdict) -> tuple[str, ...]:
    """Return the hints of a check that fails, where they fit; a misconception has its own first one."""
    diagnosis, location = verdict.diagnosis, judgement.locations.get(verdict.check.id)
    hints = judgement.exercise.hints.get(verdict.check.id, verdict.check.hints)
    known = verdict.misconception or (location.first_mistake if location is not None else None)
    if known is not None:
        return (known.hint, *hints[1:])
    return hints if verdict.status == "fail" and not _is_beside(diagnosis, hints) else ()


def _is_beside(diagnosis: Diagnosis | None, hints: Sequence[str]) -> bool:
    """Whether the hints of a check are about something else than what is wrong.

    Most are about its numbers. A sentence about names and calls says what to change, and a wrong dtype or device needs
    a hint that speaks of it.
    """
    if diagnosis is None:
        return False
    if diagnosis.kind in ("dtype", "device"):
        return not any(diagnosis.kind in hint for hint in hints)
    is_refused = diagnosis.fact.id in REFUSED or diagnosis.quoted is not None  # what cannot be used raised there
    return diagnosis.kind == "forbidden" or (diagnosis.kind == "structure" and is_refused)


OnOutcomes = Callable[[str, Sequence[tuple[Check, Status]]], None]
"""Gets the id of an exercise and the status of each of its checks, before mistakes are named."""


@dataclass
class Verdicts:
    """Judges one submission's outcomes in one exercise.

    `find_key` finds the answer key when it is needed: without the catalogue, or with what may explain some failures.
    Before that, which may take minutes, `on_outcomes(exercise, statuses)` gets a status for each check.
    """

    suite: Suite
    exercise: Exercise
    find_key: Callable[[Failures | None], AnswerKey]
    seed: int
    evidence: bool
    on_outcomes: OnOutcomes | None = None

    def __post_init__(self) -> None:
        self.checks = {check.id: check for check in self.suite.checks[self.exercise.id]}
        self.points = self.suite.points(self.exercise)

    def judge(self, outcomes: Mapping[Key, Outcome], survey: Survey, source: bytes) -> Judgement:
        """Return the judgement on the exercise; `source` is the student's file, for the lines around a place.

        Raises `GraderProblem` when there is no answer key.
        """
        key = self.find_key(None)
        differences = {
            at: judge_observation(outcome.value, key.reference[at], self.checks[at[0]].judge)
            for at, outcome in outcomes.items()
            if isinstance(outcome, Observed)
        }
        failing = frozenset(at for at in outcomes if differences.get(at, outcomes[at]) is not None)
        trials = Trials(
            outcomes, failing, key, self._sizes, source, survey, todos_in(self.suite, self.exercise, survey, outcomes)
        )
        forbidden = self._forbidden(trials)
        if any(_can_be_named(outcomes[at]) for at in failing):
            if self.on_outcomes is not None and forbidden is None:
                self.on_outcomes(self.exercise.id, self._early(trials))
            trials = replace(trials, key=self.find_key(failures_of(trials, self.checks)))
        if forbidden is not None:
            verdicts = [self._made(check, trials, "fail", forbidden) for check in self.checks.values()]
        else:
            known = self._matches(trials)
            verdicts = [self._verdict(check, trials, differences, known) for check in self.checks.values()]
        passing = {verdict.check.id for verdict in verdicts if verdict.status == "pass"}
        counted = counted_checks(list(self.checks.values()), passing)
        waiting = tuple(
            verdict if verdict.check.id in counted else self._waiting(verdict, passing)
            for verdict in _without_consequences(verdicts)
        )
        return Judgement(self.exercise, waiting, trials)

    def _early(self, trials: Trials) -> list[tuple[Check, Status]]:
        """Return the status of each check as far as it is known without the catalogue."""
        checks = list(self.checks.values())
        statuses = [(check, self._early_status(check, trials)) for check in checks]
        counted = counted_checks(checks, {check.id for check, status in statuses if status == "pass"})
        return [(one, "waits" if status == "pass" and one.id not in counted else status) for one, status in statuses]

    def _early_status(self, check: Check, trials: Trials) -> Status:
        if not trials.fails(check):
            return "pass"
        found = trials.of(check)
        is_todo = any(isinstance(outcome, Fault) and outcome.kind == "todo" for outcome in found)
        return "not_started" if is_todo or is_unwritten(check, trials.todos, found, trials.source) else "fail"

    def _waiting(self, verdict: Verdict, passing: Collection[str]) -> Verdict:
        """Return a verdict that waits where the check passes, and not its idea or none of those that it requires."""
        if verdict.status != "pass":
            return verdict
        ideas = missing_ideas(verdict.check, list(self.checks.values()), passing)
        required = ideas or [self.checks[id_] for id_ in verdict.check.requires_any]
        fact = required_checks(tuple((check.id, check.title) for check in required))
        return replace(verdict, status="waits", score=0, diagnosis=_of_structure(fact))

    def missing(self, unseen: str = "") -> Judgement:
        """Judge an exercise whose file was not found; `unseen` says what was not looked into."""
        return self._all_alike("missing", _of_structure(missing_file(self.exercise.file, unseen)))

    def unread(self, why: str) -> Judgement:
        """Judge an exercise whose file is there and could not be read; `why` says what is wrong."""
        return self._all_alike("error", _of_structure(unread_file(why)))

    def held(self, doubt: str = "") -> Judgement:
        """Hold back an exercise: nothing could be read, or there is a `doubt` about which file counts."""
        return self._all_alike("held", _of_structure(work_elsewhere(doubt) if doubt else NOTHING_READ))

    def grader_error(self, text: str, *, of_course: bool = False) -> Judgement:
        """Judge an exercise on which the kit itself failed, or a file `of_course`."""
        fact = wrong_course_file(text) if of_course else failed_grader(text)
        return self._all_alike("grader_error", Diagnosis("exception", fact))

    def _all_alike(self, status: Status, diagnosis: Diagnosis) -> Judgement:
        verdicts = (Verdict(check, status, 0, self._most(check), diagnosis) for check in self.checks.values())
        return Judgement(self.exercise, tuple(verdicts))

    def _forbidden(self, trials: Trials) -> Diagnosis | None:
        """Diagnose a call that would skip the exercise: it costs all of its points."""
        if trials.survey.forbidden:
            called, line = trials.survey.forbidden[0]
            return Diagnosis("forbidden", forbidden_call(called), place=Place(self.exercise.file, line))
        for outcome in trials.outcomes.values():
            if isinstance(outcome, Fault) and outcome.kind == "forbidden":
                place = outcome.frames[-1] if outcome.frames else None
                return Diagnosis("forbidden", forbidden_call(outcome.message), place=place)
        return None

    def _matches(self, trials: Trials) -> dict[str, Agreement]:
        found = agreements(trials, self.checks, failures_of(trials, self.checks))
        names = ((check.id, name(check, trials, found)) for check in self.checks.values() if trials.fails(check))
        return {check: known for check, known in names if known is not None}

    def _verdict(
        self,
        check: Check,
        trials: Trials,
        differences: Mapping[Key, Difference | None],
        known: Mapping[str, Agreement],
    ) -> Verdict:
        """Return the verdict on one check; `known` are the misconceptions behind it and the others."""
        if trials.fails(check) and is_unwritten(check, trials.todos, trials.of(check), trials.source):
            return self._made(check, trials, "not_started", None)
        own = known.get(check.id)
        is_shown = own is not None and own.certainty is Certainty.SHOWN
        status, diagnosis = self._status(check, trials, differences, named=is_shown)
        if diagnosis is not None and status in ("fail", "error"):
            if own is not None:
                several = own.is_one_of_several
                diagnosis = replace(
                    diagnosis, misconception=own.entry, certainty=own.certainty, is_one_of_several=several
                )
            elif any(other.certainty >= Certainty.ALIKE for other in known.values()):
                diagnosis = replace(diagnosis, is_one_of_several=True)
            unused = _unused(check, trials) if not is_shown else None
            if unused is not None and diagnosis.kind == "pattern":
                place = definition_of(trials.survey, check, self.exercise.file)
                diagnosis = replace(
                    diagnosis, fact=unused_argument(unused), subject="", place=place, misconception=None
                )
        return self._made(check, trials, status, diagnosis)

    def _status(
        self, check: Check, trials: Trials, differences: Mapping[Key, Difference | None], *, named: bool
    ) -> tuple[Status, Diagnosis | None]:
        for outcome in trials.of(check):
            match outcome:
                case WorkerFailure():
                    from autograder.diagnosis import of_death  # only for a failure

                    return outcome.status, of_death(outcome)
                case Fault():
                    return self._of_fault(outcome, trials)
        if not trials.fails(check):
            return "pass", None
        from autograder.diagnosis import Axes, Trial, of_difference, symbols_in  # only for a failure

        words, used = self.suite.course.words_of(self.exercise), symbols_in(check.probe)
        compared = [
            Trial(
                differences[key],
                Axes(self._sizes(check, key[1]), words, used),
                trials.key.reference[key].exact,
                outcome.value if isinstance(outcome := trials.outcomes[key], Observed) else None,
            )
            for key in check.keys
        ]
        return "fail", of_difference(check, compared, evidence=self.evidence, named=named)

    def _sizes(self, check: Check, trial: int) -> Mapping[str, int]:
        return sizes_of(self.suite.course.sizes_of(self.exercise), self.seed, self.exercise.id, check.id, trial)

    def _of_fault(self, fault: Fault, trials: Trials) -> tuple[Status, Diagnosis | None]:
        place = fault.frames[-1] if fault.frames else None
        if fault.kind == "todo" and place is not None:
            if place.file == self.exercise.file:
                return "not_started", None
            return "waits", _of_structure(EarlierUnwritten(self.exercise.file, place.file).fact, place)
        from autograder.diagnosis import exceeded_memory, of_fault  # only for a failure

        if is_out_of_memory(fault):
            exceeded = exceeded_memory(fault.type, self.suite.course.limits.memory_mib)
            return "memory", Diagnosis("exception", exceeded, place=place)
        libraries = (*self.suite.course.libraries, *self.exercise.libraries)
        diagnosis = of_fault(fault, self.exercise.file, trials.source, trials.survey, libraries)
        return ("fail" if diagnosis.kind in ("structure", "device") else "error"), diagnosis

    def _made(self, check: Check, trials: Trials, status: Status, diagnosis: Diagnosis | None) -> Verdict:
        outcomes = trials.of(check)
        if diagnosis is not None and diagnosis.place is None:
            others = (todo.name for todo in trials.todos if check.id in todo.checks and not returns(todo, check))
            of, is_named = next(others, check.of), diagnosis.misconception is not None
            place = place_of(trials, replace(check, of=of), self.exercise.file, is_named=is_named)
            diagnosis = replace(diagnosis, place=place)
        elif diagnosis is not None and diagnosis.kind == "device" and diagnosis.place is not None:
            tensor = diagnosis.fact.data
            if isinstance(tensor, str):
                diagnosis = replace(diagnosis, place=misplaced(trials.survey, diagnosis.place, tensor))
        score = self.points[check.id] if status == "pass" else 0
        seconds = sum(outcome.seconds for outcome in outcomes)
        output = self._output(check, outcomes) if status == "fail" else None
        return Verdict(check, status, score, self._most(check), diagnosis, seconds, output)

    def _output(self, check: Check, outcomes: Sequence[Outcome]) -> str | None:
        """Return a fingerprint that groups identical failures in a class; nothing in self-checks."""
        observed = [outcome.value for outcome in outcomes if isinstance(outcome, Observed)]
        if self.evidence or len(observed) < len(outcomes):
            return None
        return comparison.fingerprint((self.exercise.id, check.id), observed)

    def _most(self, check: Check) -> int:
        """Return the points that a check adds to the maximum: none for a bonus."""
        return 0 if check.bonus else self.points[check.id]


def _without_consequences(verdicts: Sequence[Verdict]) -> Sequence[Verdict]:
    """Return verdicts in which a check waits that fails only for what other checks say.

    A check of the device waits if what it found is no device. Gradients wait for the inputs that they need.
    """

    def kind_of(verdict: Verdict) -> str:
        is_failed = verdict.status in ("fail", "error") and verdict.diagnosis is not None
        return verdict.diagnosis.kind if is_failed and verdict.diagnosis is not None else ""

    others = [one.check for one in verdicts if kind_of(one) and not names_any(one.check.probe, DEVICE)]
    kept = [one for one in verdicts if one.status == "fail" and isinstance(one.check.judge, SameInputs)]
    changed = tuple((one.check.id, one.check.title) for one in kept if kind_of(one))

    def fact(verdict: Verdict) -> "Fact | None":
        if others and verdict.check not in others and kind_of(verdict) not in ("", "device", "forbidden"):
            return UNJUDGED_DEVICE
        quoted = verdict.diagnosis.quoted if verdict.diagnosis is not None else None
        is_changed = verdict.status == "error" and "inplace operation" in (quoted or "")  # torch's own word
        return required_checks(changed) if changed and is_changed else None

    facts = [(verdict, fact(verdict)) for verdict in verdicts]
    return [
        replace(verdict, status="waits", output=None, diagnosis=_of_structure(why)) if why is not None else verdict
        for verdict, why in facts
    ]


DEVICE = ("another_device",)
"""The name of `given` by which a check looks at devices."""


def _of_structure(fact: "Fact", place: Place | None = None) -> Diagnosis:
    return Diagnosis("structure", fact, place=place)


def _unused(check: Check, trials: Trials) -> str | None:
    """Return the argument that a check is about, by its id or title, if the finished code does not use it."""
    owner, survey = (check.of or "").split(".")[0], trials.survey
    if not all(todo.is_written for todo in trials.todos if todo.name.split(".")[0] == owner):
        return None
    about, words = set(re.findall(r"\w+", f"{check.id} {check.title}")), survey.words.get(owner, ())
    named = (word.removeprefix(UNUSED) for word in words if word.startswith(UNUSED))
    return next((name for name in sorted(named) if name in about), None)


def _can_be_named(wrong: Outcome) -> bool:
    """Whether an outcome is wrong in a way that a misconception could explain."""
    match wrong:
        case WorkerFailure():
            return False
        case Fault():
            return wrong.kind not in ("todo", "forbidden")
    return True


def failed_result(suite: Suite, exercise: Exercise, text: str) -> ExerciseResult:
    """Return the result of an exercise that could not even be run, by a fault of the kit's."""
    return result_of(_not_run(suite, exercise).grader_error(text))


def held_result(suite: Suite, exercise: Exercise) -> ExerciseResult:
    """Return the result of an exercise of a submission of which nothing could be read."""
    return result_of(_not_run(suite, exercise).held())


def _not_run(suite: Suite, exercise: Exercise) -> Verdicts:
    def no_key(_: Failures | None) -> AnswerKey:
        raise NotImplementedError

    return Verdicts(suite, exercise, no_key, seed=0, evidence=False)
