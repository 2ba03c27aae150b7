"""The answer key of an exercise: what the solution, and every misconception of the catalogue, returned.

They run in a worker of their own; the judge only reads the data. A key is kept by content: the same solution,
checks, sizes, seed, engine and libraries give the same key. What makes one takes NumPy and is imported there: most
checks find theirs in the cache. A released kit has no solutions to make keys from: it has the keys themselves.
"""

import contextlib
import hashlib
import json
import lzma
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache, partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from autograder import comparison, protocol  # the face of comparison loads NumPy when a name is used
from autograder.checks import LEAST_RESULTS, Check, Key, Raises, Same, Within
from autograder.comparison import Expected, is_floating, passes
from autograder.course import (
    COURSE_FILE,
    MANIFEST,
    Exercise,
    Suite,
    digest_of_parts,
    engine_digest,
    files_of_rooms,
    is_kit,
    key_file,
    make_folder,
    read_plain,
    remove,
    stub_text,
    versions_of,
    write_atomically,
)
from autograder.edits import fix_of
from autograder.formats import KEY
from autograder.runner import (
    CourseProblem,
    EnvironmentProblem,
    Fault,
    GraderProblem,
    Observed,
    Outcome,
    Run,
    Runner,
    WorkerFailure,
    is_timeout,
    of_own_programs,
    read_fault,
)

from .catalogue import (
    ANY,
    CatalogueError,
    Condition,
    Failing,
    WrongProgram,
    condition_of,
    contract_of,
    failing_text,
    marks_of,
    owners_of,
    patched,
    programs_of,
    read_catalogue,
    read_failing,
    wording_of,
)

if TYPE_CHECKING:
    from autograder.runner import RecordedTrace


@dataclass(frozen=True)
class Misconception:
    """A misconception with a sketch of its outcomes, only those that are wrong, and the hashes of its statements.

    `owners` has the hashes of the names of the functions and classes that it changes. `convention` says
    whose convention it is, if it is one. `fix` says what its fix looks like, in hashes of the words that it adds and
    removes. `wording` has the words of each of its statements, as hashes behind that of the function. With
    `any_exception`, its name is true of all that raise in the same checks, whatever they raise. Its name
    is false of code for which the `condition` does not hold. `stated` says what the catalogue states of the name: the
    `words` of the condition are what it says, or it is true of every program with the same `result`.
    While not all of it has run, `failing` says which checks it probably fails, and `ran` in which of them it has run.
    """

    id: str
    name: str
    explanation: str
    hint: str
    same_as: tuple[str, ...]
    outcomes: "Mapping[Key, comparison.Sketch | None]"
    marks: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    convention: str = ""
    fix: str = ""
    wording: tuple[str, ...] = ()
    any_exception: bool = False
    condition: Condition = ANY
    stated: Literal["", "words", "result"] = ""
    failing: Failing | None = None
    ran: frozenset[str] = frozenset()


UNLIKE_SHARE = 4
"""One in so many checks, and two, may be unlike under this seed: 2 of 1,566 misconceptions differ in more of them."""


@dataclass(frozen=True)
class Failures:
    """What is wrong with a program: the checks that fail, those that wait for them, and its statements, as hashes."""

    failed: frozenset[str]
    waiting: frozenset[str] = frozenset()
    statements: frozenset[str] = frozenset()

    def checks_of(self, entry: Misconception) -> frozenset[str]:
        """Return the checks to run a misconception on; none if it cannot be the name of one of the failures.

        It fails one of these checks, and few that pass here: only its own statements outweigh more of them. It runs on
        all that it may fail. Where it is near to these failures, it runs on all of them: the table may lack one.
        """
        assert entry.failing is not None
        always, sometimes = entry.failing
        every = always | sometimes
        most = 2 + len(every) // UNLIKE_SHARE
        is_written = bool(entry.marks) and self.statements.issuperset(entry.marks)
        if self.failed.isdisjoint(every) or not (is_written or len(always - self.failed - self.waiting) <= most):
            return frozenset()
        return every | self.failed if len(self.failed - every) <= most else every


@dataclass(frozen=True)
class AnswerKey:
    """What is expected of an exercise, and what known wrong programs give instead."""

    reference: Mapping[Key, Expected]
    misconceptions: tuple[Misconception, ...]

    @cached_property
    def contract(self) -> frozenset[str]:
        """The hashes of the names of all functions and classes that misconceptions change."""
        return frozenset(owner for entry in self.misconceptions for owner in entry.owners)

    def left(self, failures: Failures | None = None) -> dict[str, frozenset[str] | None]:
        """Return the misconceptions to run before these failures, or any, can be named: by id, each with its checks.

        None stands for all checks.
        """
        unfinished = [entry for entry in self.misconceptions if entry.failing is not None]
        if failures is None:
            return {entry.id: None for entry in unfinished}
        wanted = ((entry.id, failures.checks_of(entry) - entry.ran) for entry in unfinished)
        return {id_: checks for id_, checks in wanted if checks}


