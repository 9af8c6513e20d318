"""Widgets of the terminal app; each reads a view model only."""
