"""What the shapes have in common: name and parameters of the model, deleting, made-up ids."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from runtape.dialects.base import JsonPath, Reply, Usage
from runtape.dialects.paths import (
    count_of,
    object_of,
    removed_at,
    replaced_at,
    value_at,
    with_key,
    without_keys,
)
from runtape.jsonio import Json, canonical

_PART_TEXTS = frozenset({"text", "refusal"})
_ARGUMENTS = frozenset({"arguments", "input"})


class Shape(ABC):
    """Base of the dialects: everything that does not differ between them."""

    @abstractmethod
    def repaired(self, body: Json) -> Json:
        """See :meth:`Dialect.repaired`."""

    @abstractmethod
    def render(self, reply: Reply, body: Json) -> Json:
        """See :meth:`Dialect.render`."""

    def model(self, body: Json) -> str | None:
        """See :meth:`Dialect.model`."""
        name = body.get("model")
        return name if isinstance(name, str) else None

    def with_model(self, body: Json, name: str) -> Json:
        """See :meth:`Dialect.with_model`."""
        return {**body, "model": name}

    def with_params(self, body: Json, params: Json) -> Json:
        """See :meth:`Dialect.with_params`."""
        dropped = [key for key, value in params.items() if value is None]
        given = {key: value for key, value in params.items() if value is not None}
        return {**without_keys(body, *dropped), **given}

    def temperature(self, body: Json) -> float | None:
        """See :meth:`Dialect.temperature`."""
        value = body.get("temperature")
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        return float(value)

    def without(self, body: Json, path: JsonPath) -> Json:
        """See :meth:`Dialect.without`."""
        return self.without_all(body, [path])

    def without_all(self, body: Json, paths: Iterable[JsonPath]) -> Json:
        """See :meth:`Dialect.without_all`."""
        shorter = body
        for path in sorted({_block_path(path) for path in paths}, key=_position, reverse=True):
            shorter = self.deleted(shorter, path)
        return self.repaired(shorter)

    def deleted(self, body: Json, path: JsonPath) -> Json:
        """The body without the value at `path`, or with an empty one; not yet repaired."""
        value, key = value_at(body, path), path[-1]
        shorter: Json
        if isinstance(key, str) and isinstance(value, str):
            shorter = replaced_at(body, path, "{}" if key == "arguments" else "")
        elif key in _ARGUMENTS and isinstance(value, dict):
            shorter = replaced_at(body, path, {})
        else:
            shorter = removed_at(body, path)
        return shorter

    def render_choices(self, replies: Sequence[Reply], body: Json) -> Json:
        """See :meth:`Dialect.render_choices`."""
        return self.render(replies[0], body)


def _block_path(path: JsonPath) -> JsonPath:
    """The path of the part, for that of its text."""
    is_part = len(path) > 1 and path[-1] in _PART_TEXTS and isinstance(path[-2], int)
    return path[:-1] if is_part else path


def _position(path: JsonPath) -> list[tuple[int, str]]:
    """Sorts the places of one document so that of two in a list the later one comes later."""
    return [(step, "") if isinstance(step, int) else (-1, step) for step in path]


def not_streamed(body: Json) -> Json:
    """The body asking for one whole document; what it did not say stays unsaid."""
    plain = without_keys(body, "stream_options")
    return with_key(plain, "stream", False) if plain.get("stream") else plain


def count_leading(items: list[Any], roles: tuple[str, ...]) -> int:
    """How many messages of these roles a conversation begins with."""
    heads = [object_of(item).get("role") in roles for item in items]
    return heads.index(False) if False in heads else len(heads)


def read_usage(usage: Any, read: str, written: str) -> Usage:
    """Token counts of an OpenAI shape, whose keys for input and output are `read` and `written`."""
    usage = object_of(usage)
    return Usage(
        input_tokens=count_of(usage.get(read)),
        output_tokens=count_of(usage.get(written)),
        cached_tokens=count_of(object_of(usage.get(f"{read}_details")).get("cached_tokens")),
    )


def fingerprint(reply: Reply, body: Json) -> str:
    """Hex digits for made-up ids: the same answer to the same body gets the same ids."""
    return hashlib.sha256(canonical([body, reply.to_json()])).hexdigest()[:24]


def refuse(response: Any, wanted: str) -> ValueError:
    """The error that says what a document is instead of the wanted response."""
    if not isinstance(response, dict):
        return ValueError(f"not {wanted} but {type(response).__name__}")
    error = response.get("error")
    if error:
        said = error.get("message") if isinstance(error, dict) else error
        return ValueError(f"not {wanted} but an error: {said or error}")
    keys = ", ".join(map(str, response)) or "nothing"
    return ValueError(f"not {wanted} but a document with {keys}")
