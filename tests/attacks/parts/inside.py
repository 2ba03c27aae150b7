"""What an attack finds out about the program it runs in: its job, its channel, and how to write onto it."""

import json as _json
import os as _os
import struct as _struct


def frame_of(function):
    frame = _sys._getframe()
    while frame is not None and frame.f_code.co_name != function:
        frame = frame.f_back
    return frame


def the_module(name):
    """The names of one of the grader's modules, which are not in sys.modules: by a function that has them."""
    seen, rest = set(), [type(the_job()).run.__globals__]
    while rest:
        names = rest.pop()
        if id(names) in seen:
            continue
        seen.add(id(names))
        if names.get("__name__") == name:
            return names
        for item in list(names.values()):
            if isinstance(item, type(_sys)) and item.__name__.startswith("autograder"):
                rest.append(vars(item))
            # An object leads to the module of its class: what supports torch is reached by an instance alone.
            kind = item if isinstance(item, type) else type(item)
            for function in (item, *vars(kind).values()):
                if type(function) is type(the_job) and function.__module__.startswith("autograder"):
                    rest.append(function.__globals__)
    raise LookupError(name)


def the_job():
    """The worker's Job, found on the stack."""
    frame = _sys._getframe()
    while frame is not None:
        own = frame.f_locals.get("self")
        if type(own).__name__ == "Job":
            return own
        frame = frame.f_back
    raise LookupError("there is no Job on the stack")


def channel():
    """The descriptor that answers leave through: the one thing the owner of `emit` holds that is a small number."""
    return next(value for value in vars(the_job().emit.__self__).values() if type(value) is int)


def frame(value, blob=b""):
    text = value if isinstance(value, bytes) else _json.dumps(value).encode()
    return _struct.pack(">4sII", b"CRS1", len(text), len(blob)) + text + blob


def write(data):
    view = memoryview(data)
    while view:
        view = view[_os.write(channel(), view) :]


def send(event, blob=b""):
    """Write an event as the worker would."""
    write(frame({"dict": event}, blob))


def plan():
    """Every trial of the exercise that runs now: [(check, trial), ...]."""
    return [(check, draw) for name, draws in the_job().job["plan"] if name == __name__ for check, draw, _, _ in draws]


def observe_all(value, blob=b""):
    """Answer every trial of the exercise, without running one. `value` is data as the protocol writes it."""
    for check, draw in plan():
        at = {"exercise": __name__, "check": check, "trial": draw}
        send({"event": "begin", **at})
        send({"event": "observed", **at, "value": value(check, draw) if callable(value) else value, "seconds": 0.0}, blob)
