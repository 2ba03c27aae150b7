"""Report a name that does not exist, and suggest the nearest. difflib is imported only for a wrong name."""

from collections.abc import Iterable

from autograder.protocol.visible import visible


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the name most similar to `name`, or None if none is similar."""
    from autograder.checks import structure

    return structure.nearest(name, names)


def suggestion(name: str, names: Iterable[str], otherwise: str) -> str:
    """Return what a name that does not exist probably means; `otherwise` if no name is similar."""
    near = nearest(name, names)
    return f"did you mean {near}?" if near else otherwise


def unknown(what: str, name: str, near: Iterable[str | None] = (), *, more: str = "") -> str:
    """Return the sentences for a name that does not exist: what was probably meant, and `more`."""
    shown = visible(name)
    meant = " or ".join(f"`{word}`" for word in near if word)
    return " ".join(filter(None, (f"There is no {what} `{shown}`.", meant and f"Did you mean {meant}?", more)))
