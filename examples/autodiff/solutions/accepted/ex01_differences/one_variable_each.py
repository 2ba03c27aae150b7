# A gradient is a list of central differences of functions of one variable.
def forward_difference(f, x, h=1e-6):
    if h <= 0:
        raise ValueError("step must be positive, not " + str(h))
    return slope_between(f, x, x + h)


def central_difference(f, x, h=1e-5):
    return slope_between(f, x - h, x + h)


def slope_between(f, low, high):
    return (f(high) - f(low)) / (high - low)


def gradient(f, point, h=1e-5):
    def along(i):
        return lambda value: f([*point[:i], value, *point[i + 1 :]])

    return [central_difference(along(i), value, h) for i, value in enumerate(point)]


def errors_by_step(f, slope, x, steps):
    return list(map(lambda h: abs(slope - central_difference(f, x, h)), steps))


def best_step(f, slope, x, steps):
    return min(zip(errors_by_step(f, slope, x, steps), steps))[1]


def largest_error(ours, numeric):
    return max(map(error, ours, numeric))


def error(a, b):
    return abs(a - b) / max(1, abs(a), abs(b))
