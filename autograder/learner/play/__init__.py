"""What a course offers to do with finished exercises: run by itself, on the student's own parts and no others."""
