"""Keeping credentials out of the file: found by shape, by name, by field, or because seen in use.

All that goes to the tape is JSON text, so there is one mechanism: find the secrets in a text and
replace each wherever it occurs. Where a whole value is a secret it becomes ``{"$secret":
"sha256:8"}``; within a longer string, or where readers rely on a string, ``[$secret sha256:8]``,
which needs no escaping however deep the string is nested. The eight hexadecimal digits tell whether
two secrets are the same one.

A text is looked at closely only when something in it hints at a secret: 5 to 8 µs per kilobyte.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Any

from runtape.jsonio import Json, dumps, loads

_HINT = re.compile(
    rb"""(?x)
      - (?: (?<=sk-) | (?<=xai-) | (?<=plx-) | (?<=pat-) | (?<=xox.-) | (?<=KEY-)
          | (?<=[pP][iI]-) [kK] )
    | _ (?: (?<=[rs]k_) (?: live | test )_ | (?<=gsk_) | (?<=hf_) | (?<=npm_) | (?<=gh[pousr]_)
          | (?<=hub_) pat_ | (?<=[pP][iI]_) [kK] | (?<=[sShH]_) [tT][oO] | (?<=[tT]_) [sS][eE][cC] )
    | A (?: Iza | KIA | SIA )
    | J (?<=eyJ)
    | / (?<=://) [^\s/@:"'\\]* : [^\s/@"'\\]+ @
    | z (?<=[hH]oriz) | Z (?<=HORIZ)
    | bearer[ ] | Bearer[ ] | BEARER[ ]
    | ikey | iKey | iKEY | IKEY
    """
)
"""Matches wherever a pattern below could. Each branch begins with one letter that is rare in text,
which makes it three times as fast as looking for the words from their start."""

_PREFIXED = (
    # Key formats as providers document them.
    ("sk-", r"(?:[\w-]{16,}|(?=[A-Za-z_-]*[0-9])[\w-]{8,})"),
    ("sk_live_ sk_test_ rk_live_ rk_test_", r"[A-Za-z0-9]{10,}"),
    ("gsk_ hf_ npm_ xai- pplx- ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{20,}"),
    ("github_pat_ glpat- AIza", r"[\w-]{16,}"),
    ("AKIA ASIA", r"[A-Z0-9]{16}\b"),
    ("xoxa- xoxb- xoxe- xoxp- xoxr- xoxs-", r"[A-Za-z0-9-]{10,}"),
    ("eyJ", r"[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}"),
)
_START = r"(?:(?<!\w{0})|(?<=\\[bfnrt]{0})|(?<=\\u[\da-fA-F]{{4}}{0}))"
"""No word goes on at the prefix {0}; the letters of an escape such as ``\\n`` are no word."""
_BY_SHAPE = [
    re.compile(f"({prefix}{_START.format(prefix)}{rest})".encode())
    for prefixes, rest in _PREFIXED
    for prefix in prefixes.split()
]
_BY_SHAPE += [
    re.compile(rb"PRIVATE KEY-----(.{20,}?)-----END"),
    re.compile(rb"://[^\s/@:\"'\\]*:([^\s/@\"'\\]{3,})@"),
]
_TOKEN = r"[A-Za-z0-9._~+/-]{8,}=*"  # noqa: S105 - characters of a token, not one
_BY_NAME = re.compile(
    (
        r"(?i)(?:bearer +|(?:authorization(?:_token)?|api[_-]?key|(?:access|refresh)_token|"
        r"client_secret)\\*[\"']?\s*[:=]\s*\\*[\"']?(?:(?:basic|bearer|token)\s+)?)"
        rf"({_TOKEN})"
    ).encode()
)
"""Named as a secret, of no known shape: taken only when it also looks like one."""

_HEARD = 32
"""Credentials in use that are remembered."""

_CREDENTIAL_FLAGS = re.compile(
    r"(?i)^-{1,2}[\w-]*(?:key|token|secret|password|passwd|authorization)[\w-]*"
)


class Secrets:
    """Finds and replaces secrets, and remembers those of this run so that every echo is found.

    Safe to use from several threads: what was found is only ever added to.
    """

    def __init__(self) -> None:
        self._heard: dict[str, bytes] = {}
        self._used: tuple[bytes, ...] = ()
        self._found: dict[bytes, bool] = {}  # whether the value of a credential field

    def learn(self, header: str) -> None:
        """Remember the credential in a header the agent sends, to recognise it anywhere else."""
        if header in self._heard:
            return
        heard = {**self._heard, header: header.rpartition(" ")[2].encode()}
        self._heard = dict(list(heard.items())[-_HEARD:])  # some clients sign every request anew
        self._used = tuple(filter(looks_secret, set(self._heard.values())))

    def scrub_json(self, value: Any, *, whole: bool = False) -> Any:
        """The JSON value without secrets, the very same object when it holds none.

        With `whole`, strings that are nothing but a secret become ``{"$secret": …}``.
        """
        text = dumps(value)
        found = self.find(text)
        if not found:
            return value
        self._note(dict.fromkeys(found, False))
        return loads(_replaced(text, dict.fromkeys(found, whole)))

    def scrub_known(self, body: bytes) -> bytes:
        """A request body without the secrets found earlier, the same object when it holds none."""
        known = [item for item in list(self._found.items()) if item[0] in body]
        return _replaced(body, dict(known)) if known else body

    def scrub_new(self, body: bytes, new: bytes) -> bytes:
        """A request body without the secrets in `new`, a part of it; the same object without any.

        `new` is what was not searched before, so that the cost grows with what is new.
        """
        found = dict.fromkeys(self.find(new), False)
        if b'"authorization' in new or b'"headers"' in new:
            found.update(dict.fromkeys(_credential_fields(body), True))
        self._note(found)
        return _replaced(body, found) if found else body

    def find(self, text: bytes) -> list[bytes]:
        """The secrets in a piece of JSON text, as they are written there."""
        found = [literal for literal in self._used if literal in text]
        if _HINT.search(text):
            found += [literal for shape in _BY_SHAPE for literal in shape.findall(text)]
            found += filter(looks_secret, _BY_NAME.findall(text))
        return found

    def _note(self, found: dict[bytes, bool]) -> None:
        for literal, field in found.items():
            self._found[literal] = field or self._found.get(literal, False)


def looks_secret(literal: bytes) -> bool:
    """Whether a token is random enough to be a credential rather than a word."""
    digits = any(48 <= byte <= 57 for byte in literal)  # noqa: PLR2004 - "0" to "9"
    mixed = literal != literal.lower() and literal != literal.upper()
    return len(literal) >= (8 if digits else 16) and (digits or mixed)


def clean_arguments(argv: list[str]) -> list[str]:
    """A command line without the values of options that name a credential."""
    clean: list[str] = []
    hide_next = False
    for argument in argv:
        flag, equals, value = argument.partition("=")
        names_credential = bool(_CREDENTIAL_FLAGS.match(flag))
        if hide_next and not argument.startswith("-"):
            clean.append(_mark(argument.encode("utf-8", "surrogateescape")))
        elif names_credential and equals:
            clean.append(f"{flag}={_mark(value.encode('utf-8', 'surrogateescape'))}")
        else:
            clean.append(argument)
        hide_next = names_credential and not equals
    return clean


def _credential_fields(body: bytes) -> Iterator[bytes]:
    """Values of fields that request bodies have for credentials, escaped as they stand there."""
    try:
        document = loads(body)
    except (ValueError, RecursionError):
        return
    for value in _credentials(document if isinstance(document, dict) else {}):
        for literal in {dumps(value)[1:-1], value.encode("utf-8", "surrogatepass")}:
            if literal in body:
                yield literal


def _credentials(document: Json) -> Iterator[str]:
    """Anthropic's ``mcp_servers`` and OpenAI's tools of type ``mcp`` sign in to servers."""
    for owner in (*_objects(document.get("mcp_servers")), *_objects(document.get("tools"))):
        headers = owner.get("headers")
        values = [owner.get("authorization_token"), owner.get("authorization")]
        values += headers.values() if isinstance(headers, dict) else []
        yield from (value for value in values if isinstance(value, str) and value)


def _objects(value: Any) -> list[Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _replaced(text: bytes, literals: dict[bytes, bool]) -> bytes:
    """The text with each literal replaced, longer ones first: one may be a part of another."""
    for literal in sorted(literals, key=len, reverse=True):
        mark = _mark(literal)
        if literals[literal]:
            as_value = dumps({"$secret": mark[9:-1]})
            text = re.sub(rb'"%s"(?!\s*:)' % re.escape(literal), as_value, text)
        text = text.replace(literal, mark.encode())
    return text


def _mark(literal: bytes) -> str:
    return f"[$secret sha256:{hashlib.sha256(literal).hexdigest()[:8]}]"
