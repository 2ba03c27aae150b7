"""What an instructor works with: grading a class, gradebooks and the class page."""
