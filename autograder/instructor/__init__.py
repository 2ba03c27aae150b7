"""Tools for instructors: grade a class, export grades, look at the class page."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .bulk import Conditions, Rate, conditions_of
    from .class_page import add_misconception, make_class_page, read_submissions
    from .class_run import ClassRun, Interrupted, Outcome, RunOptions
    from .decisions import (
        FILE,
        FOLDER,
        NBGRADER,
        WHOLE,
        Adjustment,
        Adjustments,
        Decision,
        accept,
        adjustment,
        append,
        author,
        decisions_that_hold,
        merged,
        now,
        read_accepted,
        read_adjustments,
        withdraw,
    )
    from .graded import (
        Exporter,
        ExportError,
        Graded,
        Mark,
        choose_students,
        chosen_facts,
        course_of,
        course_of_run,
        grading_course,
        grading_seed,
        handed_in_at,
        is_term,
        of_class,
        read_graded,
        read_term,
        term_csv,
    )
    from .out import Busy, Out, Shard, read_shard, read_stored
    from .policy import (
        BY_HAND,
        CHECKS,
        Policy,
        can_earn,
        deadline,
        final_of,
        missing,
        policy_of,
        times_to_look_at,
        without_effect,
    )
    from .roster import ROSTER_FILE, Roster, Student, csv_text, named, read_roster
    from .scores import Marks, changed_marks, harmless, marks_of, scores_csv
    from .shards import MergeError, accepted_only, changed_ids, handed_in_of, merge, read_shards, refuse_other_run

__getattr__ = face(__name__)
