# One class for each operation. Values are numbered as they are made, which is a topological order already.
import itertools
import math

COUNTER = itertools.count()


class Operation:
    def __init__(self, *inputs):
        self.inputs = inputs


class Mul(Operation):
    def forward(self, a, b):
        self.saved = a, b
        return a * b

    def backward(self, grad):
        a, b = self.saved
        return grad * b, grad * a


class Add(Operation):
    def forward(self, a, b):
        return a + b

    def backward(self, grad):
        return grad, grad


class Div(Operation):
    def forward(self, a, b):
        self.saved = a, b
        return a / b

    def backward(self, grad):
        a, b = self.saved
        return grad / b, -grad * a / (b * b)


class Power(Operation):
    exponent = 1.0

    def forward(self, a):
        self.saved = a
        return a**self.exponent

    def backward(self, grad):
        return (grad * self.exponent * self.saved ** (self.exponent - 1),)


class Exp(Operation):
    def forward(self, a):
        self.saved = math.exp(a)
        return self.saved

    def backward(self, grad):
        return (grad * self.saved,)


class Tanh(Operation):
    def forward(self, a):
        return math.tanh(a)

    def backward(self, grad):
        (a,) = self.inputs
        return (grad / math.cosh(a.data) ** 2,)


class Relu(Operation):
    def forward(self, a):
        self.saved = a > 0
        return a * self.saved

    def backward(self, grad):
        return (grad * self.saved,)


class Value:
    def __init__(self, data, operation=None):
        self.data = float(data)
        self.grad = 0.0
        self.operation = operation
        self.number = next(COUNTER)

    def __add__(self, other):
        return apply(Add, self, other)

    def __mul__(self, other):
        return apply(Mul, self, other)

    def __truediv__(self, other):
        return apply(Div, self, other)

    def __pow__(self, exponent):
        power = type("PowerOf", (Power,), {"exponent": exponent})
        return apply(power, self)

    def exp(self):
        return apply(Exp, self)

    def tanh(self):
        return apply(Tanh, self)

    def relu(self):
        return apply(Relu, self)

    def backward(self):
        nodes, pending = {}, [self]
        while pending:
            node = pending.pop()
            if node.number not in nodes:
                nodes[node.number] = node
                if node.operation:
                    node.grad = 0.0
                    pending.extend(node.operation.inputs)
        self.grad += 1.0
        for number in sorted(nodes, reverse=True):
            node = nodes[number]
            if node.operation:
                for parent, share in zip(node.operation.inputs, node.operation.backward(node.grad)):
                    parent.grad += share

    def __neg__(self):
        return apply(Mul, self, -1)

    def __sub__(self, other):
        return apply(Add, self, -other)

    def __radd__(self, other):
        return apply(Add, other, self)

    def __rsub__(self, other):
        return apply(Add, other, -self)

    def __rmul__(self, other):
        return apply(Mul, other, self)

    def __rtruediv__(self, other):
        return apply(Div, other, self)


def apply(kind, *inputs):
    inputs = [value if isinstance(value, Value) else Value(value) for value in inputs]
    operation = kind(*inputs)
    return Value(operation.forward(*(value.data for value in inputs)), operation)
