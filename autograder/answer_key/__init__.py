"""The answer key: made from the solutions, or read from a released kit."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .catalogue import (
        BY_MODE,
        CatalogueError,
        WrongProgram,
        lacking,
        patched,
        read_catalogue,
        read_ported,
        unknown_names,
    )
    from .keys import (
        ENGINE,
        AnswerKey,
        Failures,
        Keys,
        Misconception,
        Outcomes,
        file_digest,
        open_keys,
        read_manifest,
        to_record,
    )

__getattr__ = face(__name__)
