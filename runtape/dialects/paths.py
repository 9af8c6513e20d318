"""Looking into JSON documents and changing them by copy: no function here alters its input.

Only the containers along a changed path are copied; everything beside it is shared with the
original.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from runtape.dialects.base import JsonPath
from runtape.jsonio import Json


def value_at(document: Any, path: JsonPath) -> Any:
    """The value at `path`; raises LookupError when there is none."""
    for step in path:
        _check(document, step)
        document = document[step]
    return document


def replaced_at(document: Any, path: JsonPath, value: Any) -> Any:
    """A copy with the value at `path` replaced; raises LookupError when there is none."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    _check(document, step)
    copy = _copied(document)
    copy[step] = replaced_at(document[step], rest, value)
    return copy


def removed_at(document: Any, path: JsonPath) -> Any:
    """A copy without the key or list member at `path`; raises LookupError when there is none."""
    *parents, last = path
    container = value_at(document, tuple(parents))
    _check(container, last)
    copy = _copied(container)
    del copy[last]
    return replaced_at(document, tuple(parents), copy)


def entries(value: Any) -> Iterator[tuple[int, Json]]:
    """Index and member for the objects in a list; nothing when it is no list."""
    if isinstance(value, list):
        yield from ((i, item) for i, item in enumerate(value) if isinstance(item, dict))


def changed(items: list[Any], change: Callable[[Json], Json | None]) -> list[Any]:
    """`change` applied to the objects of a list; None drops one. An unchanged list is returned."""
    result = [change(item) if isinstance(item, dict) else item for item in items]
    dropped = [new is None and old is not None for old, new in zip(items, result, strict=True)]
    kept = [item for item, gone in zip(result, dropped, strict=True) if not gone]
    return unless_same(items, kept)


def unless_same(items: list[Any], result: list[Any]) -> list[Any]:
    """`result`, or `items` itself when both hold the very same members."""
    same = len(items) == len(result) and all(a is b for a, b in zip(items, result, strict=True))
    return items if same else result


def with_key(document: Json, key: str, value: Any) -> Json:
    """The document with `key` set; the same document when that is what it holds."""
    if key in document and document[key] is value:
        return document
    return {**document, key: value}


def without_keys(document: Json, *keys: str) -> Json:
    """The document without these keys; the same document when it has none of them."""
    if not any(key in document for key in keys):
        return document
    return {key: value for key, value in document.items() if key not in keys}


def text_of(value: Any) -> str | None:
    """The string itself when it is a non-empty one, else None."""
    return value if isinstance(value, str) and value else None


def count_of(value: Any) -> int | None:
    """The number of a token count; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def object_of(value: Any) -> Json:
    """The object itself; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def kind_of(document: Json) -> str:
    """Its ``type``; an empty string when it has none."""
    kind = document.get("type")
    return kind if isinstance(kind, str) else ""


def _copied(container: Any) -> Any:
    return dict(container) if isinstance(container, dict) else list(container)


def _check(container: Any, step: str | int) -> None:
    fits = (isinstance(container, dict) and step in container) or (
        isinstance(container, list) and isinstance(step, int) and 0 <= step < len(container)
    )
    if not fits:
        raise LookupError(f"nothing at {step!r}")
