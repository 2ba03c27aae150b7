"""Says why a check failed and where: patterns, fault location, evidence."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .case import Axes
    from .differences import Trial, of_difference
    from .exceptions import (
        ArgumentUnused,
        AttributeLacking,
        CallForbidden,
        CountReturned,
        MemoryExceeded,
        NoneGiven,
        Raised,
        SignatureWrong,
        StructureWrong,
        of_death,
        of_fault,
    )
    from .findings import Source, finding_of
    from .judgement import (
        EXERCISE_SECONDS,
        SUBMISSION_SECONDS,
        UNEXPLAINED,
        Deadline,
        Diagnosis,
        Judgement,
        Location,
        OutOfTime,
        Trials,
        Verdict,
        claim_of,
        decides,
        overall,
        place_in,
    )
    from .locator import FindTraces, by_value, find_locations
    from .named_sizes import symbols_in
    from .statuses import (
        CheckRequired,
        CourseFileWrong,
        DeviceUnjudged,
        EarlierUnwritten,
        FileMissing,
        FileUnread,
        GraderFailed,
        NothingRead,
        WorkElsewhere,
        advice,
        explained,
        to_write,
    )

__getattr__ = face(__name__)
