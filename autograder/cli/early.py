"""`course grade`, begun early: a sandbox loads torch while this process loads what it needs itself."""

import argparse
import shutil
import sys
from contextlib import AbstractContextManager, nullcontext


def grade(options: argparse.Namespace) -> int:
    """Run the command; a sandbox is begun where one is sure to be used."""
    with _sandbox(options):
        from autograder.cli.grade import grade as run

        return run(options)


def _sandbox(options: argparse.Namespace) -> AbstractContextManager[None]:
    elsewhere = options.isolation != "sandbox" or options.sandbox or options.scheduler or options.device != "cpu"
    if elsewhere or not sys.platform.startswith("linux") or shutil.which("bwrap") is None:
        return nullcontext()
    if not options.folder.exists() or (options.out / "reports").exists():  # there may be nothing to grade
        return nullcontext()
    from autograder.runner.sandbox.channels import beginning
    from autograder.runner.sandbox.launch import Launch

    return beginning(Launch(outer=True))
