"""Edits of a program, one node at a time: those that make it wrong, and those that may mend it."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .program import (
        MAKERS,
        Edit,
        Slot,
        Text,
        Variant,
        imported_names,
        is_axis,
        is_text,
        name_of,
        pairs,
        slots,
        variants,
    )
    from .search import LONGEST, Clues, Guides, fix_of, repairs, variables, word_hashes

__getattr__ = face(__name__)
