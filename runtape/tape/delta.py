"""Request bodies as differences: an agent sends its whole history again with every call.

A body is stored as a *splice* of an earlier request of the same run: so many bytes of its head,
new text, so many bytes of its tail. Finding the splice costs one ``memcmp`` over the shared bytes;
the digest costs the new bytes only, because the hasher's states at earlier splices are kept.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, replace
from typing import Protocol

from runtape.jsonio import Json

_CONVERSATIONS = 8
"""Bodies kept to compare with: interleaved agents each find their own history again."""
_KEPT_BYTES = 64 << 20
"""Bodies older than the newest are forgotten beyond this many bytes."""
_STATES = 8
"""Hasher states kept per body: so many splice points may move back before all is hashed again."""
_WORTHWHILE = 64
"""Shared bytes below which a splice is longer than what it saves."""


class Hasher(Protocol):
    """What this module needs of a :mod:`hashlib` object."""

    def update(self, data: memoryview, /) -> None:
        """Hash more bytes."""

    def copy(self) -> Hasher:
        """The same state once more."""

    def hexdigest(self) -> str:
        """The digest so far."""


@dataclass(frozen=True, slots=True)
class Digest:
    """SHA-256 of a body, with the states on the way: `states` is (position, hasher) ascending."""

    sha256: str
    states: tuple[tuple[int, Hasher], ...] = ()


@dataclass(frozen=True, slots=True)
class Delta:
    """A body relative to an earlier request.

    Attributes:
        body: the whole body.
        base: id of the earlier request event, or None when the body is stored whole.
        head: bytes taken from the start of the base's body.
        tail: bytes taken from the end of the base's body.
        text: what stands between them; None when the body is not UTF-8 (it is then stored whole).
        digest: SHA-256 of `body`.
    """

    body: bytes
    base: int | None
    head: int
    tail: int
    text: str | None
    digest: Digest

    @property
    def inserted(self) -> bytes:
        """The bytes that are not in the base: all of the body when there is none."""
        return self.body[self.head : len(self.body) - self.tail]

    def whole(self) -> Delta:
        """The same body without a base."""
        return replace(self, base=None, head=0, tail=0, text=_decoded(self.body))

    def fields(self) -> Json:
        """The payload fields that store the body."""
        sizes = {"sha256": self.digest.sha256, "bytes": len(self.body)}
        if self.text is None:
            return {"body_base64": base64.b64encode(self.body).decode("ascii"), **sizes}
        if self.base is None:
            return {"body": self.text, **sizes}
        splice = {"head": self.head, "tail": self.tail, "insert": self.text}
        return {"base": self.base, "splice": splice, **sizes}


@dataclass(frozen=True, slots=True)
class _Kept:
    """A body on the tape that later ones may build on; `tail` is where its own splice ended."""

    event: int
    body: bytes
    tail: int
    digest: Digest


class History:
    """The recent request bodies of one run.

    Deltas may be computed by several threads at once; :meth:`remember` wants one caller at a time.
    """

    def __init__(self) -> None:
        self._kept: tuple[_Kept, ...] = ()

    def delta(self, body: bytes) -> Delta:
        """The shortest splice of a recent body, or the whole body where none is worthwhile."""
        best, base = (0, 0), None
        for kept in self._kept:
            shared = _shared(kept, body)
            if sum(shared) > sum(best):
                best, base = shared, kept
            if sum(shared) == len(kept.body) > len(body) // 2:
                break  # the body only adds a little to this one: none can be much nearer
        if base is None or sum(best) < _WORTHWHILE:
            return Delta(body, None, 0, 0, _decoded(body), digest_of(body, len(body)))
        head, tail = best
        digest = digest_of(body, len(body) - tail, base.digest, head)
        text = _decoded(body[head : len(body) - tail])
        if text is None:
            return Delta(body, None, 0, 0, None, digest)
        return Delta(body, base.event, head, tail, text, digest)

    def remember(self, event: int, delta: Delta) -> None:
        """Let later bodies build on `delta`, now that it stands on the tape as `event`."""
        if delta.text is None:
            return
        newest = _Kept(event, delta.body, delta.tail, delta.digest)
        others = [kept for kept in self._kept if not _continues(delta, kept)]
        room = _KEPT_BYTES
        recent = []
        for kept in others[: _CONVERSATIONS - 1]:
            room -= len(kept.body)
            if room >= 0:
                recent.append(kept)
        self._kept = (newest, *recent)


def digest_of(body: bytes, mark: int, earlier: Digest | None = None, head: int = 0) -> Digest:
    """Hash `body`, whose first `head` bytes are those of the body `earlier` was made from.

    The state at `mark`, where the next body will probably differ, is kept.
    """
    states = [] if earlier is None else [s for s in earlier.states if s[0] <= head]
    position = states[-1][0] if states else 0
    hasher: Hasher = states[-1][1].copy() if states else hashlib.sha256()
    view = memoryview(body)
    hasher.update(view[position:mark])
    states.append((mark, hasher.copy()))
    hasher.update(view[mark:])
    return Digest(hasher.hexdigest(), tuple(states[-_STATES:]))


def _continues(delta: Delta, kept: _Kept) -> bool:
    return delta.base == kept.event and delta.head + delta.tail == len(kept.body)


def _shared(kept: _Kept, body: bytes) -> tuple[int, int]:
    """Bytes of head and tail that both bodies share, cut at characters of the kept one."""
    old = kept.body
    most = min(len(old), len(body))
    head = _common_prefix(old, body, most, len(old) - kept.tail)
    while head < len(old) and _inside_character(old[head]):
        head -= 1
    tail = _common_suffix(old, body, most - head)
    while tail and _inside_character(old[-tail]):
        tail -= 1
    return head, tail


def _inside_character(byte: int) -> bool:
    """Whether a cut before this UTF-8 byte would split a character."""
    return byte & 0xC0 == 0x80  # noqa: PLR2004 - UTF-8: 10xxxxxx continues a character


def _common_prefix(a: bytes, b: bytes, most: int, guess: int) -> int:
    """Length of the common prefix, at most `most`; cheapest when it is a little over `guess`.

    Bisection with slices compared in place: the bytes are looked at about twice, with ``memcmp``.
    """
    view = memoryview(a)
    low = guess if guess <= most and b.startswith(view[:guess]) else 0
    high = most
    while low < high:
        middle = (low + high + 1) // 2
        if b.startswith(view[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low


def _common_suffix(a: bytes, b: bytes, most: int) -> int:
    """Length of the common suffix, at most `most`."""
    view = memoryview(a)
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if b.startswith(view[len(a) - middle : len(a) - low], len(b) - middle):
            low = middle
        else:
            high = middle - 1
    return low


def _decoded(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None
