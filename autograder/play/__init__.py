"""TODO"""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .process import PlaySettings, find_activity, in_words, launch, reason, require_writable, required_exercises
    from .stage import CheckpointError, Row, Stage, rng_states, set_rng_states

__getattr__ = face(__name__)
