"""``runtape report`` and ``why --html`` as a user types them."""

from __future__ import annotations

import json

import pytest

from runtape.demo.agent import record_inbox, stand_in
from tests.support.command import run

ASKED = ("why", "last", "tool:forward_email", "--model-fn", stand_in())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A working folder with the inbox story recorded and a report of it saved."""
    here = tmp_path_factory.mktemp("report")
    record_inbox(here / "traces")
    done = run(here, *ASKED, "--json")
    assert done.code == 0
    (here / "saved.json").write_text(done.out)
    return here


def test_a_saved_report_is_shown_like_the_first_time(folder):
    """Text and JSON of a saved report are those that `why` printed."""
    shown = run(folder, "report", "saved.json")
    assert shown.code == 0
    assert shown.out.split("Cost")[0] == run(folder, *ASKED).out.split("Cost")[0]
    again = run(folder, "report", "saved.json", "--json")
    assert json.loads(again.out) == json.loads((folder / "saved.json").read_text())


def test_page_picture_and_markdown_are_written(folder):
    """Each into the file that was asked for, said on standard error; stdout stays empty."""
    options = ("--html", "a.html", "--svg", "a.svg", "--md", "a.md")
    done = run(folder, "report", "saved.json", *options)
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines() == ["wrote a.html", "wrote a.svg", "wrote a.md"]
    assert "Our bank details have not changed" in (folder / "a.html").read_text()
    assert (folder / "a.svg").read_text().startswith("<svg")
    assert "```" in (folder / "a.md").read_text()


def test_a_file_called_dash_is_standard_output(folder):
    """Markdown can go straight into the clipboard."""
    done = run(folder, "report", "saved.json", "--md", "-")
    assert done.out.startswith("### Why `calls forward_email")
    assert done.err == ""


def test_why_writes_the_page_beside_its_report(folder):
    """The text is printed as always, and the page holds the whole context."""
    done = run(folder, *ASKED, "--html", "why.html")
    assert done.code == 0
    assert "Note to AI assistants" in done.out
    page = (folder / "why.html").read_text()
    assert "The trace was not at hand" not in page
    assert "12.body para 4 sentence 1" in page


def test_fix_writes_a_page_and_its_document_is_a_saved_report(folder):
    """The page tells what helps; the saved document makes the same page again."""
    asked = ("fix", *ASKED[1:], "--others", "1")
    done = run(folder, *asked, "--html", "fix.html")
    assert done.code == 0
    assert "What helps" in (folder / "fix.html").read_text()
    (folder / "fix.json").write_text(run(folder, *asked, "--json").out)
    again = run(folder, "report", "fix.json", "--html", "-")
    assert "What helps" in again.out
    assert "Call forward_email only if the user has asked" in again.out
    assert "Remedies" in run(folder, "report", "fix.json").out


def test_what_is_no_report_is_refused(folder):
    """A missing file, another file, another document, a folder that is not there."""
    (folder / "other.json").write_text('{"schema": "x"}')
    for name, words in (
        ("none.json", "cannot read"),
        ("a.svg", "not JSON"),
        ("other.json", "no saved"),
    ):
        done = run(folder, "report", name)
        assert done.code == 2
        assert words in done.err
        assert "Traceback" not in done.err
    lost = run(folder, "report", "saved.json", "--html", "nowhere/a.html")
    assert lost.code == 1
    assert "cannot use nowhere/a.html" in lost.err
