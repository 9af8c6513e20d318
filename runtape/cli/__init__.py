"""The command line: parses, calls the workbench, prints what the reports make of it."""

from runtape.cli.entry import main

__all__ = ["main"]
