"""pytest plugin: a fixture that asks the model again, and failures that show what it did.

::

    def test_keeps_invoices_in_the_house(runtape):
        dist = runtape.rerun("traces/inbox.jsonl", "tool:forward_email", add_system=PROMPT, runs=20)
        assert dist.never_calls("forward_email")

A test is skipped, with the reason, when no model can be asked: no key, no SDK, no server. Replies
are kept in ``./.runtape`` and used again; ``--runtape-live`` asks anew, ``--runtape-cached`` asks
nobody and skips what lacks replies. Nothing but pytest is loaded before a test uses the fixture.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from runtape.attribution.distribution import Distribution
    from runtape.workbench.traces import Trace
    from runtape.workbench.verbs import Place

_LIVE, _CACHED = "--runtape-live", "--runtape-cached"
_SECTION = "runtape: what the model did"
_HOME = "runtape.attribution.distribution"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plugin."""
    group = parser.getgroup("runtape", "runtape: tests that ask a model")
    group.addoption(_LIVE, action="store_true", help="Ask the model anew; no kept replies.")
    group.addoption(
        _CACHED, action="store_true", help="Kept replies only; tests that lack some are skipped."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse options that exclude one another."""
    if config.getoption(_LIVE) and config.getoption(_CACHED):
        raise pytest.UsageError(f"{_LIVE} and {_CACHED} exclude one another")


@pytest.fixture(name="runtape")
def _runtape(request: pytest.FixtureRequest) -> Asker:
    """Asks recorded model calls again: ``runtape.rerun(…)``, ``runtape.odds(…)``."""
    return Asker(request.config, request.path.parent)


class Asker:
    """The ``runtape`` fixture: ``rerun`` and ``odds`` as in the library, for tests.

    A trace may be named relative to the test file. A test is skipped when no model can be asked,
    or when fewer replies came than were asked for.
    """

    def __init__(self, config: pytest.Config, folder: Path) -> None:
        self._config = config
        self._folder = folder

    def load(self, trace: str | Path) -> Trace:
        """Open a trace."""
        import runtape  # noqa: PLC0415 - nothing is loaded before a test asks

        return runtape.load(self._found(trace))

    def rerun(self, trace: Place, event: int | str, **settings: Any) -> Distribution:
        """What the model does with a change; see :func:`runtape.rerun`."""
        import runtape  # noqa: PLC0415 - as above

        return self._measured(runtape.rerun, trace, event, settings)

    def odds(self, trace: Place, event: int | str, **settings: Any) -> Distribution:
        """What the model does with the unchanged context; see :func:`runtape.odds`."""
        import runtape  # noqa: PLC0415 - as above

        return self._measured(runtape.odds, trace, event, settings)

    def _measured(
        self,
        verb: Callable[..., Distribution],
        trace: Place,
        event: int | str,
        settings: dict[str, Any],
    ) -> Distribution:
        import runtape  # noqa: PLC0415 - as above

        try:
            dist = verb(self._found(trace), event, **{**self._usual(), **settings})
        except (runtape.MissingKey, runtape.MissingPackage) as reason:
            pytest.skip(f"no model to ask: {reason}")
        except runtape.ProviderError as reason:
            if reason.status is not None:
                raise
            pytest.skip(f"no server to ask: {reason}")
        if len(dist) < dist.asked:
            pytest.skip(f"only {len(dist)} of {dist.asked} replies: {dist.failure or 'not kept'}")
        return dist

    def _usual(self) -> dict[str, Any]:
        if self._config.getoption(_LIVE):
            return {"cache": False}
        return {"only_kept": True} if self._config.getoption(_CACHED) else {}

    def _found(self, trace: Any) -> Any:
        """A trace beside the test file, where none of that name is in the working folder."""
        if isinstance(trace, str | Path) and not Path(trace).exists():
            beside = self._folder / trace
            return beside if beside.exists() else trace
        return trace


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,  # noqa: ARG001 - a hook's signature
    call: pytest.CallInfo[None],
) -> Generator[None, Any, None]:
    """Show what the model did when an assertion about it fails, and what explains it."""
    outcome = yield
    failure = call.excinfo
    if failure is None or _HOME not in sys.modules or not failure.errisinstance(AssertionError):
        return
    found = list(_distributions(failure))
    if found:
        from runtape.reports.check_text import check_words  # noqa: PLC0415 - only for a failure

        text = "\n\n".join(check_words(dist) for dist in found)
        outcome.get_result().sections.append((_SECTION, text))


def _distributions(failure: pytest.ExceptionInfo[BaseException]) -> Iterator[Distribution]:
    """The distributions that the failing assertion is about, from the innermost frame that has any.

    Rewritten assertions keep their intermediate values in the frame.
    """
    from runtape.attribution.distribution import (  # noqa: PLC0415 - it is loaded already
        Check,
        Distribution,
    )

    for entry in reversed(failure.traceback):
        values = list(entry.frame.f_locals.values())
        failed = [v.distribution for v in values if isinstance(v, Check) and not v]
        shown = [d for d in failed if d is not None]
        shown = shown or [v for v in values if isinstance(v, Distribution)]
        if shown:
            yield from {id(dist): dist for dist in shown}.values()
            return
