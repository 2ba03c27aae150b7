"""Numbers that dropout set to 0, and the scale of the others."""

from dataclasses import field

from autograder.messages.wording import Fact, Wording


class ShareDropped(Fact):
    """In train mode another share is dropped than the rate."""

    share: float
    rate: float

    id = "dropout"

    def wording(self) -> Wording:
        says = f"In train mode {self.share:.0%} of the elements are zero, expected about {self.rate:.0%}"
        return Wording(says, whole=True)


class KeptScaled(Fact):
    """In train mode what is kept has another scale; `high` equals `low` where it is the same everywhere."""

    low: float
    high: float
    rate: float

    id = "dropout"

    def wording(self) -> Wording:
        factor = f"{self.low:.3g}" if self.low == self.high else f"{self.low:.3g} to {self.high:.3g}"
        expected = f"1 / (1 - {self.rate}) = {1 / (1 - self.rate):.3g} ×"
        return Wording(f"In train mode what is kept is {factor} × its value, expected {expected}", whole=True)


class DroppedTogether(Fact):
    """In train mode all elements along an axis are dropped, or none."""

    id = "dropout"

    def wording(self) -> Wording:
        says = "In train mode the same places are dropped all along an axis, expected others each time"
        return Wording(says, whole=True)


class DropoutActive(Fact):
    """Numbers are dropped where none should be, and the others are scaled for it, or not."""

    rate: float = field(compare=False)
    factor: float = field(compare=False)
    is_scaled: bool

    @property
    def id(self) -> str:
        return "dropout" if self.is_scaled else "dropout-unscaled"

    def wording(self) -> Wording:
        if not self.is_scaled:
            says = f"{self.rate:.0%} of the numbers are dropped, and the others are not rescaled"
            return Wording(says, asks="Is something set to 0 at random here?", witnesses="dropped")
        also = f"the others are {self.factor:.3g} × the expected"
        asks = "Does dropout know whether it is training? It is a module that follows train() and eval()."
        says = f"dropout is active: {self.rate:.0%} of the numbers are dropped"
        return Wording(says, (also,), asks, witnesses="dropped")
