"""Hooks in every http client of the process, for programs whose code is not touched.

``Client.send`` and ``AsyncClient.send`` of httpx and httpx2 are replaced by ones that go through
the hooks; a library that is not loaded yet is seen to when it is imported. Clients made before are
covered too.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial, wraps
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NamedTuple

from runtape.recording.wire import LIBRARIES, Hook


class _Patch(NamedTuple):
    """A class whose `send` was replaced, and what it was."""

    cls: Any
    original: Any


_hooks: list[Hook] = []
_patches: list[_Patch] = []
_changing = threading.RLock()


def hook_everywhere(hook: Hook) -> None:
    """Send the requests of all clients through `hook`; of several hooks the latest is outermost."""
    with _changing:
        if hook in _hooks:
            return
        _hooks.append(hook)
        if len(_hooks) == 1:
            for name in LIBRARIES:
                if name in sys.modules:
                    _patch(sys.modules[name])
            sys.meta_path.insert(0, _finder)


def unhook_everywhere(hook: Hook) -> None:
    """Take `hook` out again; after the last one the libraries are as they were."""
    with _changing:
        if hook not in _hooks:
            return
        _hooks.remove(hook)
        if not _hooks:
            sys.meta_path.remove(_finder)
            while _patches:
                cls, original = _patches.pop()
                cls.send = original


def is_everywhere(hook: Hook) -> bool:
    """Whether all clients' requests go through `hook`."""
    return hook in _hooks


def _patch(library: ModuleType) -> None:
    """Replace `send` in both client classes; a library half imported has none yet."""
    for name, make in (("Client", _sending), ("AsyncClient", _sending_async)):
        cls = getattr(library, name, None)
        if cls is not None and all(cls is not patch.cls for patch in _patches):
            _patches.append(_Patch(cls, cls.send))
            cls.send = make(cls.send)


def _sending(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def send(self: Any, request: Any, *, stream: bool = False, **options: Any) -> Any:
        proceed: Callable[..., Any] = partial(original, self, **options)
        for hook in tuple(_hooks):
            proceed = partial(hook.send, proceed)
        return proceed(request, stream=stream)

    return send


def _sending_async(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    async def send(self: Any, request: Any, *, stream: bool = False, **options: Any) -> Any:
        proceed: Callable[..., Any] = partial(original, self, **options)
        for hook in tuple(_hooks):
            proceed = partial(hook.send_async, proceed)
        return await proceed(request, stream=stream)

    return send


class _Finder(MetaPathFinder):
    """Finds the http libraries as everybody does, and has them patched once they are loaded."""

    def __init__(self) -> None:
        self._searching = threading.local()

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - the protocol's signature
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """The spec of a library, with a loader that patches."""
        if fullname not in LIBRARIES or getattr(self._searching, "now", False):
            return None
        self._searching.now = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._searching.now = False
        if spec is not None and spec.loader is not None:
            spec.loader = _PatchingLoader(spec.loader)
        return spec


class _PatchingLoader(Loader):
    """Loads as the library's own loader does, which then stands in its place again."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The module, as its own loader makes it."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, then patch it."""
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        with _changing:
            if _hooks:
                _patch(module)


_finder = _Finder()
