"""JSON in and out, where orjson is stricter or looser than the providers."""

from __future__ import annotations

import pytest

from runtape import jsonio


@pytest.mark.parametrize("value", [2**63, 2**64, -(2**70), 10**25])
def test_big_integers_survive_where_documents_are_sent_on(value):
    """Integers beyond 64 bits are read and written as they stand."""
    text = f'{{"id":{value}}}'
    assert jsonio.loads_exact(text) == {"id": value}
    assert jsonio.dumps_text(jsonio.loads_exact(text)) == text


def test_long_digit_strings_are_no_numbers():
    """A card number in a string stays a string."""
    assert jsonio.loads_exact('{"card":"4012888888881881000"}') == {"card": "4012888888881881000"}


def test_lone_surrogates_go_through_both_ways():
    """What a model escaped badly is read and written escaped again."""
    assert jsonio.loads('{"a":"\\ud800"}') == {"a": "\ud800"}
    assert jsonio.dumps({"a": "\ud800"}) == b'{"a":"\\ud800"}'


def test_canonical_form_ignores_the_order_of_keys():
    """Equal values give equal bytes."""
    assert jsonio.canonical({"b": 1, "a": [2]}) == jsonio.canonical({"a": [2], "b": 1})


def test_what_is_no_json_raises_a_value_error():
    """Both readers fail the same way."""
    for read in (jsonio.loads, jsonio.loads_exact):
        with pytest.raises(ValueError, match=r".+"):
            read("{")
