"""Where submissions nobody can trust are run: warm zygotes in bubblewrap, and how far this machine can confine them."""
