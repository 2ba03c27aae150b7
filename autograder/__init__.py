"""An engine that grades what students write, in a process of its own, and explains the verdict."""

__version__ = "0.2.0"

DISTRIBUTION = "build-a-transformer"
"""The name that pip knows. `autograder` on the package index is another project."""