def to_record(key: AnswerKey) -> protocol.Value:
    """Return a key as a plain value."""
    from .records import SketchTable  # NumPy, which a check that passes does not need

    trials = {at: index for index, at in enumerate(key.reference)}
    table = SketchTable()
    bank = [
        {
            "id": entry.id,
            "name": entry.name,
            "explanation": entry.explanation,
            "hint": entry.hint,
            "same_as": list(entry.same_as),
            "marks": list(entry.marks),
            "owners": list(entry.owners),
            **({"convention": entry.convention} if entry.convention else {}),
            **({"fix": entry.fix} if entry.fix else {}),
            **({"wording": list(entry.wording)} if entry.wording else {}),
            **({"any_exception": True} if entry.any_exception else {}),
            **({"uses": sorted(entry.condition.uses)} if entry.condition.uses else {}),
            **({"lacks": sorted(entry.condition.lacks)} if entry.condition.lacks else {}),
            **({"stated": entry.stated} if entry.stated else {}),
            **({"unfinished": list(map(sorted, (*entry.failing, entry.ran)))} if entry.failing is not None else {}),
            "trials": [trials[at] for at in entry.outcomes],
            "outcomes": [table.index(outcome) for outcome in entry.outcomes.values()],
        }
        for entry in key.misconceptions
    ]
    return {
        "reference": [
            [*at, expected.exact, _form(expected.nominal, expected.exact)] for at, expected in key.reference.items()
        ],
        "bank": bank,
        "sketches": table.to_record(),
    }


def from_record(record: Any) -> AnswerKey:
    """Return the key a plain value was made from; raises LookupError, TypeError or ValueError for another one."""
    if not record["bank"]:
        return reference_from_record(record)
    from .records import read_sketches  # NumPy, which a check that passes does not need

    reference = reference_from_record(record).reference
    trials, sketches = tuple(reference), read_sketches(record["sketches"])
    return AnswerKey(
        reference,
        tuple(
            Misconception(
                entry["id"],
                entry["name"],
                entry["explanation"],
                entry["hint"],
                tuple(entry["same_as"]),
                {trials[at]: sketches[one] for at, one in zip(entry["trials"], entry["outcomes"], strict=True)},
                tuple(entry["marks"]),
                tuple(entry["owners"]),
                entry.get("convention", ""),
                entry.get("fix", ""),
                tuple(entry.get("wording", ())),
                entry.get("any_exception", False),
                Condition(frozenset(entry.get("uses", ())), frozenset(entry.get("lacks", ()))),
                entry.get("stated", ""),
                *_unfinished(*entry.get("unfinished", ())),
            )
            for entry in record["bank"]
        ),
    )


def reference_from_record(record: Any) -> AnswerKey:
    """Return a key without its catalogue, from a plain value; raises as `from_record`."""
    expected = record["reference"]
    return AnswerKey(
        {(check, trial): Expected(_formed(form, exact), exact) for check, trial, exact, form in expected}, ()
    )


def _unfinished(*checks: Iterable[str]) -> "tuple[()] | tuple[Failing, frozenset[str]]":
    if not checks:
        return ()
    always, sometimes, ran = map(frozenset, checks)
    return Failing(always, sometimes), ran


def _form(nominal: protocol.Value, exact: protocol.Value) -> protocol.Value:
    """Return what of a nominal observation does not follow from the exact one.

    That is None where they are equal, the name of a dtype where only that differs, else the value in a tuple.
    """
    if isinstance(nominal, dict) and isinstance(exact, dict) and nominal.keys() == exact.keys():
        forms = {name: _form(part, exact[name]) for name, part in nominal.items()}
        return forms if any(form is not None for form in forms.values()) else None
    if isinstance(nominal, list) and isinstance(exact, list) and len(nominal) == len(exact):
        parts = [_form(*pair) for pair in zip(nominal, exact, strict=True)]
        return parts if any(form is not None for form in parts) else None
    if type(nominal) is type(exact) and nominal == exact:
        return None
    if isinstance(nominal, protocol.Array) and isinstance(exact, protocol.Array) and is_floating(nominal):
        follows = comparison.as_array(comparison.numbers(exact), nominal.dtype, exact.device) == nominal
        return protocol.Opaque(nominal.dtype) if follows else (nominal,)
    return (nominal,)


def _formed(form: protocol.Value, exact: protocol.Value) -> protocol.Value:
    match form:
        case None:
            return exact
        case dict():
            return {name: _formed(part, exact[name]) for name, part in form.items()}
        case list():
            return [_formed(*pair) for pair in zip(form, exact, strict=True)]
        case protocol.Opaque():
            return comparison.as_array(comparison.numbers(exact), form.type_name, exact.device)
    [nominal] = form
    return nominal


# What a solution's observation must be, so that another one can be compared with it.

_NOTHING = 'returns None in every trial; return what the code computes, or {"result": None} if None is right'
_DATA = "return its numbers, texts, lists or dicts"
_SHORTER = "return its length, a part of it, or a digest (hashlib)"


def observation_problem(observed: Iterable[protocol.Value]) -> str:
    """Return why the observations of a check prove nothing, as the end of a sentence about it; "" if they do."""
    values = list(observed)
    if values and all(value is None for value in values):
        return _NOTHING
    found = next((problem for value in values for problem in _problems(value)), None)
    return "" if found is None else f"returns {found[0]}, which cannot be compared; {found[1]}"


