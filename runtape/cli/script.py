"""Running the user's script inside this process, as ``python script.py`` would run it."""

from __future__ import annotations

import runpy
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import click

from runtape.errors import UsageError

_FAILED = 1


class ScriptCommand(click.Command):
    """A command that ends with a script and the script's own arguments.

    After ``--`` comes the script; without it the script is the first word that is no option, and
    what follows it is left alone.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read our own options, wherever they may stand."""
        ctx.allow_interspersed_args = "--" in args
        ctx.ignore_unknown_options = "--" not in args  # -m, or what is wrong with a name is said
        return super().parse_args(ctx, args)


def run_script(
    command: Sequence[str], failed: Callable[[BaseException], object] = lambda _: None
) -> int:
    """Run ``script.py arguments…`` or ``-m module arguments…``; returns its exit code.

    The script is ``__main__``, with its own ``sys.argv`` and its folder in front of ``sys.path``.
    An exception that leaves it is told to `failed` and shown as Python shows it. Raises UsageError
    when there is no such script; KeyboardInterrupt and replay's divergences pass through.
    """
    words = list(command)
    if not words or words == ["-m"]:
        raise UsageError("There is no script to run.", hint="put it last: script.py arguments…")
    start = _prepared_module(words[1:]) if words[0] == "-m" else _prepared_file(words)
    try:
        start()
    except SystemExit as end:
        return _exit_code(end.code)
    except Exception as error:  # noqa: BLE001 - it is the script's own
        failed(error)
        _show(error)
        return _FAILED
    return 0


def _prepared_file(words: list[str]) -> Callable[[], object]:
    """What runs a file, or a folder or archive with a ``__main__`` in it."""
    script = words[0]
    if not Path(script).exists():
        raise UsageError(
            f"There is no script {script}.", hint="name a Python file, or -m and a module"
        )
    sys.argv = words
    if not Path(script).is_file() or zipfile.is_zipfile(script):
        return lambda: runpy.run_path(script, run_name="__main__")
    sys.path.insert(0, str(Path(script).resolve().parent))
    return lambda: _run_file(script)


def _run_file(script: str) -> None:
    """Run it as the real ``__main__``, which stays there: what it leaves running may need it."""
    code = compile(Path(script).read_bytes(), script, "exec", dont_inherit=True)
    main = ModuleType("__main__")
    main.__file__ = script
    main.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = main
    exec(code, main.__dict__)  # noqa: S102 - what the user asked for


def _prepared_module(words: list[str]) -> Callable[[], object]:
    sys.argv = words
    sys.path.insert(0, str(Path.cwd()))
    return lambda: runpy.run_module(words[0], run_name="__main__", alter_sys=True)


def _exit_code(code: object) -> int:
    """As Python takes what a script exits with."""
    if code is None or isinstance(code, int):
        return code or 0
    sys.stderr.write(f"{code}\n")
    return _FAILED


def _show(error: Exception) -> None:
    """The script's traceback, without our part of it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals.get("__name__") in {__name__, "runpy"}:
        trace = trace.tb_next
    sys.excepthook(type(error), error.with_traceback(trace), trace)
