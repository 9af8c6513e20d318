"""Secrets never reach the file, and nothing else is touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape.jsonio import dumps, loads
from runtape.recording.secrets import Secrets, clean_arguments, looks_secret

SECRETS = {
    "openai": "sk-proj-a1B2c3D4e5F6g7H8i9J0",
    "openai, no digits": "sk-abcdefghijklmnopqrstuvwxyz",
    "openai, short": "sk-kiln-12345",
    "anthropic": "sk-ant-api03-Zz_9-abcDEF0123456789",
    "groq": "gsk_0123456789abcdefABCDEF",
    "xai": "xai-0123456789abcdefABCDEF",
    "google": "AIzaSyA0123456789_abcdefghijklmnopqrs",
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "github": "ghp_0123456789abcdefABCDEF0123456789abcd",
    "github, fine": "github_pat_11ABCDEFG0123456789_abcdef",
    "gitlab": "glpat-0123456789abcdefABCD",
    "huggingface": "hf_abcdefghijklmnopqrstuvwx",
    "slack": "xoxb-012345678901-abcdefABCDEF",
    "stripe": "sk_live_0123456789abcdef",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF123",
}
IN_CONTEXT = {
    "bearer": ("Authorization: Bearer {}", "a1B2c3D4e5F6g7"),
    "bearer alone": ("curl -H 'bearer {}'", "0123456789abcdef=="),
    "basic": ("authorization: Basic {}", "dXNlcjpwYXNzd29yZDE="),
    "named": ('{{"api_key": "{}"}}', "kiln-77-oven-99"),
    "assigned": ("export API_KEY={}", "kiln77oven99"),
    "token field": ('"access_token":"{}"', "ya29.a0AfB_byC1"),
    "url": ("postgres://kiln:{}@db.example/pots", "hunter2"),
    "private key": (
        "-----BEGIN RSA PRIVATE KEY-----{}-----END RSA PRIVATE KEY-----",
        "MIIEowIBAAKCAQEAx0123",
    ),
}
HARMLESS = [
    "task-management-for-potters-and-others",
    "Please check the authorization of the kiln: administrator rights are needed.",
    "the api key: see the manual, ask-someone-with-experience",
    "Bearer of good news, basic understanding-of-everything",
    "https://example.com/a:b@c and mail to zoe@example.com",
    "organization, prompt_tokens, completion_tokens_details, tool_call_id call_0123456789abcdef",
    "chatcmpl-0123456789abcdef0123 gpt-4o-mini-2024-07-18 claude-sonnet-4-5-20250929",
    '{"properties": {"api_key": {"type": "string", "description": "the authorization token"}}}',
]
nested = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_key_formats_are_found_anywhere(secret):
    """A key is found as a value, in prose, as an object's key, and in JSON within JSON."""
    inside = dumps({"config": {"key": secret}}).decode()
    text = f"use {secret}, please:\n{secret}\n\x7f\x01{secret}"
    value = {"a": secret, "b": text, secret: 1, "c": dumps([inside]).decode()}
    clean = dumps(Secrets().scrub_json(value))
    assert secret.encode() not in clean
    assert clean.count(b"$secret") == 6
    assert loads(loads(loads(clean)["c"])[0])["config"]["key"].startswith("[$secret sha256:")


@pytest.mark.parametrize(("text", "secret"), IN_CONTEXT.values(), ids=IN_CONTEXT)
def test_secrets_known_by_their_context(text, secret):
    """A value that only its surroundings give away is found, and only it is replaced."""
    written = text.format(secret)
    clean = Secrets().scrub_json({"text": written})["text"]
    before, after = written.split(secret)
    assert clean.startswith(f"{before}[$secret sha256:")
    assert clean.endswith(after)


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_text_is_left_alone(text):
    """Prose, ids, schemas and addresses are no secrets: they come back as the same object."""
    value = {"text": text, "nested": [dumps({"text": text}).decode()]}
    assert Secrets().scrub_json(value) is value


@given(nested)
def test_values_without_secrets_are_the_same_object(value):
    """What holds no secret is not even copied."""
    assert Secrets().scrub_json(value) is value


