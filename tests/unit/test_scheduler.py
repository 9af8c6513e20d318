"""The one gate: what is asked, what is paid for, and what survives."""

import asyncio
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtape.dialects.base import Reply, Usage
from runtape.errors import ModelFunctionError, ProviderError
from runtape.models.cache import Cache, variant_key
from runtape.models.scheduler import Job, Scheduler, SchedulerOptions


class Counting:
    """Answers "<question> <k>", k counting the replies paid for, after some turns of the loop."""

    identity = "counting"

    def __init__(self, *, batches=False, honours=True, turns=1, fail=None):
        self.batches = batches
        self.drifts = False
        self.honours = honours
        self.turns = turns
        self.fail = fail or (lambda _request, _n: None)
        self.paid = Counter()
        self.asked = []
        self.inflight = self.peak = 0

    async def sample(self, body, n):
        self.asked.append((body["q"], n))
        self.inflight += 1
        self.peak = max(self.peak, self.inflight)
        try:
            error = self.fail(len(self.asked), n)
            for _ in range(self.turns):
                await asyncio.sleep(0)
            if error is not None:
                raise error
        finally:
            self.inflight -= 1
        replies = []
        for _ in range(n if self.honours else 1):
            self.paid[body["q"]] += 1
            text = f"{body['q']} {self.paid[body['q']]}"
            replies.append(Reply(text=text, usage=Usage(10, 2)))
        return replies

    async def aclose(self):
        self.asked.append("closed")


def run(model, *batches, cache=None, **options):
    """Run batches of (question, runs) one after the other; the texts of each answer."""
    scheduler = Scheduler(model, options=SchedulerOptions(**options), cache=cache)

    async def go():
        got = []
        for batch in batches:
            jobs = [Job({"q": q}, runs) for q, runs in batch]
            answers = await scheduler.run(jobs)
            got.append([[r.text for r in a.replies] for a in answers])
        return got

    return asyncio.run(go()), scheduler


def test_takes_the_next_samples_of_each_body():
    """Asking again gives new samples; equal bodies in one batch share the sequence."""
    (first, second), _ = run(Counting(), [("a", 2), ("b", 1), ("a", 1)], [("a", 1)])
    assert first == [["a 1", "a 2"], ["b 1"], ["a 3"]]
    assert second == [["a 4"]]


def test_stored_samples_are_free_and_come_first(tmp_path):
    """A second run is handed what the first paid for, and pays only for what is missing."""
    cache = Cache.open(tmp_path)
    run(Counting(), [("a", 3)], cache=cache)
    model = Counting()
    (got,), scheduler = run(model, [("a", 5)], cache=cache)
    cache.close()
    assert got[0][:3] == ["a 1", "a 2", "a 3"]
    assert sum(model.paid.values()) == 2
    assert (scheduler.spent.cached, scheduler.spent.made) == (3, 2)


def test_budget_counts_paid_replies_only(tmp_path):
    """Cached samples cost nothing; when the budget ends, answers are short and it is said."""
    cache = Cache.open(tmp_path)
    run(Counting(), [("a", 3)], cache=cache)
    (got,), scheduler = run(Counting(), [("a", 4), ("b", 3)], cache=cache, budget=2)
    cache.close()
    assert [len(x) for x in got] == [4, 1]
    assert scheduler.exhausted
    assert scheduler.spent.made == 2


def test_a_budget_that_suffices_exactly_is_not_exhausted():
    """Spending the last reply is no shortage."""
    _, scheduler = run(Counting(), [("a", 3)], budget=3)
    assert not scheduler.exhausted


def test_workers_bound_the_requests_in_flight():
    """No more requests are open than there are workers."""
    model = Counting(turns=3)
    run(model, [("a", 10), ("b", 10)], workers=3)
    assert model.peak == 3


def test_runs_of_one_variant_stand_together():
    """Requests go out variant by variant, which prefix caches of servers live on."""
    model = Counting()
    run(model, [("a", 3), ("b", 3)], workers=1)
    assert [q for q, _ in model.asked] == ["a"] * 3 + ["b"] * 3


def test_choices_are_batched_where_honoured():
    """One request brings several choices; tokens are counted once."""
    model = Counting(batches=True)
    (got,), scheduler = run(model, [("a", 6)], choices=4)
    assert len(got[0]) == 6
    assert sorted(n for _, n in model.asked) == [2, 4]
    assert scheduler.spent.requests == 2
    assert scheduler.spent.input_tokens == 20


