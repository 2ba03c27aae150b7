"""Tools for instructors: grade a class, export grades, look at the class page."""
