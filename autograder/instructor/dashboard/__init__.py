"""The class page: what the reports of a class say together, for who teaches it and who writes the checks."""
