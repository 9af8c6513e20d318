"""Finding the function that ``--model-fn`` names, and what its answers may be cached under."""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.util
import inspect
import sys
import traceback
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from runtape.errors import ModelFunctionError
from runtape.models.function import ModelFunction


@dataclass(frozen=True, slots=True)
class LoadedFunction:
    """A model function, its name for messages, and what tells its answers from those of others."""

    function: ModelFunction
    name: str
    identity: str


def load_function(named: ModelFunction | str) -> LoadedFunction:
    """The function itself, or the one that ``file.py:function`` or ``module:function`` names.

    The identity holds a digest of the source file: edit the file and its answers are new ones.
    Functions that carry state from elsewhere (closures, bound methods, partials) get an identity of
    this process.

    Raises ModelFunctionError that names the nearest file or function.
    """
    if not isinstance(named, str):
        return LoadedFunction(named, _name(named), _identity_of(named))
    place, colon, attribute = named.rpartition(":")
    if not colon or not place or not attribute:
        raise ModelFunctionError(
            f"{named!r} names no function.", hint="write file.py:function or module:function"
        )
    is_file = place.endswith(".py") or "/" in place or "\\" in place
    module = _load_file(Path(place)) if is_file else _load_module(place)
    function = _attribute(module, attribute, place)
    source = Path(module.__file__).read_bytes() if module.__file__ else b""
    return LoadedFunction(function, named, _identity(attribute, source))


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        found = [p.name for p in path.parent.glob("*.py")] if path.parent.is_dir() else []
        raise ModelFunctionError(
            f"There is no file {path}.", hint=_nearest(path.name, found), path=str(path)
        )
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as for a script: its neighbours can be imported
    name = f"runtape_model_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ModelFunctionError(f"{path} is no Python file.", path=str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # the user's code: anything can come out of it
        raise _broken(str(path), error) from error
    return module


def _load_module(name: str) -> ModuleType:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise _broken(name, error) from error
        found = [p.stem for p in Path.cwd().glob("*.py")]
        raise ModelFunctionError(
            f"There is no module {name}.", hint=_nearest(name, found)
        ) from None
    except (Exception, SystemExit) as error:  # the user's code
        raise _broken(name, error) from error


def _attribute(module: ModuleType, path: str, place: str) -> ModelFunction:
    value: Any = module
    for name in path.split("."):
        value = getattr(value, name, None)
    if callable(value):
        return cast("ModelFunction", value)
    found = [name for name, item in vars(module).items() if inspect.isroutine(item)]
    what = "is not callable" if value is not None else "is not there"
    raise ModelFunctionError(f"{path} {what} in {place}.", hint=_nearest(path, found))


def _broken(place: str, error: BaseException) -> ModelFunctionError:
    if isinstance(error, SyntaxError):
        where = f"{error.filename}:{error.lineno}"
    else:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{last.filename}:{last.lineno}"
    return ModelFunctionError(
        f"{place} cannot be loaded: {type(error).__name__}: {error} ({where}).", path=place
    )


def _nearest(name: str, found: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(found), n=3, cutoff=0.6)
    return f"did you mean {' or '.join(near)}?" if near else ""


def _name(function: ModelFunction) -> str:
    name = getattr(function, "__qualname__", type(function).__qualname__)
    code = getattr(function, "__code__", None)
    return f"{Path(code.co_filename).name}:{name}" if code else str(name)


def _identity_of(function: ModelFunction) -> str:
    stateless = inspect.isfunction(function) and "<locals>" not in function.__qualname__
    file = Path(inspect.getfile(function)) if stateless else None
    if file is None or not file.is_file():
        return f"function {uuid.uuid4()}"
    return _identity(_name(function), file.read_bytes())


def _identity(name: str, source: bytes) -> str:
    return f"function {name} {hashlib.sha256(source).hexdigest()}"
