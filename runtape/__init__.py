"""runtape."""
