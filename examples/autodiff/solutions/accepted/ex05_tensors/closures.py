# Each operation leaves one function that adds to the gradients of its operands. The order is iterative.
import numpy as np


def unbroadcast(gradient, shape):
    while gradient.ndim > len(shape):
        gradient = gradient.sum(0)
    for axis, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(axis, keepdims=True)
    return gradient


class Tensor:
    __array_ufunc__ = None

    def __init__(self, data, parents=()):
        self.data = np.array(data, dtype=float)
        self.grad = np.zeros(self.data.shape)
        self.parents = parents
        self.pass_on = None

    def __add__(self, other):
        other = as_tensor(other)
        out = Tensor(self.data + other.data, (self, other))

        def pass_on():
            self.grad += unbroadcast(out.grad, self.data.shape)
            other.grad += unbroadcast(out.grad, other.data.shape)

        out.pass_on = pass_on
        return out

    def __mul__(self, other):
        other = as_tensor(other)
        out = Tensor(self.data * other.data, (self, other))

        def pass_on():
            self.grad += unbroadcast(other.data * out.grad, self.data.shape)
            other.grad += unbroadcast(self.data * out.grad, other.data.shape)

        out.pass_on = pass_on
        return out

    def __matmul__(self, other):
        other = as_tensor(other)
        out = Tensor(np.dot(self.data, other.data), (self, other))

        def pass_on():
            self.grad += np.dot(out.grad, other.data.transpose())
            other.grad += np.dot(self.data.transpose(), out.grad)

        out.pass_on = pass_on
        return out

    def sum(self, axis=None, keepdims=False):
        out = Tensor(np.sum(self.data, axis=axis, keepdims=keepdims), (self,))
        kept = np.sum(self.data, axis=axis, keepdims=True).shape

        def pass_on():
            self.grad += out.grad.reshape(kept)

        out.pass_on = pass_on
        return out

    def exp(self):
        out = Tensor(np.exp(self.data), (self,))

        def pass_on():
            self.grad += out.data * out.grad

        out.pass_on = pass_on
        return out

    def log(self):
        out = Tensor(np.log(self.data), (self,))

        def pass_on():
            self.grad += out.grad / self.data

        out.pass_on = pass_on
        return out

    def relu(self):
        out = Tensor(self.data * (self.data > 0), (self,))

        def pass_on():
            self.grad[self.data > 0] += out.grad[self.data > 0]

        out.pass_on = pass_on
        return out

    def backward(self, gradient=None):
        if gradient is None:
            if self.data.size > 1:
                raise ValueError(f"cannot start from {list(self.data.shape)}")
            gradient = 1.0
        order = order_of(self)
        for node in order:
            if node.pass_on:
                node.grad = np.zeros(node.data.shape)
        self.grad += gradient
        for node in order[::-1]:
            if node.pass_on:
                node.pass_on()

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + (-as_tensor(other))

    def __truediv__(self, number):
        return self * number**-1

    def __radd__(self, other):
        return self + other

    def __rsub__(self, other):
        return -self + other

    def __rmul__(self, other):
        return self * other

    def __rmatmul__(self, other):
        return Tensor(other) @ self


def as_tensor(data):
    return data if isinstance(data, Tensor) else Tensor(data)


def order_of(output):
    order, seen, stack = [], {id(output)}, [(output, 0)]
    while stack:
        node, at = stack.pop()
        if at == len(node.parents):
            order.append(node)
            continue
        stack.append((node, at + 1))
        parent = node.parents[at]
        if id(parent) not in seen:
            seen.add(id(parent))
            stack.append((parent, 0))
    return order
