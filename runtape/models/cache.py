"""Replies that were paid for once, kept in SQLite so that no run pays for them again."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

from runtape.dialects.base import Reply
from runtape.errors import StorageError
from runtape.jsonio import Json, canonical, dumps_text, loads

FILE_NAME = "cache.sqlite"
VERSION = 1
BUSY_SECONDS = 10.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS samples (
    variant BLOB NOT NULL,
    sample INTEGER NOT NULL,
    reply TEXT NOT NULL,
    PRIMARY KEY (variant, sample)
) WITHOUT ROWID
"""
# One statement, so that two processes can never give two replies one number.
_APPEND = """
INSERT INTO samples (variant, sample, reply)
SELECT ?1, coalesce(max(sample) + 1, 0), ?2 FROM samples WHERE variant = ?1
"""
_READ = "SELECT reply FROM samples WHERE variant = ? AND sample >= ? ORDER BY sample"


def variant_key(identity: str, body: Json) -> bytes:
    """Digest of who answers and what is asked (sha256): equal keys share their samples."""
    return hashlib.sha256(identity.encode() + b"\0" + canonical(body)).digest()


class Cache:
    """Samples of each variant, numbered from 0 in the order they were stored.

    Several processes may use one file at once; a number belongs to whoever stored it first. A
    cache that cannot be read or written turns itself off and says so in :attr:`problem`: losing it
    costs money, never the result.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection | None) -> None:
        self.path = path
        self.problem: StorageError | None = None
        self._connection = connection

    @classmethod
    def open(cls, folder: Path, *, required: bool = False) -> Cache:
        """Open (or make) ``cache.sqlite`` in `folder`.

        Without a usable file the cache is off and :attr:`problem` is set; with `required` (the
        user named the folder) StorageError is raised instead.
        """
        cache = cls(folder / FILE_NAME, None)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _hide_from_git(folder)
            cache._connection = _connect(cache.path)
        except (OSError, sqlite3.Error) as error:
            cache._give_up(error)
        if required and cache.problem is not None:
            raise cache.problem
        return cache

    def load(self, variant: bytes, start: int = 0) -> list[Reply]:
        """All samples of a variant from number `start` on."""
        if self._connection is None:
            return []
        try:
            rows = self._connection.execute(_READ, (variant, start)).fetchall()
            return [Reply.from_json(loads(row[0])) for row in rows]
        except (sqlite3.Error, ValueError, KeyError, TypeError) as error:
            self._give_up(error)
            return []

    def append(self, variant: bytes, have: int, reply: Reply) -> list[Reply]:
        """Store one reply; it is on disk when this returns.

        Args:
            variant: key of the variant.
            have: number of samples the caller knows of.
            reply: the new one.

        Returns:
            All samples from number `have` on: those another process stored meanwhile, and `reply`.
        """
        if self._connection is None:
            return [reply]
        try:
            with self._connection:
                self._connection.execute(_APPEND, (variant, dumps_text(reply.to_json())))
        except (sqlite3.Error, TypeError) as error:
            self._give_up(error)
        return self.load(variant, have) or [reply]

    def close(self) -> None:
        """Close the file; further loads find nothing."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _give_up(self, error: Exception) -> None:
        self.close()
        self.problem = StorageError(
            f"The model cache cannot be used: {error}.",
            hint="replies of this run are not kept; repair or delete the file",
            path=str(self.path),
        )


def _connect(path: Path) -> sqlite3.Connection:
    # The scheduler's loop may run in another thread than the one that opened the cache, never in
    # two at once.
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False)
    try:
        _prepare(connection)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous = NORMAL")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == VERSION:
        return
    if version != 0:
        message = f"its format is version {version}, this runtape knows {VERSION}"
        raise sqlite3.DatabaseError(message)
    connection.execute("PRAGMA journal_mode = WAL")
    with connection:
        connection.execute(_SCHEMA)
        connection.execute(f"PRAGMA user_version = {VERSION}")


def _hide_from_git(folder: Path) -> None:
    """Replies quote the recorded content: keep them out of commits."""
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
