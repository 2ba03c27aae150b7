"""ex03: forward and back, by hand."""

from autograder.checks import step


def graph(impl):
    """Return a, b, c = a * b, and L = c + a after a backward pass."""
    a, b = impl.Value(2), impl.Value(-3)
    c = a * b
    output = c + a
    output.backward()
    return a, b, c, output


@step("c and L", "[-6 -4]")
def step_forward(impl, given):
    return [node.data for node in graph(impl)[2:]]


@step("gradient of c", "1")
def step_inner(impl, given):
    return graph(impl)[2].grad


@step("gradients of a, b", "[-2 2]")
def step_leaves(impl, given):
    return [node.grad for node in graph(impl)[:2]]


@step("tanh(0.5), its slope", "[0.4621 0.7864]")
def step_tanh(impl, given):
    a = impl.Value(0.5)
    result = a.tanh()
    result.backward()
    return [result.data, a.grad]
