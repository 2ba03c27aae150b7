"""Names of numbers: what a wrong factor or offset is made of, and what to ask about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Constant:
    """A number with a name: `√K`; `family` says how it is made of the sizes."""

    text: str
    value: float
    family: str
    sizes: tuple[tuple[str, int], ...] = ()

    @property
    def symbols(self) -> tuple[str, ...]:
        """Return the symbols of the sizes in the name."""
        return tuple(symbol for symbol, _ in self.sizes)


@dataclass(frozen=True)
class Coefficient:
    """The number that explains a difference, and what it may be; `steady` if it is the same in both trials.

    With `needs_name` it means nothing without a name.
    """

    value: float
    names: tuple[Constant, ...] = ()
    needs_name: bool = False
    steady: bool = False


def reason(coefficient: Coefficient) -> str:
    """Return what a number is: `2.646 = √K (K = 7)`; nothing where it has no name."""
    if not coefficient.names:
        return "the same for other sizes" if coefficient.steady else ""
    names = " = ".join(constant.text for constant in coefficient.names)
    sizes = {symbol: size for constant in coefficient.names for symbol, size in constant.sizes}
    where = ", ".join(f"{symbol} = {size}" for symbol, size in sizes.items())
    value = f"{abs(coefficient.value):.4g}"
    if names == value:
        return ""
    return f"{value} = {names} ({where})" if where else f"{value} = {names}"


def question(constants: Sequence[Constant], words: Mapping[str, str | None]) -> str:
    """Return what to ask about a number of that name; nothing where it has none. `words` name the sizes."""
    if not constants:
        return ""
    first = constants[0]
    over = " and ".join(words.get(symbol) or symbol for symbol in first.symbols)
    questions = {
        "size": f"Is something summed over {over} where a mean is expected?",
        "inverse": f"Is a mean taken over {over} where a sum is expected?",
        "root": f"Where does {first.text.removeprefix('1/')} belong: is it missing, there twice, or on the wrong side?",
        "one less": "Do you divide by n where n - 1 is expected, or the other way round?",
        "ratio": f"Which size belongs there, {' or '.join(first.symbols)}?",
        "logarithm": f"Is something normalized over {over} once too often, or not at all?",
    }
    return questions.get(first.family, "Where does this number come in, or go missing?")
