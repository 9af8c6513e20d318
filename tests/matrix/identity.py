"""One case, recorded and replayed: the same to the program, and nothing left over."""

from __future__ import annotations

import json
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import openai

import runtape
from tests.matrix import answers
from tests.matrix.cases import CASES, Case, attempt, missing
from tests.support import call_shapes
from tests.support.call_shapes import settled
from tests.support.loopback import Loopback
from tests.support.recorded import API_KEY, client_at, run

KINDS = ("", "-async")
SAME = "same"
ABSENT = "absent"
"""The SDK has no such call."""
_AT_ONCE = 0.05
"""Seconds of CPU within which a divergence has to arrive."""


def compare(case: Case, kind: str, folder: Path) -> str:
    """``same``, ``absent``, or what differs."""
    volatile, call_shapes.VOLATILE = call_shapes.VOLATILE, set()
    try:
        return _compare(case, kind, folder)
    finally:
        call_shapes.VOLATILE = volatile


def _compare(case: Case, kind: str, folder: Path) -> str:
    with Loopback(case.handler, case.wire) as server:
        if _is_missing(case, server.url, kind):
            return ABSENT
        with runtape.record(dir=folder) as recorder:
            recorded = _run(case, server.url, kind, recorder)
        sent = [request.raw for request in server.requests]
    url = server.url
    began = time.perf_counter()
    try:
        with runtape.replay(recorder.path) as replayer:
            replayed = _run(case, url, kind, replayer)
        took = time.perf_counter() - began
    except runtape.ReplayDiverged as divergence:
        return f"diverged: {divergence}"
    if recorder.faults:
        return "the recorder had faults"
    if len(replayer.unused) != 0:
        return f"{len(replayer.unused)} of {len(sent)} calls were not replayed"
    if recorded != replayed:
        return f"recorded {recorded!r}\nreplayed {replayed!r}"
    return SAME if took < 2 else f"replay took {took:.1f} s"


def _is_missing(case: Case, url: str, kind: str) -> bool:
    async def look() -> bool:
        client = _client(url, kind)
        try:
            return missing(case, client)
        finally:
            await settled(client.close())

    return bool(run(look))


def _run(case: Case, url: str, kind: str, tap: Any) -> Any:
    async def work() -> Any:
        client = tap.wrap(_client(url, kind, **case.options))
        try:
            return await attempt(case.shape, client)
        finally:
            await settled(client.close())

    return run(work)


def _client(url: str, kind: str, **options: Any) -> Any:
    if not kind.startswith("azure"):
        return client_at(url, kind, **options)
    made = openai.AsyncAzureOpenAI if kind.endswith("async") else openai.AzureOpenAI
    return made(
        api_key=API_KEY,
        azure_endpoint=url,
        api_version="2024-10-21",
        **{"max_retries": 0, **options},
    )


def divergence(kind: str, folder: Path) -> str:
    """``same`` when a difference reaches the program at once, past the SDK's retries."""
    openai_like = kind.startswith("openai")
    shape = call_shapes.chat_create if openai_like else call_shapes.messages_create
    with Loopback(lambda *_: answers.SAID) as server:
        with runtape.record(dir=folder) as recorder:
            run(lambda: _twice(shape, recorder, _client(server.url, kind)))
        url = server.url
    took = [0.0]

    async def differ() -> None:
        client = replayer.wrap(_client(url, kind, max_retries=5))
        try:
            await shape(client)
            part = client.chat.completions if openai_like else client.messages
            began = time.thread_time()
            try:
                own = {} if openai_like else {"max_tokens": 9}
                await settled(part.create(model="other", messages=[], **own))
            finally:
                took[0] = time.thread_time() - began
        finally:
            await settled(client.close())

    try:
        with runtape.replay(recorder.path) as replayer:
            run(differ)
    except runtape.ReplayDiverged as diverged:
        place = diverged.difference.place if diverged.difference else None
        if place is None:
            return "no difference was shown"
        return SAME if took[0] < _AT_ONCE else f"took {took[0] * 1000:.0f} ms"
    return "it went through"


async def _twice(shape: Any, tap: Any, client: Any) -> None:
    tap.wrap(client)
    try:
        for _ in range(2):
            await shape(client)
    finally:
        await settled(client.close())


def kinds_of(case: Case) -> list[str]:
    """Client kinds the case is for."""
    return [case.sdk + kind for kind in KINDS if kind or not case.is_async]


def main() -> None:
    """Run all cases with the SDKs installed here; one JSON object on standard output."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for case in CASES:
            for kind in kinds_of(case):
                try:
                    outcome = compare(case, kind, Path(folder))
                except Exception as error:  # noqa: BLE001 - a cell of the table
                    outcome = f"{type(error).__name__}: {error}"
                found[f"{case.name} [{kind.partition('-')[2] or 'sync'}]"] = outcome
        for kind in (sdk + kind for sdk in ("openai", "anthropic") for kind in KINDS):
            found[f"divergence in 50 ms [{kind}]"] = divergence(kind, Path(folder))
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
