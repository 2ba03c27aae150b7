"""Says why a check failed and where: patterns, fault location, evidence."""
