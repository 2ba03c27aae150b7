"""What may have been meant by a name that does not exist; the comparison is loaded only where one is wrong."""

from collections.abc import Iterable


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the name most like `name`, if any is like it."""
    from autograder.checks import structure

    return structure.nearest(name, names)
