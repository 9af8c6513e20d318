"""What all shapes have in common: where the model's name and the parameters stand, and what deleting means."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from runtape.dialects.base import JsonPath, Reply
from runtape.dialects.paths import removed_at, replaced_at, value_at, with_key, without_keys
from runtape.jsonio import Json, canonical

_PART_KEYS = frozenset({"text", "refusal"})


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
        return {
            **without_keys(body, *dropped),
            **{k: v for k, v in params.items() if v is not None},
        }

    def temperature(self, body: Json) -> float | None:
        """See :meth:`Dialect.temperature`."""
        value = body.get("temperature")
        return (
            float(value)
            if isinstance(value, (int, float)) and not isinstance(value, bool)
            else None
        )

    def without(self, body: Json, path: JsonPath) -> Json:
        """See :meth:`Dialect.without`."""
        value = value_at(body, path)
        member = isinstance(path[-1], int)
        if not member and path[-1] in _PART_KEYS and isinstance(path[-2], int):
            path, member = path[:-1], True
        if member:
            return self.repaired(removed_at(body, path))
        return self.repaired(replaced_at(body, path, _emptied(path[-1], value)))

    def render_choices(self, replies: Sequence[Reply], body: Json) -> Json:
        """See :meth:`Dialect.render_choices`."""
        return self.render(replies[0], body)


def not_streamed(body: Json) -> Json:
    """The body asking for one whole document; what it did not say stays unsaid."""
    plain = without_keys(body, "stream_options")
    return with_key(plain, "stream", False) if plain.get("stream") else plain


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
        return ValueError(f"not {wanted} but an error document: {said or error}")
    return ValueError(
        f"not {wanted}: it has the keys {', '.join(map(str, response)) or 'of nothing'}"
    )


def _emptied(key: str | int, value: Any) -> Any:
    if key == "arguments":
        return "{}" if isinstance(value, str) else {}
    return {} if isinstance(value, dict) else "" if isinstance(value, str) else None
