"""Which commit the recorded program was at, read from the checkout without starting git."""

from __future__ import annotations

import re
from pathlib import Path

_COMMIT = re.compile(r"[0-9a-f]{40,64}")


def current_commit(folder: Path) -> str | None:
    """The commit that `folder`'s checkout is at; None when there is none to be read."""
    try:
        for place in (folder, *folder.parents):
            git = place / ".git"
            if git.is_file():  # a worktree or submodule says where its git folder is
                pointer = git.read_text("utf-8").partition("gitdir:")[2].strip()
                git = place / pointer
            if git.is_dir():
                return _head(git)
    except (OSError, ValueError):
        return None
    return None


def _head(git: Path) -> str | None:
    head = (git / "HEAD").read_text("utf-8").strip()
    if not head.startswith("ref:"):
        return _checked(head)
    name = head.partition(":")[2].strip()
    shared = git / "commondir"
    common = git / shared.read_text("utf-8").strip() if shared.is_file() else git
    for home in (git, common):
        if (home / name).is_file():
            return _checked((home / name).read_text("utf-8").strip())
    packed = common / "packed-refs"
    lines = packed.read_text("utf-8").splitlines() if packed.is_file() else []
    found = [line.partition(" ")[0] for line in lines if line.endswith(f" {name}")]
    return _checked(found[0]) if found else None


def _checked(commit: str) -> str | None:
    return commit if _COMMIT.fullmatch(commit) else None
