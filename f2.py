def worker_ended(status: str, reason: str, ran: bool = True) -> Fact:
    """The worker process ended; `reason` is the sentence about it, `status` the status of the check.

    If not `ran`, it ended before this check.
    """
    id_ = self.status if self.ran else 'not_run'
    return Fact(id_, opened(reason), whole=True)


def file_missing(file: str, unread: str) -> Fact:
    """The file of the exercise was not found; `unread` names what of the submission could not be read."""
    if unread:
        says = f"{file} was not found, and a part of the submission could not be read"
        return Fact('missing', says, asks=f"{unread}.", whole=True)
    return Fact('missing', f"There is no file {file}", whole=True)


def file_unread(reason: str) -> Fact:
    """The file of the exercise is there and could not be read, for a reason."""
    return Fact('unread', reason, asks="None of its checks was run.", whole=True)


def nothing_read() -> Fact:
    """No file of the submission could be read."""
    says = "No file of the assignment could be read in your hand-in"
    return Fact('held', says, asks="It has no score until your teacher decides.", whole=True)


def work_elsewhere(reason: str) -> Fact:
    """The file that counts has no work, or less than another one; `reason` is the sentence about both."""
    return Fact('held', reason, asks="It has no score until your teacher decides.", whole=True)


def grader_failed(reason: str) -> Fact:
    """The kit itself failed."""
    return Fact('grader', "The grader itself failed; this is not your fault", asks=reason, whole=True)


def course_file_wrong(reason: str) -> Fact:
    """A file that the author of the course wrote is wrong."""
    return Fact('course_file', "A file of this course is wrong; this is not your fault", asks=reason, whole=True)


def check_required(checks: tuple[tuple[str, str], ...]) -> Fact:
    """A check that passes counts only if one of these passes too: their ids, with their titles."""
    names = [f"`{name}`" for name, _ in checks]
    which = names[0] if len(names) == 1 else f"one of {joined(names, 'or')}"
    titles = "\n".join(f"`{name}`: {title}" for name, title in checks)
    return Fact('waits', f"This counts as soon as {which} passes", asks=titles, whole=True)


def device_unjudged() -> Fact:
    """A check of the device failed for another reason than a device, and other checks fail too."""
    return Fact('waits', "Other checks fail, so the device is not judged yet", whole=True)


def inverted(of: Blocked, off_diagonal: tuple[str, ...] = ()) -> Fact:
    """True and false are exchanged everywhere, or everywhere but on the diagonal of the two `off_diagonal` axes."""
    id_ = f'{self.of}-inverted-off-diagonal' if self.off_diagonal else f'{self.of}-inverted'
    if off_diagonal:
        return _relation(of, "inverted everywhere but on the diagonal")
    asks = "Which one marks a visible place, True or False?"
    says = "inverted: true and false are exchanged everywhere" if of == "mask" else "inverted everywhere"
    return _relation(of, says, asks)


def turned(of: Blocked, rows: str, columns: str, is_inverted: bool) -> Fact:
    """Right after swapping the last two axes, and with `is_inverted` exchanging true and false."""
    id_ = f'{self.of}-transposed-inverted' if self.is_inverted else f'{self.of}-transposed'
    says = f"right after swapping {rows} and {columns}"
    if is_inverted:
        asks = "Is the diagonal on the side where it belongs?"
        return _relation(of, f"{says} and exchanging true and false", asks)
    asks = f"Which index counts {rows}, and which {columns}? Lower and upper triangle are exchanged."
    return _relation(of, says, asks)


def flipped(of: Blocked, axis: str) -> Fact:
    """In reverse order along an axis."""
    id_ = f'{self.of}-flipped'
    return _relation(of, f"in reverse order along {axis}")


def diagonal_wrong(of: Blocked, offset: int, is_extra: bool, rows: str) -> Fact:
    """Right but for a diagonal: the main one, or one beside it, is too much or missing."""
    id_ = f'{self.of}-diagonal'
    names = {0: "the diagonal", 1: "the diagonal above the main one", -1: "the diagonal below the main one"}
    says = f"right but for {names[offset]}, which is {'too much' if is_extra else 'missing'}"
    asks = f"May a {rows} see itself, or the one after it? The argument diagonal of tril and triu decides."
    return _relation(of, says, asks)


