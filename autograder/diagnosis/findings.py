"""Makes findings: each diagnosis, with the location of the mistake, is put into words once."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from autograder.answer_key import Misconception
from autograder.comparison import ONLY_SOME_SIZES
from autograder.protocol import lines_of
from autograder.results import LARGEST, Evidence, Fact, Finding, FindingKind, Place, headline, message
from autograder.submission import Cells

from .exceptions import Raised, StructureWrong, SyntaxInvalid
from .judgement import BESIDE_A_NAME, UNEXPLAINED, Diagnosis, Location
from .locations import Decides, Diverges, Line, State, label, line_in, name_of, origin_label, place_in, within
from .named_sizes import question, reason
from .statuses import MORE, EarlierUnwritten, explained, more, named

CONTEXT = 2
_LONGEST_LINE = 200


@dataclass(frozen=True)
class Source:
    """The student's file of an exercise, its functions, and the cells of each file that was a notebook."""

    file: str
    data: bytes = b""
    functions: frozenset[str] = frozenset()
    cells: Mapping[str, Cells] = field(default_factory=dict)


@dataclass(frozen=True)
class _Text:
    """What a finding says."""

    kind: FindingKind
    id: str
    message: str
    name: str | None
    detail: str | None
    evidence: Evidence | None


@dataclass(frozen=True)
class _Site:
    """Where a finding points, with the lines around it, and what it says of them."""

    place: Place | None
    lines: tuple[tuple[int, str], ...] = ()
    label: str | None = None
    agrees: tuple[int, ...] = ()
    certain: bool = True
    proved: bool = False


def finding_of(diagnosis: Diagnosis, source: Source, location: Location | None = None) -> Finding:
    """Put a diagnosis into words, with the place of the mistake; lines of a notebook become those of its cells."""
    diagnosis = replace(diagnosis, more=diagnosis.more or (location is not None and location.is_one_of_several))
    first = location.first_mistake if location is not None and location.proved else None
    named = diagnosis.misconception.id if diagnosis.misconception is not None else None
    if first is not None and first.id != named:
        text = _first_of_several(first, source)
    elif diagnosis.misconception is not None:
        text = _named(diagnosis.misconception, _without_chance(diagnosis, location), source)
    elif location is not None and location.first_mistake is not None:
        text = _first_of_several(location.first_mistake, source)
    else:
        text = _unnamed(diagnosis, source, location)
    site = _site(diagnosis, source, location)
    return Finding(
        text.kind,
        text.id,
        text.message,
        text.name,
        text.detail,
        site.place,
        site.lines,
        text.evidence,
        site.label,
        site.agrees,
        site.certain,
        site.proved,
    )


def _named(known: Misconception, diagnosis: Diagnosis, source: Source) -> _Text:
    """Name the misconception; what is wrong with structure or device stands below."""
    detail = explained(known.explanation, known.convention)
    if diagnosis.kind in BESIDE_A_NAME:
        detail += f"\n{headline(diagnosis.subject, diagnosis.fact.wording())}"
    if diagnosis.more:
        detail += f"\n{more(known.convention)}"
    name = named(known.name, source.functions)
    return _Text(_kind(known), known.id, name, known.name, detail, diagnosis.evidence)


def _kind(known: Misconception) -> FindingKind:
    return "convention" if known.convention else "misconception"


def _without_chance(diagnosis: Diagnosis, location: Location | None) -> Diagnosis:
    """Return a diagnosis without the claim of one factor, if the line where the mistake is makes no such factor."""
    divergence = location.divergence if location is not None else None
    if divergence is None or divergence.state is not State.UNKNOWN or divergence.factor is not None:
        return diagnosis
    if diagnosis.evidence is None:
        return diagnosis
    from .values import Scaled  # NumPy, which a check that passes does not load

    if not isinstance(diagnosis.fact, Scaled):
        return diagnosis
    return replace(diagnosis, evidence=replace(diagnosis.evidence, witness_title=LARGEST))


def _first_of_several(known: Misconception, source: Source) -> _Text:
    """Name a misconception that does not explain everything; the evidence would show the other mistake."""
    explanation = explained(known.explanation, known.convention)
    detail = f"{explanation}\n{more(known.convention)}"
    name = named(known.name, source.functions)
    return _Text(_kind(known), known.id, name, known.name, detail, None)


