"""Standard checks: what almost every part must hold, whatever it computes, with hints that fit them all.

    LAYER = standard_checks(of="Layer", make=layer_and_input)

    test_inputs_kept = LAYER.inputs_kept()
    test_device = LAYER.device(points=2, requires_any=("values",))

`make(impl, given, dtype)` returns what is called, a function or a module, and its inputs by name. Each method returns
a probe for a name `test_ID`; all options of `@check` can be given. Hints of the exercise replace the default ones.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .language import PREFIX, Check, Dropout, Like, Probe, Same, SameInputs, check

Make = Callable[[Any, Any, str], tuple[Any, Mapping[str, Any]]]
"""A function `(impl, given, dtype)` that returns what is called, and its inputs by name."""

DTYPES = ("float64", "bfloat16", "float16")

SLOPE = "slope along the parameters"
"""One number that depends on every gradient. Other checks judge its value."""

HINTS = {
    "inputs_kept": (
        "Which of your lines write into a tensor that the caller handed to you?",
        "A caller may use an input again after the call, so a function must leave its inputs as they are.",
        "Replace `x += y` and calls that end with `_` by ones that make a new tensor, such as `x = x + y`.",
    ),
    "dtypes": (
        "Which tensors do you make yourself, and what dtype do they have?",
        "The result takes the dtype of the input. A tensor of another dtype changes it, or raises an error.",
        "Make new tensors with `dtype=x.dtype`, or cast them with `.to(x.dtype)` before you combine them.",
    ),
    "device": (
        "On which device is each tensor that you make yourself?",
        "Tensors that are used together must be on one device. A new tensor is on the CPU unless you name another.",
        "Pass `device=x.device` to each call that makes a tensor, or keep a constant with `register_buffer`.",
    ),
    "leading_axes": (
        "How do you count the axes: from the first one, or from the last one?",
        "The part works on the last axes. Any number of other axes may come before them.",
        "Use negative axes such as `dim=-1`, and `x.size(-1)` in place of names for all sizes of the shape.",
    ),
    "training": (
        "In which mode, training or evaluation, does your module drop elements?",
        "`model.train()` and `model.eval()` switch every submodule, so dropout must be a registered `nn.Dropout`.",
        "Create `nn.Dropout` with the given rate in `__init__`, and call it in `forward`.",
    ),
    "gradients": (
        "Does any of your lines leave the graph that autograd records?",
        "A gradient flows only through operations that autograd knows, from the result back to each input.",
        "Remove `.detach()`, `.data`, `.item()` and `torch.no_grad()` between the inputs and the result.",
    ),
    "parameters": (
        "Which numbers should your module train, and are all of them registered?",
        "A module trains the `nn.Parameter`s and submodules that are its attributes. Buffers are not trained.",
        "Assign each parameter or layer to `self` in `__init__`, use all of them in `forward`, and no others.",
    ),
}
"""The hints of each kind of check: a question, the principle, the step."""


@dataclass(frozen=True)
class StandardChecks:
    """The standard checks of one function or class. Each method declares one check, under its own name or `id`."""

    of: str
    make: Make

    def inputs_kept(self, *, title: str = "the inputs are not modified", **options: Any) -> Probe:
        """Observe the inputs after the call."""

        def probe(impl: Any, given: Any) -> Any:
            call, inputs = self._made(impl, given, "float32")
            call(*inputs.values())
            return {f"{name} after the call": value for name, value in inputs.items()}

        return self._declared("inputs_kept", title, probe, {"judge": SameInputs(), **options})

    def dtypes(
        self,
        *,
        title: str = "float64, bfloat16 and float16 inputs keep their dtype",
        dtypes: Sequence[str] = DTYPES,
        features: int | None = None,
        **options: Any,
    ) -> Probe:
        """Observe the result for several dtypes; `features` is how many numbers of the last axis are compared."""

        def probe(impl: Any, given: Any) -> Any:
            return {dtype: _first(_called(*self._made(impl, given, dtype)), features) for dtype in dtypes}

        return self._declared("dtypes", title, probe, {"judge": Like(), **options})

    def device(
        self, *, title: str = "new tensors are on the device of the input", features: int | None = None, **options: Any
    ) -> Probe:
        """Observe the result on another device beside the one on the CPU, and the gradients of the parameters."""

        def probe(impl: Any, given: Any) -> Any:
            call, inputs = self._made(impl, given, "float32")
            parameters = getattr(call, "parameters", None)

            def run(device: Any) -> Any:
                there = call if parameters is None else call.to(device)
                return there(*(value.clone().to(device) for value in inputs.values()))

            here = run("cpu")  # a tensor kept from this call must not be used on the other device
            with given.another_device() as device:
                there = run(device)
                seen = {"output": [_first(there, features), _first(here, features)]}
                return seen if parameters is None else {**seen, SLOPE: given.slope(there, *parameters())}

        # Another device adds up in another order, and a gradient adds up the whole batch.
        judge = Like(tolerance=1e-4, free=(SLOPE,))
        return self._declared("device", title, probe, {"trials": 1, "judge": judge, **options})

    def leading_axes(
        self, *, title: str = "the inputs may have any number of axes before the last two", **options: Any
    ) -> Probe:
        """Observe the result without the first axis of all inputs, and with one more."""

        def probe(impl: Any, given: Any) -> Any:
            call, inputs = self._made(impl, given, "float32")
            return {
                "one axis fewer": call(*(value[0].clone() for value in inputs.values())),
                "one axis more": call(*(value[None].clone() for value in inputs.values())),
            }

        return self._declared("leading_axes", title, probe, options)

    def training(self, rate: float, *, title: str = "dropout acts only in training", **options: Any) -> Probe:
        """Observe the result of a module in both modes, for a dropout of this rate on the result."""

        def probe(impl: Any, given: Any) -> Any:
            module, inputs = self._made(impl, given, "float32")
            return {"eval": _called(module.eval(), inputs), "train": _called(module.train(), inputs)}

        return self._declared("training", title, probe, {"judge": Dropout(rate), **options})

    def gradients(self, *, title: str = "the gradients of the inputs are right", **options: Any) -> Probe:
        """Observe the gradients of all inputs of floating-point numbers."""

        def probe(impl: Any, given: Any) -> Any:
            call, inputs = self._made(impl, given, "float32")
            leaves = {name: x.requires_grad_() for name, x in inputs.items() if x.is_floating_point()}
            result = call(*(leaves[name].clone() if name in leaves else x for name, x in inputs.items()))
            found = given.gradients(result, *leaves.values())
            return {f"gradient of the {name}": gradient for name, gradient in zip(leaves, found, strict=True)}

        # Gradients add up the whole batch, so they round more than outputs.
        return self._declared("gradients", title, probe, {"judge": Same(tolerance=1e-4), **options})

    def parameters(self, *, title: str = "all parameters are trained and used", **options: Any) -> Probe:
        """Observe how many numbers a module trains, how many get a gradient, and how many its state has."""

        def probe(impl: Any, given: Any) -> Any:
            module, inputs = self._made(impl, given, "float32")
            trained = [weight for weight in module.parameters() if weight.requires_grad]
            found = given.gradients(_called(module, inputs), *trained)
            reached = sum(one.numel() for one, gradient in zip(trained, found, strict=True) if gradient is not None)
            saved = sum(value.numel() for value in module.state_dict().values())
            return {
                **given.trainable(module),
                "numbers that a gradient reaches": reached,
                "numbers in the state": saved,
            }

        return self._declared("parameters", title, probe, options)

    def _made(self, impl: Any, given: Any, dtype: str) -> tuple[Any, Mapping[str, Any]]:
        """Return what is called, and its inputs. Raises TypeError if `make` returns something else."""
        made = self.make(impl, given, dtype)
        parts: Sequence[Any] = made if isinstance(made, tuple | list) else [made]
        if len(parts) == 2 and isinstance(parts[1], Mapping):
            return parts[0], parts[1]
        found = " and ".join(type(part).__name__ for part in parts)
        raise TypeError(
            f"make of the standard checks of {self.of} returns {found}, expected what is called and a dict of "
            f'its inputs, like `return impl.{self.of}, {{"x": x}}`'
        )

    def _declared(self, kind: str, title: str, probe: Probe, given: Mapping[str, Any]) -> Probe:
        options = {"of": self.of, **given}
        frame = sys._getframe(2)  # of the file with the checks, which called the method of this kind
        probe.__name__ = f"{PREFIX}{options.pop('id', kind)}"
        probe.__names__ = frame.f_globals  # type: ignore[attr-defined]
        declared: Check = check(title, **options)(probe).__check__  # type: ignore[attr-defined]
        mine = replace(declared, hints=HINTS[kind], kind=kind, line=frame.f_lineno)
        probe.__check__ = mine  # type: ignore[attr-defined]
        return probe


def standard_checks(*, of: str, make: Make) -> StandardChecks:
    """Return the standard checks of the function or class `of`; `make` returns what is called, and its inputs."""
    return StandardChecks(of, make)


def _first(result: Any, features: int | None) -> Any:
    """Return the first numbers of the last axis, or the whole result, which may have no axes then."""
    return result if features is None else result[..., :features]


def _called(call: Any, inputs: Mapping[str, Any]) -> Any:
    """Call with copies of the inputs: one check alone judges writes into them."""
    return call(*(value.clone() for value in inputs.values()))
