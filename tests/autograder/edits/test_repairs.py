"""Edits that may mend a program: which are tried, in which order, and that each is one small change of the text."""

import ast
from statistics import mode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from autograder.authoring.mutants import mutants_of
from autograder.edits import LONGEST, Clues, Edit, Text, repairs
from tests.support import tiny

ALL = 100_000

MODULE = """
import torch
from torch import nn

FIRST, LAST = range(2)


class Block(nn.Module):
    def __init__(self, width, rate):
        super().__init__()
        self.width = width
        self.first = nn.Linear(width, width)
        self.drop = nn.Dropout(rate)

    def forward(self, x, mask):
        y = self.drop(self.first(x))
        y = y.transpose(0, 1)
        table = torch.zeros(3)
        layers = [self.first] * 3
        if mask is not None:
            y = y.masked_fill(mask, -1e9)
        if self.kept is None:
            self.kept = y.data
        for layer in layers:
            y += layer(y[:3])
            z = y / 2 - 1
        z.clamp_(min=0)
        return y

    def twice(self, x, other=None, mask=None):
        return self(x, 0)


def between(ids, table):
    started = [FIRST, *ids]
    return [table["<S>"]] + started, "<E>"
"""


def texts(source: str, lines: list[int] | None = None) -> set[str]:
    return {edit.applied(source) for edit in repairs(source, lines or [], ALL)}


def line_of(source: str, part: str) -> int:
    return next(number for number, line in enumerate(source.split("\n"), 1) if part in line)


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


@pytest.fixture(scope="module")
def parsed() -> set[str]:
    """The programs that the edits of `MODULE` give, in a normal form."""
    return {ast.dump(ast.parse(text)) for text in texts(MODULE) if _is_python(text)}


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("y.transpose(0, 1)", "y.transpose(1, 0)"),  # the order of arguments
        ("transpose(0, 1)", "transpose(0, -1)"),  # an axis
        ("return y", "return (y + x)"),  # a term
        ("self.drop(self.first(x))", "self.first(x)"),  # a call too many
        ("return y", "return self.drop(y)"),  # a call too few
        ("torch.zeros(3)", "torch.zeros(3, device=x.device)"),  # a device
        ("torch.zeros(3)", "torch.zeros(3, dtype=x.dtype)"),  # a dtype
        ("masked_fill(mask,", "masked_fill(~mask,"),  # a mask
        ("-1e9", 'float("-inf")'),  # a fill
        ("nn.Linear(width, width)", "nn.Linear(width, width, rate)"),  # an argument
        ("nn.Linear(width, width)", "nn.Linear(width, width, bias=False)"),  # a keyword
        ("self.first(x)", "self.first(mask)"),  # another variable
        ("return y", "return (y * self.width ** 0.5)"),  # a factor
        ("return y", "return (y / y.size(-1) ** 0.5)"),  # a factor of the value's own size
        ("is not None", "is None"),  # a condition
        ("self.kept is None", "True"),  # a value that is kept from the first call
        ("y.data", "y"),  # a value outside of the graph
        ("-1e9", '__import__("torch").finfo(y.dtype).min'),  # a fill of the dtype
        ("layer(y[:3])", "layer(y[-3:])"),  # the other end
        ("layer(y[:3])", "layer(y[:3], mask)"),  # an argument that is not handed on
        ("self(x, 0)", "self(x, 0, other=other, mask=mask)"),  # two arguments that are not handed on
        ("y / 2 - 1", "y / (2 - 1)"),  # brackets
        ("y += layer(y[:3])", "y = y + (layer(y[:3]))"),  # in place
        ("z.clamp_(min=0)", "z.clamp(min=0)"),  # in place, by a method
        ("z.clamp_(min=0)", "z = z.clamp_(min=0)"),  # a discarded result
        ("y / 2 - 1", "(y / 2 - 1).sqrt()"),  # a root
        ("[self.first] * 3", '[__import__("copy").deepcopy(self.first) for _ in range(3)]'),  # one module for many
        ("[FIRST, *ids]", "[FIRST, *ids, LAST]"),  # an item of a list
        ('[table["<S>"]] + started', '[table["<S>"]] + started + [table["<E>"]]'),  # a token
    ],
)
def test_common_mistakes_have_an_edit_that_mends_them(old: str, new: str, parsed: set[str]) -> None:
    assert MODULE.count(old) == 1
    wanted = ast.dump(ast.parse(MODULE.replace(old, new)))
    assert wanted in parsed


