"""Replies that were paid for once."""

import multiprocessing
import sqlite3
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape.dialects.base import Reply, Stop, ToolCall, Usage
from runtape.errors import StorageError
from runtape.models.cache import BUSY_SECONDS, Cache, variant_key

KEY = variant_key("somebody", {"q": "a"})
FULL = Reply(
    text="hé\n",
    tool_calls=(ToolCall("f", {"x": [1, None, 2.5]}, "c1"), ToolCall("g", "{broken")),
    stop=Stop.LENGTH,
    refusal="no",
    usage=Usage(1, None, 0),
    model="m",
)


@pytest.fixture
def cache(tmp_path):
    cache = Cache.open(tmp_path / "deep" / "folder")
    yield cache
    cache.close()


def reopened(cache):
    return Cache.open(cache.path.parent)


def texts(replies):
    return [reply.text for reply in replies]


def test_replies_come_back_whole_and_in_order(cache):
    """What was stored is read by the next process, numbered as it was stored."""
    assert cache.append(KEY, 0, FULL) == [FULL]
    assert cache.append(KEY, 1, Reply(text="b")) == [Reply(text="b")]
    again = reopened(cache)
    assert again.load(KEY) == [FULL, Reply(text="b")]
    assert again.load(KEY, 1) == [Reply(text="b")]
    again.close()


def test_variants_are_apart(cache):
    """Another body or another model has samples of its own."""
    cache.append(KEY, 0, FULL)
    assert cache.load(variant_key("somebody", {"q": "b"})) == []
    assert cache.load(variant_key("somebody else", {"q": "a"})) == []


@given(st.dictionaries(st.text(), st.integers() | st.text()))
def test_key_order_does_not_matter(body):
    """Equal bodies are one variant, however their keys are ordered."""
    turned = dict(reversed(body.items()))
    assert variant_key("x", body) == variant_key("x", turned)


def test_a_sample_is_on_disk_when_append_returns(cache):
    """Nothing has to be closed for another process to see it."""
    cache.append(KEY, 0, FULL)
    rows = sqlite3.connect(cache.path)
    assert rows.execute("SELECT count(*) FROM samples").fetchone() == (1,)
    rows.close()


def test_a_number_belongs_to_the_first(cache):
    """Who computes the same sample number later is given the first one, and loses nothing."""
    other = reopened(cache)
    cache.append(KEY, 0, Reply(text="first"))
    assert texts(other.append(KEY, 0, Reply(text="second"))) == ["first", "second"]
    assert texts(cache.load(KEY)) == ["first", "second"]
    other.close()


def _store(folder, name, start):
    cache = Cache.open(folder)
    start.wait()
    have = 0
    for number in range(20):
        have += len(cache.append(KEY, have, Reply(text=f"{name}{number}")))
    assert cache.problem is None
    cache.close()


def test_two_processes_at_once(tmp_path):
    """Processes that fill one variant together lose no reply and see one order."""
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(2)
    processes = [context.Process(target=_store, args=(tmp_path, n, start)) for n in "ab"]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
        process.close()
    cache = Cache.open(tmp_path)
    stored = texts(cache.load(KEY))
    cache.close()
    assert sorted(stored) == sorted(f"{n}{k}" for n in "ab" for k in range(20))
    assert [t for t in stored if t[0] == "a"] == [f"a{k}" for k in range(20)]


def test_a_writer_waits_for_another(cache):
    """A file that is locked for a moment is waited for."""
    assert BUSY_SECONDS > 1
    blocker = sqlite3.connect(cache.path, isolation_level=None, check_same_thread=False)
    blocker.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.05, blocker.execute, ["COMMIT"])
    timer.start()
    cache.append(KEY, 0, FULL)
    timer.join()
    blocker.close()
    assert cache.problem is None


def test_rubbish_in_the_file_turns_it_off(tmp_path):
    """A corrupt file costs the cache, not the job, and is said once."""
    (tmp_path / "cache.sqlite").write_bytes(b"not a database, certainly" * 100)
    cache = Cache.open(tmp_path)
    assert isinstance(cache.problem, StorageError)
    assert "cache.sqlite" in cache.problem.path
    assert cache.append(KEY, 0, FULL) == [FULL]
    assert cache.load(KEY) == []


def test_a_damaged_reply_turns_it_off(cache):
    """So does a row that holds no reply."""
    cache.append(KEY, 0, FULL)
    rows = sqlite3.connect(cache.path)
    rows.execute("UPDATE samples SET reply = '{}'")
    rows.commit()
    rows.close()
    assert cache.load(KEY) == []
    assert cache.problem is not None


def test_a_folder_that_cannot_be_made(tmp_path):
    """A place nobody can write to turns it off, or is an error when the user chose it."""
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "cache"
    assert Cache.open(folder).problem is not None
    with pytest.raises(StorageError, match="cannot be used"):
        Cache.open(folder, required=True)


def test_a_newer_format_is_left_alone(cache):
    """A file of a later version is neither read nor written."""
    rows = sqlite3.connect(cache.path)
    rows.execute("PRAGMA user_version = 99")
    rows.close()
    later = reopened(cache)
    assert "version 99" in str(later.problem)


def test_a_full_disk_turns_it_off(cache):
    """When nothing more can be written the reply is handed on all the same."""
    cache._connection.execute("PRAGMA max_page_count = 1")
    huge = Reply(text="x" * 100_000)
    assert cache.append(KEY, 0, huge) == [huge]
    assert "full" in str(cache.problem)


def test_the_folder_stays_out_of_commits(cache):
    """Replies quote what was recorded: git is told to leave them."""
    assert (cache.path.parent / ".gitignore").read_text() == "*\n"
