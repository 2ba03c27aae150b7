"""Run a plan of checks in confined worker processes, and read their answers as hostile data."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .outcomes import (
        NO_SURVEY,
        Cancelled,
        CourseProblem,
        EnvironmentProblem,
        Fault,
        GraderProblem,
        Observed,
        Outcome,
        Parts,
        Plan,
        Prints,
        Run,
        Survey,
        WorkerFailure,
        found_in,
        is_out_of_memory,
        library_reason,
        library_step,
        read_fault,
        split_at_lines,
        warning_in,
        without_file,
    )
    from .process import SpawnedWorker, WorkerHandle, environment, package_folders
    from .runner import Runner, Timeouts, is_timeout, of_edited, of_own_programs
    from .traces import RecordedTrace, TraceStep, read_trace

__getattr__ = face(__name__)