def places_differ(of: Blocked, is_more: bool, count: int, size: int, is_bool: bool) -> Fact:
    """Some places are blocked, or open, that should not be; all others are right."""
    id_ = f"{self.of}-{('more' if self.is_more else 'fewer')}"
    places, verb = f"{count} of {size} places", "is" if count == 1 else "are"
    says = f"{places} too {'many' if is_more else 'few'}, right at the others"
    if is_bool:
        says = f"{places} {verb} {is_more} where {not is_more} is expected, the others are right"
    asks = "Which condition blocks these by mistake?"
    if is_more:
        asks = "Is a condition missing that should block these, or joined by `or` instead of `and`?"
    return _relation(of, says, asks)


def arg_max(axis: str) -> Fact:
    """All weight is on the largest score."""
    return Fact('hard-max', f"all weight on the largest {axis}", ("an argmax where a softmax is expected",))


def hidden_weight(cause: Literal['missing', 'number', 'unknown'], axis: str, is_all: bool, least: float, count: int, size: int, sums_to_1: bool) -> Fact:
    """Hidden places get weight: because nothing is masked, their score became a number, or in another way.

    `is_all` is false where only `count` of `size` get some; `sums_to_1` says that the softmax itself is right.
    """
    id_ = 'leak' if self.cause == 'unknown' else f'mask-{self.cause}'
    also = ("rows sum to 1, so the softmax is right",) if sums_to_1 else ()
    weight = f"weight, {least:.3g} or more; expected 0"
    match cause:
        case "missing":
            asks = "Does the mask reach the scores before the softmax?"
            says = f"nothing is masked: every hidden {axis} gets {weight}"
        case "number":
            asks = "Their weights in a row are equal: their score became a number, such as 0, and e^0 = 1."
            says = f"every hidden {axis} still gets {weight}"
        case "unknown" if is_all:
            asks, says = "Does the mask reach these scores?", f"every hidden {axis} gets {weight}"
        case _:
            asks = "Which condition of the mask is missing?"
            says = f"{count} of {size} hidden places get {weight}"
    return Fact(id_, says, also, asks, _HIDDEN)


def weights_inverted(axis: str) -> Fact:
    """Weight only where none is expected."""
    says = f"the mask is inverted: weight only where none is expected along {axis}"
    return Fact('mask-inverted', says, (), "Which one marks a visible place, True or False?", _EXCHANGED)


def weights_turned() -> Fact:
    """Weight on the other side of the diagonal."""
    says = "weight on the other side of the diagonal"
    also = "sees what comes later, and not what was before"
    return Fact('mask-transposed', says, (also,), "Are rows and columns of the mask exchanged?", _EXCHANGED)


def sums_wrong(is_masked: bool, axis: str, low: float, high: float) -> Fact:
    """Rows do not sum to 1; with `is_masked` their zeros are right, so the mask was applied after the softmax."""
    id_ = 'mask-after' if self.is_masked else 'not-normalized'
    sums = span(low, high)
    if is_masked:
        asks = "Is the mask applied after the softmax? Then the rows lose the weight that it removes."
        return Fact(id_, f"zeros are right, but rows no longer sum to 1: from {sums}", (), asks)
    says = "each row is the expected one times a number"
    return Fact(id_, 
        says, (f"rows sum to {sums}, expected 1",), f"What do you divide the weights by, along {axis}?"
    )


def sums_along(at: int, is_together: bool, name: str | None, expected: str) -> Fact:
    """Weights sum to 1 along another axis, counted from the end; or with `is_together` from it to the last one."""
    id_ = 'all-axes' if self.is_together else 'other-axis'
    if not is_together:
        return Fact(id_, f"weights sum to 1 along {name}, expected along {expected}", (), _WHICH_AXIS)
    over = f"weights of each {name} together" if name else "all weights together"
    return Fact(id_, f"{over} sum to 1, expected those along {expected}", (), _WHICH_AXIS)


