"""Practice beside the exercises: find a fault, order lines, test programs, and answer questions days later."""
