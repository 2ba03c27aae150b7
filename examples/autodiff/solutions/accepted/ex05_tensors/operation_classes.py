# One class for each operation, with forward and backward; the tensors are numbered as they are made.
import itertools

import numpy as np

NUMBERS = itertools.count()


def unbroadcast(gradient, shape):
    if gradient.shape == tuple(shape):
        return gradient
    front = tuple(range(gradient.ndim - len(shape)))
    if front:
        return unbroadcast(gradient.sum(axis=front), shape)
    axes = tuple(axis for axis in range(len(shape)) if shape[axis] != gradient.shape[axis])
    return np.add.reduce(gradient, axis=axes, keepdims=True)


class Operation:
    def __init__(self, *tensors, **options):
        self.tensors, self.options = tensors, options

    @classmethod
    def apply(cls, *operands, **options):
        operation = cls(*(o if isinstance(o, Tensor) else Tensor(o) for o in operands), **options)
        return Tensor(operation.forward(*(t.data for t in operation.tensors)), operation)


class Add(Operation):
    def forward(self, a, b):
        return a + b

    def backward(self, g):
        return [unbroadcast(g, t.data.shape) for t in self.tensors]


class Mul(Operation):
    def forward(self, a, b):
        return a * b

    def backward(self, g):
        a, b = self.tensors
        return unbroadcast(g * b.data, a.data.shape), unbroadcast(g * a.data, b.data.shape)


class MatMul(Operation):
    def forward(self, a, b):
        return np.matmul(a, b)

    def backward(self, g):
        a, b = self.tensors
        return np.matmul(g, b.data.T), np.matmul(a.data.T, g)


class Sum(Operation):
    def forward(self, a):
        return a.sum(**self.options)

    def backward(self, g):
        shape = list(self.tensors[0].data.shape)
        if self.options["axis"] is not None:
            kept = list(shape)
            kept[self.options["axis"]] = 1
            g = g.reshape(kept)
        return (np.full(shape, g),)


class Function(Operation):
    def forward(self, a):
        self.result = self.of(a)
        return self.result

    def backward(self, g):
        return (g * self.slope(self.tensors[0].data),)


class Exp(Function):
    of = staticmethod(np.exp)

    def slope(self, a):
        return self.result


class Log(Function):
    of = staticmethod(np.log)

    def slope(self, a):
        return 1 / a


class Relu(Function):
    def of(self, a):
        return a.clip(min=0)

    def slope(self, a):
        return np.heaviside(a, 0)


class Tensor:
    __array_ufunc__ = None

    def __init__(self, data, operation=None):
        self.data = np.array(data, dtype=np.float64)
        self.grad = np.zeros_like(self.data)
        self.operation = operation
        self.number = next(NUMBERS)

    __add__ = __radd__ = lambda self, other: Add.apply(self, other)
    __mul__ = __rmul__ = lambda self, other: Mul.apply(self, other)
    __matmul__ = lambda self, other: MatMul.apply(self, other)  # noqa: E731
    __rmatmul__ = lambda self, other: MatMul.apply(other, self)  # noqa: E731
    __neg__ = lambda self: Mul.apply(self, -1.0)  # noqa: E731
    __sub__ = lambda self, other: Add.apply(self, Mul.apply(other, -1.0))  # noqa: E731
    __rsub__ = lambda self, other: Add.apply(other, -self)  # noqa: E731
    __truediv__ = lambda self, number: Mul.apply(self, 1 / number)  # noqa: E731

    def sum(self, axis=None, keepdims=False):
        return Sum.apply(self, axis=axis, keepdims=keepdims)

    def exp(self):
        return Exp.apply(self)

    def log(self):
        return Log.apply(self)

    def relu(self):
        return Relu.apply(self)

    def backward(self, gradient=None):
        if gradient is None and self.data.size != 1:
            raise ValueError(f"{self.data.shape} needs a gradient")
        nodes, pending = {}, [self]
        while pending:
            node = pending.pop()
            if node.number not in nodes:
                nodes[node.number] = node
                if node.operation:
                    node.grad = np.zeros_like(node.data)
                    pending.extend(node.operation.tensors)
        self.grad = self.grad + (1.0 if gradient is None else gradient)
        for number in sorted(nodes, reverse=True):
            node = nodes[number]
            if node.operation:
                for parent, share in zip(node.operation.tensors, node.operation.backward(node.grad)):
                    parent.grad = parent.grad + share
