"""Tales that the kit tells itself: what comes late in them follows from what came early."""