def test_a_server_that_ignores_n_is_noticed():
    """What really came back is counted, and single requests follow."""
    model = Counting(batches=True, honours=False)
    got, _ = run(model, [("a", 6)], [("b", 2)])
    assert [len(answer[0]) for answer in got] == [6, 2]
    assert [n for _, n in model.asked] == [6, 1, 1, 1, 1, 1, 1, 1]


def test_a_server_that_refuses_n_is_asked_one_by_one():
    """A 400 to several choices is no fatal error when single requests work."""
    model = Counting(
        batches=True, fail=lambda _k, n: ProviderError("only one", status=400) if n > 1 else None
    )
    (got,), _ = run(model, [("a", 3)])
    assert len(got[0]) == 3


def test_ignored_n_does_not_eat_the_budget():
    """Room reserved for choices that never came is given back."""
    model = Counting(batches=True, honours=False)
    (got,), scheduler = run(model, [("a", 10), ("b", 10)], budget=20, choices=16)
    assert [len(x) for x in got] == [10, 10]
    assert not scheduler.exhausted


def test_a_transient_failure_is_a_missing_run():
    """A failed call is counted beside the replies, never as one; it is not made good here."""
    model = Counting(
        fail=lambda k, _n: ProviderError("busy", status=503, transient=True) if k == 1 else None
    )
    scheduler = Scheduler(model, options=SchedulerOptions(workers=1))
    answers = asyncio.run(scheduler.run([Job({"q": "a"}, 3)]))
    assert (len(answers[0].replies), answers[0].errors) == (2, 1)
    assert scheduler.spent.errors == 1
    assert not scheduler.exhausted


def test_failures_between_successes_are_borne():
    """Only failures in a row end a job."""
    model = Counting(
        fail=lambda k, _n: ProviderError("busy", status=503, transient=True) if k % 2 else None
    )
    (got,), scheduler = run(model, [("a", 20)], workers=1)
    assert len(got[0]) == 10
    assert scheduler.spent.errors == 10


def test_failures_in_a_row_become_fatal():
    """A provider that is down ends the job after some patience."""
    model = Counting(fail=lambda _k, _n: ProviderError("down", status=503, transient=True))
    with pytest.raises(ProviderError, match="5 failures in a row") as caught:
        run(model, [("a", 20)], workers=2)
    assert not caught.value.transient
    assert len(model.asked) <= 6


def test_a_fatal_error_comes_after_what_arrived_was_stored(tmp_path):
    """Replies under way when another request is refused are kept."""
    cache = Cache.open(tmp_path)
    model = Counting(
        turns=4, fail=lambda k, _n: ProviderError("key", status=401) if k == 1 else None
    )
    with pytest.raises(ProviderError, match="key"):
        run(model, [("a", 4)], cache=cache, workers=4)
    model = Counting()
    run(model, [("a", 3)], cache=cache)
    cache.close()
    assert not model.paid


def test_function_errors_are_fatal_at_once():
    """A bug in a model function is shown, not retried."""
    model = Counting(fail=lambda _k, _n: ModelFunctionError("boom"))
    with pytest.raises(ModelFunctionError, match="boom"):
        run(model, [("a", 4)], workers=1)
    assert len(model.asked) == 1


def test_an_observer_that_raises_loses_no_reply(tmp_path):
    """A reply is stored before anybody looks at it."""
    cache = Cache.open(tmp_path)

    def look(_index, _reply):
        raise LookupError

    async def go():
        scheduler = Scheduler(Counting(), options=SchedulerOptions(), cache=cache)
        await scheduler.run([Job({"q": "a"}, 1)], look)

    with pytest.raises(LookupError):
        asyncio.run(go())
    model = Counting()
    run(model, [("a", 1)], cache=cache)
    cache.close()
    assert not model.paid


def test_an_observer_that_raises_at_once_leaves_nothing_running(tmp_path):
    """Even when it raises over a stored reply, while other requests were already started."""
    cache = Cache.open(tmp_path)
    run(Counting(), [("b", 1)], cache=cache)
    model = Counting(turns=3)

    def look(index, _reply):
        if index == 1:
            raise LookupError

    async def go():
        scheduler = Scheduler(model, cache=cache)
        with pytest.raises(LookupError):
            await scheduler.run([Job({"q": "a"}, 2), Job({"q": "b"}, 1)], look)
        return len(asyncio.all_tasks())

    assert asyncio.run(go()) == 1
    cache.close()
    assert model.inflight == 0