def _problems(value: protocol.Value) -> Iterator[tuple[str, str]]:
    """Yield what cannot be compared in an observation, and what to return in its place."""
    match value:
        case protocol.Opaque("set" | "frozenset" as name):
            yield f"an object of the type {name}", "return sorted(...) of it"
        case protocol.Opaque("list" | "tuple" | "dict"):
            parts, levels = protocol.OBSERVATION_PARTS, protocol.OBSERVATION_DEPTH
            yield f"a collection of more than {parts} parts or {levels} levels", _DATA
        case protocol.Opaque("an enormous int"):
            yield f"an int of {protocol.INT_BITS} bits or more", "return str(...) of it"
        case protocol.Opaque(name):
            yield f"an object of the type {name}", _DATA
        # A worker cuts longer ones to this length, so of two that are cut nobody knows whether they are equal.
        case str() | bytes() if len(value) >= protocol.OBSERVATION_TEXT:
            yield f"a text or bytes of length {protocol.OBSERVATION_TEXT} or more", _SHORTER
        case dict() if any(len(key) >= protocol.OBSERVATION_KEY for key in value):
            yield f"a dict with a key of {protocol.OBSERVATION_KEY} or more characters", _SHORTER
        case dict():
            yield from (problem for part in value.values() for problem in _problems(part))
        case list() | tuple():
            yield from (problem for part in value for problem in _problems(part))


# The outcomes of misconceptions in full, and their form as a plain value.
#
# `course validate` judges them as it judges a student's; a key has only sketches of them.

Outcomes = Mapping[str, Mapping[Key, Outcome]]
"""By the id of a misconception, its outcomes that are wrong."""


def outcomes_to_record(outcomes: Outcomes) -> protocol.Value:
    """Return outcomes as a plain value."""
    return {id_: [[*at, _outcome(outcome)] for at, outcome in own.items()] for id_, own in outcomes.items()}


def outcomes_from_record(record: Any) -> Outcomes:
    """Return the outcomes a plain value was made from; raises LookupError, TypeError or ValueError for another one."""
    return {
        id_: {(check, trial): _read_outcome(outcome) for check, trial, outcome in own} for id_, own in record.items()
    }


def _outcome(outcome: Outcome) -> protocol.Value:
    match outcome:
        case Observed(value):
            return {"observed": value}
        case WorkerFailure(status, sentence):
            return {"died": [status, sentence]}
    fault = asdict(outcome)
    parts = {"bases": list(outcome.bases), "frames": list(fault["frames"]), "values": []}
    return {"fault": {**fault, **parts, "refusals": [list(refusal) for refusal in outcome.refusals]}}


def _read_outcome(record: Mapping[str, Any]) -> Outcome:
    if "observed" in record:
        return Observed(record["observed"])
    if "died" in record:
        return WorkerFailure(*record["died"])
    return read_fault(record["fault"], at_import=record["fault"]["at_import"])


# The cache of answer keys: files that are written whole, that damage is found in, and of which the newest are kept.

KEY_LIMITS = protocol.FrameLimits(text=64 << 20, blob=512 << 20, nodes=1_000_000)
MOST_BYTES = 64 << 20
"""The largest key of this course has 3 MiB."""

Kept = TypeVar("Kept")
DIGEST_SIZE = 32
KEPT_KEYS = 6
"""Keys of an exercise in the cache: one for each of the seeds and versions in use."""


def read(file: Path, form: Callable[[Any], Kept]) -> Kept | None:
    """Read a record of the cache; None where it is missing, damaged or of another form, to be made again."""
    try:
        data = read_plain(file, MOST_BYTES)
    except OSError:
        return None
    body, digest = data[:-DIGEST_SIZE], data[-DIGEST_SIZE:]
    if hashlib.sha256(body).digest() != digest:
        return None
    try:
        return form(protocol.read_frame(BytesIO(body).read, KEY_LIMITS))
    except (protocol.ProtocolError, LookupError, AttributeError, TypeError, ValueError):
        return None


def store(file: Path, record: protocol.Value) -> None:
    """Write a record to the cache, whole or not at all. A cache that cannot be written only costs time."""
    body = protocol.write_frame(record)
    with contextlib.suppress(OSError):
        make_folder(file.parent)
        write_atomically(file.parent / ".gitignore", "*\n")
        write_atomically(file, body + hashlib.sha256(body).digest(), mode=0o600)
        forget_old(file)


def forget_old(newest: Path) -> None:
    """Delete all but the newest keys of an exercise."""
    exercise = newest.name.rpartition("-")[0]
    kept = sorted(
        newest.parent.glob(f"{exercise}-*{newest.suffix}"), key=lambda file: file.lstat().st_mtime, reverse=True
    )
    for file in kept[KEPT_KEYS:]:
        remove(file)


MAKES_KEYS = (
    *("checks", "protocol", "worker", "runner", "answer_key", "edits/search.py"),
    *("comparison/float_arrays.py", "comparison/compare.py"),
)
"""The code that a key depends on: it runs the programs and decides which outcomes are wrong."""


