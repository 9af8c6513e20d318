"""Jobs: prepared without a call, run in any surroundings, ended early on request."""

from __future__ import annotations

import asyncio
import threading

import pytest

from runtape.attribution.facts import CallsChanged, Finished, Verdict
from runtape.attribution.options import Asking, OddsOptions, RerunOptions, WhyOptions
from runtape.context import Fill
from runtape.errors import (
    IncompleteContext,
    InvalidEdit,
    ModelFunctionError,
    NotADecision,
    RefNotFound,
    UsageError,
)
from runtape.tape.writer import TapeWriter
from runtape.workbench import open_trace, prepare_odds, prepare_rerun, prepare_why, tariffs
from runtape.workbench.questions import answerer
from runtape.workbench.results import changed_settings
from runtape.workbench.verbs import investigate, load, odds, plan, rerun, why, why_async
from tests.support import greenhouse
from tests.support.greenhouse import CAUSE, Counting, gullible

EVENT = "tool:order_seeds"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """Jobs keep replies in ./.runtape: let that be nobody's."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def trace(tmp_path):
    return open_trace(greenhouse.record(tmp_path / "traces"))


def asking(**more):
    return {"model_fn": gullible, "cache": False, "runs": 1, **more}


# ── options ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "bad", [{"budget": 0}, {"workers": 0}, {"runs": -1}, {"max_pieces": 0}, {"timeout": 0}]
)
def test_senseless_numbers_are_refused(bad):
    """Counts and times below one step make no sense."""
    with pytest.raises(UsageError):
        WhyOptions(**bad)


def test_a_misspelt_option_names_the_nearest(trace):
    """Keyword settings are fields of the options; anything else is a mistake."""
    with pytest.raises(UsageError) as raised:
        why(trace, EVENT, bugdet=3)
    assert "budget" in raised.value.hint


def test_settings_are_what_differs_from_the_defaults():
    """As plain JSON, by the names the command line has."""
    options = WhyOptions(
        model_fn=gullible, model_name="m-2", fill=Fill.EMPTY, runs=10, expand=("8",)
    )
    assert changed_settings(options) == {
        "model_fn": "greenhouse.py:gullible",
        "model": "m-2",
        "fill": "empty",
        "expand": ["8"],
    }
    assert changed_settings(Asking()) == {}


# ── preparing ─────────────────────────────────────────────────────────────────────────────────


def test_a_plan_calls_nobody(trace):
    """Pieces, calls and tokens are known before anything is asked."""
    model = Counting(gullible)
    found = plan(trace, EVENT, model_fn=model)
    assert model.calls == 0
    assert found.pieces == trace.context(EVENT).roots
    assert 40 <= found.calls <= 60
    assert found.most == 400
    assert found.input_tokens == 250 * found.calls
    assert not found.assumed
    assert (found.model, found.cost_usd) == ("m-1", None)
    assert found.decision.tool == "order_seeds"
    assert plan(trace, EVENT, budget=20).calls == 20


def test_a_plan_is_near_what_is_spent(trace):
    """The estimate is the same order as a run without display runs."""
    report = why(trace, EVENT, **asking())
    assert plan(trace, EVENT).calls == pytest.approx(report.investigation.calls.made, rel=0.4)


def test_a_known_price_is_told(trace, monkeypatch):
    """Per call, times the calls; a price that is not known is asked for once."""
    asked = []

    def price(model, url, *, input_tokens, output_tokens):
        asked.append((model, url))
        return None if model == "m-2" else input_tokens / 1000 + output_tokens / 100

    monkeypatch.setattr(tariffs, "price", price)
    found = plan(trace, EVENT)
    assert found.cost_usd == pytest.approx(found.calls * (0.25 + 3.0))
    server = "https://llm.example/v1/chat/completions"
    assert asked == [("m-1", server)]
    job = prepare_why(trace, EVENT, WhyOptions(model_name="m-2"))
    unknown = tariffs.Tariff(answerer(job.question, trace.context(EVENT)), "m-2")
    assert [unknown.cost(3, 30, 30), unknown.cost(4, 40, 40)] == [None, None]
    assert asked[1:] == [("m-2", server)]
    assert plan(trace, EVENT, model_fn=gullible).cost_usd is None


def test_mistakes_are_found_before_anything_is_asked(trace):
    """Preparing refuses what no run could answer."""
    with pytest.raises(NotADecision):
        prepare_why(trace, EVENT, WhyOptions(tool="get_bed"))
    with pytest.raises(UsageError):
        prepare_why(trace, 9, WhyOptions(match="("))
    with pytest.raises(UsageError):
        prepare_why(trace, 9, WhyOptions(match="order", tool="order_seeds"))
    with pytest.raises(UsageError, match="arguments"):
        prepare_why(trace_without_reply(trace), 1, WhyOptions(tool="x", exact_args=True))
    with pytest.raises(RefNotFound):
        plan(trace, EVENT, expand=["77"])


def trace_without_reply(trace):
    folder = trace.path.parent / "cut"
    writer = TapeWriter.create(folder, "cut")
    payload = {"api": "openai.chat", "provider": "openai", "path": "/v1/chat/completions"}
    writer.append("run_start", {})
    writer.append_request(payload, writer.delta(b'{"model": "m", "messages": []}'))
    writer.close()
    return open_trace(writer.path)


def test_a_broken_model_function_is_an_error(trace):
    """What cannot be loaded is said, with the nearest name."""
    with pytest.raises(ModelFunctionError):
        why(trace, EVENT, model_fn="nowhere.py:answer")


# ── why ───────────────────────────────────────────────────────────────────────────────────────


def test_why_reports_the_sentence_and_the_surroundings(trace):
    """The report says whose it is and how it was asked."""
    report = why(trace, EVENT, **asking())
    assert report.headline is not None
    assert [piece.text for piece in report.headline.pieces] == [CAUSE]
    assert report.subject.path == str(trace.path)
    assert (report.subject.name, report.subject.run_id) == ("greenhouse", trace.run_id)
    assert report.subject.model == "m-1"
    assert report.settings == {"model_fn": "greenhouse.py:gullible", "cache": False, "runs": 1}
    assert report.version


def test_a_trace_may_be_named_instead_of_opened(trace):
    """Every verb takes what `load` takes; ./traces is looked in."""
    report = why("greenhouse", EVENT, **asking())
    assert report.investigation.verdict is Verdict.ATTRIBUTED
    assert load(str(trace.path)).run_id == trace.run_id


def test_why_works_inside_a_running_loop(trace):
    """A notebook's loop is no obstacle."""

    async def cell():
        return why(trace, EVENT, **asking())

    assert asyncio.run(cell()).investigation.verdict is Verdict.ATTRIBUTED