def _unnamed(diagnosis: Diagnosis, source: Source, location: Location | None) -> _Text:
    """Say what is known of a mistake without a name; where that is only its line, say so first."""
    fact = _in_notebook(_with_line(diagnosis, source, location), diagnosis.place, source)
    more = MORE if diagnosis.more and diagnosis.quoted is not None else ""  # a quote is the library's
    text, detail = message(diagnosis.subject, fact.wording(), _reason(diagnosis), more), _detail(diagnosis, fact)
    if diagnosis.more and not more:
        detail = "\n".join(filter(None, (detail, MORE)))
    is_unexplained = diagnosis.kind == "pattern" and fact.id in UNEXPLAINED
    if is_unexplained and location is not None and location.proved:
        decides = Decides(line_in(source.cells, location.place, location.place.line))
        below = f"{text}\n{detail}" if detail else text
        return _Text("place", decides.id, message("", decides.wording()), None, below, diagnosis.evidence)
    divergence = location.divergence if location is not None and not location.is_origin else None
    if divergence is None or not divergence.certain or diagnosis.kind != "pattern" or fact.id not in UNEXPLAINED:
        return _Text(diagnosis.kind, fact.id, text, None, detail, diagnosis.evidence)
    diverges = Diverges(divergence, line_in(source.cells, divergence.place, divergence.place.line))
    below = f"{text}\n{detail}" if detail else text
    return _Text("place", diverges.id, message("", diverges.wording()), None, below, diagnosis.evidence)


def _reason(diagnosis: Diagnosis) -> str:
    return reason(diagnosis.coefficient) if diagnosis.coefficient is not None else ""


def _detail(diagnosis: Diagnosis, fact: Fact) -> str | None:
    """Return what stands below the message: the library's words, or a question."""
    if diagnosis.quoted is not None:
        return diagnosis.quoted
    names = diagnosis.coefficient.names if diagnosis.coefficient is not None else ()
    asks = fact.wording().asks or question(names, diagnosis.words)
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
        case StructureWrong(reason=reason) if source.cells.get(source.file):
            return replace(fact, reason=reason.replace(source.file, name_of(source.cells, source.file), 1))
        case EarlierUnwritten(file=file, earlier=earlier):
            return replace(fact, file=name_of(source.cells, file), earlier=name_of(source.cells, earlier))
    return fact


def _site(diagnosis: Diagnosis, source: Source, location: Location | None) -> _Site:
    """Return the place of the location, else that of the diagnosis, and what is wrong there.

    Only a proof, a statement of a misconception, and the line where an unexplained exception was raised are certain.
    """
    place = location.place if location is not None else diagnosis.place
    if place is None:
        return _Site(None)
    cells = source.cells
    lines = within(cells, place, excerpt(source.data, place)) if place.file == source.file else ()
    divergence = location.divergence if location is not None else None
    proved = location is not None and location.proved
    if location is None or divergence is None:
        certain = diagnosis.misconception is None if location is None else proved or location.is_known
        return _Site(place_in(cells, place), lines, certain=certain, proved=proved)
    agreeing = divergence.agreeing
    # Beside the sentence of a known mistake, a value that another line makes too would be a second finding.
    is_second = divergence.state is State.MISUSED and diagnosis.misconception is not None
    text = None if is_second else label(divergence)
    place = replace(place, column=None, end=None) if is_second else place
    if location.is_origin and divergence.number is not None:
        agreeing = tuple(line for line in agreeing if line < place.line)
        text = origin_label(divergence.number[0], line_in(cells, place, divergence.place.line), divergence)
    agrees = tuple(line for line, _ in within(cells, place, [(line, "") for line in agreeing]))
    certain = proved or (diagnosis.misconception is None and _raised_at(diagnosis, place))
    return _Site(place_in(cells, place), lines, text, agrees, certain, proved)


def _raised_at(diagnosis: Diagnosis, place: Place) -> bool:
    there = diagnosis.place
    return isinstance(diagnosis.fact, Raised) and there is not None and there.line == place.line


def excerpt(source: bytes, place: Place) -> tuple[tuple[int, str], ...]:
    """Return the lines around a place."""
    lines = lines_of(source)
    first, last = max(1, place.line - CONTEXT), min(len(lines), place.line + CONTEXT)
    return tuple((number, lines[number - 1][:_LONGEST_LINE]) for number in range(first, last + 1))
