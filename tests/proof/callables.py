"""Find the callables of torch that compute the result of an exercise.

`python -m tests.proof.callables` prints a line of JSON for each way that was found: the kind of work, the module, the
path in it, and the number of the calling convention. Last comes a line with the number of callables. With names of
modules as arguments it tries what is in these modules alone.
"""

import builtins
import importlib
import json
import os
import pkgutil
import select
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from tests.proof.conventions import CONVENTIONS, expected, names_of, picked

IMPORT_SECONDS = 20
CALL_SECONDS = 1.0
STUCK_SECONDS = 20
CHUNK = 150
"""The number of callables per process, which limits the effect of one that changes global state."""

Found = tuple[str, tuple[str, ...]]
"""A module and the path from it to a callable."""


class TooLongError(BaseException):
    """A call or an import took too long."""


def _expire(*_: object) -> None:
    raise TooLongError


def modules(package: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield every module below a package that can be imported."""
    for found in pkgutil.iter_modules(getattr(package, "__path__", ()), f"{name}."):
        wanted = any(word.startswith(found.name) or found.name.startswith(word) for word in sys.argv[1:])
        if found.name.endswith("__main__") or (sys.argv[1:] and not wanted):
            continue
        signal.alarm(IMPORT_SECONDS)
        try:
            module = importlib.import_module(found.name)
        except BaseException:
            continue
        finally:
            signal.alarm(0)
        yield found.name, module
        if found.ispkg:
            yield from modules(module, found.name)


def callables() -> Iterator[tuple[Found, Any]]:
    """Yield every callable once, by the first name that is found."""
    seen: set[int] = {id(value) for value in vars(builtins).values()}
    for name, module in [("torch", torch), ("torch._C", torch._C), *modules(torch, "torch")]:
        for path, value in [(name, getattr(module, name, None)) for name in list(vars(module))]:
            if (
                not callable(value)
                or id(value) in seen
                or not str(getattr(value, "__module__", "torch")).startswith("torch")
            ):
                continue
            seen.add(id(value))
            yield (name, (path,)), value
    for owner in ("_nn", "_linalg", "_special", "_fft", "_sparse", "_nested", "_VariableFunctions"):
        for path in dir(getattr(torch._C, owner)):
            if not path.startswith("__"):
                yield ("torch", ("_C", owner, path)), getattr(getattr(torch._C, owner), path)
    for full in torch._C._dispatch_get_all_op_names():
        space, _, rest = full.partition("::")
        operator, _, overload = rest.partition(".")
        path = ("ops", space, operator, overload or "default")
        try:
            yield ("torch", path), getattr(getattr(getattr(torch.ops, space), operator), path[-1])
        except (AttributeError, RuntimeError):
            continue


def conventions_of(value: Any) -> list[tuple[str, int]]:
    """Return the kinds and numbers of the conventions that could fit: modules are made, everything else is called."""
    is_module = isinstance(value, type) and issubclass(value, nn.Module)
    return [
        (kind, number)
        for kind, lines in CONVENTIONS.items()
        for number, line in enumerate(lines)
        if line.startswith("made(") == is_module
    ]


def ways_of(value: Any, codes: dict[tuple[str, int], Any]) -> Iterator[tuple[str, int]]:
    """Yield by which conventions a callable computes the numbers, the first of each kind."""
    done: set[str] = set()
    names = {**names_of(), "f": value}
    for kind, number in conventions_of(value):
        if kind in done:
            continue
        like = expected(kind, "bias" in (line := CONVENTIONS[kind][number]) or ", mask" in line or "=mask" in line)
        signal.setitimer(signal.ITIMER_REAL, CALL_SECONDS)
        try:
            result = picked(eval(codes[kind, number], names), like)
            right = result is not None and torch.allclose(result.detach().double(), like, rtol=2e-3, atol=2e-3)
        except TooLongError:
            return
        except BaseException:
            continue
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if right:
            done.add(kind)
            yield kind, number


def try_chunk(chunk: list[tuple[Found, Any]], codes: dict[tuple[str, int], Any], out: int) -> None:
    """Try some callables in a process of their own; one that kills it is left out."""
    at = 0
    while at < len(chunk):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            os.dup2(os.open(os.devnull, os.O_RDWR), 1)
            os.dup2(1, 2)
            for position in range(at, len(chunk)):
                os.write(writing, position.to_bytes(4, "big"))
                (module, path), value = chunk[position]
                for kind, number in ways_of(value, codes):
                    os.write(out, json.dumps([kind, module, path, number]).encode() + b"\n")
            os._exit(0)
        os.close(writing)
        last = at
        while select.select([reading], [], [], STUCK_SECONDS)[0]:
            if not (data := os.read(reading, 4)):
                break
            last = int.from_bytes(data, "big")
        else:
            os.kill(child, signal.SIGKILL)  # a call that waits in C handles no alarm
        os.close(reading)
        at = len(chunk) if os.waitpid(child, 0)[1] == 0 else last + 1


def main() -> None:
    """Print the callables."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    signal.signal(signal.SIGALRM, _expire)
    out = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    os.chdir(tempfile.mkdtemp())
    codes = {
        (kind, number): compile(line, "convention", "eval")
        for kind, lines in CONVENTIONS.items()
        for number, line in enumerate(lines)
    }
    every = [function for function in callables() if not sys.argv[1:] or function[0][0].startswith(tuple(sys.argv[1:]))]
    for at in range(0, len(every), CHUNK):
        try_chunk(every[at : at + CHUNK], codes, out)
    os.write(out, json.dumps({"callables": len(every), "modules": len(sys.modules)}).encode() + b"\n")
    os._exit(0)


if __name__ == "__main__":
    main()
