"""What jobs tell the screens, as messages of Textual."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from runtape.reports.plan_text import Outlook
from runtape_tui.tickets import Job, Problem, Ticket


@dataclass
class JobMoved(Message, bubble=False):
    """There is something new to read in a ticket; a later one says the same."""

    ticket: Ticket

    def can_replace(self, message: Message) -> bool:
        """One waiting message is enough, however much was told."""
        return isinstance(message, JobMoved) and message.ticket is self.ticket


@dataclass
class JobEnded(Message, bubble=False):
    """A job is over: its result, if there is one, is the last item of the ticket."""

    ticket: Ticket


@dataclass
class JobPrepared(Message, bubble=False):
    """A job is ready to run; `outlook` is None where there is nothing to ask a model."""

    job: Job
    outlook: Outlook | None
    agreed: bool
    """Whether its calls were agreed to already."""


@dataclass
class JobRefused(Message, bubble=False):
    """A job could not be prepared."""

    problem: Problem