def test_a_whole_value_becomes_an_object_where_that_is_wanted():
    """A string that is nothing but a secret is replaced; keys and longer strings stay strings."""
    secret = SECRETS["openai"]
    clean = Secrets().scrub_json({"a": secret, "b": f"{secret}!", secret: 0}, whole=True)
    assert set(clean["a"]) == {"$secret"}
    mark = clean["a"]["$secret"]
    assert clean["b"] == f"[$secret {mark}]!"
    assert f"[$secret {mark}]" in clean


def test_equal_secrets_get_equal_marks():
    """One can tell that two secrets are the same, and not what they are."""
    first, second = SECRETS["openai"], SECRETS["groq"]
    a, b, c = Secrets().scrub_json([first, second, first])
    assert a == c != b


def test_a_credential_in_use_is_found_without_any_shape():
    """The key that the agent itself signs with is recognised when something echoes it."""
    secrets = Secrets()
    secrets.learn("Bearer plainlookingkey77")
    secrets.learn("ollama")
    assert secrets.scrub_json("no such key: plainlookingkey77") != "no such key: plainlookingkey77"
    assert secrets.scrub_json("ask ollama") == "ask ollama"


def test_signatures_that_change_all_the_time_are_not_hoarded():
    """A client that signs every request anew costs nothing in the long run."""
    secrets = Secrets()
    for n in range(500):
        secrets.learn(f"AWS4 Signature=abcdef0123456789{n:04}")
    assert len(secrets.find(b"Signature=abcdef01234567890499 and 0001")) == 1
    assert len(secrets._used) <= 32


def test_credential_fields_of_bodies():
    """Fields that hold credentials by definition are replaced whatever they hold."""
    body = {
        "mcp_servers": [{"url": "https://x", "authorization_token": "abc"}],
        "tools": [
            {"type": "mcp", "authorization": "word", "headers": {"X-Pot": "clay", "n": 1}},
            {"type": "function", "function": {"name": "headers", "parameters": {}}},
        ],
        "messages": [{"role": "user", "content": "abcde, word by word: clay"}],
    }
    data = dumps(body)
    clean = loads(Secrets().scrub_new(data, data))
    assert set(clean["mcp_servers"][0]["authorization_token"]) == {"$secret"}
    assert set(clean["tools"][0]["authorization"]) == {"$secret"}
    assert set(clean["tools"][0]["headers"]["X-Pot"]) == {"$secret"}
    assert clean["tools"][0]["headers"]["n"] == 1
    assert clean["tools"][1] == body["tools"][1]
    assert isinstance(clean["messages"][0]["content"], str)


def test_a_body_keeps_the_marks_of_its_history():
    """What was found in an earlier request is replaced again without searching the history."""
    secrets = Secrets()
    secret = SECRETS["anthropic"]
    first = dumps({"messages": [f"key {secret}"]})
    assert secrets.scrub_known(first) is first
    marked = secrets.scrub_new(first, first)
    second = first[:-2] + b',"more"]}'
    assert secrets.scrub_known(second) == marked[:-2] + b',"more"]}'


@given(st.text(min_size=1, max_size=30), st.sampled_from(sorted(SECRETS)))
def test_no_neighbour_hides_a_key(text, name):
    """Whatever stands around a key (but a letter or digit right before it): it is found."""
    before = "" if text[-1].isalnum() or text[-1] in "_-" else text
    clean = dumps(Secrets().scrub_json({"t": f"{before}{SECRETS[name]} {text}"}))
    assert SECRETS[name].encode() not in clean


def test_command_lines_lose_the_values_of_secret_options():
    """The command line is recorded without what follows --api-key and its kin."""
    argv = ["agent.py", "--api-key", "abc", "--token=def", "--verbose", "--secret", "-v", "x"]
    clean = clean_arguments(argv)
    assert clean[0] == "agent.py"
    assert clean[1:3][0] == "--api-key"
    assert clean[2].startswith("[$secret ")
    assert clean[3].startswith("--token=[$secret ")
    assert clean[4:] == ["--verbose", "--secret", "-v", "x"]


@pytest.mark.parametrize(
    ("token", "expected"),
    [(b"abc12345", True), (b"administrator", False), (b"aBcdEfghIjklMnop", True), (b"1234", False)],
)
def test_what_looks_random(token, expected):
    """Digits in a token of some length, or mixed case in a longer one."""
    assert looks_secret(token) is expected
