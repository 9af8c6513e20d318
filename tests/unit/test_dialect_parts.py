"""The small parts that the dialects share: paths, events, growing text."""

import pytest

from runtape.dialects.paths import changed, removed_at, replaced_at, value_at
from runtape.dialects.sse import ServerEvent, grow, read_events, settle, write_event

DOCUMENT = {"a": [{"b": 1}, {"c": [2, 3]}], "d": {}}


def test_changes_by_copy():
    """Only the containers along the path are copied."""
    changed_copy = replaced_at(DOCUMENT, ("a", 1, "c", 0), 9)
    assert changed_copy == {"a": [{"b": 1}, {"c": [9, 3]}], "d": {}}
    assert DOCUMENT["a"][1] == {"c": [2, 3]}
    assert changed_copy["a"][0] is DOCUMENT["a"][0]
    assert changed_copy["d"] is DOCUMENT["d"]
    assert removed_at(DOCUMENT, ("a", 0)) == {"a": [{"c": [2, 3]}], "d": {}}
    assert removed_at(DOCUMENT, ("d",)) == {"a": DOCUMENT["a"]}
    assert replaced_at(DOCUMENT, (), 1) == 1


@pytest.mark.parametrize(
    "path", [("x",), ("a", 2), ("a", -1), ("a", "b"), ("a", 0, "b", 0), ("d", 0)]
)
def test_no_such_place(path):
    """A path that leads nowhere is a LookupError, for reading and for writing."""
    for action in (value_at, removed_at, lambda d, p: replaced_at(d, p, 1)):
        with pytest.raises(LookupError):
            action(DOCUMENT, path)


def test_unchanged_lists_are_not_copied():
    """A list whose members all stay is returned itself; None members are no deletions."""
    items = [{"a": 1}, None, "x"]
    assert changed(items, lambda item: item) is items
    assert changed(items, lambda _: None) == [None, "x"]


def test_events():
    """Names, several data lines, comments, unknown fields, events without data."""
    text = (
        ": hi\nevent: a\ndata: 1\ndata: 2\n\nevent: empty\n\ndata:3\rdata\r\rid: 9\r\ndata: [DONE]"
    )
    events = list(read_events(text))
    assert events == [
        ServerEvent("a", "1\n2"),
        ServerEvent(None, "3\n"),
        ServerEvent(None, "[DONE]"),
    ]
    assert [event.done for event in events] == [False, False, True]


def test_event_documents():
    """Only a whole JSON object is a document."""
    for data, document in (('{"a":1}', {"a": 1}), ('{"a"', None), ("[1]", None), ("", None)):
        assert ServerEvent(None, data).document == document
    assert ServerEvent(None, '{"a":' * 5000).document is None


def test_written_events_are_read_again():
    """Writing and reading are inverse, whatever line separators stand in the text."""
    document = {"text": "a\n\nb\r\u2028\u0085 ü"}
    [event] = read_events(write_event(document, "name"))
    assert (event.name, event.document) == ("name", document)


def test_growing_text():
    """Pieces are joined once, wherever they hang in the document."""
    document = {"a": "x", "list": [{}]}
    for piece in ("y", "z"):
        grow(document, "a", piece)
        grow(document["list"][0], "b", piece)
    assert settle(document) == {"a": "xyz", "list": [{"b": "yz"}]}
