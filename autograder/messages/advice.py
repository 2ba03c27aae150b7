"""Advice on a failure for which an exercise has no hints: what to look at, by what happened."""

import re
from collections.abc import Mapping

_BY_STATUS: Mapping[str, str] = {
    "timeout": "A `while` needs a line that ends it. One call on a tensor is faster than a loop over its elements.",
    "memory": "Look for a tensor with an axis too many, or for a list that grows in a loop.",
}
_BY_ID: Mapping[str, str] = {
    "IndentationError": "Compare the spaces at the beginning of that line with those of the lines around it.",
    "TabError": "Indent every line with spaces only, as the stub does.",
    "ModuleNotFoundError": "Check the spelling of the name behind `import`. The imports of the stub are enough.",
    "ImportError": "Check the spelling of the names behind `import`. The imports of the stub are enough.",
    "NameError": "Python does not know that name. Compare its spelling with the line that assigns or imports it.",
    "UnboundLocalError": "That name has no value yet when the line runs. Assign it before, in every case.",
    "AttributeError": "Check the spelling of that name, and what kind of object stands before its dot.",
    "misspelt_attribute": "Compare the spelling of that name with the line that sets it.",
    "unset_attribute": "Give it a value in `__init__`, with `self.` before its name.",
    "set_without_self": "Write `self.` before that name in `__init__`: a name without it is gone when `__init__` ends.",
    "self_not_taken": "Python passes the object as the first argument of a method. By custom its name is `self`.",
    "not_imported": "A file knows only the modules and names that it imports itself.",
    "without_self": "Write `self.` before that name: what belongs to an object is reached through it.",
    "returns_nothing": "Let that function end with `return` and its result. Without one it gives None.",
    "type": "Read the type behind `->` in the stub. Make an object of that type from your values, and return it.",
    "count": "Read what the stub returns, and in which order. Your `return` needs the same values.",
    "SystemExit": "Remove that call: a function ends with `return`.",
}
_OF_CAUSES = ("misspelt_attribute", "unset_attribute", "without_self", "set_without_self", "returns_nothing")
_BRACKETS = re.compile(r"closed|unmatched|unterminated|does not match|expected|invalid syntax|EOF|comma")
"""Python's words where a bracket, a quote or a colon is missing or too many."""

_OF_BRACKETS = "Look for a bracket, a quote or a colon that is missing or too many, there or in the line above."
_OF_SYNTAX = "Python cannot read that line, and ran nothing of your file. Compare it with the stub."
_BY_TEXT: Mapping[str, str] = {
    "before Module.__init__() call": "Begin `__init__` with `super().__init__()`, with its brackets.",
    "Boolean value of Tensor": "Write `a & b` for two masks: `a and b` asks for one truth value.",
    "view size is not compatible": "Write `reshape` in place of `view`: it copies the numbers where it has to.",
    "'NoneType'": "A function without `return` gives None. Find out where that value comes from.",
}
"""By a part of the library's own text."""

_OF_EXCEPTION = "Print the shapes of what stands in that line. The next check shows what your code prints."
_OF_A_CALL = "Write that part yourself, with the operations of the lesson."
_OF_STRUCTURE = "Compare names and sizes with those in the stub. An attribute needs `self.` before its name."
_OTHERWISE = "Change just that, and check again."


def advice(status: str, kind: str, id_: str, message: str, quoted: str = "") -> str:
    """Return what to look at, for a check with this status and a finding of this kind, which says `message`.

    `quoted` is the text of the library that raised an exception.
    """
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if id_ == "SyntaxError" and "write `from " in message:
        return "Behind `import` stand names without a dot. What is before the dot belongs behind `from`."
    if id_ == "SyntaxError":
        return _OF_BRACKETS if _BRACKETS.search(message) else _OF_SYNTAX
    if kind == "exception":
        of_text = (step for part, step in _BY_TEXT.items() if part in quoted and id_ not in _OF_CAUSES)
        return next(of_text, _BY_ID.get(id_, _OF_EXCEPTION))
    if kind == "structure" and id_ in _BY_ID:
        return _BY_ID[id_]
    return {"forbidden": _OF_A_CALL, "structure": _OF_STRUCTURE}.get(kind, _OTHERWISE)
