"""What every dialect must do, whatever its shape: one class, run on all of them."""

import contextlib
import copy
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtape.dialects import DIALECTS, dialect_for, dialect_of_path
from runtape.dialects.base import REMOVED, Reply, SlotKind, Stop, ToolCall, Usage
from runtape.dialects.paths import replaced_at, value_at
from runtape.errors import UsageError
from tests.support.conversations import BUILDERS, MAIL, complaints, conversations

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
COUNT = st.none() | st.integers(0, 10**6)
USAGES = st.builds(
    lambda fresh, cached, written: Usage(
        None if fresh is None else fresh + (cached or 0), written, None if fresh is None else cached
    ),
    COUNT,
    COUNT,
    COUNT,
)


@st.composite
def replies(draw):
    """Replies as models really give them: what they say and why they stop go together."""
    stop = draw(st.sampled_from(Stop))
    calls, text, refusal = (), draw(st.none() | TEXT), None
    if stop in (Stop.TOOL_CALLS, Stop.LENGTH, Stop.OTHER):
        one = st.builds(ToolCall, TEXT, st.dictionaries(TEXT, JSON, max_size=3), TEXT)
        fewest = 1 if stop is Stop.TOOL_CALLS else 0
        calls = tuple(draw(st.lists(one, min_size=fewest, max_size=3, unique_by=lambda c: c.id)))
    if stop is Stop.REFUSAL:
        refusal = draw(st.none() | TEXT)
    return Reply(text, calls, stop, refusal, draw(USAGES), draw(TEXT))


JUNK_KEYS = st.sampled_from(
    """role content type text tool_calls function name arguments id call_id tool_call_id output
    tools input system instructions messages source data input_schema parameters properties tool
    description refusal tool_use_id function_call custom thread audio title is_error choices
    results delta item part index output_index response message usage
    error""".split()  # noqa: SIM905 - forty lines of list read worse
)
JUNK_WORDS = st.sampled_from(
    """user assistant system tool text image tool_use tool_result function_call message reasoning
    function_call_output document search_result mcp_call shell_call_output mcp_list_tools content
    custom_tool_call input_text web_search_tool_result tool_addition compaction text_delta
    message_start message_delta content_block_start content_block_delta input_json_delta
    response.created response.output_item.added
    response.output_text.delta""".split()  # noqa: SIM905 - same
)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | JUNK_WORDS | st.just(""),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(JUNK_KEYS, inner, max_size=6),
    max_leaves=30,
)
JUNK_BODIES = st.dictionaries(JUNK_KEYS, JUNK, max_size=6)

ANYWHERE = {
    "/v1/chat/completions": "openai.chat",
    "/openai/deployments/gpt/chat/completions": "openai.chat",
    "/api/v1/chat/completions/": "openai.chat",
    "/v1/responses": "openai.responses",
    "/openai/v1/responses": "openai.responses",
    "/v1/messages": "anthropic.messages",
    "/anthropic/v1/messages": "anthropic.messages",
    "/v1/projects/p/locations/l/publishers/anthropic/models/c:rawPredict": "anthropic.messages",
    "/model/us.anthropic.claude-x-v1%3A0/invoke": "anthropic.messages",
    "/v1/messages/count_tokens": None,
    "/v1/messages/batches": None,
    "/v1/threads/t/messages": None,
    "/v1/responses/resp_1/cancel": None,
    "/v1/chat/completions/x/messages": None,
    "/v1/embeddings": None,
    "/model/meta.llama3/invoke": None,
}


@pytest.fixture(params=DIALECTS, ids=lambda d: d.name, scope="module")
def dialect(request):
    return request.param


@pytest.fixture
def body(dialect):
    return BUILDERS[dialect.name](MAIL)


@pytest.fixture
def asked(body):
    """A body that asks for a stream with usage."""
    return {**body, "stream": True, "stream_options": {"include_usage": True}}


def contents(dialect, body):
    return [(slot.kind, value_at(body, slot.path)) for slot in dialect.slots(body)]


def picked(dialect, body, kind):
    return [slot for slot in dialect.slots(body) if slot.kind is kind]


