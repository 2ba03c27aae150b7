"""What an exercise of this course refuses, its stub says: in the sentences about what is not allowed."""

import re
import tomllib

from tests.support.rules import ROOT

OF_GROUPS = {
    "norms": "norm",
    "attention": "attention",
    "encoders": "attention",  # each of them has an attention
    "optimizers": "everything of `torch.optim`",
    "kernels": "every softmax, product, linear layer, GELU",
}
OF_SYNTAX = {"syntax:matmul": "`@`"}


def words_of(entry: str) -> str:
    """Return what a stub has to say of an entry of `forbidden`: a group, a package, or the fixed part of a name."""
    named = {**OF_GROUPS, **OF_SYNTAX}.get(entry)
    if named is not None:
        return named.lower()
    if "*" in entry:
        return max(entry.removeprefix("torch.").split("*"), key=len).lower()
    known = entry.removeprefix("package:").removeprefix("torch.Tensor.").removeprefix("torch.nn.modules.")
    return known.replace("triton.language.", "tl.").lower()


def refusals(stub: str) -> str:
    """Return what follows "not allowed" in each paragraph of a stub, in lower case and on one line."""
    plain = re.sub(r"^ *#? ?", "", stub, flags=re.MULTILINE)
    paragraphs = (" ".join(paragraph.split()).lower() for paragraph in plain.split("\n\n"))
    return " ".join(found.partition("not allowed")[2] for found in paragraphs)


def test_a_stub_says_all_that_its_exercise_refuses() -> None:
    exercises = tomllib.loads((ROOT / "course.toml").read_text("utf-8"))["exercises"]
    assert any("forbidden" in exercise for exercise in exercises)
    unsaid = {}
    for exercise in exercises:
        said = refusals((ROOT / "exercises" / f"{exercise['id']}.py").read_text("utf-8"))
        unsaid[exercise["id"]] = [entry for entry in exercise.get("forbidden", []) if words_of(entry) not in said]
    assert not {id_: entries for id_, entries in unsaid.items() if entries}
