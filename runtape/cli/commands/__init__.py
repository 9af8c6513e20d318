"""One module per command, imported when its command is called."""
