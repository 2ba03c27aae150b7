"""A small piece of two languages: everyday English, and Hindi as it is typed in Latin letters."""