def temperature(effect: Effect, factor: float) -> Fact:
    """A softmax of the right scores times a factor."""
    effect = "the wrong way round" if effect == "reversed" else f"too {effect}"
    return Fact('temperature', f"{effect}: the softmax of {factor:.4g} × the scores", witnesses=LARGEST)


def sign_flipped() -> Fact:
    """Every number has the other sign."""
    asks = "Is a difference taken the wrong way round, or a minus missing?"
    return Fact('sign', "the expected with the sign flipped", (), asks, "every number by the same factor")


def offset(term: float, is_few: bool) -> Fact:
    """Every number is the expected one plus a term."""
    if is_few:
        return Fact('offset', f"the expected {_term(term)}")
    says = f"the expected {_term(term)} in every element"
    return Fact('offset', says, (), "What is added everywhere, or not subtracted?", "every number by the same amount")


def affine(factor: float, term: float) -> Fact:
    """Every number is the expected one times a factor, plus a term."""
    says = f"{factor:.4g} × the expected {_term(term)} in every element"
    asks = "Is a mean subtracted, or a scale or shift applied, that does not belong there?"
    return Fact('affine', says, (), asks, "every number by the same rule")


def rule_along(rule: Literal['ratio', 'offset', 'affine'], axis: str, is_row: bool, low: float, high: float, owner: str | None) -> Fact:
    """Each index of an axis, or each row along it, has a factor, an offset, or both, of its own.

    `owner` is the known part that these numbers are.
    """
    id_ = f'{self.rule}-along'
    each = f"each row along {axis}" if is_row else f"each {axis}"
    numbers = (f"from {span(low, high)}", *([f"that is {owner}"] if owner else []))
    match rule:
        case "ratio":
            asks = "Is a scale per index missing or applied twice, or is something normalized over the wrong axis?"
            return Fact(id_, 
                f"{each} is the expected one times its own factor", numbers, asks, f"a factor for {each}"
            )
        case "offset":
            asks = "Is a mean not subtracted, a bias missing or added twice, or one added that does not belong?"
            says = f"{each} is the expected one plus its own offset"
            return Fact(id_, says, numbers, asks, f"an offset for {each}")
    asks = "Over which axes are mean and spread taken, and is one of them missing?"
    says = f"{each} has a factor and an offset of its own"
    return Fact(id_, says, (), asks, f"a factor and an offset for {each}")


def one_minus() -> Fact:
    """Every number is 1 minus the expected one."""
    return Fact('1-x', "1 minus the expected", (), "Are yes and no exchanged?", "1 minus of one is the other")


def function_applied(function: str, axis: str | None = None, inverse: str | None) -> Fact:
    """A function was applied that does not belong there; `inverse` undoes it. A softmax runs over an `axis`."""
    id_ = f'is-{self.function}'
    if axis is not None:
        over = f"{function} over {axis}"
        asks = "Is it applied twice, or where raw scores are asked for?"
        title = f"{over} of one is the other"
        return Fact(id_, f"the {over} of the expected", ("one softmax too many",), asks, title)
    cure = f"take its {inverse}, or leave the {function} out"
    also = cure if inverse else "that step is too much, or applied twice"
    return Fact(id_, f"the {function} of the expected", (also,), "", f"{function} of one is the other")


def function_missing(function: str, axis: str | None = None) -> Fact:
    """A function was not applied that belongs there. A softmax runs over an `axis`."""
    id_ = f'lacks-{self.function}'
    name = function if axis is None else f"{function} over {axis}"
    return Fact(id_, f"the {name} is missing", ("with it the result is right",), "", f"{name} of one is the other")


def other_part(relation: Literal['equals', 'lacks-term', 'extra-term'], part: str) -> Fact:
    """The numbers are those of another part, or that part is missing from them, or added to them."""
    id_ = self.relation
    title = f"expected - yours is {part}"
    match relation:
        case "equals":
            asks = "Are two results exchanged, or is a last step missing?"
            return Fact(id_, f"exactly what {part} should be", (), asks)
        case "lacks-term":
            says = f"the expected without {part}, which is not added"
            return Fact(id_, says, (), f"Where should {part} be added?", title)
    return Fact(id_, f"the expected plus {part}", (), f"Where is {part} added?", title)


