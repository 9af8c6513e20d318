"""The changed request of a rerun: all that was asked for, or an error naming an idle change."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from runtape.attribution.options import RerunOptions
from runtape.context import Context, add_system, quote, remove, set_system, substitute
from runtape.context.edits import Edit
from runtape.errors import UsageError
from runtape.jsonio import Json
from runtape.remedies.changes import delimited

Step: TypeAlias = Callable[[Json], Json]

_PARAMS = "params."
"""``params.temperature`` reads better; the prefix says nothing."""


def changed_body(context: Context, options: RerunOptions) -> Json:
    """The request of `context` with the changes of `options` made, valid for its API.

    Raises:
        UsageError: nothing was to be changed, or one of the changes changes nothing.
        RefNotFound: a dropped ref is not there.
        InvalidEdit: a replaced text stands nowhere, or no valid request is left.
    """
    edits = dict(_edits(context, options))
    for what, edit in edits.items():
        _apply(what, partial(_alone, context, edit), context.body)
    body = context.edited(list(edits.values()))
    steps = dict(_steps(context, options))
    for what, step in steps.items():
        body = _apply(what, step, body)
    if not edits and not steps:
        raise UsageError(
            "Nothing is changed.",
            hint="say what: --drop, --quote, --delimit, --replace, --system-file, --add-system,"
            " --model or --set;"
            " `runtape odds` runs the request as it is",
        )
    return body


def _edits(context: Context, options: RerunOptions) -> Iterator[tuple[str, Edit]]:
    for ref in options.drop:
        yield f"Dropping {ref}", remove(context.piece(ref), options.fill)
    for ref in options.quote:
        yield f"Quoting {ref}", quote(context.piece(ref))
    for old, new in options.replace.items():
        yield f"Replacing {old!r}", substitute(old, new)
    if options.system is not None:
        yield "The system prompt", set_system(options.system)
    if options.add_system is not None:
        yield "The added system text", add_system(options.add_system)


def _steps(context: Context, options: RerunOptions) -> Iterator[tuple[str, Step]]:
    name, edit = options.model_name, options.edit
    if options.delimit:
        yield "Marking tool results", lambda body: delimited(body, context.dialect)
    if name is not None:
        yield "The model name", lambda body: context.dialect.with_model(body, name)
    if options.params:
        params = {key.removeprefix(_PARAMS): value for key, value in options.params.items()}
        yield "Setting parameters", lambda body: context.dialect.with_params(body, params)
    if edit is not None:
        yield "The edit", partial(_edited, edit)


def _alone(context: Context, edit: Edit, _: Json) -> Json:
    return context.edited([edit])


def _edited(edit: Callable[[Json], Json | None], body: Json) -> Json:
    draft = copy.deepcopy(body)
    returned = edit(draft)
    return draft if returned is None else returned


def _apply(what: str, step: Step, body: Json) -> Json:
    changed = step(body)
    if changed == body:
        raise UsageError(f"{what} changes nothing in this request.")
    return changed
