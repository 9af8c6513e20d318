"""A function that answers instead of a provider."""

import asyncio
import functools
import threading
from types import SimpleNamespace

import pytest

from runtape.dialects import DIALECTS, dialect_for
from runtape.dialects.base import Reply, Stop, ToolCall
from runtape.errors import ModelFunctionError, UsageError
from runtape.models.function import FunctionModel, as_reply
from runtape.models.loading import load_function
from runtape.models.selection import ModelOptions, default_workers, select_model, server_of
from runtape.tape.events import Request

CHAT = dialect_for("openai.chat")
BODY = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
CALL = Reply(text=None, tool_calls=(ToolCall("f", {"x": 1}),), stop=Stop.TOOL_CALLS)


def ask(function, body=BODY):
    loaded = load_function(function)
    model = FunctionModel(loaded.function, name="fake", identity="i", dialect=CHAT)
    return asyncio.run(model.sample(body, 1))[0]


def module_level(_request):
    return "hello"


class TestReturned:
    @pytest.mark.parametrize(
        ("returned", "reply"),
        [
            ("hello", Reply(text="hello")),
            ("", Reply(text="")),
            (CALL, CALL),
            ({"tool": "f", "arguments": {"x": 1}}, CALL),
            ({"tool": "f", "arguments": '{"x": 1}'}, CALL),
            ({"tool_calls": [{"name": "f", "arguments": {"x": 1}}]}, CALL),
            ({"tool_calls": [ToolCall("f", {"x": 1})]}, CALL),
            (
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"function": {"name": "f", "arguments": '{"x":1}'}}],
                },
                CALL,
            ),
            ({"text": "hello"}, Reply(text="hello")),
            ({"text": "hello", "tool_calls": []}, Reply(text="hello")),
            (SimpleNamespace(model_dump=lambda mode: {"text": mode}), Reply(text="json")),
        ],
    )
    def test_short_forms(self, returned, reply):
        """Everything a person would write down for an answer is read."""
        assert as_reply(returned, CHAT) == reply

    def test_no_arguments_are_no_arguments(self):
        """A tool without arguments is called with none."""
        assert as_reply({"tool": "f"}, CHAT).tool_calls == (ToolCall("f", {}),)

    @pytest.mark.parametrize("dialect", DIALECTS, ids=lambda d: d.name)
    def test_documents_of_the_api(self, dialect):
        """What a server would answer is read as the server's answer."""
        document = dialect.render(CALL, BODY)
        reply = as_reply(document, dialect)
        assert [(c.name, c.arguments) for c in reply.tool_calls] == [("f", {"x": 1})]

    @pytest.mark.parametrize(
        ("returned", "said"),
        [
            (None, "returned None"),
            (7, "returned int 7"),
            ({}, r"returned dict \{\}"),
            ({"answer": 1}, "returned dict"),
            ({"tool": 3}, "returned dict"),
            ({"text": 3}, "returned dict"),
            ({"tool_calls": [3]}, "returned dict"),
            (["x" * 1000], r"returned list \['xxx.*…"),
        ],
    )
    def test_rubbish_is_described(self, returned, said):
        """Anything else is said, shortened, with what would be read."""
        with pytest.raises(ModelFunctionError, match=said) as caught:
            ask(lambda _request: returned)
        assert '"tool": NAME' in caught.value.hint
        assert len(caught.value.message) < 200


class TestCalling:
    def test_sync_async_and_objects(self):
        """Plain functions, coroutines, callables with either, and partials answer alike."""

        async def later(_request):
            await asyncio.sleep(0)
            return "hello"

        class Both:
            async def __call__(self, request):
                return await later(request)

        for function in (module_level, later, Both(), functools.partial(module_level)):
            assert ask(function).text == "hello"
        assert ask(lambda request: asyncio.wait_for(later(request), 9)).text == "hello"

    def test_it_gets_a_copy(self):
        """What it does to the request stays with it."""
        body = {"messages": [1]}

        def spoil(request):
            request["messages"].clear()
            return "ok"

        ask(spoil, body)
        assert body == {"messages": [1]}

    def test_slow_functions_overlap(self):
        """Plain functions run in threads: two that wait for each other both end."""
        meeting = threading.Barrier(2, timeout=10)
        model = FunctionModel(
            lambda _request: (meeting.wait() and "") or "met", name="f", identity="i", dialect=CHAT
        )

        async def both():
            return await asyncio.gather(model.sample(BODY, 1), model.sample(BODY, 1))

        assert [r.text for (r,) in asyncio.run(both())] == ["met", "met"]

    @pytest.mark.parametrize("error", [ValueError("boom"), StopIteration("boom"), SystemExit(3)])
    def test_what_it_raises_is_located(self, error):
        """The message has the kind of error, its words, and the user's line."""

        def fails(_request):
            raise error

        with pytest.raises(ModelFunctionError) as caught:
            ask(fails)
        line = fails.__code__.co_firstlineno + 1
        assert f"fake raised {type(error).__name__}: {error} ({__file__}:{line})." in str(
            caught.value
        )

    def test_a_wrong_signature_is_said(self):
        """A function that takes no request is told apart from one that fails."""
        with pytest.raises(ModelFunctionError, match=r"TypeError: .*argument") as caught:
            ask(lambda: "hello")
        assert "function.py" not in str(caught.value)