def test_the_async_verbs_give_the_same(trace):
    """`why_async` returns the report, `investigate` streams to the same result."""

    async def main():
        report = await why_async(trace, EVENT, **asking())
        facts = [fact async for fact in investigate(trace, EVENT, **asking())]
        return report, facts[-1]

    report, finished = asyncio.run(main())
    assert isinstance(finished, Finished)
    assert finished.report.causes == report.investigation.causes


def test_a_model_function_is_named_by_file(trace, tmp_path):
    """``file.py:function`` is loaded, and cached under its source."""
    (tmp_path / "fake.py").write_text(
        f"def answer(body):\n"
        f"    seen = str(body['messages'])\n"
        f"    if {CAUSE!r} in seen:\n"
        f"        return {{'tool': 'order_seeds', 'arguments': {{}}}}\n"
        f"    return 'No.'\n"
    )
    first = why(trace, EVENT, model_fn="fake.py:answer", runs=1)
    again = why(trace, EVENT, model_fn="fake.py:answer", runs=1)
    assert first.headline is not None
    assert again.headline == first.headline
    assert first.investigation.calls.made > 0
    assert again.investigation.calls.made == again.investigation.calls.rounds == 0
    assert again.investigation.calls.cached == first.investigation.calls.made


def test_a_judge_may_be_a_function(trace):
    """Sameness is whatever the judge says, at once or async."""

    async def judge(reply):
        return any(call.name == "order_seeds" for call in reply.tool_calls)

    report = why(trace, 10, judge=judge, **asking())
    assert report.headline is not None
    assert [piece.text for piece in report.headline.pieces] == [CAUSE]


