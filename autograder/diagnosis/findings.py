"""Makes findings: each diagnosis, with the location of the mistake, is put into words once."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from autograder.answer_key.model import Misconception
from autograder.diagnosis.cells import line_in, name_of, place_in, within
from autograder.diagnosis.diagnosis import UNEXPLAINED, Diagnosis, Location
from autograder.diagnosis.differences import BESIDE_A_NAME
from autograder.messages import Fact, constants, message, misconceptions
from autograder.messages.exceptions import Raised, SyntaxInvalid
from autograder.messages.locations import Diverges, Line, label, origin_label
from autograder.messages.statuses import EarlierUnwritten
from autograder.protocol.source_text import lines_of
from autograder.results import Finding, Place
from autograder.submission.notebook import Cells

CONTEXT = 2
_LONGEST_LINE = 200

ONLY_SOME_SIZES = "With inputs of other sizes it is right: does a size stand in the code as a number?"


@dataclass(frozen=True)
class Source:
    """The student's file of an exercise, its functions, and the cells of each file that was a notebook."""

    file: str
    data: bytes = b""
    functions: frozenset[str] = frozenset()
    cells: Mapping[str, Cells] = field(default_factory=dict)


def finding_of(diagnosis: Diagnosis, source: Source, location: Location | None = None) -> Finding:
    """Put a diagnosis into words, with the place of the mistake; lines of a notebook become those of its cells."""
    known = diagnosis.misconception
    first_mistake = location.first_mistake if location is not None else None
    if known is not None:
        finding = _named(known, diagnosis, source)
    elif first_mistake is not None:
        detail = f"{first_mistake.explanation}\n{misconceptions.MORE_MISTAKES}"
        name = misconceptions.named(first_mistake.name)
        finding = Finding("misconception", first_mistake.id, name, first_mistake.name, detail)
    else:
        finding = _unnamed(diagnosis, source, location)
    return _placed(finding, diagnosis.place, source, location)


def _named(known: Misconception, diagnosis: Diagnosis, source: Source) -> Finding:
    """Name the misconception; what is wrong with structure or device stands below."""
    detail = known.explanation
    if diagnosis.kind in BESIDE_A_NAME:
        detail += f"\n{message(diagnosis.subject, diagnosis.fact.wording())}"
    name = misconceptions.named(known.name, source.functions)
    return Finding("misconception", known.id, name, known.name, detail, evidence=diagnosis.evidence)


def _unnamed(diagnosis: Diagnosis, source: Source, location: Location | None) -> Finding:
    """Say what is known of a mistake without a name; where that is only its line, say so first."""
    fact = _in_notebook(_with_line(diagnosis, source, location), diagnosis.place, source)
    text = message(diagnosis.subject, fact.wording(), _reason(diagnosis))
    finding = Finding(diagnosis.kind, fact.id, text, None, _detail(diagnosis, fact), evidence=diagnosis.evidence)
    divergence = location.divergence if location is not None and not location.is_origin else None
    if divergence is None or not divergence.certain or diagnosis.kind != "pattern" or fact.id not in UNEXPLAINED:
        return finding
    place = Diverges(divergence, line_in(source.cells, divergence.place, divergence.place.line))
    detail = f"{text}\n{finding.detail}" if finding.detail else text
    return replace(finding, kind="place", id=place.id, message=message("", place.wording()), detail=detail)


def _reason(diagnosis: Diagnosis) -> str:
    return constants.reason(diagnosis.coefficient) if diagnosis.coefficient is not None else ""


def _detail(diagnosis: Diagnosis, fact: Fact) -> str | None:
    """Return what stands below the message: the library's words, or a question."""
    if diagnosis.quoted is not None:
        return diagnosis.quoted
    names = diagnosis.coefficient.names if diagnosis.coefficient is not None else ()
    asks = fact.wording().asks or constants.question(names, diagnosis.words)
    return " ".join(filter(None, (asks, ONLY_SOME_SIZES if diagnosis.only_some_sizes else ""))) or None


def _with_line(diagnosis: Diagnosis, source: Source, location: Location | None) -> Fact:
    """Return the fact, with the line that raised where another line is shown."""
    fact, before = diagnosis.fact, diagnosis.place
    if location is None or location.divergence is None or location.is_origin or before is None:
        return fact
    place = location.place
    if not isinstance(fact, Raised) or (before.file, before.line) == (place.file, place.line):
        return fact
    return replace(fact, line=line_in(source.cells, place, before.line))


def _in_notebook(fact: Fact, place: Place | None, source: Source) -> Fact:
    """Return the fact with notebooks in place of the files made of them, and the lines of their cells."""
    match fact:
        case Raised(file=str(file)):
            return replace(fact, file=name_of(source.cells, file))
        case SyntaxInvalid(file=file, reason=reason) if place is not None:
            parts = (line_in(source.cells, place, part.number) if isinstance(part, Line) else part for part in reason)
            return replace(fact, file=name_of(source.cells, file), reason=tuple(parts))
        case EarlierUnwritten(file=file, earlier=earlier):
            return replace(fact, file=name_of(source.cells, file), earlier=name_of(source.cells, earlier))
    return fact


def _placed(finding: Finding, place: Place | None, source: Source, location: Location | None) -> Finding:
    """Return the finding with its place, the lines around it, and what is wrong there."""
    divergence = location.divergence if location is not None else None
    agrees: tuple[int, ...] = ()
    if location is not None and divergence is not None:
        variable = divergence.number[0] if divergence.number and location.is_origin else None
        text = label(divergence)
        if variable is not None:
            line = line_in(source.cells, location.place, divergence.place.line)
            text = origin_label(variable, line, divergence)
        agrees = tuple(line for line in divergence.agreeing if not location.is_origin or line < location.place.line)
        certain = divergence.certain or location.is_origin
        finding = replace(finding, label=text, certain=certain)
    place = location.place if location is not None else place
    if place is None:
        return finding
    lines = excerpt(source.data, place) if place.file == source.file else ()
    return replace(
        finding,
        place=place_in(source.cells, place),
        source=within(source.cells, place, lines),
        agrees=tuple(line for line, _ in within(source.cells, place, [(line, "") for line in agrees])),
    )


def excerpt(source: bytes, place: Place) -> tuple[tuple[int, str], ...]:
    """Return the lines around a place."""
    lines = lines_of(source)
    first, last = max(1, place.line - CONTEXT), min(len(lines), place.line + CONTEXT)
    return tuple((number, lines[number - 1][:_LONGEST_LINE]) for number in range(first, last + 1))
