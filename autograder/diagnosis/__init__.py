"""Says why a check failed and where: patterns, fault location, evidence."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
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
    from .judgement import UNEXPLAINED, Diagnosis, Judgement, Location, Trials, Verdict, claim_of, overall
    from .locations import EXERCISE_SECONDS, SUBMISSION_SECONDS, Deadline, decides, place_in
    from .locator import FindTraces, find_locations
    from .named_sizes import Axes
    from .statuses import (
        CheckRequired,
        CourseFileWrong,
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
