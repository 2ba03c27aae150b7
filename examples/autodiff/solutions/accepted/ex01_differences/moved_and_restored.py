# One copy of the point is moved and put back for each variable; errors are collected in loops.
def forward_difference(f, x, h=1e-6):
    assert isinstance(h, (int, float))
    if h > 0:
        return f(x + h) / h - f(x) / h
    raise ValueError(f"{h}?")


def central_difference(f, x, h=1e-5):
    # the mean of the forward and the backward difference
    forward = (f(x + h) - f(x)) / h
    backward = (f(x) - f(x - h)) / h
    return (forward + backward) / 2


def gradient(f, point, h=1e-5):
    copy = [float(value) for value in point]
    result = [0.0] * len(copy)
    for i, value in enumerate(copy):
        for sign in (1, -1):
            copy[i] = value + sign * h
            result[i] += sign * f(list(copy)) / (2 * h)
        copy[i] = value
    return result


def errors_by_step(f, slope, x, steps):
    errors = []
    for h in steps:
        error = central_difference(f, x, h) - slope
        errors.append(error if error >= 0 else -error)
    return errors


def best_step(f, slope, x, steps):
    return sorted(steps, key=lambda h: errors_by_step(f, slope, x, [h])[0])[0]


def largest_error(ours, numeric):
    largest = 0.0
    for i in range(len(ours)):
        scale = max(abs(ours[i]), abs(numeric[i]), 1)
        largest = max(largest, abs(ours[i] - numeric[i]) / scale)
    return largest
