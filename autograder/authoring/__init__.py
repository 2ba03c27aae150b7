"""Tools for course authors: stubs, notebooks, releases, and the proof that a course is consistent."""