class Keys(contextlib.AbstractContextManager["Keys"]):
    """Finds the answer keys of a suite for one seed and device: from the cache, or by running the solutions.

    `on_progress(exercise, done, all)` is called for each wrong program of a catalogue that is run. With `slots`, a
    semaphore, at most so many programs run at a time. `runner` is what runs them, if not a new one.
    """

    def __init__(
        self,
        suite: Suite,
        *,
        seed: int,
        device: str = "cpu",
        cache: Path | None = None,
        on_progress: Callable[[str, int, int], None] | None = None,
        slots: contextlib.AbstractContextManager[object] | None = None,
        runner: Runner | None = None,
    ) -> None:
        self.suite = suite
        self.on_progress = on_progress
        self.seed = seed
        self.device = device
        self.cache = cache if cache is not None else suite.course.root / ".course" / "cache"
        self._runner = runner or Runner(suite, seed=seed, device=device, shared=True, slots=slots)

    def get(self, exercise: Exercise, failures: Failures | None = None, *, known: AnswerKey | None = None) -> AnswerKey:
        """Return the key of an exercise; raises `GraderProblem` when it cannot be made.

        With `failures`, only the misconceptions that they may come from need to be run. `known` is what an earlier call
        returned, so that it is not read again.
        """
        sources = self._solutions(exercise)
        file = self._file(exercise, sources, ".key")
        key = known or read(file, from_record)
        # A mistake in the catalogue is a problem even where the key is stored; that its programs parse is then known.
        catalogue = self._catalogue(exercise, sources, parse=key is None)
        key = key or self._unrun(exercise, sources, catalogue)
        if left := key.left(failures):
            key = self._run(exercise, sources, key, catalogue, left)[0]
            store(file, to_record(key))
        return key

    def proved(self, exercise: Exercise) -> tuple[AnswerKey, Outcomes]:
        """Return the key of an exercise, and the outcomes of its misconceptions in full.

        Those that do not fit the solution are left out. Raises `GraderProblem` when they cannot be made.
        """
        sources = self._solutions(exercise)
        file = self._file(exercise, sources, ".outcomes")
        key, outcomes = read(self._file(exercise, sources, ".key"), from_record), read(file, outcomes_from_record)
        if key is not None and outcomes is not None and not key.left():
            return key, outcomes
        catalogue = self._catalogue(exercise, sources, unfit=[])
        unrun = self._unrun(exercise, sources, catalogue)
        key, outcomes = self._run(exercise, sources, unrun, catalogue, unrun.left())
        store(self._file(exercise, sources, ".key"), to_record(key))
        store(file, outcomes_to_record(outcomes))
        return key, outcomes

    def reference(self, exercise: Exercise) -> AnswerKey:
        """Return the key without its catalogue: it is made fast, and a right program needs no more."""
        sources = self._solutions(exercise)
        file = self._file(exercise, sources, ".reference")
        key = read(file, from_record)
        if key is None:
            key = AnswerKey(self._reference(exercise, sources), ())
            store(file, to_record(key))
        return key

    def traces(self, exercise: Exercise, check: Check) -> "Mapping[Key, RecordedTrace]":
        """Return what the solution computes on its way, by trial: shapes and fingerprints, no text of it."""
        return traces_of(check, self.traced(exercise, check))

    def traced(self, exercise: Exercise, check: Check) -> protocol.Value:
        """Return the traces of a check as a plain value."""
        from .records import to_record as trace_to_record  # NumPy, which a check that passes does not need

        sources = self._solutions(exercise)
        file = self._file(exercise, sources, f".traces-{check.id}")
        kept = read(file, lambda record: record if traces_of(check, record) else [])
        if kept is not None and len(kept) >= check.trials:
            return kept
        run = self._runner.run(sources, {exercise.id: check.keys}, exact=self.device == "cpu", trace=True)
        traces = sorted(run.traces.get(exercise.id, {}).items())
        record = [[trial, trace_to_record(trace, exercise.file)] for (_, trial), trace in traces]
        store(file, record)
        return record

    def known_size(self, exercise: Exercise) -> int | None:
        """Return the size in bytes that the key has in a kit; None if it was not measured for this course and seed."""
        return read(self._file(exercise, self._solutions(exercise), ".size"), lambda record: int(record["bytes"]))

    def note_size(self, exercise: Exercise, size: int) -> None:
        """Remember the size in bytes that the key has in a kit."""
        store(self._file(exercise, self._solutions(exercise), ".size"), {"bytes": size})

    def kept(self, exercise: Exercise) -> list[Path]:
        """Return the files of the cache that hold what is known of an exercise; raises `GraderProblem`."""
        return sorted(self.cache.glob(f"{self._file(exercise, self._solutions(exercise), '').name}.*"))

    def _file(self, exercise: Exercise, sources: Mapping[str, bytes], suffix: str) -> Path:
        return self.cache / f"{exercise.id}-{self._digest(exercise, sources)}{suffix}"

    def close(self) -> None:
        """End the worker that ran the solutions, if there is one."""
        self._runner.close()

    def cancel(self) -> None:
        """Give up the key that another thread is making, and make no more."""
        self._runner.cancel()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _solutions(self, exercise: Exercise) -> dict[str, bytes]:
        course = self.suite.course
        try:
            return {
                needed.file: read_plain(course.solutions_dir / needed.file)
                for needed in course.with_all_needs(exercise)
            }
        except OSError as error:
            raise CourseProblem(f"the solution {error.filename} cannot be read: {error.strerror}") from error

    def _catalogue(
        self, exercise: Exercise, sources: Mapping[str, bytes], *, parse: bool = True, unfit: list[str] | None = None
    ) -> tuple[WrongProgram, ...]:
        file = self.suite.course.catalogue_file(exercise)
        try:
            return read_catalogue(file, sources[exercise.file].decode("utf-8"), parse=parse, unfit=unfit)
        except (CatalogueError, UnicodeDecodeError) as error:
            raise CourseProblem(str(error)) from error

    def _digest(self, exercise: Exercise, sources: Mapping[str, bytes]) -> str:
        catalogue = self.suite.course.catalogue_file(exercise)
        libraries = (*self.suite.course.libraries, *exercise.libraries)
        parts: list[bytes] = [
            engine_digest(*MAKES_KEYS),
            repr((self.seed, self.device, *versions_of(libraries).values())).encode(),
            repr(self.suite.course.sizes_of(exercise)).encode(),
            repr(self.suite.plan([exercise])[exercise.id]).encode(),
            self.suite.sources[f"test_{exercise.id}.py"],
            read_plain(catalogue) if catalogue.is_file() else b"",
            *(file.name.encode() + b"\0" + read_plain(file) for file in sorted(programs_of(catalogue).glob("*.py"))),
            *(name.encode() + b"\0" + data for name, data in sorted(sources.items())),
        ]
        return digest_of_parts(parts)[:32]

    def _unrun(self, exercise: Exercise, sources: Mapping[str, bytes], catalogue: Iterable[WrongProgram]) -> AnswerKey:
        """Return a key of which no misconception has been run: what is known of them by their source alone."""
        solution = sources[exercise.file].decode("utf-8")
        contract = contract_of(stub_text(self.suite.course, exercise) or solution)
        failing = self.failing(exercise)
        every = Failing(sometimes=frozenset(check.id for check in self.suite.checks[exercise.id]))
        entries = (
            replace(_by_source(wrong, solution, contract), failing=failing.get(wrong.id, every)) for wrong in catalogue
        )
        return AnswerKey(self.reference(exercise).reference, tuple(entries))

    def _run(
        self,
        exercise: Exercise,
        sources: Mapping[str, bytes],
        key: AnswerKey,
        catalogue: Iterable[WrongProgram],
        left: Mapping[str, Collection[str] | None],
    ) -> tuple[AnswerKey, Outcomes]:
        """Run some misconceptions on some checks, or all; return the key with what came of it, and the outcomes."""
        solution = sources[exercise.file].decode("utf-8")
        judges = {check.id: check.judge for check in self.suite.checks[exercise.id]}
        entries, outcomes = {entry.id: entry for entry in key.misconceptions}, {}
        for done, wrong in enumerate(wrong for wrong in catalogue if wrong.id in left):
            if self.on_progress is not None:
                self.on_progress(exercise.id, done, len(left))
            program = {**sources, exercise.file: patched(solution, wrong).encode()}
            checks, entry = left[wrong.id], entries[wrong.id]
            own = outcomes[wrong.id] = {
                at: outcome
                for at, outcome in self._outcomes(exercise, program, checks).items()
                if not passes(outcome, key.reference[at], judges[at[0]])
            }
            sketches = {at: comparison.sketch(outcome, judges[at[0]], key.reference[at]) for at, outcome in own.items()}
            if entry.any_exception and _refuse(own.values(), exercise.file, program[exercise.file]):
                entry = replace(entry, condition=entry.condition.using("raise"))
            if checks is None:
                entries[wrong.id] = replace(entry, outcomes=sketches, failing=None, ran=frozenset())
            else:
                entries[wrong.id] = replace(entry, outcomes={**entry.outcomes, **sketches}, ran=entry.ran | set(checks))
        return AnswerKey(key.reference, tuple(entries.values())), outcomes

    def failing(self, exercise: Exercise) -> dict[str, Failing]:
        """Return which checks each misconception fails, by the table beside the catalogue; nothing if it is old.

        On another device there is none, as a tensor that is left on the CPU fails all checks there.
        """
        content = self._content(exercise, self._solutions(exercise))
        return read_failing(self._table(exercise), content) if self.device == "cpu" else {}

    def _table(self, exercise: Exercise) -> Path:
        return self.suite.course.catalogue_file(exercise).with_suffix(".json")

    def _content(self, exercise: Exercise, sources: Mapping[str, bytes]) -> str:
        """Return a digest of what decides which checks fail, without the engine: a later one judges nearly alike.

        So a fresh clone has a table that holds, and `course validate` widens it where it does not. Comments and lessons
        decide nothing.
        """
        catalogue = self._catalogue(exercise, sources, parse=False, unfit=[])
        parts = [
            repr((self.suite.course.sizes_of(exercise), [(wrong.id, wrong.patches) for wrong in catalogue])).encode(),
            *(_code(wrong.program.encode()) for wrong in catalogue if wrong.program),
            _code(self.suite.sources[f"test_{exercise.id}.py"]),
            *(name.encode() + b"\0" + _code(data) for name, data in sorted(sources.items())),
        ]
        return digest_of_parts(parts)[:32]

    def hold_failing(self, exercise: Exercise, failed: Mapping[str, Collection[str]]) -> list[str]:
        """Write which checks each misconception fails, as found under this seed; return those that differ.

        What an older table says of checks that depend on the seed is kept. A course that cannot be written stays as it
        is.
        """
        sources, file = self._solutions(exercise), self._table(exercise)
        digest, checks = self._content(exercise, sources), {check.id for check in self.suite.checks[exercise.id]}
        before, now = read_failing(file), read_failing(file, digest)
        found, different = {}, []
        for id_, own in failed.items():
            old = before.get(id_, Failing())
            known = now.get(id_, Failing(frozenset(own) - old.sometimes, old.sometimes & checks))
            found[id_] = known.widened(own)
            if found[id_] != known:
                different.append(id_)
        if found != now:
            with contextlib.suppress(OSError):
                write_atomically(file, failing_text(digest, found))
        return different

    def _outcomes(
        self, exercise: Exercise, program: Mapping[str, bytes], checks: Collection[str] | None = None
    ) -> Mapping[Key, Outcome]:
        """Run a wrong program. What takes too long runs once more, with more time: the machine may have been busy."""
        runner = self._runner
        plan = self.suite.plan([exercise])[exercise.id]
        plan = [at for at in plan if checks is None or at[0] in checks]
        outcomes = runner.run(program, {exercise.id: plan}).outcomes[exercise.id]
        late = [at for at, outcome in outcomes.items() if isinstance(outcome, WorkerFailure) and is_timeout(outcome)]
        if not late:
            return outcomes
        again = runner.run(program, {exercise.id: late}, patience=of_own_programs(runner.limits))
        return {**outcomes, **again.outcomes[exercise.id]}

    def _reference(self, exercise: Exercise, sources: Mapping[str, bytes]) -> dict[Key, Expected]:
        from .records import keep_draws, rounded  # NumPy, which a check that passes does not need

        runner = self._runner
        plan = self.suite.plan([exercise])
        nominal = self._observed(runner.run(sources, plan), exercise)
        if not self.suite.course.computes_with_tensors:
            exact = nominal  # only tensors have coarser dtypes
        elif self.device == "cpu":
            exact = self._observed(runner.run(sources, plan, exact=True), exercise)
        else:
            with Runner(self.suite, seed=self.seed, shared=True) as on_cpu:
                exact = self._observed(on_cpu.run(sources, plan, exact=True), exercise)
            exact = {at: keep_draws(nominal[at], exact[at]) for at in nominal}
        judges = {check.id: check.judge for check in self.suite.checks[exercise.id]}
        return {at: rounded(nominal[at], exact[at], judges[at[0]]) for at in nominal}

    def _observed(self, run: Run, exercise: Exercise) -> dict[Key, protocol.Value]:
        """Return what the solution returned; raises `CourseProblem` with a line for every check that it fails."""
        outcomes = run.outcomes[exercise.id]
        failed: dict[str, str] = {}
        for (id_, _), outcome in outcomes.items():
            if isinstance(outcome, Fault) and outcome.at_import:
                found = re.fullmatch(r"No module named '(\w+)'", outcome.full_message)
                earlier = found is not None and any(found[1] == one.id for one in self.suite.course.every)
                remedy = f"; add {found[1]} to needs of {exercise.id} in {COURSE_FILE}" if found and earlier else ""
                failed = {"": f"the solution {exercise.file} cannot be imported: {_reason(outcome)}{remedy}"}
                break
            if not isinstance(outcome, Observed) and id_ not in failed:
                line = outcome.probe_line if isinstance(outcome, Fault) else None
                where = self._where(exercise, id_, line)
                fails = f"the solution of {exercise.id} fails {where}"
                failed[id_] = _misnamed(where, outcome) or f"{fails}: {_reason(outcome)}{_remedy(outcome)}"
        values = {at: outcome.value for at, outcome in outcomes.items() if isinstance(outcome, Observed)}
        for check in self.suite.checks[exercise.id]:
            own, where = [outcomes[at] for at in check.keys if at in outcomes], self._where(exercise, check.id)
            if any(_is_unobserved(check, outcome) for outcome in own):
                failed[check.id] = f"{where} {_RAISES}"
            elif any(_is_exception_of(check, outcome) for outcome in own):
                failed[check.id] = f"{where} {_NO_RAISES}"
            elif isinstance(check.judge, Within):
                fewest = min((_fewest_results(values[at]) for at in check.keys if at in values), default=LEAST_RESULTS)
                if fewest < LEAST_RESULTS:
                    failed[check.id] = f"{where} has the judge Within and only {fewest} results, {_MANY}"
        for id_ in {id_: None for id_, _ in values}:
            if problem := observation_problem(value for at, value in values.items() if at[0] == id_):
                failed.setdefault(id_, f"{self._where(exercise, id_)} {problem}")
        if failed:
            raise CourseProblem("\n".join(failed.values()))
        return values

    def _where(self, exercise: Exercise, check: str, line: int | None = None) -> str:
        """Name a check with its file and a line in it, that of its declaration unless another one is given."""
        declared = next(one for one in self.suite.checks[exercise.id] if one.id == check)
        return f"the check {check} ({self.suite.course.checks_file(exercise).name}, line {line or declared.line})"


