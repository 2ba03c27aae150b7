"""ex03: gradients by the chain rule."""

from autograder.checks import check


def numbers(given, count):
    """Return numbers between 0.4 and about 1.6, each with its own digits."""
    return [0.4 + abs(float(number)) * 0.4 for number in given.normal(count)]


def leaves(impl, given, count):
    return [impl.Value(number) for number in numbers(given, count)]


def observed(output, **nodes):
    """Observe a result, and the gradients of nodes after one backward pass."""
    output.backward()
    return {"data": output.data, **{f"gradient of {name}": node.grad for name, node in nodes.items()}}


@check("the gradients of a product are right", points=2, of="Value")
def test_multiplied(impl, given):
    a, b = leaves(impl, given, 2)
    c, (number,) = impl.Value(-numbers(given, 1)[0]), numbers(given, 1)
    return {"a * b": observed(a * b, a=a, b=b), "number * c": observed(number * c, c=c)}


@check("the gradients of a quotient are right", points=2, of="Value")
def test_divided(impl, given):
    a, b = leaves(impl, given, 2)
    c, d = leaves(impl, given, 2)
    (number,) = numbers(given, 1)
    return {
        "a / b": observed(a / b, a=a, b=b),
        "number / c": observed(number / c, c=c),
        "d / number": observed(d / number, d=d),
    }


@check("the gradient of a power is right", points=2, of="Value")
def test_power(impl, given):
    a, b, c = leaves(impl, given, 3)
    return {"a ** 3": observed(a**3, a=a), "b ** -2": observed(b**-2, b=b), "c ** 0.5": observed(c**0.5, c=c)}


@check("the gradient of exp is right", points=1, of="Value")
def test_exp(impl, given):
    a, b = leaves(impl, given, 2)
    minus = impl.Value(-b.data)
    return {"exp(a)": observed(a.exp(), a=a), "exp(-b)": observed(minus.exp(), b=minus)}


@check("the gradient of tanh is right", points=2, of="Value")
def test_tanh(impl, given):
    a, b = leaves(impl, given, 2)
    minus = impl.Value(-b.data)
    return {"tanh(a)": observed(a.tanh(), a=a), "tanh(-b)": observed(minus.tanh(), b=minus)}


@check("relu passes the gradient of positive values only", points=2, of="Value")
def test_relu(impl, given):
    (a, b), minus, zero = leaves(impl, given, 2), impl.Value(-numbers(given, 1)[0]), impl.Value(0)
    return {
        "positive": observed(a.relu() * 3, a=a),
        "negative": observed(minus.relu() + b, a=minus),
        "0": observed(zero.relu() + b, a=zero),
    }


@check("gradients follow the chain rule through several operations", points=3, of="Value")
def test_chain(impl, given):
    a, b, c = leaves(impl, given, 3)
    ab = a * b
    inner = ab + c
    outer = inner.tanh()
    seen = observed(outer**2 * 5, a=a, b=b, c=c)
    return {**seen, "gradient of a * b": ab.grad, "gradient of the sum": inner.grad, "gradient of tanh": outer.grad}


@check("a value that is used several times gets the sum of its shares", points=3, of="Value")
def test_used_twice(impl, given):
    a, b, c, d = leaves(impl, given, 4)
    return {
        "a * a": observed(a * a, a=a),
        "b + b": observed(b + b, b=b),
        "c * d + c": observed(c * d + c, c=c, d=d),
    }


@check("a gradient is passed on when it is complete", points=4, of="Value")
def test_complete(impl, given):
    a, b = leaves(impl, given, 2)
    c = a * b
    d = c + a if given.number(0, 2) else a + c
    e = d * c
    output = (e + d) * d if given.number(0, 2) else d * (d + e)
    return {**observed(output, a=a, b=b), "gradients inside": [node.grad for node in (c, d, e)]}


@check("the gradient of the output is 1, and that of a leaf beside it is 0", points=1, of="Value", requires_any=("chain", "used_twice", "multiplied"))
def test_seed(impl, given):
    a, b = leaves(impl, given, 2)
    unused = impl.Value(numbers(given, 1)[0])
    output = a * b
    output.backward()
    alone = impl.Value(numbers(given, 1)[0])
    alone.backward()
    return {"output": output.grad, "unused leaf": unused.grad, "a leaf as the output": alone.grad}


@check("a second call adds to the gradients of the leaves", points=3, of="Value")
def test_second_call(impl, given):
    a, b = leaves(impl, given, 2)
    shared = a * b
    first, second = shared.tanh(), shared * a
    first.backward()
    after_one = [a.grad, b.grad]
    second.backward()
    return {"after one call": after_one, "after another output": [a.grad, b.grad]}


@check("gradients inside the graph are those of the latest call", points=2, of="Value")
def test_inner_cleared(impl, given):
    a, b = leaves(impl, given, 2)
    shared = a * b
    output = (shared + a).exp()
    for _ in range(2):
        output.backward()
    return {"leaves": [a.grad, b.grad], "inside": [shared.grad, output.grad]}


@check("numbers do not change on the way back", of="Value", requires_any=("chain", "used_twice", "multiplied"))
def test_data_kept(impl, given):
    a, b = leaves(impl, given, 2)
    inner = a * b
    output = inner.tanh() / b + a
    before = [node.data for node in (a, b, inner, output)]
    output.backward()
    return {"before": before, "after": [node.data for node in (a, b, inner, output)]}
