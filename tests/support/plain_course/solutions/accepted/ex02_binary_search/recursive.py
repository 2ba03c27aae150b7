"""By recursion, with inclusive bounds."""

from ex01_insertion_sort import insertion_sort


def search(items, wanted):
    def within(low, high):
        if low > high:
            return -1
        middle = low + (high - low) // 2
        if items[middle] == wanted:
            return middle
        return within(middle + 1, high) if items[middle] < wanted else within(low, middle - 1)

    return within(0, len(items) - 1)


def median(values):
    if len(values) == 0:
        raise ValueError("nothing")
    ordered = insertion_sort(values)
    half, odd = divmod(len(ordered), 2)
    return float(ordered[half] if odd else ordered[half - 1] / 2 + ordered[half] / 2)
