"""ex02: a graph of five values."""

from autograder.checks import step


def graph(impl):
    """Return a, b, a * b, and a * b + a."""
    a, b = impl.Value(2, name="a"), impl.Value(-3, name="b")
    c = a * b
    return a, b, c, c + a


@step("c = a * b", "-6")
def step_product(impl, given):
    return graph(impl)[2].data


@step("d = c + a", "-4")
def step_sum(impl, given):
    return graph(impl)[3].data


@step("number of nodes of d", "4")
def step_nodes(impl, given):
    return len(impl.topological_order(graph(impl)[3]))


@step("expression(d), its parts", "a * b + a")
def step_expression(impl, given):
    # Brackets do not count on paper, so they are left out.
    return impl.expression(graph(impl)[3]).replace("(", "").replace(")", "").split()


@step("c, d after a = 5", "[-15 -10]")
def step_recomputed(impl, given):
    a, _, c, d = graph(impl)
    a.data = 5.0
    impl.recompute(d)
    return [c.data, d.data]