WORDS = """
import torch

SPECIAL = ("<PAD>", "<UNK>", "<SOS>", "<EOS>")


def numbered(sentence):
    return {word: at for at, word in enumerate(SPECIAL)} | {word: at for at, word in enumerate(sentence, 4)}


def encode(words, table):
    ids = []
    for word in words:
        ids.append(table.get(word, 0))
    return ids


def around(ids, table):
    return [table["<EOS>"], *ids] + [table["<SOS>"]]


def ends(ids):
    return [2, *ids, 1]


def text(ids, words):
    end = len(ids)
    for at, one in enumerate(ids):
        if one == 2:
            end = at
    return " ".join(words[one] for one in ids[:end])


def number(step):
    first = step
    return first


def filled(width, value):
    return full(width, 7.5)


def before(p):
    return p.cumsum(-1) < 1


def shifted(x):
    rows = x.tolist()
    return torch.tensor([row[:-1] for row in rows]), torch.tensor([row[1:] for row in rows])
"""
SHIFTED = "torch.tensor([row[{}] for row in rows]{})"


@pytest.fixture(scope="module")
def parsed_words() -> set[str]:
    return {ast.dump(ast.parse(text)) for text in texts(WORDS) if _is_python(text)}


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"<UNK>", "<SOS>", "<EOS>"', '"<SOS>", "<EOS>", "<UNK>"'),  # an item in another place
        ("enumerate(sentence, 4)", "enumerate(dict.fromkeys(sentence), 4)"),  # each one once
        ("ids = []", 'ids = [table["<SOS>"]]'),  # the first item of an empty list
        ("table.get(word, 0)", 'table.get(word, table["<UNK>"])'),  # an id by its word
        ("table.get(word, 0)", "table.get(word, 3)"),  # an id that stands nowhere
        ('[table["<EOS>"], *ids] + [table["<SOS>"]]', '[table["<SOS>"], *ids] + [table["<EOS>"]]'),  # two words
        ("[2, *ids, 1]", "[1, *ids, 2]"),  # two ids
        ("[2, *ids, 1]", "[3, 2, *ids, 1]"),  # one more id
        ("end = at", "end = at\n            break"),  # the end of a loop
        ("return first", "return max(first, 1)"),  # one at least
        ("first = step", "first = list(step)"),  # a second name for a list that is changed later
        ("7.5", "0.0"),  # a first value
        ("7.5", "value"),  # a parameter that is not used
        ("p.cumsum(-1)", "(p.cumsum(-1) - p)"),  # a sum of what comes before
        ('" ".join(words[one] for one in ids[:end])', "list(words[one] for one in ids[:end])"),  # words, not a text
        (
            f"{SHIFTED.format(':-1', '')}, {SHIFTED.format('1:', '')}",
            f"{SHIFTED.format(':-1', ', device=x.device')}, {SHIFTED.format('1:', ', device=x.device')}",
        ),  # two tensors of one device
    ],
)
def test_mistakes_in_words_and_ids_have_an_edit_that_mends_them(old: str, new: str, parsed_words: set[str]) -> None:
    assert WORDS.count(old) == 1
    assert ast.dump(ast.parse(WORDS.replace(old, new))) in parsed_words


