"""The first difference between an observation and the expected one."""

from autograder.protocol import NUMPY, Array, Opaque, Value
from autograder.results import Fact, Position, element, joined, opened, position


def described(value: Value) -> str:
    """Name a value in a few words."""
    match value:
        case Array():
            return array(value)
        case Opaque():
            return f"a {value.type_name}" if " " not in value.type_name else value.type_name
        case list():
            return f"a list of {len(value)}"
        case dict():
            return f"a dict of {', '.join(map(str, value))}"
        case str() | bytes():
            return repr(value[:60])
    return str(value)


ONLY_SOME_SIZES = "With inputs of other sizes it is right."


def array(expected: Array) -> str:
    """Name a tensor, or an array of NumPy, by its shape."""
    return f"{'an array' if expected.device == NUMPY else 'a tensor'} of shape {tuple(expected.shape)}"


# Values.


def differing_values(
    count: int,
    size: int,
    dtype: str = "float32",
    first: Position | None = None,
    numbers: tuple[float, float] | None = None,
) -> Fact:
    """Some numbers are wrong; `first` is the first of them, with its numbers where they are no secret."""
    things = "places" if dtype == "bool" else "numbers"
    says = f"{count} of {size} {things} {'differs' if count == 1 else 'differ'}"
    if first is None:
        return Fact("value", says)
    says = f"every {things[:-1]} differs" if count == size else says
    also = f"first at {position(first)}"
    if numbers is not None:
        expected, yours = (element(number, dtype) for number in numbers)
        also += f": expected {expected}, yours {yours}"
    return Fact("value", says, (also,))


CHANGED_INPUT = Fact(
    "input-changed",
    "your code changes it, and it belongs to the caller",
    asks="Which line writes into it? `+=`, `x[...] =` and methods with a trailing underscore do.",
)
"""An argument of the call has other values after it."""


def other_number(yours: float, expected: float, dtype: str = "number") -> Fact:
    """A single number is wrong."""
    return Fact("value", f"{element(yours, dtype)}, expected {element(expected, dtype)}")


def odd_numbers(count: int, size: int, nan: bool, infinite: bool) -> Fact:
    """Some numbers are NaN, infinite, or either, where finite ones are expected."""
    what = " or ".join(word for word, there in (("NaN", nan), ("infinite", infinite)) if there)
    return Fact("special", f"{count} of {size} numbers {'is' if count == 1 else 'are'} {what}, expected finite ones")


def other_value(yours: Value, expected: Value, right: bool) -> Fact:
    """A plain value is another one, or of another type; `right` says that its numbers are the expected ones."""
    id_ = "value" if type(yours) is type(expected) else "type"
    return Fact(id_, f"{described(yours)}, expected {described(expected)}", ("its value is right",) if right else ())


# Parts.


def unexpected_part(part: str) -> Fact:
    """A dict has a key too many."""
    return Fact("type", f"has the part {part!r}, which is not expected")


def other_length(yours: int, expected: int, lists: tuple[str, str] | None = None) -> Fact:
    """A list has another length; `lists` shows both if they are short."""
    if lists is not None:
        return Fact("type", f"{lists[0]}, expected {lists[1]}")
    return Fact("type", f"{yours} {'part' if yours == 1 else 'parts'}, expected {expected}")


# What stands in place of a tensor.


def no_tensor(yours: Value, expected: Array, right: bool) -> Fact:
    """Something else stands where a tensor is expected; `right` says that its numbers are the expected ones."""
    values = " with the right values" if right else ""
    return Fact("type", f"{described(yours)}{values}, expected {array(expected)}")


def tensor_inside(key: int | str, count: int) -> Fact:
    """The expected tensor is one of several values that were returned."""
    return Fact("type", f"item {key} of the {count} you return is right", ("return it alone",))


def none_returned(expected: Array) -> Fact:
    """The code returned None where a tensor is expected."""
    says = f"Your code returned None, expected {array(expected)}"
    return Fact("none", says, asks="Is the return missing?", whole=True)


