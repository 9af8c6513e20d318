"""What the screens show, as plain Python: no widget, no terminal."""