def devices_mixed(tensor: str | None) -> Fact:
    """A tensor stays on the CPU while the others are on another device; `tensor` is its name, if it has one."""
    says = f"{tensor or 'A tensor'} stays on the CPU while the others are on another device"
    return Fact('device', says, ("make it, or keep it, where they are",), whole=True)


def none_given() -> Fact:
    """A check got None where it needs a value."""
    return Fact('none', "Your code returned None where a value is expected: is a return missing?", whole=True)


def signature_wrong(cause: Cause | None) -> Fact:
    """A check cannot call the code; `cause` says why, if the code shows it."""
    says = "Your code cannot be called as its stub says"
    why = cause.words() if cause is not None else "compare its parameters with the stub's"
    return Fact('signature', says, (why,), whole=True)


def count_returned(expected: int, more: bool) -> Fact:
    """The code returned another number of values than a check takes apart."""
    count = f"one value or more than {expected}" if more else f"fewer than {expected} values"
    says = f"Your code returned {count}, where {expected} are expected"
    return Fact('count', says, ("return what the stub names, in its order",), whole=True)


def attribute_lacking(type: str, attribute: str) -> Fact:
    """A check got an object of a type that lacks what the check reads."""
    says = f"Your code gives a {type} where an object with `{attribute}` is needed"
    return Fact('type', says, ("return the type that the stub names",), whole=True)


def memory_exceeded(type: str, limit: int) -> Fact:
    """The code asked for more memory (MiB) than there is."""
    id_ = self.type
    return Fact(id_, f"Your code asked for more than the {limit} MiB of memory there are", whole=True)


def call_forbidden(name: str) -> Fact:
    """A call would skip the exercise."""
    id_ = self.name
    if (syntax := in_words(name)) is not None:
        return Fact(id_, f"This exercise asks you to do without {syntax}", whole=True)
    return Fact(id_, f"This exercise asks you to write it yourself: {name} must not be used here", whole=True)


def all_na_n(size: int) -> Fact:
    """Every number is NaN."""
    says = "every number is NaN" if size > 1 else "NaN, expected a finite number"
    return Fact('all-nan', says, (), _NAN, "where it is NaN")


def some_na_n(rest_is_right: bool, count: int, size: int, first: Position) -> Fact:
    """Some numbers are NaN, the first at a position."""
    says = f"{_share(count, size)} {_are(count)} NaN, {_rest(rest_is_right)}"
    return Fact('some-nan', says, (f"the first at {position(first)}",), _NAN, "where it is NaN")


def rows_na_n(each: str, rest_is_right: bool, axis: str, count: int, size: int, first: Position) -> Fact:
    """Whole rows along an axis are NaN; `each` is what such a row belongs to."""
    says = f"{count} of {size} whole rows {_are(count)} NaN, {_rest(rest_is_right)}"
    asks = f"{_NAN} So is a softmax over a row of -inf."
    return Fact('nan-rows', says, (f"the first at {position(first)}",), asks, "where it is NaN")


def infinite(is_negative: bool, rest_is_right: bool, count: int, size: int, first: Position) -> Fact:
    """Some numbers, or all, are infinite."""
    id_ = '-inf' if self.is_negative else 'inf'
    asks = "exp of a large number is infinite, and so is what is divided by 0."
    if is_negative:
        asks = "The logarithm of 0 is -inf: is a score blocked here that should not be?"
    if size == 1:
        return Fact(id_, f"{id}, expected a finite number", (), asks, "where it is infinite")
    rest = ", the others are right" if rest_is_right and count < size else ""
    says = f"{_share(count, size)} {_are(count)} {id}{rest}"
    return Fact(id_, says, (f"the first at {position(first)}",), asks, "where it is infinite")


def number_for_infinity(kind: Literal['zero', 'low', 'number'], rest_is_right: bool, number: float) -> Fact:
    """Another number stands where -inf is expected: 0, a very low one, or any other."""
    id_ = f'{self.kind}-for-inf'
    asks = {
        "zero": "What does a softmax make of a score of 0? e^0 = 1.",
        "low": "A very low number is not -inf: what do you fill the blocked scores with?",
        "number": "",
    }
    rest = ", the others are right" if rest_is_right else ""
    says = f"{number:.4g} where -inf is expected{rest}"
    return Fact(id_, says, (), asks[kind], "where -inf is expected")


