"""The answer key of an exercise, and its form as a plain value. Only arrays and sketches take NumPy."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from autograder.checks import Key
from autograder.comparison import Expected, is_floating
from autograder.protocol import Array, Opaque, Value, name_hash

if TYPE_CHECKING:
    from autograder.comparison import Sketch


BY_MODE = "training If"
"""A word of code that does another thing in training: a name that knows nothing of it is only half true."""


class Condition(NamedTuple):
    """The words that code must use, and those that it must not use, for a name to be true of it; as hashes."""

    uses: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()

    def using(self, word: str) -> "Condition":
        """Return the condition with one more word that the code must use."""
        return Condition(self.uses | {name_hash(word)}, self.lacks)

    def holds(self, words: Collection[str]) -> bool:
        """Whether code with the words of these hashes may be what the name says."""
        return self.uses <= set(words) and not self.lacks & set(words)


ANY = Condition()
"""The condition that holds for every code."""


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
    outcomes: "Mapping[Key, Sketch | None]"
    marks: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    convention: str = ""
    fix: str = ""
    wording: tuple[str, ...] = ()
    any_exception: bool = False
    condition: Condition = ANY
    stated: Literal["", "words", "result"] = ""
    failing: "Failing | None" = None
    ran: frozenset[str] = frozenset()


class Failing(NamedTuple):
    """The checks that a misconception fails, whatever the seed, and those that it fails under some seeds only."""

    always: frozenset[str] = frozenset()
    sometimes: frozenset[str] = frozenset()

    def widened(self, failed: Collection[str]) -> "Failing":
        """Return what is so after a run under another seed, in which it failed these checks."""
        sometimes = self.sometimes | (self.always ^ frozenset(failed))
        return Failing(self.always - sometimes, sometimes)


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

    def left(self, failures: Failures | None = None) -> dict[str, frozenset[str] | None]:
        """Return the misconceptions to run before these failures, or any, can be named: by id, each with its checks.

        None stands for all checks.
        """
        unfinished = [entry for entry in self.misconceptions if entry.failing is not None]
        if failures is None:
            return {entry.id: None for entry in unfinished}
        wanted = ((entry.id, failures.checks_of(entry) - entry.ran) for entry in unfinished)
        return {id_: checks for id_, checks in wanted if checks}


def to_record(key: AnswerKey) -> Value:
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
    sketches = read_sketches(record["sketches"])
    return AnswerKey(
        reference,
        tuple(
            Misconception(
                entry["id"],
                entry["name"],
                entry["explanation"],
                entry["hint"],
                tuple(entry["same_as"]),
                dict(_outcomes(tuple(reference), sketches, entry)),
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


def _outcomes(
    trials: Sequence[Key], sketches: "Sequence[Sketch | None]", entry: Mapping[str, Any]
) -> "Iterable[tuple[Key, Sketch | None]]":
    for trial, outcome in zip(entry["trials"], entry["outcomes"], strict=True):
        yield trials[trial], sketches[outcome]


def _unfinished(*checks: Iterable[str]) -> "tuple[()] | tuple[Failing, frozenset[str]]":
    if not checks:
        return ()
    always, sometimes, ran = map(frozenset, checks)
    return Failing(always, sometimes), ran


def _form(nominal: Value, exact: Value) -> Value:
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
    if isinstance(nominal, Array) and isinstance(exact, Array) and is_floating(nominal):
        from autograder.comparison import as_array, numbers  # NumPy, which a check that passes does not need

        follows = as_array(numbers(exact), nominal.dtype, exact.device) == nominal
        return Opaque(nominal.dtype) if follows else (nominal,)
    return (nominal,)


def _formed(form: Value, exact: Value) -> Value:
    """Return the nominal observation that `_form` made a form of."""
    match form:
        case None:
            return exact
        case dict():
            return {name: _formed(part, exact[name]) for name, part in form.items()}
        case list():
            return [_formed(*pair) for pair in zip(form, exact, strict=True)]
        case Opaque():
            from autograder.comparison import as_array, numbers  # NumPy, which a check that passes does not need

            return as_array(numbers(exact), form.type_name, exact.device)
    [nominal] = form
    return nominal
