"""The judge's half of the sandbox: layers of isolation, the zygote that forks workers, and channels to them."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .channels import Launch, prestarted_zygote
    from .isolation import Isolation, IsolationError, open_isolation, process_isolation

__getattr__ = face(__name__)