def nothing_infinite(count: int, size: int) -> Fact:
    """Nothing is -inf, though some numbers should be."""
    says = f"nothing is -inf, expected {count} of {size}"
    return Fact('not-inf', says, witnesses="where -inf is expected")


def unwritten() -> Fact:
    """The numbers look like memory that nothing was written to, or like bytes of something else."""
    asks = "Are all places of torch.empty filled? Are bytes read from the right place, as the right dtype?"
    return Fact('unwritten', "holds huge and tiny numbers, as bytes do that hold something else", (), asks, "odd numbers")


def same_everywhere(value: bool | None, number: float, expected: float | None, dtype: str, count: int, size: int) -> Fact:
    """One number stands everywhere; `expected` is the one that should, if it is one.

    Of a mask `value` is that number, the same in each trial, and `count` of `size` places are wrong.
    """
    says = f"{element(number, dtype)} everywhere"
    if expected is not None:
        return Fact('constant', f"{says}, expected {element(expected, dtype)} everywhere")
    if value is not None:
        return Fact('constant', f"{says}, expected {not value} at {count} of {size} places")
    return Fact('constant', f"{says}, expected different numbers")


def rounded(dtype: str, expected: str) -> Fact:
    """Right up to the rounding of a coarser dtype."""
    id_ = f'precise-as-{self.dtype}'
    says = f"right up to the rounding of {dtype}, expected that of {expected}"
    return Fact(id_, says, (), "Where do you convert a tensor to a coarser dtype, or create one in it?")


def nearly_right(off: float) -> Fact:
    """Near the expected numbers, but farther off than rounding; `off` is relative to the largest number."""
    asks = "Rounding is less than this. Is a small constant or term wrong, or a formula approximate?"
    return Fact('near', f"near, but not equal: off by at most {off:.2g} of the largest number", (), asks)


def mask_as_numbers(is_inverted: bool, yours: str) -> Fact:
    """A mask of 0 and 1 where one of true and false is expected, right or inverted."""
    id_ = 'bits-inverted' if self.is_inverted else 'bits'
    says = f"{yours}, expected bool"
    if is_inverted:
        return Fact(id_, says, ("its 0 and 1 are exchanged as well",))
    asks = "A comparison gives a mask of true and false."
    return Fact(id_, says, ("its 0 and 1 are right as false and true",), asks)


def cut_to_whole(how: str, yours: str, expected: str) -> Fact:
    """Integers where fractions are expected: the values are `cut`, `rounded` or `rounded down`."""
    also = f"the values are {how} to whole numbers"
    asks = "Is // used for /, or a number put into a tensor of integers?"
    return Fact('cut', f"{yours}, expected {expected}", (also,), asks)


def rearranged() -> Fact:
    """The right numbers in an order without a name."""
    return Fact('rearranged', "the right numbers, in other places", witnesses=_MOVED)


def axes_swapped(one: str, other: str) -> Fact:
    """Right after swapping two axes."""
    asks = "Which of the two does a row stand for, and which a column?"
    return Fact('transposed', f"right after swapping {one} and {other}", (), asks, _MOVED)


def axes_reordered(order: tuple[int, ...]) -> Fact:
    """Right after its axes are put in another order."""
    return Fact('transposed', f"right after its axes are put in the order {order}", witnesses=_MOVED)


def viewed_wrongly(one: str, other: str, is_transposed: bool) -> Fact:
    """Two axes are exchanged by a view alone, or a view reads them wrongly after a transpose."""
    id_ = 'transpose-then-view' if self.is_transposed else 'view-for-transpose'
    names = f"{one} and {other}"
    if is_transposed:
        says = f"{names} are exchanged by a transpose, then a view reads them wrongly"
        return Fact(id_, says, (), _VIEW, _MOVED)
    return Fact(id_, f"{names} are exchanged by a view", ("that needs a transpose",), _VIEW, _MOVED)


