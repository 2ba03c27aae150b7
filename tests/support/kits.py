"""The kit of a suite, without a folder and without a search for leaks."""

from collections.abc import Mapping
from typing import Any

from autograder.authoring.release import complete, texts_of
from autograder.course import Suite


def kit_of(suite: Suite, more: Mapping[str, bytes] | None = None, **options: Any) -> dict[str, bytes]:
    """Return the files of a kit by path, with `more` files that its author chose; takes what `complete` takes."""
    return complete(suite, texts_of(suite.course, more), **options)
