"""`course lsp`: the language server that an editor starts."""

import argparse
import os

from autograder.cli.screen import warn
from autograder.course.names import UsageError
from autograder.exits import PASS


def run_server(options: argparse.Namespace) -> int:  # noqa: ARG001 - every command takes its options
    """Run the command until the editor ends it. Only messages of the protocol go to stdout."""
    try:
        import pygls.lsp.server  # noqa: F401
    except ImportError:
        raise UsageError(
            "the language server needs pygls: install it with `pip install pygls`, or the extra `lsp` of this kit"
        ) from None
    from autograder.learner.editor.server import serve

    if os.isatty(0):
        warn("an editor starts this server and talks to it; docs/editors.md says how. Ctrl-C ends it")
    with os.fdopen(os.dup(0), "rb") as stdin, os.fdopen(os.dup(1), "wb") as stdout:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)  # nothing else may write into the protocol
        serve(stdin, stdout)
    return PASS
