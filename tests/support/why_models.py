"""Stand-ins for a model that tests can hold, count and break.

Functions of a module keep their identity from run to run, as those of a user's file do: what they
answered is found again in the cache.
"""

from __future__ import annotations

import threading
from typing import Any

from runtape.demo.inbox import simulated_model
from runtape.jsonio import Json


class Desk:
    """What tests know and say about the calls.

    Attributes:
        begun: calls that were made.
        answered: calls that were answered.
        most: calls that are answered before the next ones are held.
        gate: held calls go on when it is set.
    """

    def __init__(self) -> None:
        self.begun = self.answered = 0
        self.most: int | None = None
        self.gate = threading.Event()
        self.lock = threading.Lock()

    def reset(self, most: int | None = None) -> None:
        """Count anew; hold calls beyond `most`."""
        self.release()
        with self.lock:
            self.begun = self.answered = 0
            self.most, self.gate = most, threading.Event()

    def release(self) -> None:
        """Let held calls go on."""
        self.gate.set()

    def admit(self) -> int:
        """Let a call in, or hold it; returns its number."""
        with self.lock:
            self.begun += 1
            number, gate = self.begun, self.gate
        if self.most is not None and number > self.most:
            gate.wait(30)
        return number


desk = Desk()


def inbox(body: Json) -> Any:
    """The model of the inbox story."""
    desk.admit()
    answer = simulated_model(body)
    with desk.lock:
        desk.answered += 1
    return answer


def breaking(body: Json) -> Any:
    """Raises from call 30 on."""
    if desk.admit() > 30:
        raise ValueError("the model broke")
    return simulated_model(body)
