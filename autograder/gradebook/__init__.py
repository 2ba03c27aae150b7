"""What is decided about a class: roster, policy, decisions, and the marks of what was graded."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .decisions import (
        EVERYBODY,
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
        read_times,
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
        effect_of,
        grading_course,
        grading_seed,
        handed_in_at,
        is_term,
        misconceptions_in,
        of_class,
        read_graded,
        read_term,
        students_with,
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
        with_checks,
        with_points,
        write_file,
        write_stored,
    )
    from .policy import (
        Final,
        Policy,
        can_earn,
        deadline,
        due_date,
        final_of,
        missing,
        policy_of,
        times_to_look_at,
        without_effect,
    )
    from .roster import (
        ROSTER_FILE,
        GroupHandIns,
        Roster,
        Student,
        as_csv,
        csv_text,
        find_roster,
        for_groups,
        named,
        read_roster,
        roster_file,
    )
    from .scores import Marks, changed_marks, harmless, marks_of, plain, read_scores, scores_csv

__getattr__ = face(__name__)
