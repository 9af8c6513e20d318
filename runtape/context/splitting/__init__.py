"""Splitting a text into parts, as spans of that text.

One level at a time: :func:`split` looks at a text and names its parts; each part says what shape it
has, and is split when somebody asks. Laws (tested as such): parts are in order and disjoint, lie
inside the text, cover every word of it, and cutting all of them leaves no word.
"""

from __future__ import annotations

from collections.abc import Callable

from runtape.context.splitting.documents import split_document
from runtape.context.splitting.indented import split_indented, split_nested
from runtape.context.splitting.lines import (
    split_bulk,
    split_code,
    split_flow,
    split_lines,
    split_program,
)
from runtape.context.splitting.literals import split_literal
from runtape.context.splitting.markup import split_markup
from runtape.context.splitting.paragraphs import (
    split_blocks,
    split_fence,
    split_printed,
    split_quote,
)
from runtape.context.splitting.parts import Part, Shape, Split
from runtape.context.splitting.tables import ROW_SPLITTERS, split_rows

__all__ = ["Part", "Shape", "Split", "split"]


def split(text: str, shape: Shape = Shape.TEXT) -> Split | None:
    """The parts of a text; None when it is not divided further."""
    for splitter in _SPLITTERS[shape]:
        found = splitter(text)
        if found is not None:
            return found
    return None


def _split_tagged(text: str) -> Split | None:
    """A text that begins and ends with a tag."""
    bare = text.strip()
    return split_markup(text) if bare.startswith("<") and bare.endswith(">") else None


_SPLITTERS: dict[Shape, tuple[Callable[[str], Split | None], ...]] = {
    Shape.LEAF: (),
    Shape.TEXT: (
        split_document,
        split_bulk,
        split_literal,
        split_indented,
        _split_tagged,
        split_rows,
        split_program,
        split_blocks,
        split_fence,
        split_quote,
        split_markup,
        split_printed,
        split_lines,
    ),
    Shape.DOCUMENT: (split_document,),
    Shape.LITERAL: (split_literal,),
    Shape.INDENTED: (split_nested,),
    Shape.CODE: (split_document, split_code, split_flow),
    Shape.FLOW: (split_flow,),
    **{shape: (splitter,) for shape, splitter in ROW_SPLITTERS.items()},
}
"""What each shape is tried as, in order: the strictest first."""
