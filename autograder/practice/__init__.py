"""TODO"""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .arranging import ARRANGE_FOLDER, read_puzzle, write_puzzle
    from .hunting import (
        HUNT_FOLDER,
        OpenHunt,
        answer,
        draw,
        finds_line,
        finish,
        judge,
        open_hunt,
        programs_for,
        read_repair,
    )
    from .reviewing import (
        LONG_AGO,
        Question,
        ReviewQuestion,
        due_questions,
        next_due,
        question_after,
        rate,
        save_answer,
        to_json,
    )
    from .testing import score_tests, write_template

__getattr__ = face(__name__)