def test_each_reply_is_reported_as_it_arrives():
    """The callback gets the job's index and the reply."""
    seen = []

    async def go():
        scheduler = Scheduler(Counting())
        jobs = [Job({"q": "a"}, 1), Job({"q": "b"}, 2)]
        await scheduler.run(jobs, lambda index, reply: seen.append((index, reply.text)))

    asyncio.run(go())
    assert sorted(seen) == [(0, "a 1"), (1, "b 1"), (1, "b 2")]


def test_a_second_model_shares_the_gate():
    """A judge pays from the same budget."""
    scheduler = Scheduler(Counting(), options=SchedulerOptions(budget=3))
    judge = scheduler.beside(Counting())

    async def go():
        await judge.run([Job({"q": "j"}, 2)])
        return await scheduler.run([Job({"q": "a"}, 2)])

    (answer,) = asyncio.run(go())
    assert len(answer.replies) == 1
    assert scheduler.exhausted
    assert judge.spent is scheduler.spent


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("turns", [0, 1, 3])
def test_cancelled_anywhere_nothing_is_paid_for_twice(tmp_path, workers, turns):
    """Cancelled after any number of turns of the loop, a resumed run pays for the rest only."""
    for after in range(30):
        folder = tmp_path / str(after)
        cache = Cache.open(folder)
        model = Counting(turns=turns)

        async def interrupted(model=model, cache=cache, after=after):
            scheduler = Scheduler(model, options=SchedulerOptions(workers=workers), cache=cache)
            task = asyncio.ensure_future(scheduler.run([Job({"q": "a"}, 3), Job({"q": "b"}, 2)]))
            for _ in range(after):
                await asyncio.sleep(0)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                return
            assert sum(model.paid.values()) == 5

        asyncio.run(interrupted())
        assert model.inflight == 0
        run(model, [("a", 3), ("b", 2)], cache=cache)
        cache.close()
        assert model.paid == {"a": 3, "b": 2}, f"cancelled after {after} turns"


@st.composite
def situations(draw):
    """A model with its whims, some jobs, limits, and a moment at which Ctrl-C is pressed."""
    whims = draw(st.lists(st.sampled_from(["ok", "ok", "ok", "busy", "fatal"]), max_size=12))
    jobs = draw(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 6)), max_size=5))
    model = {
        "batches": draw(st.booleans()),
        "honours": draw(st.booleans()),
        "turns": draw(st.integers(0, 3)),
    }
    limits = {
        "budget": draw(st.integers(0, 20)),
        "workers": draw(st.integers(1, 4)),
        "choices": draw(st.integers(1, 5)),
        "patience": draw(st.integers(1, 3)),
    }
    return whims, jobs, model, limits, draw(st.integers(0, 25))


@given(situations())
@settings(max_examples=150, deadline=None)
def test_whatever_happens_what_was_paid_is_kept(situation):
    """Failures, limits and cancellation at any moment: the cache holds every paid reply, once."""
    whims, jobs, model_options, limits, patience_of_the_user = situation

    def fail(request, _n):
        whim = whims[request - 1] if request <= len(whims) else "ok"
        return None if whim == "ok" else ProviderError(whim, transient=whim == "busy", status=500)

    model = Counting(**model_options, fail=fail)
    seen = []

    async def go(cache):
        scheduler = Scheduler(model, options=SchedulerOptions(**limits), cache=cache)
        batch = [Job({"q": q}, runs) for q, runs in jobs]
        task = asyncio.ensure_future(scheduler.run(batch, lambda i, r: seen.append((i, r.text))))
        for _ in range(patience_of_the_user):
            await asyncio.sleep(0)
        task.cancel()
        try:
            return await task, scheduler
        except (asyncio.CancelledError, ProviderError):
            return None, scheduler

    with tempfile.TemporaryDirectory() as folder:
        cache = Cache.open(Path(folder))
        answers, scheduler = asyncio.run(go(cache))
        stored = {
            q: [r.text for r in cache.load(variant_key(model.identity, {"q": q}))] for q in "abc"
        }
        cache.close()
    assert model.inflight == 0
    assert scheduler.spent.made == sum(model.paid.values()) <= limits["budget"]
    assert stored == {q: [f"{q} {k + 1}" for k in range(model.paid[q])] for q in "abc"}
    assert len(set(seen)) == len(seen)
    if answers is not None:
        handed_out = [(i, r.text) for i, answer in enumerate(answers) for r in answer.replies]
        assert sorted(seen) == sorted(handed_out)
        for (_, runs), answer in zip(jobs, answers, strict=True):
            short = runs - len(answer.replies)
            assert short >= 0
            assert short <= answer.errors or scheduler.exhausted
