"""Inserts each value into a new list, and counts by recursion."""


def insertion_sort(values):
    done = []
    for value in values:
        place = 0
        while place < len(done) and done[place] <= value:
            place += 1
        done = [*done[:place], value, *done[place:]]
    return done


def moves(values):
    if not values:
        return 0
    first, *rest = values
    return sum(value < first for value in rest) + moves(rest)
