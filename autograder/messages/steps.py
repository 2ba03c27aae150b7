"""Steps of a worked example that are not written yet, or differ from the numbers on paper."""

from dataclasses import dataclass

from autograder.messages.wording import Fact, Wording


@dataclass(frozen=True)
class StepUnwritten(Fact):
    """A step needs code that is not written yet."""

    id = "todo"

    def wording(self) -> Wording:
        return Wording("This TODO is not written yet", whole=True)


@dataclass(frozen=True)
class StepDiffers(Fact):
    """A step has other numbers than the paper, or another shape: what was found, and what is on paper."""

    title: str
    found: str = ""
    paper: str = ""

    id = "value"

    def wording(self) -> Wording:
        if self.found:
            return Wording(f"{self.title}: your code returns {self.found}, on paper it is {self.paper}", whole=True)
        return Wording(f"{self.title}: your numbers differ from those on paper", whole=True)
