# %% [markdown]
# # Insertion sort
#
# Each number moves left until the one before it is not larger: [3, 1, 2] becomes [1, 2, 3].


# %%
def insertion_sort(values):
    """Return the values in ascending order, as a new list."""
    # TODO ex01: move each value left, past the larger ones
    raise NotImplementedError("ex01: insertion_sort")


# %%
def moves(values):
    """Return how many swaps of neighbours insertion sort needs."""
    # TODO ex01: count the pairs that are out of order
    raise NotImplementedError("ex01: moves")
