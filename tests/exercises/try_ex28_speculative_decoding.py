"""ex28: the two tables of the lesson, and the rounds of a perfect draft."""

from autograder.checks import step

TARGET, DRAFT, LAST = [0.5, 0.4, 0.1], [0.2, 0.2, 0.6], [0.1, 0.1, 0.8]


def verified(impl, given, *uniforms):
    """Return the result for the lesson's draft [0, 2]."""
    return impl.verify_draft(
        given.tensor([0, 2], "int64"),
        given.tensor([DRAFT, DRAFT], "float64"),
        given.tensor([TARGET, TARGET, LAST], "float64"),
        given.tensor(uniforms, "float64"),
    )


@step("accepted for 0.9, 0.1", "2")
def step_all_kept(impl, given):
    return verified(impl, given, 0.9, 0.1)[0]


@step("next for 0.9, 0.1", "0.1 0.1 0.8")
def step_last_row(impl, given):
    return verified(impl, given, 0.9, 0.1)[1]


@step("accepted for 0.9, 0.5", "1")
def step_refused(impl, given):
    return verified(impl, given, 0.9, 0.5)[0]


@step("next for 0.9, 0.5", "0.6 0.4 0")
def step_residual(impl, given):
    return verified(impl, given, 0.9, 0.5)[1]


class Layer:
    """A cache that counts tokens and stores nothing. It has the names of KVCache."""

    def __init__(self, max_len):
        self.max_len, self.length = max_len, 0

    @property
    def held(self):
        return self.length

    def truncate(self, length):
        self.length = length


@step("calls for 8 tokens", "2")
def step_calls(impl, given):
    torch, calls = given.torch, []

    class Model(torch.nn.Module):
        def make_cache(self, max_len=None):
            return [Layer(max_len or 99)]

        def forward(self, ids, cache=None):
            calls.append(self)
            if cache is not None:
                cache[0].length += ids.size(1)
            return torch.nn.functional.one_hot((ids + 1) % 5, 5).float()

    target = Model()
    impl.speculative_generate(target, Model(), given.tensor([[3]], "int64"), 8, 3, temperature=0.0)
    return sum(model is target for model in calls)
