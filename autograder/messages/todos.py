"""The next function to write in an exercise."""

from autograder.results import Place, Todo

NOTHING_YET = "You have not written anything yet."
PASSES_SO_FAR = "What you have written so far passes."


def line_of(place: Place) -> str:
    """Return the name of a line, in a notebook that of a cell's line."""
    return f"line {place.line}" if place.cell is None else f"cell {place.cell}, line {place.line}"


def to_write(todo: Todo, *, nothing_yet: bool = False, passes: bool = False) -> str:
    """Return what to do about the first TODO that is not complete.

    `nothing_yet` says that no other one is begun, `passes` that all which is written passes.
    """
    line = line_of(todo.place)
    if todo.state == "started":
        return f"{todo.name} has code, and {line} still raises NotImplementedError. Delete that line."
    if todo.state == "empty":
        returns = "" if todo.name.endswith(".__init__") else ", so it returns None"
        return f"{todo.name} has no code yet{returns}. Write it at {line}."
    before = NOTHING_YET if nothing_yet else PASSES_SO_FAR if passes else ""
    verb = "Begin with" if nothing_yet else "Next, write"
    return f"{before} {verb} {todo.name}, {line}.".strip()
