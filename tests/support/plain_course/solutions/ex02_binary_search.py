# %% [markdown]
# # Binary search
#
# Half of a sorted list is left after each look at its middle.

# %%
from ex01_insertion_sort import insertion_sort


# %%
def search(items, wanted):
    """Return the index of a number in a sorted list, or -1."""
    # TODO ex02: look at the middle, and go on in the half that can hold the number
    ### BEGIN SOLUTION
    low, high = 0, len(items)
    while low < high:
        middle = (low + high) // 2
        if items[middle] == wanted:
            return middle
        if items[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return -1
    ### END SOLUTION


# %%
def median(values):
    """Return the median of some numbers. An empty list is a ValueError."""
    # TODO ex02: insertion_sort of exercise 1 does most of it
    ### BEGIN SOLUTION
    if not values:
        raise ValueError("an empty list has no median")
    items = insertion_sort(values)
    middle = len(items) // 2
    if len(items) % 2:
        return float(items[middle])
    return (items[middle - 1] + items[middle]) / 2
    ### END SOLUTION
