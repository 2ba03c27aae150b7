"""Run a learner's own tests on programs: `python -m autograder.practice.trials`.

It reads one request as JSON from stdin, loads the libraries of the course once, and runs each program in a process of
its own. For each it writes a line of JSON: the tests that fail, with the text of their exception.
"""

import importlib
import json
import multiprocessing
import sys
import types
from multiprocessing.connection import Connection
from typing import Any

SECONDS = 20.0
"""The longest that all tests may take on one program."""

LONGEST_TEXT = 200


def main() -> int:
    """Answer one request."""
    request = json.load(sys.stdin)
    sys.path[:0] = request["path"]
    for library in request["libraries"]:
        importlib.import_module(library)
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    context: Any = multiprocessing.get_context(method)
    for source in request["programs"]:
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(theirs, request["module"], source, request["tests"]))
        process.start()
        theirs.close()
        try:
            failed = ours.recv() if ours.poll(SECONDS) else {"": f"no answer within {SECONDS:.0f} s"}
        except EOFError:
            failed = {"": "the process ended"}
        process.kill()
        process.join()
        print(json.dumps(failed), flush=True)
    return 0


def _run(answer: Connection, name: str, source: str, tests: str) -> None:
    """Send which tests fail on a program; "" stands for the program or the tests themselves."""
    sys.stdout = sys.stderr  # what programs print is no answer
    failed: dict[str, str] = {}
    try:
        module = _module(name, source)
        functions = [(key, value) for key, value in vars(_module("tests", tests)).items() if key.startswith("test_")]
    except BaseException as error:
        failed[""] = _text(error)
        functions = []
    for key, function in functions:
        try:
            function(module)
        except BaseException as error:
            failed[key] = _text(error)
    answer.send(failed)


def _module(name: str, source: str) -> Any:
    module = types.ModuleType(name)
    exec(compile(source, f"{name}.py", "exec", dont_inherit=True), vars(module))
    return module


def _text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".strip().rstrip(":")[:LONGEST_TEXT]


if __name__ == "__main__":
    sys.exit(main())