class TestDialect:
    """Behaviour that the rest of the package relies on in every shape."""

    # ------------------------------------------------------------ reading

    def test_slots_come_in_reading_order(self, dialect, body):
        """All content is found, in the order in which the model reads it."""
        kinds = [slot.kind for slot in dialect.slots(body)]
        assert kinds == [
            SlotKind.SYSTEM,
            SlotKind.USER,
            SlotKind.MEDIA,
            SlotKind.ASSISTANT,
            SlotKind.TOOL_CALL,
            SlotKind.TOOL_CALL,
            SlotKind.TOOL_RESULT,
            SlotKind.TOOL_RESULT,
            SlotKind.MEDIA,
            SlotKind.TOOL_RESULT,
            SlotKind.USER,
            SlotKind.ASSISTANT,
            SlotKind.USER,
            *[SlotKind.TOOL_DEFINITION] * 5,
        ]

    def test_slots_lead_to_their_texts(self, dialect, body):
        """Each path leads to the text that stands there, parameter descriptions included."""
        texts = [value for _, value in contents(dialect, body) if isinstance(value, str)]
        for said in ("You are a mail agent.", "Read my mail.", "I look.", "Two mails.", "Its end."):
            assert said in texts
        assert texts[-5:] == [
            "Reads mail.",
            "Which folder.",
            "Reads a page.",
            "Its address.",
            "A note.",
        ]

    def test_results_and_calls_are_named(self, dialect, body):
        """Calls and results carry the tool's name and the call's id, definitions the name."""
        results = picked(dialect, body, SlotKind.TOOL_RESULT)
        assert [(slot.name, slot.call_id) for slot in results] == [
            ("read_mail", "call_1"),
            ("read_page", "call_2"),
            ("read_page", "call_2"),
        ]
        calls = picked(dialect, body, SlotKind.TOOL_CALL)
        assert [(slot.name, slot.call_id) for slot in calls] == [
            ("read_mail", "call_1"),
            ("read_page", "call_2"),
        ]
        definitions = picked(dialect, body, SlotKind.TOOL_DEFINITION)
        assert [slot.name for slot in definitions] == ["read_mail"] * 2 + ["read_page"] * 3
        assert all(slot.message is None for slot in definitions)

    def test_slots_know_their_message(self, dialect, body):
        """Message and block say where a slot stands; a single string has no block."""
        key = "input" if "input" in body else "messages"
        for slot in dialect.slots(body):
            if slot.message is not None:
                assert slot.path[:2] == (key, slot.message)
            whole = slot.path[-1] in ("content", "output") and slot.kind is not SlotKind.TOOL_RESULT
            if whole or slot.kind is SlotKind.SYSTEM:
                assert slot.block is None

    def test_earlier_calls(self, dialect, body):
        """The calls the assistant made are listed, oldest first, with parsed arguments."""
        assert dialect.tool_calls(body) == [
            ToolCall("read_mail", {"folder": "inbox"}, "call_1"),
            ToolCall("read_page", {"url": "http://x"}, "call_2"),
        ]

    @settings(max_examples=60)
    @given(body=JUNK_BODIES)
    def test_odd_bodies(self, dialect, body):
        """Whatever stands in a body: reading it never raises and nothing changes it."""
        before = copy.deepcopy(body)
        for slot in dialect.slots(body):
            value = value_at(body, slot.path)
            assert value
            assert isinstance(value, str) or slot.kind in (SlotKind.MEDIA, SlotKind.TOOL_CALL)
            dialect.without(body, slot.path)
        dialect.tool_calls(body)
        dialect.server_held(body)
        dialect.rerun_body(body, n=3)
        dialect.with_system(body, "x", append=True)
        dialect.with_system(body, "x", append=False)
        repaired = dialect.repaired(body)
        assert dialect.repaired(repaired) == repaired
        assert body == before

    def test_paths(self, dialect):
        """A shape accepts the URL paths of its model calls and no other."""
        for path, api in ANYWHERE.items():
            assert dialect.accepts(path) is (api == dialect.name), path
        assert dialect_of_path(dialect.default_origin.partition("//")[2] + dialect.path) is dialect
        assert dialect_for(dialect.name) is dialect

    # ------------------------------------------------------------ editing

    def test_valid_bodies_are_left_alone(self, dialect, body):
        """Nothing is repaired where nothing is broken, not even copied."""
        assert complaints(dialect.name, body) == []
        assert dialect.repaired(body) is body

    @settings(max_examples=60)
    @given(conversation=conversations())
    def test_every_valid_conversation_is_left_alone(self, dialect, conversation):
        """Conversations that the API accepts come back as they are."""
        body = BUILDERS[dialect.name](conversation)
        assert complaints(dialect.name, body) == []
        assert dialect.repaired(body) is body

    def test_editing_a_slot_changes_it_alone(self, dialect, body):
        """Another text in any slot is no damage: the body is valid and otherwise the same."""
        for slot in dialect.slots(body):
            if isinstance(value_at(body, slot.path), str) and slot.kind is not SlotKind.TOOL_CALL:
                edited = replaced_at(body, slot.path, "X")
                assert dialect.repaired(edited) is edited
                assert replaced_at(edited, slot.path, value_at(body, slot.path)) == body

    @settings(max_examples=60)
    @given(data=st.data(), conversation=conversations())
    def test_edited_conversations_stay_valid(self, dialect, data, conversation):
        """Texts emptied and blocks deleted in any order: the API still accepts the body."""
        body = BUILDERS[dialect.name](conversation)
        before = copy.deepcopy(body)
        edited = body
        for _ in range(data.draw(st.integers(1, 6))):
            slots = dialect.slots(edited)
            if not slots:
                break
            slot = data.draw(st.sampled_from(slots))
            fills = (REMOVED,) if slot.kind is SlotKind.TOOL_CALL else ("", " \n", REMOVED)
            if slot.kind is SlotKind.MEDIA or data.draw(st.booleans()):
                edited = dialect.without(edited, slot.path)
            else:
                edited = replaced_at(edited, slot.path, data.draw(st.sampled_from(fills)))
        repaired = dialect.repaired(edited)
        assert complaints(dialect.name, repaired) == []
        assert dialect.repaired(repaired) is repaired
        assert [c.id for c in dialect.tool_calls(repaired)] == [
            c.id for c in dialect.tool_calls(body)
        ]
        assert body == before

    def test_deleting_a_slot_takes_its_text_away(self, dialect, body):
        """What was deleted is not read any more; everything else still is, in the same order."""
        for at, slot in enumerate(dialect.slots(body)):
            shorter = dialect.without(body, slot.path)
            assert complaints(dialect.name, shorter) == []
            before = contents(dialect, body)
            del before[at]
            after = contents(dialect, shorter)
            assert [pair for pair in after if pair[1] not in (REMOVED, "{}")] == before

    def test_deleting_all_at_once(self, dialect, body):
        """Several places are deleted by their paths in the unchanged body, in whatever order."""
        slots = [slot for slot in dialect.slots(body) if slot.kind is not SlotKind.TOOL_CALL]
        for paths in ([slot.path for slot in slots], [slot.path for slot in reversed(slots)]):
            shorter = dialect.without_all(body, paths)
            assert complaints(dialect.name, shorter) == []
            left = [value for _, value in contents(dialect, shorter)]
            assert [v for v in left if v != REMOVED] == [
                value_at(body, slot.path) for slot in picked(dialect, body, SlotKind.TOOL_CALL)
            ]
        assert dialect.without_all(body, []) is body

    def test_deleting_nothing(self, dialect, body):
        """A place that is not there is a LookupError."""
        for path in (("nowhere",), ("tools", 99), (*dialect.slots(body)[1].path, 0)):
            with pytest.raises(LookupError):
                dialect.without(body, path)

    def test_a_tool_without_description_stays_callable(self, dialect, body):
        """Emptied descriptions leave the tool in place."""
        edited = body
        for slot in picked(dialect, body, SlotKind.TOOL_DEFINITION):
            edited = dialect.without(edited, slot.path)
        assert picked(dialect, edited, SlotKind.TOOL_DEFINITION) == []
        assert json.dumps(edited["tools"]).count('"read_page"') == 1
        assert edited["messages" if "messages" in body else "input"] == body.get(
            "messages", body.get("input")
        )

    def test_arguments_taken_out_are_an_empty_object(self, dialect, body):
        """A filler in the place of arguments would break servers that parse them."""
        slot = picked(dialect, body, SlotKind.TOOL_CALL)[0]
        for edited in (
            dialect.without(body, slot.path),
            dialect.repaired(replaced_at(body, slot.path, REMOVED)),
        ):
            assert value_at(edited, slot.path) in ("{}", {})
            assert dialect.tool_calls(edited)[0] == ToolCall("read_mail", {}, "call_1")

    def test_system_is_replaced(self, dialect, body):
        """A new system prompt takes the place of the old one, wherever it stood."""
        for base in (body, BUILDERS[dialect.name](replace(MAIL, system=("One.", "Two.")))):
            new = dialect.with_system(base, "Be brief.", append=False)
            system = [value for kind, value in contents(dialect, new) if kind is SlotKind.SYSTEM]
            assert system == ["Be brief."]
            assert complaints(dialect.name, new) == []
            gone = dialect.with_system(base, "", append=False)
            assert picked(dialect, gone, SlotKind.SYSTEM) == []
            back = dialect.with_system(gone, "Be brief.", append=True)
            assert contents(dialect, back)[0] == (SlotKind.SYSTEM, "Be brief.")

    def test_system_is_appended_to(self, dialect, body):
        """An appended rule stands last in the system prompt, as a passage or block of its own."""
        for base in (body, BUILDERS[dialect.name](replace(MAIL, system=("One.", "Two.")))):
            new = dialect.with_system(base, "Be brief.", append=True)
            system = [value for kind, value in contents(dialect, new) if kind is SlotKind.SYSTEM]
            old = [value for kind, value in contents(dialect, base) if kind is SlotKind.SYSTEM]
            assert "\n\n".join(system) == "\n\n".join([*old, "Be brief."])
            assert complaints(dialect.name, new) == []

    def test_model_and_parameters(self, dialect, body):
        """Model and parameters are read and set; None drops a parameter."""
        assert dialect.model(body) == body["model"]
        assert dialect.model(dialect.with_model(body, "other")) == "other"
        assert dialect.temperature(body) == 0.5
        cold = dialect.with_params(body, {"temperature": 0, "top_p": 0.5})
        assert dialect.temperature(cold) == 0.0
        assert cold["top_p"] == 0.5
        plain = dialect.with_params(cold, {"temperature": None})
        assert dialect.temperature(plain) is None
        assert "temperature" not in plain
        assert dialect.model({}) is None
        assert dialect.server_held(body) is None

    def test_reruns_are_not_streamed(self, dialect, asked, body):
        """A rerun asks for one whole document and says everything else as it was recorded."""
        rerun = dialect.rerun_body(asked)
        assert not rerun.get("stream")
        assert "stream_options" not in rerun
        assert not rerun.get("store")
        for key, value in body.items():
            assert rerun[key] is value
        assert ("n" in dialect.rerun_body(asked, n=3)) is dialect.batches

    def test_questions(self, dialect):
        """A question is a whole body of its own."""
        question = dialect.question("Is it so?", "m")
        assert contents(dialect, question) == [(SlotKind.USER, "Is it so?")]
        assert dialect.model(question) == "m"
        assert dialect.repaired(question) is question

    # ------------------------------------------------------------ replies

    @settings(max_examples=60)
    @given(reply=replies())
    def test_rendered_replies_are_read_again(self, dialect, reply):
        """Rendering is the inverse of reading."""
        body = {"model": "m"}
        assert dialect.replies(dialect.render(reply, body)) == [reply]

    @settings(max_examples=60)
    @given(reply=replies())
    def test_rendered_streams_fold_to_the_reply(self, dialect, reply):
        """A rendered stream, folded, says the same; one event an element, the last one terminal."""
        body = {"model": "m", "stream_options": {"include_usage": True}}
        events = dialect.render_stream(reply, body)
        assert all(event.endswith("\n\n") and event.count("\n\n") == 1 for event in events)
        folded = dialect.fold("".join(events))
        assert folded.terminal
        assert folded.error is None
        assert dialect.replies(folded.response) == [reply]
        assert not dialect.fold("".join(events[:-1])).terminal

    def test_several_choices(self, dialect):
        """Shapes that batch render and read several choices; usage is counted once."""
        many = [Reply("a", usage=Usage(3, 4), model="m"), Reply("b", model="m")]
        read = dialect.replies(dialect.render_choices(many, {}))
        assert read == (many if dialect.batches else many[:1])

    def test_made_up_ids(self, dialect, body):
        """Calls without an id get one: the same for the same answer, another elsewhere."""
        reply = Reply(None, (ToolCall("f", {}), ToolCall("f", {})), Stop.TOOL_CALLS)
        once, again = (dialect.replies(dialect.render(reply, body))[0] for _ in range(2))
        assert once == again
        elsewhere = dialect.replies(dialect.render(reply, {**body, "x": 1}))[0]
        ids = {call.id for each in (once, elsewhere) for call in each.tool_calls}
        assert len(ids) == 4

    def test_no_response(self, dialect):
        """Anything but a response is a ValueError that says what it is."""
        error = {"error": {"message": "Rate limit reached", "type": "rate_limit_error"}}
        with pytest.raises(ValueError, match="Rate limit reached"):
            dialect.replies(error)
        with pytest.raises(ValueError, match="overloaded"):
            dialect.replies({"error": "overloaded"})
        for junk in ({}, [], None, "x", {"object": "list", "data": []}):
            with pytest.raises(ValueError, match="not a"):
                dialect.replies(junk)

    @settings(max_examples=60)
    @given(response=JUNK_BODIES)
    def test_odd_responses(self, dialect, response):
        """An odd document is read or refused, nothing else."""
        with contextlib.suppress(ValueError):
            assert dialect.replies(response)

    # ------------------------------------------------------------ streams

    REPLY = Reply("Grüß Gott 😀\u2028!", (ToolCall("send", {"to": "b"}, "c1"),), Stop.TOOL_CALLS)

    def stream(self, dialect, asked):
        return "".join(dialect.render_stream(replace(self.REPLY, usage=Usage(5, 6, 1)), asked))

    def test_cut_anywhere(self, dialect, asked):
        """A stream cut at any character folds; its text only grows; only the end is terminal."""
        stream = self.stream(dialect, asked)
        whole = dialect.replies(dialect.fold(stream).response)[0]
        said = ""
        for cut in range(len(stream)):
            folded = dialect.fold(stream[:cut])
            if folded.response:
                partial = read_partly(dialect, folded.response)
                assert (partial.text or "").startswith(said)
                said = partial.text or ""
                if folded.terminal:
                    assert partial == whole
        assert said == whole.text

    @pytest.mark.parametrize("ending", ["\r\n", "\r"])
    def test_line_endings(self, dialect, asked, ending):
        """CR and CRLF end lines as LF does."""
        stream = self.stream(dialect, asked)
        assert dialect.fold(stream.replace("\n", ending)) == dialect.fold(stream)

    def test_format_oddities(self, dialect, asked):
        """Comments, unknown fields, a BOM, no blanks, no last blank line: all the same stream."""
        stream = self.stream(dialect, asked)
        odd = "\ufeff: keep-alive\n\nid: 7\nretry: 10\n" + stream.replace("data: ", "data:")
        assert dialect.fold(odd.rstrip("\n")) == dialect.fold(stream)

    def test_data_over_several_lines(self, dialect, asked):
        """The data lines of one event are one document."""
        stream = self.stream(dialect, asked)
        lines = [
            line.replace(", ", ",\ndata: ") if line.startswith("data: {") else line
            for line in stream.replace('","', '", "').split("\n")
        ]
        assert dialect.fold("\n".join(lines)) == dialect.fold(stream)

    @settings(max_examples=60)
    @given(stream=st.text(st.sampled_from('data: {}[]",\n\rDONEeventyp'), max_size=60))
    def test_any_text_folds(self, dialect, stream):
        """Folding never raises."""
        dialect.fold(stream)

    @settings(max_examples=60)
    @given(events=st.lists(st.tuples(JUNK_WORDS, JUNK_BODIES), max_size=5))
    def test_any_events_fold(self, dialect, events):
        """Odd documents in a stream are passed over."""
        dialect.fold("".join(f"event: {n}\ndata: {json.dumps(d)}\n\n" for n, d in events))

    def test_error_in_the_stream(self, dialect, asked):
        """An error event ends the answer: what came before is kept, the error beside it."""
        events = dialect.render_stream(self.REPLY, asked)
        error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        broken = (
            "".join(events[: len(events) // 2]) + f"event: error\ndata: {json.dumps(error)}\n\n"
        )
        folded = dialect.fold(broken)
        assert folded.error == error
        assert not folded.terminal
        assert folded.response


def read_partly(dialect, response):
    """The reply in a folded beginning of a stream; an empty one when it is not yet a response."""
    try:
        return dialect.replies(response)[0]
    except ValueError:
        return Reply(None)


def test_unknown_shapes():
    """An unknown name is refused with the known ones; an unknown path has no dialect."""
    with pytest.raises(UsageError, match=r"openai\.chat, openai\.responses, anthropic\.messages"):
        dialect_for("gemini")
    for path, api in ANYWHERE.items():
        found = dialect_of_path(path)
        assert (found.name if found else None) == api
