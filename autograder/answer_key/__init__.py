"""The answer key: made from the solutions, or read from a released kit."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .catalogue import (
        CatalogueError,
        WrongProgram,
        patched,
        programs_of,
        read_catalogue,
        read_ported,
        unknown_names,
    )
    from .key import BY_MODE, AnswerKey, Failures, Misconception, to_record
    from .keys import ENGINE, Keys, Outcomes, file_digest, open_keys, read_manifest
    from .patches import lacking

__getattr__ = face(__name__)
