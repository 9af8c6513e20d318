"""SPEC.md and the schema of `why --json` name the same fields."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "runtape/reports/schemas/why-1.schema.json").read_text("utf-8"))
TABLES = (ROOT / "SPEC.md").read_text("utf-8").partition("### `runtape.why/1`")[2].split("A cause:")


def _first_cells(table):
    """Names in the first column of a table."""
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_the_document_is_described_field_by_field():
    """No field of the document is missing from the table, and none is made up."""
    assert _first_cells(TABLES[0]) == set(SCHEMA["properties"])


def test_a_cause_is_described_field_by_field():
    """The same for causes."""
    assert _first_cells(TABLES[1]) == set(SCHEMA["$defs"]["cause"]["properties"])


def test_every_verdict_and_role_is_named():
    """Whoever branches on them finds them all."""
    for name in SCHEMA["properties"]["verdict"]["enum"]:
        assert f"`{name}`" in TABLES[0]
    for name in SCHEMA["$defs"]["cause"]["properties"]["role"]["enum"]:
        assert f"`{name}`" in TABLES[1]
