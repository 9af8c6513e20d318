"""The terminal app of runtape."""
