"""Renders results: in the terminal, as plain text, as HTML and as pictures."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .escaping import (
        ASCII,
        NARROWEST,
        UNICODE,
        USUAL,
        Glyphs,
        cells,
        columns_of,
        cut,
        ended,
        folded,
        folds,
        glyphs_for,
        hang_of,
        next_rows,
        one_line,
        padded,
        printable,
        wrapped,
    )
    from .failures import (
        AGREES,
        Command,
        FailureView,
        TodoItem,
        failure_text,
        failure_view,
        print_text,
        todo_items,
        todo_view,
    )
    from .html import (
        DARK,
        LIGHT,
        NAME,
        card,
        exercise_card,
        grid_svg,
        hint_card,
        note_card,
        render,
        style,
        table_card,
        text,
        why_card,
    )
    from .pictures import (
        SECONDARY,
        Page,
        apart,
        beside,
        blocks,
        breadth,
        columns,
        full_blocks,
        indented,
        packed,
        report_console,
        shades,
        show_sentence,
    )
    from .states import (
        COURSE_PROBLEM,
        DECIDED,
        IN_PROGRESS,
        NOT_RUN,
        STATES,
        State,
        check_state,
        checks_pass,
        count_of,
        duration,
        flag_sentences,
        held_sentence,
        kilobytes,
        message_of,
        notes,
        number,
        passing,
        place_of_flag,
        plural,
        points,
        points_of,
        seconds,
        shown_first,
        spoken,
        state_of,
        student,
        why_held,
    )
    from .terminal import (
        WhyPage,
        exercise_sentences,
        render_exercise,
        render_report,
        render_why,
        sentences_of_page,
        summary_sentence,
    )
    from .terminal_failure import (
        evidence_sentences,
        fact,
        lines_of,
        next_sentences,
        render_evidence,
        render_prints,
        show,
    )

__getattr__ = face(__name__)
