"""Texts of misconceptions that are alike in every exercise, by the operator that makes them."""

from autograder.authoring.naming import Texts
from autograder.checks.standard import HINTS
from autograder.edits.standard import FIXED_AXES, MODE_IGNORED, NOT_TRAINED

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
    FIXED_AXES: (
        "axes are counted from the first one",
        "With another number of axes before the last ones, a fixed number names another axis.",
        HINTS["leading_axes"][0],
    ),
    MODE_IGNORED: (
        "dropout acts in evaluation too",
        "`model.eval()` must turn dropout off. Else the result of a trained model changes from call to call.",
        HINTS["training"][0],
    ),
    NOT_TRAINED: (
        "a parameter or a part is not registered",
        "A tensor or a list of layers that is no parameter or submodule is neither trained nor saved.",
        HINTS["parameters"][0],
    ),
}
"""The name, the explanation and the hint. For other operators the author writes them."""

EXAMPLES = {
    "inputs_kept": "an in-place operation on an input: `x += y`, `x.mul_(2)` or `x[..., 0] = 0`",
    "dtypes": "a fixed dtype: `x.float()`, or a new tensor without `dtype=x.dtype`",
    "device": "a tensor on the CPU: `x.cpu()`, or a new tensor without `device=x.device`",
    "leading_axes": "axes counted from the first one: `dim=1` or `transpose(1, 2)`",
    "training": "dropout in evaluation: `nn.functional.dropout(x, p)`",
    "gradients": "a cut graph: `x.detach()`, `x.data` or `torch.no_grad()`",
    "parameters": "a tensor that is no `nn.Parameter`, or layers in a plain list",
}
"""What an author may write by hand for a kind of standard check, where no small change of the solution fails it."""
