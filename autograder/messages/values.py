"""What turns the expected numbers into yours: a factor, an offset, a function, another part."""

from dataclasses import field
from typing import Literal

from autograder.messages.elements import span
from autograder.messages.wording import Fact, Wording

# One rule for every number.


class SignFlipped(Fact):
    """Every number has the other sign."""

    id = "sign"

    def wording(self) -> Wording:
        asks = "Is a difference taken the wrong way round, or a minus missing?"
        return Wording("the expected with the sign flipped", (), asks, "every number by the same factor")


class Scaled(Fact):
    """Every number is the expected one times a factor."""

    factor: float = field(compare=False)
    is_few: bool = field(compare=False)

    id = "ratio"

    def wording(self) -> Wording:
        says = f"{self.factor:.4g} × the expected{'' if self.is_few else ' in every element'}"
        return Wording(says, witnesses="every number by the same factor")


def _term(number: float) -> str:
    return f"{'+' if number > 0 else '-'} {abs(number):.4g}"


class Offset(Fact):
    """Every number is the expected one plus a term."""

    term: float = field(compare=False)
    is_few: bool = field(compare=False)

    id = "offset"

    def wording(self) -> Wording:
        if self.is_few:
            return Wording(f"the expected {_term(self.term)}")
        says = f"the expected {_term(self.term)} in every element"
        return Wording(says, (), "What is added everywhere, or not subtracted?", "every number by the same amount")


class Affine(Fact):
    """Every number is the expected one times a factor, plus a term."""

    factor: float = field(compare=False)
    term: float = field(compare=False)

    id = "affine"

    def wording(self) -> Wording:
        says = f"{self.factor:.4g} × the expected {_term(self.term)} in every element"
        asks = "Is a mean subtracted, or a scale or shift applied, that does not belong there?"
        return Wording(says, (), asks, "every number by the same rule")


class RuleAlong(Fact):
    """Each index of an axis, or each row along it, has a factor, an offset, or both, of its own.

    `owner` is the known part that these numbers are.
    """

    rule: Literal["ratio", "offset", "affine"]
    axis: str
    is_row: bool
    low: float = field(default=0.0, compare=False)
    high: float = field(default=0.0, compare=False)
    owner: str | None = field(default=None, compare=False)

    @property
    def id(self) -> str:
        return f"{self.rule}-along"

    def wording(self) -> Wording:
        each = f"each row along {self.axis}" if self.is_row else f"each {self.axis}"
        numbers = (f"from {span(self.low, self.high)}", *([f"that is {self.owner}"] if self.owner else []))
        match self.rule:
            case "ratio":
                asks = "Is a scale per index missing or applied twice, or is something normalized over the wrong axis?"
                return Wording(f"{each} is the expected × a number of its own", numbers, asks, f"a factor for {each}")
            case "offset":
                asks = "Is a mean not subtracted, a bias missing or added twice, or one added that does not belong?"
                says = f"{each} is the expected plus a number of its own"
                return Wording(says, numbers, asks, f"an offset for {each}")
        asks = "Over which axes are mean and spread taken, and is one of them missing?"
        says = f"{each} is the expected × a number, plus a number, of its own"
        return Wording(says, (), asks, f"a factor and an offset for {each}")


# Functions.


class OneMinus(Fact):
    """Every number is 1 minus the expected one."""

    id = "1-x"

    def wording(self) -> Wording:
        return Wording("1 minus the expected", (), "Are yes and no exchanged?", "1 minus of one is the other")


class FunctionApplied(Fact):
    """A function was applied that does not belong there; `inverse` undoes it. A softmax runs over an `axis`."""

    function: str
    axis: str | None = None
    inverse: str | None = field(default=None, compare=False)

    @property
    def id(self) -> str:
        return f"is-{self.function}"

    def wording(self) -> Wording:
        if self.axis is not None:
            over = f"{self.function} over {self.axis}"
            asks = "Is it applied twice, or where raw scores are asked for?"
            title = f"{over} of one is the other"
            return Wording(f"the {over} of the expected", ("one softmax too many",), asks, title)
        cure = f"take its {self.inverse}, or leave the {self.function} out"
        also = cure if self.inverse else "that step is too much, or applied twice"
        return Wording(f"the {self.function} of the expected", (also,), "", f"{self.function} of one is the other")


class FunctionMissing(Fact):
    """A function was not applied that belongs there. A softmax runs over an `axis`."""

    function: str
    axis: str | None = None

    @property
    def id(self) -> str:
        return f"lacks-{self.function}"

    def wording(self) -> Wording:
        name = self.function if self.axis is None else f"{self.function} over {self.axis}"
        return Wording(f"the {name} is missing", ("with it the result is right",), "", f"{name} of one is the other")


# Other parts of the same observation.


class OtherPart(Fact):
    """The numbers are those of another part, or that part is missing from them, or added to them."""

    relation: Literal["equals", "lacks-term", "extra-term"]
    part: str

    @property
    def id(self) -> str:
        return self.relation

    def wording(self) -> Wording:
        title = f"expected - yours is {self.part}"
        match self.relation:
            case "equals":
                asks = "Are two results exchanged, or is a last step missing?"
                return Wording(f"exactly what {self.part} should be", (), asks)
            case "lacks-term":
                says = f"the expected without {self.part}, which is not added"
                return Wording(says, (), f"Where should {self.part} be added?", title)
        return Wording(f"the expected plus {self.part}", (), f"Where is {self.part} added?", title)
