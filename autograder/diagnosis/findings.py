"""Makes findings: each diagnosis, with the location of the mistake, is put into words once."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from autograder.answer_key import Misconception
from autograder.comparison import ONLY_SOME_SIZES
from autograder.protocol import lines_of
from autograder.results import (
    LARGEST,
    MISSING,
    REFUSED,
    Certainty,
    Fact,
    Finding,
    FindingKind,
    Place,
    headline,
    message,
)
from autograder.submission import Cells

from .exceptions import MORE, EarlierUnwritten, ExitCalled, Raised, SyntaxInvalid, alike, explained, more, named
from .judgement import (
    BESIDE_A_NAME,
    UNEXPLAINED,
    Diagnosis,
    Line,
    Location,
    StepState,
    claim_of,
    deciding_line,
    diverging_line,
    label,
    line_in,
    name_of,
    origin_label,
    place_in,
    within,
)
from .named_sizes import question, reason

CONTEXT = 2
_LONGEST_LINE = 200


@dataclass(frozen=True)
class Source:
    """The student's file of an exercise, its functions, and the cells of each file that was a notebook."""

    file: str
    data: bytes = b""
    functions: frozenset[str] = frozenset()
    cells: Mapping[str, Cells] = field(default_factory=dict)


def finding_of(diagnosis: Diagnosis, source: Source, location: Location | None = None) -> Finding:
    """Put a diagnosis into words, with the place of the mistake; lines of a notebook become those of its cells."""
    if location is not None and location.is_one_of_several:
        diagnosis = replace(diagnosis, is_one_of_several=True)
    known, first = diagnosis.misconception, location.first_mistake if location is not None else None
    is_proved = location is not None and location.certainty is Certainty.SHOWN
    if first is not None and (known is None or (is_proved and first.id != known.id)):
        finding = _named(first, source, None, diagnosis)
    elif known is not None and claim_of(diagnosis, location) is Certainty.SHOWN:
        finding = _named(known, source, _without_chance(diagnosis, location), diagnosis)
    elif known is not None:
        finding = _alike(known, _unnamed(diagnosis, source, location))
    else:
        finding = _unnamed(diagnosis, source, location)
    return _placed(finding, diagnosis, source, location)


def _alike(known: Misconception, unnamed: Finding) -> Finding:
    """Say that the results equal those of a misconception, above what was measured.

    Whether the code has that mistake is not known, so what explains the mistake is left out.
    """
    return replace(
        unnamed,
        kind="convention" if known.convention else "misconception",
        id=known.id,
        name=known.name,
        message=alike(known.name, raised=unnamed.kind == "exception"),
        detail="\n".join(filter(None, (unnamed.message, unnamed.detail))),
        claim=Certainty.ALIKE,
    )


def _named(known: Misconception, source: Source, diagnosis: Diagnosis | None, observed: Diagnosis) -> Finding:
    """Name a misconception; what is wrong with structure or device stands below, and what was raised.

    Without the diagnosis it does not explain everything: the evidence would show the other mistake.
    """
    detail = explained(known.explanation, known.convention)
    if diagnosis is not None and diagnosis.kind in BESIDE_A_NAME:
        detail += f"\n{headline(diagnosis.subject, diagnosis.fact)}"
    if isinstance(observed.fact.data, Raised):
        detail += f"\n{headline('', _in_notebook(observed.fact.data.fact, observed.place, source))}"
    if diagnosis is None or diagnosis.is_one_of_several:
        detail += f"\n{more(known.convention)}"
    kind: FindingKind = "convention" if known.convention else "misconception"
    evidence = diagnosis.evidence if diagnosis is not None else None
    text = named(known.name, source.functions)
    return Finding(kind, known.id, text, known.name, detail, evidence=evidence, claim=Certainty.SHOWN)


def _without_chance(diagnosis: Diagnosis, location: Location | None) -> Diagnosis:
    """Return a diagnosis without the claim of one factor, if the line where the mistake is makes no such factor."""
    divergence = location.divergence if location is not None else None
    if divergence is None or divergence.state is not StepState.UNKNOWN or divergence.factor is not None:
        return diagnosis
    if diagnosis.evidence is None or diagnosis.fact.id != "ratio":
        return diagnosis
    return replace(diagnosis, evidence=replace(diagnosis.evidence, witness_title=LARGEST))


def _unnamed(diagnosis: Diagnosis, source: Source, location: Location | None) -> Finding:
    """Say what is known of a mistake without a name; where that is only its line, say so first."""
    fact = _in_notebook(_with_line(diagnosis, source, location), diagnosis.place, source)
    is_more = diagnosis.is_one_of_several
    then = MORE if is_more and diagnosis.quoted is not None else ""  # a quote is the library's
    number = reason(diagnosis.coefficient) if diagnosis.coefficient is not None else ""
    text, detail = message(diagnosis.subject, fact, number, then), _detail(diagnosis, fact)
    if is_more and not then:
        detail = "\n".join(filter(None, (detail, MORE)))
    is_unexplained = diagnosis.kind == "pattern" and fact.id in UNEXPLAINED
    line = _fact_of_line(location, source) if is_unexplained and location is not None else None
    if line is None:
        at_import = isinstance(fact.data, Raised | ExitCalled) and fact.data.at_import
        return Finding(diagnosis.kind, fact.id, text, None, detail, evidence=diagnosis.evidence, at_import=at_import)
    below = f"{text}\n{detail}" if detail else text
    return Finding("place", line.id, message("", line), None, below, evidence=diagnosis.evidence)


