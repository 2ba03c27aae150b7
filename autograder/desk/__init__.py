"""The teacher's desk: a page on this machine on which a graded class is read, and decided about."""
