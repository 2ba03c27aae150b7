# Sums and comprehensions; the constant of the sum is the bias.
def neuron(weights, bias, inputs):
    return sum((w * x for w, x in zip(weights, inputs)), bias).tanh()


def network(layers, inputs):
    if not layers:
        return inputs
    return network(layers[1:], [neuron(weights, bias, inputs) for weights, bias in layers[0]])


def parameters(layers):
    return sum(([*weights, bias] for layer in layers for weights, bias in layer), [])


def squared_error(predictions, targets):
    count = len(targets)
    return sum((t - p) * (t - p) * (1 / count) for p, t in zip(predictions, targets))


def clear_gradients(of):
    for p in of:
        p.grad = 0


def descend(of, rate):
    for p in of:
        p.data = p.data - p.grad * rate


def train_step(layers, samples, targets, rate):
    loss = squared_error([network(layers, x)[0] for x in samples], targets)
    clear_gradients(parameters(layers))
    loss.backward()
    descend(parameters(layers), rate)
    return float(loss.data)


def fit(layers, samples, targets, rate, steps):
    return list(train_step(layers, samples, targets, rate) for step in range(steps))
