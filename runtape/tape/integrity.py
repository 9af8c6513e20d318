"""Checking that every request on a tape is what was sent."""

from __future__ import annotations

from dataclasses import dataclass

from runtape.tape.bodies import Bodies, Splice, compare, corruption, stored_body
from runtape.tape.delta import Digest, digest_of
from runtape.tape.events import Event
from runtape.tape.recent import Recent

_KEPT = 8


@dataclass(frozen=True, slots=True)
class _Checked:
    body: bytes
    digest: Digest


class Checker:
    """Compares bodies with their digests; fast when asked in file order.

    Bodies are built one on the other as they were written, so that each costs a copy and the
    hashing of what is new in it, not its whole history.
    """

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self._checked: Recent[_Checked] = Recent(_KEPT)

    def check(self, event: Event) -> None:
        """Raise TraceCorrupt when a request is damaged, IncompleteContext when it is empty."""
        stored = stored_body(event)
        base = self._checked.get(stored.base) if isinstance(stored, Splice) else None
        if isinstance(stored, Splice) and base is not None:
            body, digest = _spliced(event, stored, base)
        else:
            body = self._bodies.whole(event)
            digest = digest_of(body, len(body))
        compare(event, len(body), digest.sha256)
        self._checked.put(event.id, _Checked(body, digest))


def _spliced(event: Event, splice: Splice, base: _Checked) -> tuple[bytes, Digest]:
    old = base.body
    if splice.head < 0 or splice.tail < 0 or splice.head + splice.tail > len(old):
        raise corruption(event, "splice reaches beyond its base")
    body = b"".join((old[: splice.head], splice.insert, old[len(old) - splice.tail :]))
    return body, digest_of(body, len(body) - splice.tail, base.digest, splice.head)
