"""Run untrusted submissions in a sandbox: warm zygotes in bubblewrap, and the isolation level of this machine."""
