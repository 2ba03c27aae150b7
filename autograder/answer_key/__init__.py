"""What is expected: made from the solutions, or read from a released kit."""
