# %% [markdown]
# # Insertion sort
#
# Each number moves left until the one before it is not larger: [3, 1, 2] becomes [1, 2, 3].


# %%
def insertion_sort(values):
    """Return the values in ascending order, as a new list."""
    # TODO ex01: move each value left, past the larger ones
    ### BEGIN SOLUTION
    items = list(values)
    for i in range(1, len(items)):
        j = i
        while j > 0 and items[j - 1] > items[j]:
            items[j - 1], items[j] = items[j], items[j - 1]
            j -= 1
    return items
    ### END SOLUTION


# %%
def moves(values):
    """Return how many swaps of neighbours insertion sort needs."""
    # TODO ex01: count the pairs that are out of order
    ### BEGIN SOLUTION
    count = 0
    for i in range(len(values)):
        for j in range(i):
            if values[j] > values[i]:
                count += 1
    return count
    ### END SOLUTION