MISSING_GRADIENT = Fact(
    "type",
    "no gradient arrives",
    asks="Is there a detach(), .data, .item() or torch.no_grad() on the way?",
)
"""No gradient reaches what it should."""


def other_dtype(yours: str, expected: str, right: bool) -> Fact:
    """The dtype is another one; `right` says that the numbers are the expected ones all the same."""
    values = "its values are right" if right else "its values differ too"
    return Fact("dtype", f"{yours}, expected {expected}", (values,))


def other_device(yours: str) -> Fact:
    """The tensor is on another device than the input."""
    return Fact("device", f"on the device {yours}, expected the device of the input")


# Exceptions that a check asks for.


def no_exception(expected: str, returned: str) -> Fact:
    """An exception is expected; the call returned an object of a type instead."""
    also = (f"the call returned {returned}",)
    return Fact("raises", f"Your code raised nothing, expected {expected}", also, whole=True)


def other_exception(expected: str, raised: str, text: str) -> Fact:
    """Another exception than the expected one was raised."""
    also = (f"its message: {text[:_MOST_QUOTED]}",) if text else ()
    return Fact("raises", f"Your code raised {raised}, expected {expected}", also, whole=True)


_MOST_QUOTED = 80
"""Characters of a learner's own exception message: enough to recognise it."""


def lacking_message(raised: str, missing: tuple[str, ...]) -> Fact:
    """The message of the exception does not name what it should."""
    return Fact("raises", f"The message of the {raised} does not mention {joined(missing)}", whole=True)


def unobserved_exception(yours: Value, expected: str) -> Fact:
    """The observation is no report of an exception."""
    return Fact("type", f"The call gave {described(yours)}, expected {expected}", whole=True)


# What a judge of the course's own says.


def custom_judgement(text: str) -> Fact:
    """A judge of the course's own found a mistake, in its author's words."""
    return Fact("other", opened(text), whole=True)


def incomparable_result(yours: Value, expected: Value) -> Fact:
    """A judge of the course's own cannot read the observation."""
    says = f"The result is {described(yours)}, which cannot be compared with {described(expected)}"
    return Fact("other", says, whole=True)


# Numbers that dropout set to 0, and the scale of the others.


def dropped_share(share: float, rate: float) -> Fact:
    """In train mode another share is dropped than the rate."""
    says = f"In train mode {share:.0%} of the elements are zero, expected about {rate:.0%}"
    return Fact("dropout", says, whole=True)


def kept_scale(low: float, high: float, rate: float) -> Fact:
    """In train mode what is kept has another scale; `high` equals `low` where it is the same everywhere."""
    factor = f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
    expected = f"1 / (1 - {rate}) = {1 / (1 - rate):.3g} ×"
    return Fact("dropout", f"In train mode what is kept is {factor} × its value, expected {expected}", whole=True)


DROPPED_TOGETHER = Fact(
    "dropout",
    "In train mode the same places are dropped all along an axis, expected others each time",
    whole=True,
)
"""In train mode all elements along an axis are dropped, or none."""

ODD_RESULT = Fact("other", "not every result is a number, or an array of the expected shape")
"""One of many random results is no number, or has another shape than the reference's."""


def other_distribution(is_mean: bool, count: int, yours: float, expected: float, margin: float) -> Fact:
    """The mean of many random results, or else their standard deviation, is not that of the reference's."""
    if is_mean:
        asks = "What is the mean by hand? Which step of yours moves it up or down?"
        says = f"the mean of {count} results is {yours:.3g}, expected {expected:.3g}"
        return Fact("distribution", f"{says}, give or take {margin:.1g}", asks=asks)
    asks = "How much does one result differ from the next? Count the random numbers that go into one of them."
    if yours == 0:
        asks = "Is every result the same? Each one needs new random numbers."
    says = f"{count} results have a standard deviation of {yours:.3g}, expected about {expected:.3g}"
    return Fact("distribution", says, asks=asks)


def other_shape(yours: tuple[int, ...], expected: tuple[int, ...]) -> Fact:
    """The shape is another one."""
    return Fact("shape", f"shape {yours}, expected {expected}")
