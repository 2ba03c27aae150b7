"""The results of a submission as data, and as the JSON of a report."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .report import (
        KNOWN_AS,
        NOT_JUDGED,
        SCHEMA,
        Certainty,
        CheckResult,
        Evidence,
        ExerciseResult,
        Finding,
        FindingKind,
        Flag,
        Maps,
        Picture,
        Place,
        PrintOutput,
        Report,
        Status,
        Todo,
        TodoState,
        UnknownFormat,
        first_failing,
        from_json,
        read_report,
    )
    from .wording import (
        DIGITS,
        LARGEST,
        Fact,
        Position,
        Wording,
        element,
        headline,
        is_integral,
        is_named,
        item,
        joined,
        message,
        one_of,
        opened,
        position,
        sentence,
        span,
        unnamed,
    )

__getattr__ = face(__name__)
