"""An agent that waters beds, and a model for it: the same task for every framework.

The model (:func:`gardener`) goes by rules: it reads the sensors of all beds named in the task at
once, waters the first dry one, and reports. An agent is a function of a :class:`Bench`; it returns
plain data, so that a recorded, an unrecorded and a replayed run can be compared.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from runtape.demo.standin import view
from runtape.dialects.base import Reply, Stop, ToolCall, Usage
from runtape.jsonio import Json
from runtape.recording.holders import http_holders
from tests.support.call_shapes import settled

SYSTEM = "You look after the beds of a nursery. Use the tools."
TASK = "Look at bed a, bed b and bed c, and water what is dry."
REPORT = "Watered bed {bed} — the others are fine."
NOWHERE = "http://127.0.0.1:9"
"""An address where nobody answers."""
DRY = "bdfhz"
"""Beds whose sensor says dry; bed z has a broken valve."""


def read_sensor(bed: str) -> str:
    """Read the moisture of a bed."""
    return f"bed {bed} is {'dry' if bed in DRY else 'moist'}"


def open_valve(bed: str, minutes: int = 5) -> dict[str, Any]:
    """Water a bed."""
    if bed == "z":
        raise RuntimeError("the valve is stuck")
    return {"bed": bed, "litres": minutes * 2}


async def read_sensor_slowly(bed: str) -> str:
    """Read the moisture of a bed."""
    await asyncio.sleep(0)
    return read_sensor(bed)


async def open_valve_slowly(bed: str, minutes: int = 5) -> dict[str, Any]:
    """Water a bed."""
    await asyncio.sleep(0)
    return open_valve(bed, minutes)


read_sensor_slowly.__name__ = "read_sensor"
open_valve_slowly.__name__ = "open_valve"


def gardener(_api: str, body: Json, _number: int = 0) -> Reply:
    """The model, as a handler for the loopback server."""
    seen = view(body)
    beds = re.findall(r"\bbed (\w)\b", seen.user)
    unread = [bed for bed in beds if seen.result("read_sensor", bed=bed) is None]
    if unread and "read_sensor" in seen.tools:
        return _calling(*(ToolCall("read_sensor", {"bed": b}, f"call_read_{b}") for b in unread))
    dry = [bed for bed in beds if "dry" in (seen.result("read_sensor", bed=bed) or "")]
    if dry and not seen.called("open_valve"):
        return _calling(ToolCall("open_valve", {"bed": dry[0]}, f"call_water_{dry[0]}"))
    return Reply(REPORT.format(bed=dry[0] if dry else "?"), usage=Usage(40, 8))


def _calling(*calls: ToolCall) -> Reply:
    return Reply(None, calls, Stop.TOOL_CALLS, usage=Usage(30, 12))


_benches = itertools.count()


@dataclass
class Bench:
    """Where an agent runs.

    Attributes:
        url: of a server that has the :func:`gardener` for a model.
        tap: a recorder, or what replays a recording; None: the agent runs as it is.
        patience: seconds until a call times out; each bench has its own, and with it its own http
            clients: LangChain caches them by address and timeout, closed ones too.
    """

    url: str
    tap: Any = None
    patience: float = field(default_factory=lambda: 20 + next(_benches) / 1000)

    def client(self, made: Any) -> Any:
        """A client or model, tapped."""
        return made if self.tap is None else self.tap.wrap(made)

    def tool(self, function: Any) -> Any:
        """A tool, tapped."""
        return function if self.tap is None else self.tap.tool(function)

    @property
    def callbacks(self) -> list[Any]:
        """For LangChain's configuration."""
        handler = getattr(self.tap, "langchain", None)
        return [] if handler is None else [handler()]


Agent = Callable[[Bench], Any]


def run(agent: Agent, bench: Bench) -> Any:
    """What the agent returns; asynchronous ones get a loop of their own."""

    async def main() -> Any:
        return await agent(bench)

    return asyncio.run(main()) if inspect.iscoroutinefunction(agent) else agent(bench)


async def close_all(*clients: Any) -> None:
    """Close the http clients in these, so that no socket outlives its loop."""
    for client in clients:
        for holder, name in http_holders(client):
            http = getattr(holder, name)
            await settled(http.aclose() if hasattr(http, "aclose") else http.close())


def close_sync(*clients: Any) -> None:
    """The same for agents without a loop: their asynchronous clients have never been used."""
    for client in clients:
        for holder, name in http_holders(client):
            http = getattr(holder, name)
            if not hasattr(http, "aclose"):
                http.close()
