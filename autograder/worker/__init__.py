"""The worker process, which nobody trusts: it imports the student's code, runs probes, and answers with data."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .faults import describe
    from .session import FILE_BYTES, JOB_LIMITS, Job, record_address_space, serve
    from .sources import PACKAGE, PackageLoader, Sources, build, package_spec, short_name
    from .support import LibraryMissing, load_support, loaded

__getattr__ = face(__name__)