def interleaved(one: str, other: str) -> Fact:
    """An axis was split into two, the faster one first."""
    names = f"{one} and {other}"
    asks = f"Which of {names} varies slower in what was split? It has to come first in the view."
    return Fact('split-otherwise', f"{names} are interleaved", ("split in the other order",), asks, _MOVED)


def split_otherwise(axis: str, parts: int, size: int) -> Fact:
    """One axis was split into parts in the other order: `parts` times `size` is expected."""
    also = f"split into {size} × {parts} where {parts} × {size} is expected"
    asks = "Which part varies slower? It comes first in the view."
    return Fact('split-otherwise', f"{axis} is interleaved", (also,), asks, _MOVED)


def merged_untransposed(between: str, into: str, parts: int) -> Fact:
    """Parts were merged into the last axis while another axis stood between them."""
    says = f"merged into {into} without a transpose"
    return Fact('merge-without-transpose', says, (f"it has to bring the {parts} parts behind {between}",), _VIEW, _MOVED)


def permuted(axis: str, order: tuple[int, ...]) -> Fact:
    """The right slices along an axis, in an order without a name."""
    listed = (f"the order is {list(order)}",) if len(order) <= _MOST_LISTED else ()
    return Fact('permuted', f"the right numbers along {axis}, in another order", listed, witnesses=_MOVED)


def slice_repeated(axis: str, is_everywhere: bool, source: Literal['last'] | int | None, index: int, held: int) -> Fact:
    """A slice stands in place of all others, or of one; `source` is which, if it is the same in each trial."""
    place = f"every {one_of(axis)}" if is_everywhere else item(axis, index)
    asks = f"Is the same {one_of(axis)} read in every step, or one number used for all?"
    return Fact('repeated', f"{place} holds what {item(axis, held)} should", (), asks, _MOVED)


def reordered(order: Literal['flipped', 'pairs', 'halves', 'apart', 'together'], axis: str) -> Fact:
    """The slices along an axis stand in an order that has a name."""
    id_ = self.order
    says, also, asks = {
        "flipped": (f"in reverse order along {axis}", (), "From which end do you count?"),
        "pairs": (
            f"each pair of neighbours along {axis} is exchanged",
            (),
            "Which of the two in each pair comes first?",
        ),
        "halves": (f"the two halves along {axis} are exchanged", (), "Which half comes first?"),
        "apart": (
            f"along {axis} the even places come first, then the odd ones",
            ("expected them in turn",),
            "Are two halves joined that should alternate?",
        ),
        "together": (
            f"along {axis} the two halves alternate",
            ("expected one after the other",),
            "Do two halves alternate that should be joined?",
        ),
    }[order]
    return Fact(id_, says, also, asks, _MOVED)


def rotated(axis: str, steps: int) -> Fact:
    """The slices along an axis are moved by some places, and what leaves at one end comes in at the other."""
    also = "what leaves at one end comes in at the other"
    return Fact('rolled', f"rotated by {abs(steps)} along {axis}", (also,), "Where should the end go?", _MOVED)


def shifted(axis: str, steps: int, is_late: bool) -> Fact:
    """Right but for a move by a few places along an axis."""
    places = "one place" if steps == 1 else f"{steps} places"
    says = f"{places} too {'late' if is_late else 'early'} along {axis}; the values are right otherwise"
    asks = f"Do you count from 0 or from 1 along {axis}? What comes at its end?"
    return Fact('shifted', says, (), asks, _MOVED)


def wrong_along(region: Region, axis: str, first: int, last: int, indices: tuple[int, ...]) -> Fact:
    """Wrong at some indices of an axis, right at the others. `first` and `last` are the ends of the region."""
    axis, first, last = axis, first, last
    says, asks = {
        "only first": (f"wrong only at the first {axis}", f"What is special about {axis} 0?"),
        "only last": (f"wrong only at the last {axis}", f"Does something end before the last {axis}?"),
        "only one": (f"wrong only at {axis} {first}", ""),
        "right first": (
            f"right only at the first {axis}",
            f"What do later ones depend on that {axis} 0 does not?",
        ),
        "right last": (
            f"right only at the last {axis}",
            f"What does the last {axis} have, or see, that the others lack?",
        ),
        "right one": (f"right only at {axis} {first}", ""),
        "odd": (f"wrong at every odd {axis}, right at the others", "How are the odd ones made?"),
        "even": (f"wrong at every even {axis}, right at the others", "How are the even ones made?"),
        "from": (
            f"right up to {axis} {first - 1}, wrong from {axis} {first} on",
            f"What changes at {axis} {first}?",
        ),
        "up to": (
            f"wrong up to {axis} {last}, right from {axis} {last + 1} on",
            f"What changes after {axis} {last}?",
        ),
        "some": (f"wrong only at {axis} {joined([str(index) for index in indices or (first,)])}", ""),
    }[region]
    return Fact('region', says, (), asks, _WRONG)


