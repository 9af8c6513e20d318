"""Who answers: a function, or the recorded server with its SDK."""

from __future__ import annotations

import os
from dataclasses import dataclass

from runtape.dialects.base import Dialect
from runtape.errors import UsageError
from runtape.models.anthropic import AnthropicModel
from runtape.models.base import Model
from runtape.models.endpoint import endpoint_of
from runtape.models.function import FunctionModel, ModelFunction
from runtape.models.loading import load_function
from runtape.models.openai import OpenAIModel
from runtape.models.sdk import SdkModel
from runtape.tape.events import Request

TIMEOUT = 300.0
"""Seconds without a byte after which a call has failed."""

WORKERS = 8

_CALLERS: dict[str, type[SdkModel]] = {"openai": OpenAIModel, "anthropic": AnthropicModel}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """What the user may choose about who answers; None: as recorded.

    Attributes:
        model_fn: a function, ``file.py:function`` or ``module:function``.
        model: a model's name.
        base_url: another server.
        provider: a known provider's server.
        timeout: seconds without a byte after which a call has failed; None: ``RUNTAPE_TIMEOUT``,
            or 300.
    """

    model_fn: ModelFunction | str | None = None
    model: str | None = None
    base_url: str | None = None
    provider: str | None = None
    timeout: float | None = None


_AS_RECORDED = ModelOptions()


def select_model(
    request: Request, dialect: Dialect, *, options: ModelOptions = _AS_RECORDED
) -> Model:
    """The model that answers reruns of `request`.

    Keys and packages are looked for at the first real call (MissingKey, MissingPackage), so that a
    job that the cache answers needs neither.

    Raises:
        ModelFunctionError: the function cannot be loaded.
        UsageError: an unknown provider, a bad base URL or timeout, or options that exclude one
            another.
    """
    if options.model_fn is not None:
        return _function_model(options.model_fn, options, dialect)
    endpoint = endpoint_of(request, dialect, base_url=options.base_url, provider=options.provider)
    caller = _CALLERS[dialect.provider]
    return caller(endpoint, dialect, timeout=_timeout(options), model=options.model)


def default_workers(model: Model) -> int:
    """Requests in flight unless the user says: 8, and 1 for a server on this machine."""
    local = isinstance(model, SdkModel) and model.endpoint.on_this_machine
    return 1 if local else WORKERS


def server_of(model: Model) -> str | None:
    """URL that `model` posts to (prices depend on it); None for a function."""
    return model.endpoint.url if isinstance(model, SdkModel) else None


def _function_model(
    function: ModelFunction | str, options: ModelOptions, dialect: Dialect
) -> Model:
    if options.base_url or options.provider or options.model:
        raise UsageError(
            "A model function answers instead of a server.",
            hint="leave out --model-fn, or --model, --base-url and --provider",
        )
    loaded = load_function(function)
    return FunctionModel(
        loaded.function, name=loaded.name, identity=loaded.identity, dialect=dialect
    )


def _timeout(options: ModelOptions) -> float:
    if options.timeout is not None:
        return options.timeout
    text = os.environ.get("RUNTAPE_TIMEOUT", "")
    try:
        seconds = float(text) if text else TIMEOUT
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise UsageError(f"RUNTAPE_TIMEOUT is {text!r}.", hint="give it a number of seconds")
    return seconds
