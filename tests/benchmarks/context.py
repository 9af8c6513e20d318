"""Contexts of 5 MB and of 5,000 messages: the piece tree, down to a leaf, and cutting it out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from runtape.context import Context, build_context, remove
from runtape.tape.reader import Tape
from runtape.visible import visible
from tests.support.contexts import Run, chat, every, read

_SIZE = 5_000_000
_WORDS = "The quick brown fox jumps over it. Then it goes home again, with 3.5 friends. "
_RECORD = {"id": 4471, "title": "Item 4471", "text": _WORDS + _WORDS}
_SHAPES: dict[str, str] = {
    "JSON array": json.dumps([_RECORD] * (_SIZE // 230)),
    "text in a JSON string": json.dumps({"n": 1, "body": (_WORDS * 3 + "\n\n") * (_SIZE // 240)}),
    "paragraphs": (_WORDS * 5 + "\n\n") * (_SIZE // 400),
    "one paragraph": _WORDS * (_SIZE // len(_WORDS)),
    "HTML": f"<ul>{f'<li><p>{_WORDS}</p></li>' * (_SIZE // 100)}</ul>",
    "YAML": f"- id: 1\n  text: 'It''s so. {_WORDS}'\n" * (_SIZE // 110),
    "log": "2026-01-01 10:00:00 INFO worker 12 did the thing\n" * (_SIZE // 50),
    "hostile: tags left open": "<div>" * (_SIZE // 5),
    "hostile: brackets": "[" * _SIZE,
}


def rows() -> list[str]:
    """One line per shape of a tool result, then many pieces, then visible()."""
    with TemporaryDirectory() as folder:
        shapes = [_shape_row(name, _record(Path(folder), text)) for name, text in _SHAPES.items()]
        many = _many_row(Path(folder))
    return [*shapes, many, *_visible_rows()]


def _record(folder: Path, result: str, *more: dict[str, Any]) -> tuple[Tape, int]:
    run = Run(folder)
    event = run.request(chat(*read(result), *more))
    run.close()
    tape = Tape.open(run.path)
    tape.request(event)
    return tape, event


def _shape_row(name: str, recorded: tuple[Tape, int]) -> str:
    built, context = _timed(lambda: build_context(*recorded))
    down, leaf = _timed(lambda: list(_down(context))[-1])
    cut, _ = _timed(lambda: context.edited([remove(leaf)]))
    return (
        f"5 MB {name:24} build {built:6.2f} s   to a leaf {down:5.2f} s   cut {cut * 1e3:5.1f} ms"
    )


def _down(context: Context) -> Iterator[Any]:
    """The newest message, the part in its middle, and so on down to a leaf."""
    level = context.roots[-1:]
    while level:
        piece = level[len(level) // 2]
        yield piece
        level = context.children(piece)


def _many_row(folder: Path) -> str:
    message = {"role": "user", "content": _WORDS}
    built, context = _timed(lambda: build_context(*_record(folder, "[]", *[message] * 5_000)))
    unfolded, pieces = _timed(lambda: list(every(context)))
    cut, _ = _timed(lambda: context.edited([remove(piece) for piece in context.roots[::2]]))
    return (
        f"{len(context.roots):,} messages, {len(pieces):,} pieces: build {built:.2f} s, "
        f"all pieces {unfolded:.2f} s, half of them removed {cut:.2f} s"
    )


def _visible_rows() -> Iterator[str]:
    for name, text in {
        "ASCII": _WORDS * (_SIZE // len(_WORDS)),
        "other letters": "Größe, 世界. " * (_SIZE // 11),
        "CRLF": "A line of a file that ends as on Windows.\r\n" * (_SIZE // 43),
    }.items():
        seconds, _ = _timed(lambda text=text: visible(text))
        yield f"visible, 5 MB {name}: {seconds * 1e3:.0f} ms"


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds, and the result."""
    start = process_time()
    result = work()
    return process_time() - start, result
