"""The imports that programs of learners often lack, by the name that Python then does not know."""

import importlib
import re
from collections.abc import Collection, Mapping

_MODULES: Mapping[str, str] = {
    "F": "import torch.nn.functional as F",
    "nn": "from torch import nn",
    "np": "import numpy as np",
    "numpy": "import numpy",
    "optim": "from torch import optim",
    "plt": "import matplotlib.pyplot as plt",
    "torch": "import torch",
}
_STANDARD = frozenset(
    [
        *("bisect", "collections", "copy", "csv", "datetime", "functools", "heapq", "inspect", "io", "itertools"),
        *("json", "math", "operator", "os", "pathlib", "random", "re", "statistics", "string", "struct", "sys"),
        *("time", "typing", "unicodedata", "warnings"),
    ]
)
_NAMES: Mapping[str, str] = {
    "torch": "Tensor",
    "torch.nn": "Embedding Linear Module ModuleList Parameter Sequential",
    "typing": "Any Dict Final List Literal NamedTuple Optional Set Tuple TypeVar Union",
    "collections.abc": "Callable Iterable Iterator Mapping Sequence",
    "collections": "Counter OrderedDict defaultdict deque namedtuple",
    "dataclasses": "dataclass",
    "functools": "lru_cache partial reduce",
    "math": "ceil floor inf pi sqrt",
    "pathlib": "Path",
}
_BY_NAME = {name: f"from {module} import {name}" for module, names in _NAMES.items() for name in names.split()}


def import_of(name: str, line: str, libraries: Collection[str]) -> str | None:
    """Return the import that a line lacks which reads an unknown name, if it reads it as one that is well known.

    `libraries` are those that programs of the course use. A module is read before a dot, so a variable is none.
    """
    found = _BY_NAME.get(name)
    read = re.findall(rf"(?<![\w.]){re.escape(name)}\.(\w+)", line)
    if name in _MODULES and read:
        found = _MODULES[name]
    elif name in _STANDARD and any(hasattr(importlib.import_module(name), attribute) for attribute in read):
        found = f"import {name}"
    needs_torch = found is not None and found.split()[1].split(".")[0] == "torch"
    return None if needs_torch and "torch" not in libraries else found