def wrong_at(axes: tuple[str, ...], where: Position) -> Fact:
    """Wrong at one index of several axes, and all over the others."""
    return Fact('region', f"wrong only at {position(where)}", (), "What is special about this one?", _WRONG)


def wrong_side(side: Side, rows: str, columns: str) -> Fact:
    """Wrong on one side of the diagonal of the last two axes."""
    asks = f"On which side is the {columns} after the {rows}?"
    return Fact('triangle', f"wrong only {side} the diagonal of {rows} × {columns}", (), asks, _WRONG)


def wrong_zeros(count: int, size: int) -> Fact:
    """Wrong only where 0 is expected."""
    says = f"wrong only where 0 is expected, at {count} of {size} such places"
    return Fact('zeros', says, (), "Why is 0 expected there?", _WRONG)


def input_changed() -> Fact:
    """An argument of the call has other values after it."""
    asks = "Which line writes into it? `+=`, `x[...] =` and methods with a trailing underscore do."
    return Fact('input-changed', "your code changes it, and it belongs to the caller", asks=asks)


def plain_differs(yours: Value, expected: Value, right: bool) -> Fact:
    """A plain value is another one, or of another type; `right` says that its numbers are the expected ones."""
    id_ = 'value' if type(self.yours) is type(self.expected) else 'type'
    right = ("its value is right",) if right else ()
    return Fact(id_, f"{described(yours)}, expected {described(expected)}", right)


def part_unexpected(part: str) -> Fact:
    """A dict has a key too many."""
    return Fact('type', f"has the part {part!r}, which is not expected")


def length_differs(yours: int, expected: int, lists: tuple[str, str] | None) -> Fact:
    """A list has another length; `lists` shows both if they are short."""
    if lists is not None:
        return Fact('type', f"{lists[0]}, expected {lists[1]}")
    return Fact('type', f"{yours} {'part' if yours == 1 else 'parts'}, expected {expected}")


def not_a_tensor(yours: Value, expected: Array, right: bool) -> Fact:
    """Something else stands where a tensor is expected; `right` says that its numbers are the expected ones."""
    right = " with the right values" if right else ""
    return Fact('type', f"{described(yours)}{right}, expected {array(expected)}")


def tensor_inside(key: int | str, count: int) -> Fact:
    """The expected tensor is one of several values that were returned."""
    return Fact('type', f"item {key} of the {count} you return is right", ("return it alone",))


def none_returned(expected: Array) -> Fact:
    """The code returned None where a tensor is expected."""
    says = f"Your code returned None, expected {array(expected)}"
    return Fact('none', says, asks="Is the return missing?", whole=True)


def gradient_missing() -> Fact:
    """No gradient reaches what it should."""
    return Fact('type', "no gradient arrives", asks="Is there a detach(), .data, .item() or torch.no_grad() on the way?")


def dtype_differs(yours: str, expected: str, right: bool) -> Fact:
    """The dtype is another one; `right` says that the numbers are the expected ones all the same."""
    values = "its values are right" if right else "its values differ too"
    return Fact('dtype', f"{yours}, expected {expected}", (values,))


def device_differs(yours: str) -> Fact:
    """The tensor is on another device than the input."""
    return Fact('device', f"on the device {yours}, expected the device of the input")


def nothing_raised(expected: str, returned: str) -> Fact:
    """An exception is expected; the call returned an object of a type instead."""
    also = (f"the call returned {returned}",)
    return Fact('raises', f"Your code raised nothing, expected {expected}", also, whole=True)