def test_an_edit_that_adds_a_line_says_on_which_side() -> None:
    text, tree = Text("first()\nsecond(1)\n"), ast.parse("first()\nsecond(1)\n")
    assert text.inserted(tree.body[1], "more()").adds == "below"
    assert text.inserted(tree.body[1], "more()", before=True).adds == "above"
    assert Edit(2, 16, 17, "2").adds == "", "another number"
    assert Edit(2, 17, 17, ", 2").adds == "", "one more argument"


def test_no_part_is_applied_while_they_are_made() -> None:
    found = texts(MODULE, [line_of(MODULE, "self.first = nn.Linear")])
    assert MODULE.replace("nn.Linear(width, width)", "nn.Linear(width, rate)") in found
    assert not [text for text in found if "self.drop(" in text.partition("def forward")[0].replace("self.drop = ", "")]


def test_no_loop_is_ended_where_there_is_none() -> None:
    source = "def f(x):\n    if x:\n        y = 1\n    return y\n"
    assert not [text for text in texts(source) if "break" in text]


FORGOTTEN = """
import ex04_masks


class Stack:
    def __init__(self):
        self.norm = make()

    def forward(self, model, x, mask, steps):
        total = x + 1
        for step in range(1, steps + 1):
            ended = model.encode(x) > 0
        losses = [sum(y for y in x), x[-1]]
        hidden = ex04_masks.padding(x)
        return x
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return x", "return self.norm(x)"),  # a part that is made and not used
        ("range(1, steps + 1)", "range(steps)"),  # from one
        ("model.encode(x) > 0", "ended | (model.encode(x) > 0)"),  # what was so before
        ("model.encode(x)", "model.encode(x, mask)"),  # an argument of a part of a model
        ("ex04_masks.padding(x)", "ex04_masks.padding(x, steps)"),  # an argument of another exercise's part
        ("sum(y for y in x)", "(lambda values: sum(values) / len(values))(list(y for y in x))"),  # a mean
    ],
)
def test_what_is_often_forgotten_is_among_the_first_edits(old: str, new: str) -> None:
    wanted = ast.dump(ast.parse(FORGOTTEN.replace(old, new)))
    lines = [line_of(FORGOTTEN, old)]
    first = (edit.applied(FORGOTTEN) for edit in repairs(FORGOTTEN, lines, 240))
    assert wanted in {ast.dump(ast.parse(text)) for text in first if _is_python(text)}


CALLS = """
def first(x):
    return x[:, 1:]

def last(x, *, mask=None):
    return x[:, :-1]

def unused(x):
    for _ in x:
        pass
    return first(x)

def pair(x, mask):
    return first(x), last(x)
