"""Where a mistake is: what a program computes on its way, held against what the solution computes."""