@lru_cache(maxsize=512)
def _by_source(wrong: WrongProgram, solution: str, contract: frozenset[str]) -> Misconception:
    """Return what is known of a misconception by its source alone; cached, as a learner saves often."""
    return Misconception(
        wrong.id,
        wrong.name,
        wrong.explanation,
        wrong.hint,
        wrong.same_as,
        outcomes={},
        marks=marks_of(wrong, solution),
        owners=owners_of(wrong, solution),
        convention=wrong.convention,
        fix=fix_of(patched(solution, wrong), solution),
        wording=wording_of(wrong, solution),
        any_exception=wrong.any_exception,
        condition=condition_of(wrong, solution, contract),
        stated="result" if wrong.of_result else "words" if wrong.when else "",
    )


def _code(source: bytes) -> bytes:
    """Return the lines of a file without those that are empty or a comment, whatever their ends."""
    lines = (line.rstrip() for line in source.splitlines())
    return b"\n".join(line for line in lines if line and not line.lstrip().startswith(b"#"))


def traces_of(check: Check, record: Any) -> "Mapping[Key, RecordedTrace]":
    """Return the traces of a check from their records, by trial; raises LookupError, TypeError or ValueError."""
    from .records import from_record as trace_from_record  # NumPy, which a check that passes does not need

    return {(check.id, trial): trace_from_record(trace) for trial, trace in record}


