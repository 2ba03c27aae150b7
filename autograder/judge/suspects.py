"""Where a mistake may be, and what its repair may look like, by what the judge found."""

from collections.abc import Mapping

from autograder.checks import SameInputs
from autograder.diagnosis.diagnosis import Location
from autograder.diagnosis.judgement import Judgement, Verdict
from autograder.edits.guides import Clues
from autograder.protocol.statements import name_hash


def suspected_lines(judgement: Judgement, locations: Mapping[str, Location]) -> list[int]:
    """Return the lines that the diagnoses point to, those of the first failure first."""
    first = judgement.first_failure
    verdicts = sorted(judgement.verdicts, key=lambda verdict: verdict is not first)
    found: list[int] = []
    for verdict in verdicts:
        location, diagnosis = locations.get(verdict.check.id), verdict.diagnosis
        for place in (location.place if location else None, diagnosis.place if diagnosis else None):
            if place is not None and place.file == judgement.exercise.file:
                found.append(place.line)
    survey = judgement.trials.survey if judgement.trials is not None else None
    if not found and first is not None and survey is not None:
        found = list(survey.places.get(first.check.of or "", ()))  # a function, and its returns
        owners = {owner for verdict in verdicts for owner in _owners(verdict)}
        found += [
            line for name, lines in survey.places.items() if name_hash(name.split(".")[0]) in owners for line in lines
        ]
    return list(dict.fromkeys(found))


def _owners(verdict: Verdict) -> tuple[str, ...]:
    """Return the functions and classes that the misconception of a verdict changes, as hashes."""
    known = verdict.diagnosis.misconception if verdict.diagnosis is not None else None
    return known.owners if known is not None else ()


def clues_of(judgement: Judgement) -> Clues:
    """Return the fixes of the misconceptions that explain failures, else those of all, and what is checked first."""
    first = judgement.first_failure
    of = first.check.of if first is not None else None
    writes = first is not None and isinstance(first.check.judge, SameInputs)
    diagnosed = (verdict.diagnosis for verdict in judgement.verdicts if verdict.diagnosis is not None)
    named = {known.id: known.fix for diagnosis in diagnosed if (known := diagnosis.misconception) and known.fix}
    if named:
        return Clues(tuple(named.values()), is_named=True, of=of, writes=writes)
    key = judgement.trials.key if judgement.trials is not None else None
    fixes = tuple(known.fix for known in key.misconceptions if known.fix) if key is not None else ()
    return Clues(fixes, of=of, writes=writes)


def plain_text(source: bytes) -> str:
    """Return the text of a file with line ends as Python counts them; raises UnicodeDecodeError if it is not UTF-8."""
    return source.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
