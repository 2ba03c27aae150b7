"""What a learner did and may do next: events, hints, the overview, and the check at every save."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .checking import (
        check_submission,
        confinement_warning,
        encouragement,
        exercise_meant,
        exit_status,
        normalize_device,
        pause_advice,
        select_exercises,
        write_json,
    )
    from .events import (
        ALL_AT_ONCE,
        Answer,
        DiaryEntry,
        Event,
        LastReport,
        Progress,
        Standing,
        delete_last,
        digest_of,
        exercise_version,
        keep_brief,
        now,
        read_choices,
        read_diary,
        read_last,
        read_progress,
        record,
        save_events,
        seconds_of,
        write_choices,
        write_in_diary,
    )
    from .next_steps import (
        Command,
        StartHint,
        after_check,
        after_explanation,
        after_hint,
        after_refusal,
        after_start,
        after_submission,
        code_lines,
        edit_command,
        evidence_json,
        failure_texts,
        find_page,
        following_exercise,
        has_changed,
        is_missing,
        lesson_paragraphs,
        may_start,
        missing_sentence,
        move_to,
        moved_on,
        next_todo,
        no_hint_reason,
        own_source,
        read_last_check,
        read_solution,
        read_todos,
        require_attempt,
        start_of_file,
        stub_command,
        take_hint,
        take_start,
        unfinished_exercise,
        way_on,
    )
    from .overview import (
        ExerciseRow,
        ProgressLine,
        count_passed,
        effort,
        first_failure,
        in_order,
        next_command,
        notices,
        overview_json,
        part_sentences,
        parts_written,
        report_json,
        rows_of,
        select_rows,
        summary,
        texts_above,
    )
    from .session import RunCommand, Session
    from .session_screen import BEFORE_EDIT, QUIT, Cockpit, Keyboard, Screen, is_large_enough, keyboard

__getattr__ = face(__name__)
