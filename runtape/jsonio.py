"""JSON in and out: the only user of orjson, with the standard library where orjson is stricter.

orjson rejects NaN and lone surrogates and rounds integers beyond 64 bits; agents produce all
three. Reading and writing fall back to :mod:`json` for those, so that nothing a provider accepted
is lost here.
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeAlias

import orjson

Json: TypeAlias = dict[str, Any]


_BIG = re.compile(r"[0-9]{19}")


def loads_exact(data: str) -> Any:
    """Parse one JSON document, integers of any size as they stand; raises ValueError.

    orjson reads integers beyond 64 bits as floats. Where a document is sent on, that would change
    it, so a text that could hold one is read by the standard library (5 MB: 60 ms instead of 15).
    """
    return json.loads(data) if _BIG.search(data) else loads(data)


def loads(data: bytes | str) -> Any:
    """Parse one JSON document; raises ValueError when it is not JSON."""
    try:
        return orjson.loads(data)
    except ValueError:
        text = data.decode("utf-8", "surrogatepass") if isinstance(data, bytes) else data
        return json.loads(text)


def dumps(value: Any) -> bytes:
    """Compact JSON bytes, key order kept; raises TypeError for values JSON has no form for.

    Lone surrogates and 64-bit overflow are written as the standard library writes them (escaped).
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def dumps_text(value: Any, *, indent: bool = False) -> str:
    """Like :func:`dumps`, as text, optionally indented by two."""
    if not indent:
        return dumps(value).decode("utf-8")
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode("utf-8")
    except TypeError:
        return json.dumps(value, indent=2)


def canonical(value: Any) -> bytes:
    """Compact JSON with sorted keys: equal values give equal bytes (for hashing and matching)."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return json.dumps(value, separators=(",", ":"), sort_keys=True).encode("ascii")