def _fact_of_line(location: Location, source: Source) -> Fact | None:
    """Return what is known of a line alone: that it decides a check, or that the values diverge there."""
    if location.certainty is Certainty.SHOWN:
        return deciding_line(line_in(source.cells, location.place, location.place.line))
    divergence = location.divergence
    if divergence is None or location.is_origin or not divergence.is_unique:
        return None
    return diverging_line(divergence, line_in(source.cells, divergence.place, divergence.place.line))


def _detail(diagnosis: Diagnosis, fact: Fact) -> str | None:
    """Return what stands below the message: the library's words, or a question."""
    if diagnosis.quoted is not None:
        return diagnosis.quoted
    names = diagnosis.coefficient.names if diagnosis.coefficient is not None else ()
    # Beside a name, what a pattern asks leads to another mistake.
    asks = (fact.asks or question(names, diagnosis.words)) if diagnosis.misconception is None else ""
    return " ".join(filter(None, (asks, ONLY_SOME_SIZES if diagnosis.only_some_sizes else ""))) or None


def _with_line(diagnosis: Diagnosis, source: Source, location: Location | None) -> Fact:
    """Return the fact, with the line that raised where another line is shown."""
    fact, before = diagnosis.fact, diagnosis.place
    if location is None or location.divergence is None or location.is_origin or before is None:
        return fact
    place = location.place
    if not isinstance(fact.data, Raised) or (before.file, before.line) == (place.file, place.line):
        return fact
    return replace(fact.data, line=line_in(source.cells, place, before.line)).fact


def _in_notebook(fact: Fact, place: Place | None, source: Source) -> Fact:
    """Return the fact with notebooks in place of the files made of them, and the lines of their cells."""
    match fact.data:
        case Raised(file=str(file)) as data:
            return replace(data, file=name_of(source.cells, file)).fact
        case SyntaxInvalid(file=file, reason=reason) as data if place is not None:
            parts = (line_in(source.cells, place, part.number) if isinstance(part, Line) else part for part in reason)
            return replace(data, file=name_of(source.cells, file), reason=tuple(parts)).fact
        case EarlierUnwritten(file=file, earlier=earlier):
            return EarlierUnwritten(name_of(source.cells, file), name_of(source.cells, earlier)).fact
    if fact.id in REFUSED and source.cells.get(source.file):
        return replace(fact, says=fact.says.replace(source.file, name_of(source.cells, source.file), 1))
    return fact


def _placed(finding: Finding, diagnosis: Diagnosis, source: Source, location: Location | None) -> Finding:
    """Return a finding with the place of the location, else that of the diagnosis, and what is wrong there."""
    place = location.place if location is not None else diagnosis.place
    if place is None:
        return finding
    cells, certainty = source.cells, _certainty(diagnosis, location)
    lines = within(cells, place, excerpt(source.data, place)) if place.file == source.file else ()
    divergence = location.divergence if location is not None else None
    if location is not None and location.adds:
        place = place_in(cells, replace(place, column=None, end=None))
        return replace(finding, place=place, source=lines, label=MISSING[location.adds], certainty=certainty)
    if location is None or divergence is None:
        return replace(finding, place=place_in(cells, place), source=lines, certainty=certainty)
    agreeing = divergence.agreeing
    # Beside the sentence of a known mistake, a value that another line makes too would be a second finding.
    is_second = divergence.state in (StepState.MISUSED, StepState.AGAIN) and diagnosis.misconception is not None
    text = None if is_second else label(divergence)
    place = replace(place, column=None, end=None) if is_second else place
    if location.is_origin and divergence.number is not None:
        agreeing = tuple(line for line in agreeing if line < place.line)
        text = origin_label(divergence.number[0], line_in(cells, place, divergence.place.line), divergence)
    agrees = tuple(line for line, _ in within(cells, place, [(line, "") for line in agreeing]))
    there = place_in(cells, place)
    return replace(finding, place=there, source=lines, label=text, agrees=agrees, certainty=certainty)


def _certainty(diagnosis: Diagnosis, location: Location | None) -> Certainty:
    """Return how sure the place of a finding is.

    Where an unexplained exception was raised is only described: the mistake may be elsewhere. So is the first value
    that the solution lacks, if no mistake is shown: a right program may have values of its own. Where a known mistake
    has no location of its own, its place is likely, and so is one from which the exception comes, on another line.
    """
    if location is None:
        return Certainty.DESCRIBED if diagnosis.misconception is None else Certainty.LIKELY
    divergence = location.divergence
    is_raised = diagnosis.misconception is None and isinstance(diagnosis.fact.data, Raised)
    is_there = diagnosis.place is not None and diagnosis.place.line == location.place.line
    if location.certainty is not Certainty.LIKELY or divergence is None:
        is_elsewhere = is_raised and not is_there and location.certainty is Certainty.ALIKE
        return Certainty.LIKELY if is_elsewhere else location.certainty
    is_own = divergence.state is StepState.UNKNOWN and divergence.factor is None and not location.is_origin
    if is_own and claim_of(diagnosis, location) is not Certainty.SHOWN:
        return Certainty.DESCRIBED
    return Certainty.DESCRIBED if is_raised and is_there else Certainty.LIKELY


def excerpt(source: bytes, place: Place) -> tuple[tuple[int, str], ...]:
    """Return the lines around a place."""
    lines = lines_of(source)
    first, last = max(1, place.line - CONTEXT), min(len(lines), place.line + CONTEXT)
    return tuple((number, lines[number - 1][:_LONGEST_LINE]) for number in range(first, last + 1))
