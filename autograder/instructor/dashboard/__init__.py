"""The class page: the reports of a class together, for its teacher and for the author of the checks."""