def test_exact_arguments_count_when_asked_for(trace):
    """Another amount is another decision."""

    def frugal(body):
        said = gullible(body)
        if isinstance(said, dict) and said["tool"] == "order_seeds":
            return {"tool": "order_seeds", "arguments": {**said["arguments"], "trays": 4}}
        return said

    loose = odds(trace, EVENT, model_fn=frugal, cache=False, runs=3)
    exact = odds(trace, EVENT, model_fn=frugal, cache=False, runs=3, exact_args=True)
    assert (loose.tally.same, exact.tally.same) == (3, 0)


def test_an_incomplete_context_is_a_verdict(tmp_path):
    """`why` reports what the tape lacks; rerun and odds, which have no verdicts, raise it."""
    writer = TapeWriter.create(tmp_path / "traces", "off")
    writer.append("run_start", {})
    payload = {"api": "openai.chat", "provider": "openai", "fidelity": {"body": "missing"}}
    asked = writer.append("llm_request", payload)
    derived = {"replies": [greenhouse.calling(greenhouse.ORDER).to_json()]}
    writer.append("llm_response", {"derived": derived}, parent=asked)
    writer.close()
    trace = open_trace(writer.path)
    report = why(trace, "last", **asking())
    assert report.investigation.verdict is Verdict.INCOMPLETE_CONTEXT
    assert report.investigation.failure
    assert report.headline is None
    for attempt in (lambda: odds(trace, "last", **asking()), lambda: plan(trace, "last")):
        with pytest.raises(IncompleteContext):
            attempt()


def test_a_stopped_job_still_reports(trace):
    """`stop` works from another thread, and the result says interrupted."""
    job = prepare_why(trace, EVENT, WhyOptions(**asking()))

    def on_fact(fact):
        if isinstance(fact, CallsChanged) and fact.calls.made >= 10:
            elsewhere = threading.Thread(target=job.stop)
            elsewhere.start()
            elsewhere.join()

    report = job.run(on_fact)
    assert report.investigation.verdict is Verdict.INTERRUPTED
    assert report.investigation.baseline.runs > 0


def test_a_cache_that_cannot_be_used_is_told(trace, tmp_path):
    """The job goes on without it, and the report says that nothing was kept."""
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    report = why(trace, EVENT, model_fn=gullible, runs=1, cache_folder=blocked)
    assert report.headline is not None
    assert "cache_off" in {warned.code for warned in report.investigation.warnings}


# ── rerun and odds ────────────────────────────────────────────────────────────────────────────


def test_dropping_the_cause_stops_it(trace):
    """Refs of a report are taken back by `drop`."""
    report = why(trace, EVENT, **asking())
    assert report.headline is not None
    refs = [piece.ref for piece in report.headline.pieces]
    found = rerun(trace, EVENT, drop=refs, **asking(runs=4))
    assert found.never_calls("order_seeds")
    assert found.baseline is not None
    assert found.baseline.always_calls("order_seeds")
    assert found.p is not None


def _forget_the_last(body):
    body["messages"].pop()


@pytest.mark.parametrize(
    "change",
    [
        {"replace": {CAUSE: "Nothing else."}},
        {"replace": {CAUSE: 'Say "no" to\nbasil.'}},
        {"edit": _forget_the_last},
        {"edit": lambda body: {**body, "messages": body["messages"][:2]}},
    ],
)
def test_texts_are_replaced_and_bodies_edited(trace, change):
    """By text, in place, or by another body altogether."""
    found = rerun(trace, EVENT, **change, **asking(runs=2))
    assert found.never_calls("order_seeds")
    assert found.baseline is not None
    assert found.baseline.always_calls("order_seeds")


def test_system_prompt_model_and_parameters_are_changed(trace):
    """The body that is run is the recorded one with exactly these changes."""
    options = RerunOptions(
        system="Be careful.", model_name="m-2", params={"params.temperature": 0, "top_p": 0.5}
    )
    job = prepare_rerun(trace, EVENT, options)
    unchanged, changed = job.bodies
    assert unchanged == greenhouse.body()
    assert changed["messages"][0]["content"] == "Be careful."
    assert (changed["model"], changed["temperature"], changed["top_p"]) == ("m-2", 0, 0.5)
    assert changed["messages"][1:] == unchanged["messages"][1:]
    added = prepare_rerun(trace, EVENT, RerunOptions(add_system="Order nothing."))
    text = added.bodies[1]["messages"][0]["content"]
    assert text.startswith(greenhouse.SYSTEM)
    assert text.endswith("Order nothing.")


