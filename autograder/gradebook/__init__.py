"""What is decided about a class: roster, policy, decisions, and the marks of what was graded."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .decisions import (
        FILE,
        FOLDER,
        KINDS,
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
        GradedSubmissions,
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
        read_submissions,
        read_term,
        term_csv,
    )
    from .out import (
        ACCEPTED,
        Busy,
        Out,
        Row,
        Shard,
        Stored,
        before,
        read_run,
        read_shard,
        read_stored,
        row_of,
        stamp_of,
        state_of,
        stored_in,
        with_points,
        write_file,
        write_stored,
    )
    from .policy import (
        Final,
        Policy,
        can_earn,
        deadline,
        final_of,
        missing,
        policy_of,
        times_to_look_at,
        without_effect,
    )
    from .roster import ROSTER_FILE, Roster, Student, as_csv, csv_text, named, read_roster
    from .scores import Marks, changed_marks, harmless, marks_of, plain, read_scores, scores_csv

__getattr__ = face(__name__)
