"""Tools for course authors: stubs, notebooks, releases, and the proof that a course is consistent."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .naming import append_entry, entry_of, patches_of
    from .release import MOST_KEY_BYTES, examine_kit, known_sizes, of_budget
    from .styles import digest_of_programs, make_hunts, make_one

__getattr__ = face(__name__)
