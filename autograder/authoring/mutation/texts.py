"""Texts of misconceptions that are alike in every exercise, by the operator that makes them."""

from autograder.authoring.naming import Texts
from autograder.checks.standard import HINTS

TEXTS: dict[str, Texts] = {
    "device": (
        "a new tensor is made on the CPU",
        "A new tensor is on the CPU unless you name a device, so the code fails for inputs on an accelerator.",
        HINTS["device"][0],
    ),
    "dtype": (
        "a tensor has a fixed dtype",
        "The result then has another dtype than the input, or loses precision on the way.",
        HINTS["dtypes"][0],
    ),
    "gradient": (
        "the graph of autograd is cut",
        "No gradient flows back through this value, so nothing before it can learn.",
        HINTS["gradients"][0],
    ),
    "in place": (
        "a tensor is changed in place",
        "Everyone who holds this tensor sees the change: the caller, a parameter, or the graph that gradients need.",
        HINTS["inputs_kept"][0],
    ),
}
"""The name, the explanation and the hint. For other operators the author writes them."""
