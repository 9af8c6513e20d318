"""The chain screen: a tree of decisions that grows, each with its rates and its event."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from runtape.attribution.chain_facts import Chain, ChainEnd, Hop, Link, LinkKind
from runtape.attribution.facts import (
    BaselineChanged,
    ChainEnded,
    Finished,
    HopFact,
    HopStarted,
    LinkChecked,
    Started,
    Verdict,
)
from runtape.trials import Tally
from runtape_tui.screens.chain import ChainScreen
from runtape_tui.screens.trace import TraceScreen
from runtape_tui.view_models.chain import ChainTree
from tests.support import relay
from tests.support.app import picture, play, press, settle
from tests.support.findings import ATTRIBUTED, HEADLINE, ended
from tests.support.hostile import PAYLOADS

_PATIENCE = 2_000
EARLIER = replace(ATTRIBUTED.decision, event=11, request=9)
FIRST = replace(ATTRIBUTED, decision=EARLIER)
THROUGH = Link(LinkKind.THROUGH, Tally(10, 10), 1.0)
HOP = Hop(1, FIRST, link=THROUGH, followed=0)


def grown(*facts) -> ChainTree:
    """The tree after some facts."""
    tree = ChainTree(ATTRIBUTED.decision)
    for fact in facts:
        tree.take(fact)
    return tree


def words(tree: ChainTree, columns: int = 100) -> str:
    """The tree as text."""
    return "\n".join(row.line.plain for row in tree.rows(columns))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run whose last decision begins two decisions earlier."""
    monkeypatch.chdir(tmp_path)
    return relay.record(tmp_path / "traces")


async def over(pilot, app) -> None:
    """Wait for the end of the job of the screen."""
    for _ in range(_PATIENCE):
        await pilot.pause(0.01)
        if app.screen.ticket is not None and not app.screen.ticket.open:
            await settle(pilot)
            return
    raise AssertionError(picture(app))


def on(trace: Path, script, model: str = "tests.support.relay:obeys", size=(120, 36)):
    """Play a script on the chain screen."""

    async def whole(app, pilot):
        await press(pilot, "w")
        await over(pilot, app)
        await press(pilot, "c")
        assert isinstance(app.screen, ChainScreen)
        await over(pilot, app)
        return await script(app, pilot)

    return play(trace, whole, at="tool:tip_off", flags={"model_fn": model}, size=size)


def test_the_chain_goes_back_and_enter_goes_to_an_event(run):
    """Page ← search result ← user: each with both rates; Enter shows the earlier call."""

    async def script(app, pilot):
        shown = app.screen.rows.text
        plain = " ".join(shown.split())
        assert relay.DEMAND in shown
        assert relay.MOVED in plain
        assert shown.count("without ") == 2
        assert "Here the chain ends." in plain
        assert app.screen.ticket.calls.cached > 0
        place = next(
            n for n, row in enumerate(shown.splitlines()) if "event 7 calls open_page" in row
        )
        await press(pilot, *["j"] * place, "enter")
        assert isinstance(app.screen, TraceScreen)
        assert app.screen.selected_event == 7

    on(run, script)


def test_the_report_of_a_chain_is_saved_with_it(run):
    """S on the chain: the earlier decision stands in the file; c and q lead on and back."""

    async def script(app, pilot):
        await press(pilot, "S")
        app.screen._field.value = "chain.md"
        await press(pilot, "enter")
        assert "Saved chain.md" in app.screen.status.text
        await press(pilot, "q", "c")
        assert "Here the chain ends." in " ".join(picture(app).split())

    on(run, script, size=(80, 24))
    assert "open_page" in Path("chain.md").read_text(encoding="utf-8")


def test_the_tree_grows_hop_by_hop():
    """A hop that runs says its phase and baseline; its link comes when it was checked."""
    tree = grown(HopStarted(1, EARLIER))
    assert "└ event 11 calls forward_email" in words(tree)
    tree.take(HopFact(1, Started(EARLIER, (), 400)))
    settled = BaselineChanged(Tally(3, 4), settled=False, mode=None, level=None, slots=None)
    tree.take(HopFact(1, settled))
    assert "unchanged 3/4" in words(tree)
    tree.take(HopFact(1, Finished(FIRST)))
    assert "because of 12.body para 3 sentence 1" in words(tree)
    assert "unchanged 3/4" not in words(tree)
    tree.take(LinkChecked(1, THROUGH))
    assert "it acts only through this call" in words(tree)


@pytest.mark.parametrize("end", list(ChainEnd))
def test_every_end_is_said(end):
    """Why it goes no further back stands at the last decision, at any width."""
    chain = Chain((HOP,), end, 1, reason="the tape lacks it", elsewhere=("20",), followed=0)
    tree = grown(ChainEnded(chain), Finished(replace(ATTRIBUTED, chain=chain)))
    assert "not followed: 20" in words(tree)
    for columns in (40, 80, 120):
        rows = tree.rows(columns)
        assert all(len(row.line.plain) <= max(columns, 70) for row in rows)
        assert {row.event for row in rows} >= {ATTRIBUTED.decision.event, 11}


def test_without_a_chain_the_verdict_is_said():
    """A search that failed before the first step back says how; what is unknown is ignored."""
    tree = grown(LinkChecked(7, THROUGH), HopFact(7, Finished(FIRST)))
    tree.take(Finished(ended(Verdict.DID_NOT_RECUR, baseline=Tally(0, 12), causes=())))
    assert "No chain: the decision did not recur." in words(tree)
    assert "made again in 0 of 12 runs" in words(tree)


def test_own_words_and_hop_zero_are_told():
    """Asked again without its own words, the final decision says so in its place."""
    chain = Chain(
        (
            Hop(0, ATTRIBUTED, masked=(HEADLINE.pieces[0],), followed=0),
            replace(HOP, masked=(HEADLINE.pieces[0],), needs_words=True),
        ),
        ChainEnd.OWN_WORDS,
        1,
        followed=0,
    )
    shown = words(grown(ChainEnded(chain), Finished(replace(ATTRIBUTED, chain=chain))))
    assert "asked without the model's own earlier words" in shown
    assert "so they stayed in" in shown


def test_hostile_texts_stay_on_their_line():
    """What a trace says never brings a control character or a line of its own into the tree."""
    for payload in PAYLOADS.values() if isinstance(PAYLOADS, dict) else PAYLOADS:
        text = payload if isinstance(payload, str) else str(payload)
        piece = replace(HEADLINE.pieces[0], text=text)
        found = replace(ATTRIBUTED, causes=(replace(HEADLINE, pieces=(piece,)),))
        shown = words(grown(Finished(found)))
        assert not any(ord(c) < 32 and c != "\n" for c in shown)
