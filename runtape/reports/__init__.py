"""Facts made readable: the only place that words a finding, as text, as JSON, and line by line.

Nothing in here asks a model, opens a terminal or parses an option; the faces hand data in and print
what comes back. Text from a trace is shown only through :func:`runtape.visible.visible`.
"""