def _refuse(outcomes: Iterable[Outcome], file: str, source: bytes) -> bool:
    """Whether all exceptions of a wrong program come from a `raise` or an `assert` of its file."""
    lines = protocol.lines_of(source)
    raised = [outcome.frames[-1] for outcome in outcomes if isinstance(outcome, Fault) and outcome.frames]
    return bool(raised) and all(
        frame.file == file and lines[frame.line - 1].lstrip().startswith(("raise", "assert")) for frame in raised
    )


_RAISES = (
    "has the judge Raises, and does not return what given.raises observes; "
    "write return given.raises(lambda: the call, what the message mentions)"
)


_NO_RAISES = (
    "returns what given.raises observes, and its judge would compare the words of the message; "
    "add judge=Raises(ValueError), with the exception that is right, to its @check"
)


_MANY = f"expected a list or an array of at least {LEAST_RESULTS}: call the code in a loop, and return all results"


def _fewest_results(value: protocol.Value) -> int:
    """Return how many results the shortest list of an observation has; 1 for what is no list."""
    if isinstance(value, dict):
        return min(map(_fewest_results, value.values()), default=0)
    if isinstance(value, protocol.Array):
        return value.shape[0] if value.shape else 1
    return len(value) if isinstance(value, list) else 1


def _is_exception_of(check: Check, outcome: Outcome) -> bool:
    """Whether a check observes an exception, and its judge compares numbers and words."""
    return (
        isinstance(check.judge, Same)
        and isinstance(outcome, Observed)
        and isinstance(outcome.value, dict)
        and {"raised", "mentions"} <= outcome.value.keys()
    )


