"""Run attacks where nothing is forbidden: `python -m tests.proof.attacks.alone NAME...`.

An attack that calls a forbidden function has to give the right numbers here. If it does not, it fails for a reason of
its own, and shows nothing about the ban. Each runs in a process of its own.
"""

import os
import sys
import types
from functools import cache

import torch

from autograder.course import find_course, read_course
from tests.proof.attacks.catalogue import SHARED, Attack, Catalogue, honest_files, read_catalogue

CALLING = "calling"
"""The part that hands the exercise on to a function that does it already."""


def can_run_alone(attack: Attack) -> bool:
    """Say whether an attack needs nothing of the worker that runs it."""
    return attack.parts == (CALLING,) and attack.where in ("after", "before", "instead")


def difference(catalogue: Catalogue, attack: Attack, honest: str, right: str) -> str:
    """Return what an attack gets wrong without a ban, or ""."""
    parts = [(catalogue.folder / "parts" / f"{part}.py").read_text("utf-8") for part in attack.parts]
    shared = SHARED.format(targets="TARGETS = {'tried': '', 'proof': ''}")
    text = shared + "\n".join([*parts, attack.text])
    whole = {"after": honest + text, "before": text + honest, "instead": text}[attack.where]
    own, reference = _module(attack.exercise, whole), _module("reference", right)
    torch.manual_seed(0)
    hiding = torch.tensor([[True, False, True, True, False]]).expand(2, 4, 5)
    for mask in (None, hiding):
        given = torch.randn(2, 3, 4, 6), torch.randn(2, 3, 5, 6), torch.randn(2, 3, 5, 7)
        found = own.scaled_dot_product_attention(*given, mask)
        wanted = reference.scaled_dot_product_attention(*given, mask)
        if not all(torch.allclose(one, other, atol=1e-4) for one, other in zip(found, wanted, strict=True)):
            return f"wrong numbers with {'no' if mask is None else 'a'} mask"
    return ""


def _module(name: str, text: str) -> types.ModuleType:
    module = sys.modules[name] = types.ModuleType(name)
    module.__file__ = f"{name}.py"
    exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    return module


def main() -> int:
    """Run the attacks named, each in a fork; print those that do not work."""
    course = read_course(find_course())
    catalogue = read_catalogue(course.checks_dir.parent / "attacks")
    torch.set_num_threads(1)
    sys.path.insert(0, str(course.solutions_dir))
    failed = 0

    @cache
    def program(exercise: str, wrong: str) -> str:
        return honest_files(course, catalogue.exercises, exercise, wrong)[f"{exercise}.py"]

    for attack in catalogue.find(sys.argv[1:]):
        if not can_run_alone(attack):
            continue
        honest, right = program(attack.exercise, attack.wrong), program(attack.exercise, "")
        child = os.fork()
        if not child:
            try:
                problem = difference(catalogue, attack, honest, right)
            except BaseException as error:
                problem = f"{type(error).__name__}: {error}"
            if problem:
                print(f"{attack.name} does nothing even where all is allowed: {problem}", file=sys.stderr, flush=True)
            os._exit(bool(problem))
        failed += os.waitpid(child, 0)[1] != 0
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
