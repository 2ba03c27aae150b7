# Every difference is a product with NumPy arrays: the rows of an identity matrix are the directions.
import numpy as np


def forward_difference(f, x, h=1e-6):
    if not h > 0:
        raise ValueError(f"h = {h} is not positive")
    return (-f(x) + f(x + h)) / h


def central_difference(f, x, h=1e-5):
    return float(np.dot([f(x + h), f(x - h)], [0.5 / h, -0.5 / h]))


def gradient(f, point, h=1e-5):
    point = np.asarray(point, dtype=float)
    directions = h * np.eye(point.size)
    return [float(f((point + d).tolist()) - f((point - d).tolist())) / (2 * h) for d in directions]


def errors_by_step(f, slope, x, steps):
    return np.abs(np.array([central_difference(f, x, h) for h in steps]) - slope).tolist()


def best_step(f, slope, x, steps):
    return steps[int(np.argmin(errors_by_step(f, slope, x, steps)))]


def largest_error(ours, numeric):
    a, b = np.array(ours, dtype=float), np.array(numeric, dtype=float)
    return (np.abs(a - b) / np.maximum(np.maximum(np.abs(a), np.abs(b)), 1.0)).max()
