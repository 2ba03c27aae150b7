"""The ways out: marks in the formats of gradebooks."""