def _is_unobserved(check: Check, outcome: Outcome) -> bool:
    """Whether a check of an exception lets it out, or returns what is no observation of one."""
    if not isinstance(check.judge, Raises):
        return False
    match outcome:
        case Observed(value=dict() as seen):
            return "raised" not in seen
        case Fault():
            return bool({outcome.type, *outcome.bases} & set(check.judge.types)) and not outcome.at_import
    return isinstance(outcome, Observed)


def _misnamed(where: str, outcome: Fault | WorkerFailure) -> str:
    """Return a sentence if a check uses a name that the solution lacks: the check has a slip then. Else ""."""
    if not isinstance(outcome, Fault) or outcome.refusal.lacks not in ("definition", "attribute", "method"):
        return ""
    lacks, owner, name, near = outcome.refusal[1:]
    owner = "the solution" if lacks == "definition" else owner
    hint = f"; did you mean {near}?" if near else "; correct the name, or define it in the solution"
    return f"{where} uses {name}, which {owner} does not define{hint}"


def _remedy(outcome: Fault | WorkerFailure) -> str:
    """Return what to do about a check that looks for a file beside it, else ""."""
    if isinstance(outcome, Fault) and outcome.full_message == "name '__file__' is not defined":
        return "; a check has no file beside it: write its data into the file with the checks"
    return ""


def _reason(outcome: Fault | WorkerFailure) -> str:
    if isinstance(outcome, WorkerFailure):
        return outcome.sentence
    place = f" ({outcome.frames[-1].file}, line {outcome.frames[-1].line})" if outcome.frames else ""
    return f"{outcome.type}: {outcome.full_message}{place}"


ENGINE = Path(__file__).parents[1]
ANEW = "take it out of the kit anew"
Read = TypeVar("Read")