class TestLoading:
    @pytest.fixture
    def folder(self, tmp_path, monkeypatch):
        monkeypatch.setattr("sys.path", [*__import__("sys").path])
        (tmp_path / "helper_of_fake.py").write_text("ANSWER = 'from a neighbour'\n")
        (tmp_path / "fake.py").write_text(
            "from helper_of_fake import ANSWER\n\n"
            "def answer(request):\n    return ANSWER\n\n"
            "class Box:\n    @staticmethod\n    def answer(request):\n        return 'boxed'\n\n"
            "NUMBER = 3\n"
        )
        monkeypatch.chdir(tmp_path)
        return tmp_path

    def test_from_a_file(self, folder):
        """file.py:function is loaded, with the file's neighbours importable."""
        loaded = load_function(f"{folder}/fake.py:answer")
        assert loaded.function({}) == "from a neighbour"
        assert load_function("fake.py:Box.answer").function({}) == "boxed"

    @pytest.mark.usefixtures("folder")
    def test_from_a_module(self):
        """module:function is imported from the working folder."""
        assert load_function("fake:answer").function({}) == "from a neighbour"

    def test_identity_follows_the_source(self, folder):
        """Answers of an edited file are new ones; a moved file keeps its own."""
        first = load_function("fake.py:answer").identity
        assert load_function(f"{folder}/fake.py:answer").identity == first
        with (folder / "fake.py").open("a") as file:
            file.write("# edited\n")
        assert load_function("fake.py:answer").identity != first

    @pytest.mark.usefixtures("folder")
    @pytest.mark.parametrize(
        ("spec", "message", "hint"),
        [
            ("fak.py:answer", "There is no file fak.py", "did you mean fake.py?"),
            ("fake.py:anser", "anser is not there in fake.py", "did you mean answer?"),
            ("fake.py:NUMBER", "NUMBER is not callable", ""),
            ("fak:answer", "There is no module fak", "did you mean fake?"),
            ("fake.py", "'fake.py' names no function", "file.py:function"),
            ("fake.py:", "names no function", "file.py:function"),
        ],
    )
    def test_what_is_missing_is_named(self, spec, message, hint):
        """A wrong name says what is there instead."""
        with pytest.raises(ModelFunctionError) as caught:
            load_function(spec)
        assert message in caught.value.message
        assert hint in caught.value.hint

    @pytest.mark.parametrize(
        ("source", "said"),
        [
            ("def answer(:\n", "broken.py:1"),
            ("\nraise SystemExit(2)\n", "broken.py:2"),
            ("import no_such_module_here\n", "No module named 'no_such_module_here'"),
        ],
    )
    def test_a_broken_file_is_located(self, folder, source, said):
        """A file that cannot be loaded says why and in which line."""
        (folder / "broken.py").write_text(source)
        for spec in ("broken.py:answer", "broken:answer"):
            with pytest.raises(ModelFunctionError, match=r"cannot be loaded") as caught:
                load_function(spec)
            assert said in str(caught.value)

    def test_functions_with_state_share_nothing(self):
        """A closure's answers depend on more than its source: no other process may use them."""

        def make(text):
            return lambda _request: text

        first, second = load_function(make("a")), load_function(make("b"))
        assert first.identity != second.identity
        assert load_function(module_level).identity == load_function(module_level).identity


class TestSelection:
    REQUEST = Request(1, "openai.chat", "openai", None, None, {}, {}, "{}", ())

    def test_a_function_answers(self):
        """model_fn stands in for the recorded server."""
        options = ModelOptions(model_fn=module_level)
        model = select_model(self.REQUEST, CHAT, options=options)
        assert asyncio.run(model.sample(BODY, 1)) == [Reply(text="hello")]
        assert default_workers(model) == 8
        assert server_of(model) is None

    @pytest.mark.parametrize(
        "options",
        [
            ModelOptions(model_fn=module_level, base_url="http://localhost"),
            ModelOptions(model_fn=module_level, model="m"),
            ModelOptions(provider="nobody"),
            ModelOptions(base_url="localhost:8000"),
            ModelOptions(base_url="http://localhost:port/v1"),
        ],
    )
    def test_options_that_make_no_sense(self, options):
        """Two who answer, unknown providers and addresses that are none are refused."""
        with pytest.raises(UsageError):
            select_model(self.REQUEST, CHAT, options=options)

    @pytest.mark.parametrize("text", ["soon", "0", "-3", "nan"])
    def test_a_timeout_is_a_number_of_seconds(self, text, monkeypatch):
        """RUNTAPE_TIMEOUT that is none is named."""
        monkeypatch.setenv("RUNTAPE_TIMEOUT", text)
        with pytest.raises(UsageError, match="RUNTAPE_TIMEOUT"):
            select_model(self.REQUEST, CHAT)

    @pytest.mark.parametrize(
        ("options", "url"),
        [
            (ModelOptions(), "https://api.openai.com/v1/chat/completions"),
            (ModelOptions(base_url="http://x:1"), "http://x:1/v1/chat/completions"),
            (ModelOptions(base_url="http://x:1/api/"), "http://x:1/api/chat/completions"),
            (ModelOptions(base_url="http://x/v1/chat/completions"), "http://x/v1/chat/completions"),
            (
                ModelOptions(provider="openrouter"),
                "https://openrouter.ai/api/v1/chat/completions",
            ),
        ],
    )
    def test_where_calls_go(self, options, url, monkeypatch):
        """Base URLs are read as SDKs write them; bare servers get the usual prefix."""
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        assert server_of(select_model(self.REQUEST, CHAT, options=options)) == url
