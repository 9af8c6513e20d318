"""``python -m runtape.cli``."""

from runtape.cli.entry import main

main()
