"""Says why a check failed and where: patterns, fault location, evidence."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .case import Axes
    from .differences import Trial, of_difference
    from .divergence import first_divergence
    from .exceptions import (
        NOTHING_READ,
        UNJUDGED_DEVICE,
        EarlierUnwritten,
        exceeded_memory,
        explained,
        failed_grader,
        forbidden_call,
        missing_file,
        of_death,
        of_fault,
        required_checks,
        to_write,
        unread_file,
        unused_argument,
        work_elsewhere,
        wrong_course_file,
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
        decides,
        place_in,
    )
    from .locator import FindTraces, find_locations
    from .named_sizes import symbols_in

__getattr__ = face(__name__)
