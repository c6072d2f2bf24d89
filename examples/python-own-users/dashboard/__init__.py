"""A dashboard that took Portico in."""
