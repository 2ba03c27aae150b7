"""ex05: gradients of tensors."""

import numpy as np

from autograder.checks import Raises, check


def array(given, *shape):
    return np.asarray(given.normal(*shape), dtype=np.float64)


def tensors(impl, given, *shapes):
    return [impl.Tensor(array(given, *shape)) for shape in shapes]


def observed(given, output, **leaves):
    """Observe a result, and the gradients of leaves for a random gradient of the result."""
    shape = np.shape(output.data)
    output.backward(array(given, *shape) if shape else None)
    return {"data": output.data, **{f"gradient of {name}": leaf.grad for name, leaf in leaves.items()}}


@check("axes that broadcasting added are summed away", points=3, of="unbroadcast")
def test_added_axes(impl, given):
    B, D, F = given.sizes("B D F")
    return {
        "(B, F) to (F,)": impl.unbroadcast(array(given, B, F), (F,)),
        "(B, D, F) to (F,)": impl.unbroadcast(array(given, B, D, F), (F,)),
        "(B, D, F) to (D, F)": impl.unbroadcast(array(given, B, D, F), (D, F)),
        "(B, F) to (B, F)": impl.unbroadcast(array(given, B, F), (B, F)),
    }


@check("stretched axes are summed, and stay with size 1", points=3, of="unbroadcast")
def test_stretched_axes(impl, given):
    B, D, F = given.sizes("B D F")
    return {
        "(B, F) to (B, 1)": impl.unbroadcast(array(given, B, F), (B, 1)),
        "(B, F) to (1, F)": impl.unbroadcast(array(given, B, F), (1, F)),
        "(B, D, F) to (B, 1, 1)": impl.unbroadcast(array(given, B, D, F), (B, 1, 1)),
        "(B, D, F) to (1, F)": impl.unbroadcast(array(given, B, D, F), (1, F)),
    }


@check("the gradients of a product are right", points=2, of="Tensor")
def test_multiplied(impl, given):
    a, b = tensors(impl, given, *[given.sizes("B F")] * 2)
    (c,), factor = tensors(impl, given, given.sizes("B F")), array(given, *given.sizes("B F"))
    return {"a * b": observed(given, a * b, a=a, b=b), "array * c": observed(given, factor * c, c=c)}


@check("gradients have the shape of their tensor if shapes broadcast", points=4, of="Tensor")
def test_broadcast(impl, given):
    B, D, F = given.sizes("B D F")
    seen = {}
    for name, shapes in {"(B, F) and (F,)": [(B, F), (F,)], "(B, 1) and (D, 1, F)": [(B, 1), (D, 1, F)]}.items():
        a, b = tensors(impl, given, *shapes)
        seen[f"{name}, sum"] = observed(given, a + b, a=a, b=b)
        c, d = tensors(impl, given, *shapes)
        seen[f"{name}, product"] = observed(given, c * d, c=c, d=d)
    return seen


@check("the gradients of a matrix product are right", points=4, of="Tensor")
def test_matrix_product(impl, given):
    B, D, F = given.sizes("B D F")
    a, b = tensors(impl, given, (B, D), (D, F))
    c, d = tensors(impl, given, (D, D), (D, D))  # square: a wrong order raises no error
    return {"a @ b": observed(given, a @ b, a=a, b=b), "square": observed(given, c @ d, c=c, d=d)}


@check("a sum spreads its gradient over what was summed", points=4, of="Tensor")
def test_summed(impl, given):
    B, D, F = given.sizes("B D F")
    seen = {}
    for name, how in {
        "all": {},
        "first axis": {"axis": 0},
        "last axis": {"axis": -1},
        "axis 1, kept": {"axis": 1, "keepdims": True},
    }.items():
        (a,) = tensors(impl, given, (B, D, F))
        seen[name] = observed(given, a.sum(**how), a=a)
    (square,) = tensors(impl, given, (F, F))  # a gradient along the wrong axis would fit
    seen["axis 1 of a square"] = observed(given, square.sum(axis=1), a=square)
    return seen


@check("plain arrays and numbers may stand on either side", points=2, of="Tensor")
def test_plain_arrays(impl, given):
    B, D, F = given.sizes("B D F")
    a, b, c, d, e, f = tensors(impl, given, (B, F), (B, F), (D, F), (B, F), (B, F), (D, B))
    whole = impl.Tensor([given.number(1, 9) for _ in range(F)])
    return {
        "array - a": observed(given, array(given, B, F) - a, a=a),
        "array + b": observed(given, array(given, F) + b, b=b),
        "f @ array": observed(given, f @ array(given, B, F), f=f),
        "array @ c": observed(given, array(given, B, D) @ c, c=c),
        "d / number": observed(given, d / 4.0, d=d),
        "e - array": observed(given, e - array(given, F), e=e),
        "whole numbers": observed(given, -whole * 0.5, whole=whole),
    }


@check("the gradient of exp is right", points=1, of="Tensor")
def test_exp(impl, given):
    (a,) = tensors(impl, given, given.sizes("B F"))
    return observed(given, a.exp(), a=a)


@check("the gradient of the logarithm is right", points=1, of="Tensor")
def test_log(impl, given):
    a = impl.Tensor(np.abs(array(given, *given.sizes("B F"))) + 0.3)
    return observed(given, a.log(), a=a)


@check("relu passes the gradient of positive numbers only", points=2, of="Tensor")
def test_relu(impl, given):
    numbers = array(given, *given.sizes("B F"))
    numbers[0, 0] = 0.0
    a = impl.Tensor(numbers)
    return observed(given, a.relu(), a=a)


@check("a tensor that is used several times gets the sum of its shares", points=4, of="Tensor")
def test_used_twice(impl, given):
    D, F = given.sizes("D F")
    a, b, c = tensors(impl, given, (D, F), (F, D), (F,))
    product = (a + c) @ b
    output = (product * product + product).sum()
    return {**observed(given, output, a=a, b=b, c=c), "gradient inside": product.grad}


@check("several numbers without a gradient are refused", of="Tensor", judge=Raises(), requires_any=("multiplied", "summed", "matrix_product"))
def test_refused(impl, given):
    B, F = given.sizes("B F")
    (a,) = tensors(impl, given, (B, F))
    return given.raises(lambda: (a + 1.0).backward(), B, F)


@check("a second call adds to the gradients of the leaves", points=2, of="Tensor")
def test_second_call(impl, given):
    B, D, F = given.sizes("B D F")
    a, b = tensors(impl, given, (B, D), (D, F))
    shared = a @ b
    first, second = shared.relu().sum(), (shared * shared).sum()
    for output in (first, second):
        output.backward()
    leaf = impl.Tensor(array(given, 1))
    leaf.backward()
    leaf.backward()
    return {"leaves": [a.grad, b.grad], "inside": shared.grad, "a leaf, twice": leaf.grad}


@check("no two tensors share one array", points=2, of="Tensor", requires_any=("multiplied", "broadcast", "used_twice"))
def test_separate(impl, given):
    a, b = tensors(impl, given, *[given.sizes("B F")] * 2)
    (a + b).sum().backward()
    a.grad[...] = 5.0  # as a program does that clears gradients in place
    c = impl.Tensor(numbers := array(given, *given.sizes("B F")))
    numbers[...] = 0.0
    return {"gradient of b": b.grad, "gradient of a": a.grad, "data of c": c.data}
