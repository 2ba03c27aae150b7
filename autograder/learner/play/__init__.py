"""Activities that use finished exercises: each runs on the student's own code, without reference parts."""
