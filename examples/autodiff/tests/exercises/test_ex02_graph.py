"""ex02: the graph of an expression."""

from autograder.checks import check


def numbers(given, count):
    """Return numbers between 0.5 and about 3, each with its own digits."""
    return [0.5 + abs(float(number)) for number in given.normal(count)]


def leaves(impl, given, names):
    """Return a leaf for each letter, with a number of its own."""
    return [impl.Value(number, name=name) for name, number in zip(names, numbers(given, len(names)), strict=True)]


def label(node, nodes):
    """Return the name under which the check knows a node."""
    return next((name for name, known in nodes.items() if known is node), "another object")


def made(value, nodes):
    """Observe a value: its number, its operation and the names of its parents."""
    return {"data": value.data, "op": value.op, "parents": [label(parent, nodes) for parent in value.parents]}


def labels(order, nodes):
    return [label(node, nodes) for node in order]


def parents_first(yours, expected):
    """Judge an order of nodes: each node once, after its parents. `edges` has pairs of a parent and its child."""
    for graph, wanted in expected.items():
        found = yours.get(graph) if isinstance(yours, dict) else None
        order = found.get("order") if isinstance(found, dict) else None
        if not isinstance(order, list) or not all(isinstance(name, str) for name in order):
            return f"{graph}: expected a list of nodes"
        for name in wanted["order"]:
            if order.count(name) != 1:
                return f"{graph}: {name} appears {order.count(name)} times in your order, expected once"
        if len(order) > len(wanted["order"]):
            return f"{graph}: your order has {len(order)} nodes, expected {len(wanted['order'])}"
        for parent, child in wanted["edges"]:
            if order.index(parent) > order.index(child):
                return f"{graph}: {child} comes before its parent {parent} in your order: {' '.join(order)}"
    return None


def ordered(impl, nodes, output):
    """Observe the order of the nodes that end in `output`, and which node is the parent of which."""
    edges = [[label(parent, nodes), name] for name, node in nodes.items() for parent in node.parents]
    return {"order": labels(impl.topological_order(nodes[output]), nodes), "edges": edges}


@check("a sum knows its number, its operation and its parents", points=2, of="Value")
def test_added(impl, given):
    a, b = leaves(impl, given, "ab")
    nodes = {"a": a, "b": b}
    return {"a + b": made(a + b, nodes), "b + a": made(b + a, nodes), "a + a": made(a + a, nodes)}


@check("a product knows its number, its operation and its parents", points=2, of="Value")
def test_multiplied(impl, given):
    a, b = leaves(impl, given, "ab")
    nodes = {"a": a, "b": b}
    return {"a * b": made(a * b, nodes), "b * a": made(b * a, nodes), "a * a": made(a * a, nodes)}


@check("a difference has the left operand first, also in 1 - a", points=2, of="Value")
def test_subtracted(impl, given):
    a, b = leaves(impl, given, "ab")
    nodes, number = {"a": a, "b": b}, numbers(given, 1)[0] + 4
    seen = {"a - b": made(a - b, nodes), "b - a": made(b - a, nodes)}
    right, left = a - number, number - a
    seen["a - number"] = {"data": right.data, "first parent": label(right.parents[0], nodes)}
    seen["number - a"] = {"data": left.data, "last parent": label(left.parents[-1], nodes)}
    return seen


@check("a power has the exponent as its second parent", points=2, of="Value")
def test_power(impl, given):
    a, b = leaves(impl, given, "ab")
    nodes = {"a": a, "b": b}
    cube = a**3
    return {
        "a ** b": made(a**b, nodes),
        "b ** a": made(b**a, nodes),
        "a ** 3": {"data": cube.data, "numbers of the parents": [data_of(parent) for parent in cube.parents]},
    }


def data_of(node):
    """Return the number of a node; a plain number in place of a node is named as such."""
    return getattr(node, "data", "a plain number")


