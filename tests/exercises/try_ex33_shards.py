"""ex33: the tables of the lesson, for two ranks."""

from autograder.checks import step


class Pair:
    """Two ranks, with the collectives of the lesson. Nothing is counted."""

    size = 2

    def all_reduce(self, parts, operation="sum"):
        first, second = parts
        total = first.maximum(second) if operation == "max" else first + second
        return [total.clone(), total.clone()]

    def all_gather(self, parts):
        whole = parts[0].new_zeros(2 * len(parts[0]))
        whole[: len(parts[0])], whole[len(parts[0]) :] = parts
        return [whole.clone(), whole.clone()]

    def reduce_scatter(self, parts):
        return list((parts[0] + parts[1]).chunk(2))


@step("row-parallel, rank 1", "21")
def step_row(impl, given):
    xs = [given.tensor([1, 2]), given.tensor([3, 4])]
    weights = [given.tensor([[1, 0]]), given.tensor([[2, 1]])]
    return impl.row_parallel(Pair(), xs, weights, given.tensor([10]))[1]


@step("loss, rank 0", "1.440")
def step_loss(impl, given):
    logits = [given.tensor([[1, 3]]), given.tensor([[2, 0]])]
    return impl.vocab_parallel_cross_entropy(Pair(), logits, given.tensor([2], "int64"))[0]


@step("mean gradient", "1")
def step_average(impl, given):
    gradients = [[given.tensor([4])], [given.tensor([0])]]
    return impl.average_gradients(Pair(), gradients, [given.tensor(1), given.tensor(3)])[0][0]


def parameters(given):
    return [given.tensor([1, 2, 3]), given.tensor([[4, 5]])]


@step(
    "shards",
    """
    [1 2 3]
    [4 5 0]
    """,
)
def step_shards(impl, given):
    return given.torch.stack(list(impl.flat_shards(parameters(given), 2)))


@step("gathered, second parameter", "[4 5]")
def step_gathered(impl, given):
    shards = [given.tensor([1, 2, 3]), given.tensor([4, 5, 0])]
    return impl.gather_parameters(Pair(), shards, [(3,), (1, 2)])[0][1]


@step(
    "shards of the mean",
    """
    [2 2 2]
    [3 3 0]
    """,
)
def step_scattered(impl, given):
    gradients = [
        [given.tensor([1, 1, 1]), given.tensor([[1, 1]])],
        [given.tensor([3, 3, 3]), given.tensor([[5, 5]])],
    ]
    return given.torch.stack(list(impl.scatter_gradients(Pair(), gradients)))