@dataclass(frozen=True)
class Manifest:
    """What a kit was made of: its files by their digests, and the seed and the sizes that its keys are for.

    `parts` has the sizes of the parts that have some of their own.
    """

    seed: int
    sizes: list[dict[str, int]]
    parts: Mapping[str, list[dict[str, int]]]
    files: Mapping[str, str]


def file_digest(data: bytes) -> str:
    """Return the digest of a file of a kit, whatever the ends of its lines have become on the way."""
    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()


def engine_files() -> list[Path]:
    """Return the files of the engine that answer keys depend on."""
    return sorted(files_of_rooms(*MAKES_KEYS))


def read_manifest(root: Path) -> Manifest:
    """Return the manifest of a kit. Raises `EnvironmentProblem`."""
    try:
        data = json.loads(read_plain(root / MANIFEST))
        if problem := KEY.problem_of(data.get("format")):
            raise EnvironmentProblem(problem)
        files = {str(name): str(digest) for name, digest in data["files"].items()}
        parts = {str(part): [dict(column) for column in columns] for part, columns in data.get("parts", {}).items()}
        return Manifest(int(data["seed"]), [dict(column) for column in data["sizes"]], parts, files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise EnvironmentProblem(f"{MANIFEST} cannot be read ({error}); {ANEW}") from error


def open_keys(suite: Suite, **options: Any) -> Keys:
    """Return what finds the answer keys of a suite: in the kit, or by running the solutions. Takes what `Keys` takes.

    Raises `EnvironmentProblem` where the keys of a kit do not fit its checks.
    """
    return (KitKeys if is_kit(suite.course) else Keys)(suite, **options)


class KitKeys(Keys):
    """The answer keys of a kit. Raises `EnvironmentProblem` where they are for another seed, engine, size or check."""

    def __init__(self, suite: Suite, **options: Any) -> None:
        super().__init__(suite, **options)
        self.manifest = read_manifest(suite.course.root)
        self._read_before: dict[str, AnswerKey] = {}
        for problem in _misfits(suite, self.manifest, self.seed, self.device):
            raise EnvironmentProblem(problem)

    def get(
        self,
        exercise: Exercise,
        failures: Failures | None = None,  # noqa: ARG002
        *,
        known: AnswerKey | None = None,  # noqa: ARG002
    ) -> AnswerKey:
        """Return the whole key of an exercise; raises `GraderProblem` where it is missing or damaged."""
        if exercise.id not in self._read_before:
            self._read_before[exercise.id] = self._unpacked(key_file(exercise), from_record)
        return self._read_before[exercise.id]

    def reference(self, exercise: Exercise) -> AnswerKey:
        """Return the key without its catalogue, unless all of it was read."""
        known = self._read_before.get(exercise.id)
        return known if known is not None else self._unpacked(key_file(exercise), reference_from_record)

    def traces(self, exercise: Exercise, check: Check) -> "Mapping[Key, RecordedTrace]":
        """Return what the solution computes on its way, by trial."""
        return self._unpacked(key_file(exercise, check.id), partial(traces_of, check))

    def _unpacked(self, name: str, form: Callable[[Any], Read]) -> Read:
        try:
            packed = read_plain(self.suite.course.root / name)
            if file_digest(packed) != self.manifest.files.get(name):
                raise ValueError("it is not the file that the kit came with")
            return form(protocol.read_frame(BytesIO(lzma.decompress(packed)).read, KEY_LIMITS))
        except (
            OSError,
            protocol.ProtocolError,
            lzma.LZMAError,
            LookupError,
            AttributeError,
            TypeError,
            ValueError,
        ) as error:
            reason = getattr(error, "strerror", None) or error
            raise GraderProblem(f"the answer key {name} cannot be read ({reason}); {ANEW}") from error


def _misfits(suite: Suite, manifest: Manifest, seed: int, device: str) -> Iterable[str]:
    course = suite.course
    if seed != manifest.seed:
        yield (
            f"this kit has answer keys for the seed {manifest.seed} only, not for {seed}: those of another seed are "
            "made from the solutions, which are not part of it; leave --seed out, and the seed in course.toml as it was"
        )
    if device != "cpu":
        yield (
            f"the answer keys of this kit were made on the CPU, and those for {device} are made there from the "
            "solutions, which are not part of it: leave --device out; what is made on a wrong device is found without"
        )
    parts = {part.id: [dict(column) for column in part.sizes] for part in course.parts if part.sizes}
    if ([dict(column) for column in course.sizes], parts) != (manifest.sizes, manifest.parts):
        yield f"[sizes] in course.toml is not what the kit came with, and its answer keys are for that; {ANEW}"
    for exercise in suite.exercises:
        name = f"{course.checks_dir.relative_to(course.root).as_posix()}/test_{exercise.id}.py"
        if file_digest(suite.sources[f"test_{exercise.id}.py"]) != manifest.files.get(name):
            yield f"{name} is not the file that the kit came with, and its answer key is for that one; {ANEW}"
    for file in engine_files():
        name = f"{ENGINE.name}/{file.relative_to(ENGINE).as_posix()}"
        if file_digest(file.read_bytes()) != manifest.files.get(name):
            yield (
                f"{name} of the engine that runs here is not the one that the kit came with, and its answer keys are "
                "for that one; install the kit again: pip install -e ."
            )