def other_raised(expected: str, raised: str, text: str) -> Fact:
    """Another exception than the expected one was raised."""
    says = f"Your code raised {raised}, expected {expected}"
    return Fact('raises', says, (f"its message: {text[:_MOST_QUOTED]}",) if text else (), whole=True)


def message_lacks(raised: str, missing: tuple[str, ...]) -> Fact:
    """The message of the exception does not name what it should."""
    return Fact('raises', f"The message of the {raised} does not mention {joined(missing)}", whole=True)


def no_exception_observed(yours: Value, expected: str) -> Fact:
    """The observation is no report of an exception."""
    return Fact('type', f"The call gave {described(yours)}, expected {expected}", whole=True)


def custom_judgement(text: str) -> Fact:
    """A judge of the course's own found a mistake, in its author's words."""
    return Fact('other', opened(text), whole=True)


def incomparable(yours: Value, expected: Value) -> Fact:
    """A judge of the course's own cannot read the observation."""
    says = f"The result is {described(yours)}, which cannot be compared with {described(expected)}"
    return Fact('other', says, whole=True)


def share_dropped(share: float, rate: float) -> Fact:
    """In train mode another share is dropped than the rate."""
    says = f"In train mode {share:.0%} of the elements are zero, expected about {rate:.0%}"
    return Fact('dropout', says, whole=True)


def kept_scaled(low: float, high: float, rate: float) -> Fact:
    """In train mode what is kept has another scale; `high` equals `low` where it is the same everywhere."""
    factor = f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
    expected = f"1 / (1 - {rate}) = {1 / (1 - rate):.3g} ×"
    return Fact('dropout', f"In train mode what is kept is {factor} × its value, expected {expected}", whole=True)


def dropped_together() -> Fact:
    """In train mode all elements along an axis are dropped, or none."""
    says = "In train mode the same places are dropped all along an axis, expected others each time"
    return Fact('dropout', says, whole=True)


def dropout_active(rate: float, factor: float, is_scaled: bool) -> Fact:
    """Numbers are dropped where none should be, and the others are scaled for it, or not."""
    id_ = 'dropout' if self.is_scaled else 'dropout-unscaled'
    if not is_scaled:
        says = f"{rate:.0%} of the numbers are dropped, and the others are not rescaled"
        return Fact(id_, says, asks="Is something set to 0 at random here?", witnesses="dropped")
    also = f"the others are {factor:.3g} × the expected"
    asks = "Does dropout know whether it is training? It is a module that follows train() and eval()."
    says = f"dropout is active: {rate:.0%} of the numbers are dropped"
    return Fact(id_, says, (also,), asks, witnesses="dropped")


def odd_result() -> Fact:
    """One of many random results is no number, or has another shape than the reference's."""
    return Fact('other', "not every result is a number, or an array of the expected shape")


def drawn_otherwise(is_mean: bool, count: int, yours: float, expected: float, margin: float) -> Fact:
    """The mean of many random results, or else their standard deviation, is not that of the reference's."""
    if is_mean:
        asks = "What is the mean by hand? Which step of yours moves it up or down?"
        says = f"the mean of {count} results is {yours:.3g}, expected {expected:.3g}"
        return Fact('distribution', f"{says}, give or take {margin:.1g}", asks=asks)
    asks = "How much does one result differ from the next? Count the random numbers that go into one of them."
    if yours == 0:
        asks = "Is every result the same? Each one needs new random numbers."
    says = f"{count} results have a standard deviation of {yours:.3g}, expected about {expected:.3g}"
    return Fact('distribution', says, asks=asks)


def step_unwritten() -> Fact:
    """A step needs code that is not written yet."""
    return Fact('todo', "This TODO is not written yet", whole=True)


def step_differs(title: str, found: str = '', paper: str = '') -> Fact:
    """A step has other numbers than the paper, or another shape: what was found, and what is on paper."""
    if found:
        return Fact('value', f"{title}: your code returns {found}, on paper it is {paper}", whole=True)
    return Fact('value', f"{title}: your values differ from those on paper", whole=True)


