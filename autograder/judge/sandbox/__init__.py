"""Where submissions nobody can trust are run: warm zygotes in bubblewrap, and how far this machine can confine them."""

from autograder.judge.sandbox.isolation import Isolation, IsolationError, open_isolation

__all__ = ["Isolation", "IsolationError", "open_isolation"]
