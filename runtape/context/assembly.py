"""Putting a request together: its own body, or the stateless one when the server held earlier turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from runtape.context.origins import Entrances
from runtape.dialects.base import Dialect, JsonPath
from runtape.jsonio import Json
from runtape.tape.events import Request
from runtape.tape.reader import Tape


@dataclass(frozen=True, slots=True)
class Assembled:
    """A body with, for each place in it, the request event it first stood in."""

    body: Json
    entered: Callable[[JsonPath], int]


def assemble(tape: Tape, request: Request, dialect: Dialect) -> Assembled:
    """The body a model call can be repeated with."""
    body = request.body
    return Assembled(body, Entrances(request).event)
