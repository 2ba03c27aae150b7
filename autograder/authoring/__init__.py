"""For those who write a course: stubs from solutions, and the proof that the course holds."""