@check("a plain number becomes a leaf, on either side", points=2, of="Value")
def test_plain_numbers(impl, given):
    (a,), (number,) = leaves(impl, given, "a"), numbers(given, 1)
    values = {"a + n": a + number, "n + a": number + a, "a * n": a * number, "n * a": number * a}
    return {
        name: {"data": value.data, "numbers of the parents": sorted(map(data_of, value.parents), key=str)}
        for name, value in values.items()
    }


@check("a value is printed with its number in the shortest form", of="Value")
def test_printed(impl, given):
    whole, fraction = given.number(3, 90), given.number(1, 8) / 8
    values = {"whole number": impl.Value(whole), "fraction": impl.Value(-fraction)}
    values["sum"] = values["whole number"] + values["fraction"]
    return {name: repr(value) for name, value in values.items()}


@check("every value comes after its parents, and the output is last", points=4, judge=parents_first, of="topological_order")
def test_order(impl, given):
    p, q, r, s, t = names = given.shuffled("abcde")
    a, b, c, d, e = leaves(impl, given, names)
    ab, de = a * b, d - e
    right = c + de
    nodes = {p: a, q: b, r: c, s: d, t: e, f"{p} * {q}": ab, f"{s} - {t}": de, f"{r} + ({s} - {t})": right}
    nodes["output"] = right + ab if given.number(0, 2) else ab + right
    return {"formula of five leaves": ordered(impl, nodes, "output"), "one leaf": ordered(impl, {p: a}, p)}


@check("a value that is used several times appears once", points=3, judge=parents_first, of="topological_order")
def test_shared(impl, given):
    seen = {}
    for graph in ("first graph", "second graph"):  # a program that keeps nodes between two calls loses some
        a, b = leaves(impl, given, "ab")
        c = a * b
        d = c + a if given.number(0, 2) else a + c
        e = d * c
        nodes = {"a": a, "b": b, "c": c, "d": d, "e": e, "output": e + e if given.number(0, 2) else e - d}
        if not any(parent is d for parent in nodes["output"].parents):
            nodes["output"] = nodes["output"] * d
            nodes["e + e"] = nodes["output"].parents[0]
        seen[graph] = ordered(impl, nodes, "output")
    return seen


@check("values with equal numbers are different nodes", points=2, judge=parents_first, of="topological_order")
def test_equal_numbers(impl, given):
    number = numbers(given, 1)[0]
    p, q, r = names = given.shuffled("abc")
    a, b, c = (impl.Value(number, name=name) for name in names)
    first, second = a * b, b * c
    nodes = {p: a, q: b, r: c, f"{p} * {q}": first, f"{q} * {r}": second, "output": first - second}
    return {"three equal leaves": ordered(impl, nodes, "output")}


@check("a formula has brackets around each operation", points=3, of="expression")
def test_expression(impl, given):
    a, b, c = leaves(impl, given, "abc")
    number = given.number(2, 9)
    return {
        "one leaf": impl.expression(b),
        "a leaf without a name": impl.expression(impl.Value(number)),
        "product and sum": impl.expression(a * b + c),
        "to the right": impl.expression(a - (b - c) * number),
        "power, and a shared node": impl.expression((a + b) ** number * (a + b)),
    }


@check("new numbers of the leaves go through the whole graph", points=4, of="recompute")
def test_recomputed(impl, given):
    a, b, c = leaves(impl, given, "abc")
    ab, power = a * b, c**2
    difference = ab - power
    output = difference * ab + a
    a.data, c.data = numbers(given, 2)
    returned = impl.recompute(output)
    nodes = {"a": a, "b": b, "a * b": ab, "c ** 2": power, "a * b - c ** 2": difference, "output": output}
    return {"returned": returned, **{name: node.data for name, node in nodes.items()}}


@check("operators leave their operands as they are", of="Value", requires_any=("added", "multiplied", "recomputed"))
def test_operands_kept(impl, given):
    a, b = leaves(impl, given, "ab")
    for _ in range(2):
        a + b, a * b, a - b, a**b, 2 + a, 2 - a  # noqa: B018  (only their effect on the operands counts)
    impl.expression(a * b)
    return {name: [node.data, node.op, len(node.parents)] for name, node in (("a", a), ("b", b))}
