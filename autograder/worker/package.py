"""The second name of a student's module: `exercises.ex05_attention` is the module `ex05_attention`.

Editors insert imports under this name when the folder of the course is open. The package is made here and has no path:
nothing but the student's files can be imported from it.
"""

import importlib
import sys
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType

PACKAGE = "exercises"
"""The name of a course's folder in which students write."""


class PackageLoader(Loader):
    """Loads the package, and each module in it as the module of its short name."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the student's module in place of a module of the package; raises whatever its import raises."""
        package, _, name = module.__name__.rpartition(".")
        if package:
            sys.modules[module.__name__] = importlib.import_module(name)


def short_name(fullname: str) -> str:
    """Return the name of a module without the package: the file's own name."""
    return fullname.removeprefix(f"{PACKAGE}.")


def package_spec(fullname: str) -> ModuleSpec:
    """Return the spec of the package, or of a module in it that exists under its short name."""
    return ModuleSpec(fullname, PackageLoader(), is_package=fullname == PACKAGE)


def forget_package() -> None:
    """Forget the package and all modules in it; their short names stay."""
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        if name == PACKAGE or name.startswith(f"{PACKAGE}."):
            del sys.modules[name]
