"""Tools for instructors: grade a class, export grades, look at the class page."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .bulk import Conditions, Rate, conditions_of
    from .class_page import add_misconception, make_class_page, read_submissions
    from .class_run import ClassRun, Interrupted, Outcome, RunOptions
    from .shards import MergeError, accepted_only, changed_ids, handed_in_of, merge, read_shards, refuse_other_run

__getattr__ = face(__name__)
