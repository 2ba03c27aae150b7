# Indices and loops. The loss of a step is collected sample by sample, so the gradients add up.
def neuron(weights, bias, inputs):
    total = 0.0
    for i in range(len(weights)):
        total += inputs[i] * weights[i]
    total = total + bias
    return total.tanh()


def network(layers, inputs):
    signal = list(inputs)
    for layer in layers:
        following = []
        for weights, bias in layer:
            following.append(neuron(weights, bias, signal))
        signal = following
    return signal


def parameters(layers):
    found = []
    for layer in layers:
        for weights, bias in layer:
            found.extend(weights)
            found.append(bias)
    return found


def squared_error(predictions, targets):
    loss = (predictions[0] - targets[0]) ** 2
    for i in range(1, len(predictions)):
        loss = loss + (predictions[i] - targets[i]) ** 2
    return loss / len(predictions)


def clear_gradients(of):
    for parameter in of:
        parameter.grad *= 0.0


def descend(of, rate):
    for parameter in of:
        parameter.data += -rate * parameter.grad


def train_step(layers, samples, targets, rate):
    clear_gradients(parameters(layers))
    total = 0.0
    for sample, target in zip(samples, targets):
        loss = (network(layers, sample)[0] - target) ** 2 / len(samples)
        loss.backward()
        total += loss.data
    descend(parameters(layers), rate)
    return total


def fit(layers, samples, targets, rate, steps):
    losses = []
    while len(losses) < steps:
        losses.append(train_step(layers, samples, targets, rate))
    return losses
