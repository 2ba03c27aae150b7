"""The results of a submission as data, and as the JSON of a report."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .report import (
        DIGITS,
        KNOWN_AS,
        LARGEST,
        MISSING,
        NOT_JUDGED,
        REFUSED,
        SCHEMA,
        Certainty,
        CheckResult,
        Evidence,
        ExerciseResult,
        Fact,
        Finding,
        FindingKind,
        Flag,
        Maps,
        Picture,
        Place,
        Position,
        PrintOutput,
        Report,
        Status,
        Todo,
        TodoState,
        UnknownFormat,
        element,
        first_failing,
        from_json,
        function_name,
        headline,
        is_integral,
        is_named,
        item,
        joined,
        message,
        one_of,
        opened,
        position,
        read_report,
        sentence,
        span,
        unnamed,
    )

__getattr__ = face(__name__)
