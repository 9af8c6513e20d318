"""Settings: flags > ``RUNTAPE_*`` > project file > user file > defaults.

The project file is ``./runtape.toml``, or ``[tool.runtape]`` in ``./pyproject.toml``; the user file
is ``config.toml`` in ``~/.config/runtape`` (``$XDG_CONFIG_HOME``). A project file comes with a
checkout, so what spends money without asking and matters of taste are read from the user file only.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from runtape.errors import UsageError


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be set once instead of with every command.

    Attributes:
        dir: folder of traces.
        timeout: seconds one model call may take.
        budget: most model replies one command may pay for.
        workers: calls at once; None: 8, and 1 for a server on this machine.
        runs: runs that a reported variant is topped up to.
        max_pieces: pieces of the context that are tested at most; None: all.
        fill: what stands in for removed text: ``marker``, ``empty``, ``neutral`` or a text.
        cache: whether replies are kept and used again.
        cache_dir: folder they are kept in.
        yes: never ask before model calls (user file only).
        theme: name of the app's colours (user file only).
        keys: action of the app → its keys (user file only).
    """

    dir: Path = Path("traces")
    timeout: float = 300.0
    budget: int = 400
    workers: int | None = None
    runs: int = 10
    max_pieces: int | None = None
    fill: str = "marker"
    cache: bool = True
    cache_dir: Path = Path(".runtape")
    yes: bool = False
    theme: str | None = None
    keys: Mapping[str, str] = field(default_factory=dict)


def _count(value: Any) -> int:
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("a whole number from 1")
    return value


def _seconds(value: Any) -> float:
    try:
        seconds = 0.0 if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        seconds = 0.0
    if not seconds > 0:
        raise ValueError("a number of seconds above 0")
    return seconds


def _flag(value: Any) -> bool:
    words = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    if not isinstance(value, bool):
        raise ValueError("true or false")  # noqa: TRY004 - all converters fail alike
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text")  # noqa: TRY004 - all converters fail alike
    return value


def _folder(value: Any) -> Path:
    return Path(_text(value)).expanduser()


def _table(value: Any) -> Mapping[str, str]:
    if not isinstance(value, dict):
        raise ValueError("a table of names and texts")  # noqa: TRY004 - all converters fail alike
    return {str(name): _text(text) for name, text in value.items()}


_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "dir": _folder,
    "timeout": _seconds,
    "budget": _count,
    "workers": _count,
    "runs": _count,
    "max_pieces": _count,
    "fill": _text,
    "cache": _flag,
    "cache_dir": _folder,
    "yes": _flag,
    "theme": _text,
    "keys": _table,
}
_USER_ONLY = ("yes", "theme", "keys")


def read_settings(
    folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> Settings:
    """All settings that hold in `folder` (default: the working folder), flags not considered.

    Raises:
        UsageError: a file is not TOML, a key is unknown (the nearest one is named), or a value does
            not fit; always with the name of the file.
    """
    environment = os.environ if environment is None else environment
    here = Path() if folder is None else folder
    values: dict[str, Any] = {}
    for path, table, mine in _tables(here, environment):
        values.update(_checked(table, path, mine=mine))
    values.update(_from_environment(environment))
    return replace(Settings(), **values)


def user_file(environment: Mapping[str, str]) -> Path:
    """Where the user's own settings are."""
    base = environment.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(base).expanduser() / "runtape" / "config.toml"


def _tables(here: Path, environment: Mapping[str, str]) -> list[tuple[Path, dict[str, Any], bool]]:
    """(file, settings in it, whether it is the user's own), weakest first."""
    own = user_file(environment)
    found = [(own, _load(own), True)]
    project = here / "runtape.toml"
    if project.is_file():
        return [*found, (project, _load(project), False)]
    pyproject = here / "pyproject.toml"
    tools = _load(pyproject).get("tool", {})
    table = tools.get("runtape", {}) if isinstance(tools, dict) else {}
    return [*found, (pyproject, table if isinstance(table, dict) else {}, False)]


def _load(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}", path=str(path)) from error
    if path.name == "pyproject.toml" and "tool.runtape" not in text:
        return {}  # parsing somebody's long pyproject costs more than all the rest
    return _parse(text, path)


def _parse(text: str, path: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415 - only where there is a file
    else:
        import tomli as tomllib  # noqa: PLC0415
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not valid TOML: {error}", path=str(path)) from error


def _checked(table: dict[str, Any], path: Path, *, mine: bool) -> dict[str, Any]:
    values = {}
    for name, value in table.items():
        key = name.replace("-", "_")
        if key not in _CONVERTERS:
            raise _unknown(name, path)
        if key in _USER_ONLY and not mine:
            raise UsageError(
                f"{name} in {path} cannot be set by a project",
                hint=f"put it into {user_file(os.environ)}",
                path=str(path),
            )
        values[key] = _converted(key, value, f"{name} in {path}")
    return values


def _unknown(name: str, path: Path) -> UsageError:
    from difflib import get_close_matches  # noqa: PLC0415 - only where something is wrong

    known = [entry.name for entry in fields(Settings)]
    near = get_close_matches(name.replace("-", "_"), known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"known are: {', '.join(known)}"
    return UsageError(f"unknown setting {name} in {path}", hint=hint, path=str(path))


def _converted(key: str, value: Any, where: str) -> Any:
    try:
        return _CONVERTERS[key](value)
    except ValueError as expected:
        raise UsageError(f"{where} must be {expected}, not {value!r}") from None


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    values = {}
    for key in _CONVERTERS:
        name = f"RUNTAPE_{key.upper()}"
        if key != "keys" and environment.get(name):
            values[key] = _converted(key, environment[name], name)
    return values