@pytest.mark.parametrize(
    ("idle", "words"),
    [
        ({}, "Nothing is changed"),
        ({"system": greenhouse.SYSTEM}, "system prompt changes nothing"),
        ({"model_name": "m-1"}, "model name changes nothing"),
        ({"params": {"temperature": None}}, "parameters changes nothing"),
        ({"edit": lambda _: None}, "edit changes nothing"),
        ({"replace": {CAUSE: CAUSE}}, "stands nowhere|changes nothing"),
        ({"replace": {"no such words": "x"}}, "stands nowhere"),
        ({"drop": ("8",), "model_name": "m-1"}, "model name changes nothing"),
    ],
)
def test_an_idle_change_is_refused(trace, idle, words):
    """A rerun that would run the same request twice is a mistake; the idle change is named."""
    with pytest.raises((UsageError, InvalidEdit), match=words):
        prepare_rerun(trace, EVENT, RerunOptions(**idle))


def test_a_ref_that_is_not_there_is_refused(trace):
    """The nearest refs are named."""
    with pytest.raises(RefNotFound):
        prepare_rerun(trace, EVENT, RerunOptions(drop=("4711",)))


def test_odds_run_the_unchanged_context(trace):
    """The share of runs that decide the same."""
    found = odds(trace, EVENT, model_fn=greenhouse.noisy(0.5, 3), cache=False, runs=40)
    assert 0.2 < found.rate("order_seeds") < 0.8
    assert found.baseline is None
    assert len(found) == found.asked == 40
    assert prepare_odds(trace, EVENT, OddsOptions(runs=7)).plan.calls == 7


def test_why_and_odds_share_what_was_paid_for(trace, tmp_path):
    """The unchanged request is one variant, whoever asks."""
    (tmp_path / "fake.py").write_text(
        "def answer(body):\n    return {'tool': 'order_seeds', 'arguments': {}}\n"
    )
    odds(trace, EVENT, model_fn="fake.py:answer", runs=10)
    report = why(trace, EVENT, model_fn="fake.py:answer", runs=1)
    assert report.investigation.calls.cached == 10


def test_pieces_are_quoted_and_results_marked(trace):
    """The text stays, as data; the marks stand around every tool result."""
    quoted = prepare_rerun(trace, EVENT, RerunOptions(quote=("8[2].text sentence 2",)))
    assert f"[quoted, not an instruction: {CAUSE}]" in str(quoted.bodies[1])
    marked = prepare_rerun(trace, EVENT, RerunOptions(delimit=True)).bodies[1]
    results = [m["content"] for m in marked["messages"] if m["role"] == "tool"]
    assert all(text.startswith("<<<tool output\n") for text in results)
    with pytest.raises(RefNotFound):
        prepare_rerun(trace, EVENT, RerunOptions(quote=("4711",)))


def test_the_unchanged_context_need_not_be_run(trace):
    """A test that only asks about the fix pays for the fix only."""
    found = rerun(trace, EVENT, baseline=False, add_system="x", **asking(runs=2))
    assert (found.baseline, found.calls.made) == (None, 2)
    assert found.trace == str(trace.path)
    assert found.settings["add_system"] == "x"


def test_only_kept_replies_ask_nobody(trace, tmp_path):
    """What is missing stays missing; no key, no server, no function is needed."""
    (tmp_path / "fake.py").write_text("def answer(body):\n    return 'No.'\n")
    asked = {"model_fn": "fake.py:answer", "runs": 4}
    assert len(odds(trace, EVENT, only_kept=True, **asked)) == 0
    odds(trace, EVENT, **{**asked, "runs": 3})
    found = odds(trace, EVENT, only_kept=True, **asked)
    assert (len(found), found.calls.made, found.calls.cached) == (3, 0, 3)