"""


def test_a_call_gets_only_arguments_that_the_function_takes_or_another_function_of_the_program() -> None:
    found = {
        edit.text for edit in repairs(CALLS, [line_of(CALLS, "first(x), last")], ALL) if edit.line == 14 and edit.text
    }
    assert {"last(x, mask=mask)", "last"} <= found
    assert not found & {"first(x, mask=mask)", "first(x, mask)", "last(x, mask)", "last(x, dim=-1)"}
    assert "_" not in {edit.text for edit in repairs(CALLS, [], ALL)}, "a name for what is not used"


def test_what_the_checked_function_uses_is_edited_before_the_rest_of_the_file() -> None:
    source = "rate = 1\n\n\ndef helper(x):\n    return x\n\n\ndef checked(x):\n    return helper(x)\n"
    lines = [edit.line for edit in repairs(source, [8], ALL, Clues(of="checked"))]
    near = [edit.line for edit in repairs(source, [8], ALL)]
    assert lines.index(5) < near.index(5)


def test_what_the_checked_function_does_not_use_is_edited_last() -> None:
    lines = [edit.line for edit in repairs(CALLS, [], ALL, Clues(of="pair"))]
    unused = [line for line in lines if 8 <= line <= 11]
    assert unused
    assert lines[-len(unused) :] == unused
    assert repairs(CALLS, [], ALL, Clues(of="not there")) == repairs(CALLS, [], ALL)


def test_a_mutant_by_a_swap_or_an_axis_has_an_edit_that_takes_it_back() -> None:
    right = ast.dump(ast.parse(tiny.MEAN))
    mutants = [mutant for mutant in mutants_of(tiny.MEAN, "01") if mutant.operator in ("swapped", "axis")]
    assert mutants
    for mutant in mutants[::3]:
        edits = repairs(mutant.source, [mutant.line], 300)
        assert right in {ast.dump(ast.parse(text)) for edit in edits if _is_python(text := edit.applied(mutant.source))}


def test_edits_of_the_suspected_lines_come_first_then_those_of_their_function() -> None:
    suspected = line_of(MODULE, "transpose")
    first = repairs(MODULE, [suspected], ALL)
    assert mode(edit.line for edit in first[:60]) == suspected
    forward = range(line_of(MODULE, "def forward"), len(MODULE.split("\n")))
    places = [edit.line in forward for edit in first]
    assert sum(places[:100]) > 60
    assert {edit.line for edit in first} >= {line_of(MODULE, "self.width = width")}


def test_the_number_of_edits_is_kept() -> None:
    assert len(repairs(MODULE, [], 7)) == 7
    assert repairs(MODULE, [], 7) == repairs(MODULE, [], 100)[:7]


def test_characters_of_several_bytes_move_no_edit() -> None:
    source = 'text = "äöü€"; number = 1 + 2\nother = "𝄞" + str(number - 1)\n'
    assert 'text = "äöü€"; number = (1 - 2)\nother = "𝄞" + str(number - 1)\n' in texts(source)
    assert 'text = "äöü€"; number = 1 + 2\nother = "𝄞" + str((number + 1))\n' in texts(source)


def test_a_program_that_python_refuses_has_no_edits() -> None:
    with pytest.raises(SyntaxError):
        repairs("def f(:", [], 10)


@pytest.mark.long
@settings(max_examples=20, deadline=None)
@given(some.sampled_from([MODULE, tiny.MEAN, tiny.POWER]), some.lists(some.integers(-5, 60), max_size=4))
def test_an_edit_changes_one_short_part_of_the_text(source: str, lines: list[int]) -> None:
    for edit in repairs(source, lines, 500):
        assert isinstance(edit, Edit)
        assert 0 <= edit.start <= edit.end <= len(source)
        assert len(edit.text) <= LONGEST
        assert edit.applied(source) != source
        assert edit.applied(source).startswith(source[: edit.start])
        assert edit.applied(source).endswith(source[edit.end :])
        assert 1 <= edit.line <= source.count("\n") + 1


def test_an_argument_that_is_only_compared_with_none_was_forgotten() -> None:
    source = (
        "def f(x, limit=None):\n    if limit is not None:\n        x = clip(x, 1.0)\n    return x + 2.0 * x - 3.0\n"
    )
    first = [(edit.line, edit.text) for edit in repairs(source, [4], 12)]
    assert (3, "limit") in first


def test_an_attribute_that_keeps_an_argument_of_its_name_is_changed_late() -> None:
    source = (
        "class A:\n    def __init__(self, size, width):\n        self.size = size\n        self.width = width\n\n"
        "    def scale(self, x):\n        return x * self.size\n"
    )
    found = [(edit.line, edit.text) for edit in repairs(source, [7], ALL, Clues(of="A"))]
    assert found.index((7, "self.width")) < found.index((3, "width"))
    assert found.index((7, "self.width")) < found.index((4, "size"))


def test_a_keyword_without_a_value_gets_the_attribute_of_its_name() -> None:
    source = (
        "class A:\n    def __init__(self, rate):\n        self.drop = rate\n        self.other = 1\n\n"
        "    def call(self, x, keeps):\n        self.training = True\n        return f(x, drop=None)\n"
    )
    found = [(edit.line, edit.text) for edit in repairs(source, [8], ALL)]
    assert found.index((8, "self.drop")) < found.index((8, "self.other"))
    assert (7, "keeps") in found
