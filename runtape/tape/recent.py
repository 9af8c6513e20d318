"""A small cache for things that are dear to put together."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """The values of the `size` ids used last; safe to use from several threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[int, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, id: int) -> Value | None:  # noqa: A002 - event ids are called id everywhere
        """The value, or None when it is not kept (any more)."""
        with self._lock:
            if id in self._values:
                self._values.move_to_end(id)
            return self._values.get(id)

    def put(self, id: int, value: Value) -> None:  # noqa: A002
        """Keep a value, forget the one unused longest."""
        with self._lock:
            self._values[id] = value
            self._values.move_to_end(id)
            if len(self._values) > self._size:
                self._values.popitem(last=False)
