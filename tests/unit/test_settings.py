"""Settings: which source wins, and what a wrong one says."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtape.errors import UsageError
from runtape.settings import Settings, read_settings, user_file


@pytest.fixture
def home(tmp_path):
    """An environment whose user file is in the test's folder."""
    return {"XDG_CONFIG_HOME": str(tmp_path / "config")}


def write_user(home, text):
    path = user_file(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_without_any_file_the_defaults_hold(tmp_path, home):
    """An empty folder and an empty environment give the defaults."""
    assert read_settings(tmp_path, home) == Settings()


def test_environment_beats_project_beats_user(tmp_path, home):
    """The nearer source wins, key by key."""
    write_user(home, 'budget = 1\nworkers = 1\nfill = "empty"\n')
    (tmp_path / "runtape.toml").write_text("budget = 2\nworkers = 2\n")
    found = read_settings(tmp_path, {**home, "RUNTAPE_BUDGET": "3"})
    assert (found.budget, found.workers, found.fill) == (3, 2, "empty")


def test_pyproject_counts_when_there_is_no_own_file(tmp_path, home):
    """``[tool.runtape]`` is read, and gives way to runtape.toml."""
    (tmp_path / "pyproject.toml").write_text('[tool.runtape]\ndir = "runs"\nmax-pieces = 5\n')
    assert read_settings(tmp_path, home).dir == Path("runs")
    assert read_settings(tmp_path, home).max_pieces == 5
    (tmp_path / "runtape.toml").write_text("runs = 4\n")
    assert read_settings(tmp_path, home).dir == Path("traces")


def test_somebody_elses_pyproject_is_left_alone(tmp_path, home):
    """A pyproject without our table is not even parsed."""
    (tmp_path / "pyproject.toml").write_text("[project\nbroken")
    assert read_settings(tmp_path, home) == Settings()


def test_an_unknown_key_names_the_nearest_one_and_the_file(tmp_path, home):
    """A typing error is found, not ignored."""
    (tmp_path / "runtape.toml").write_text("bugdet = 3\n")
    with pytest.raises(UsageError, match=r"bugdet in .*runtape\.toml") as caught:
        read_settings(tmp_path, home)
    assert caught.value.hint == "did you mean budget?"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("budget = 0", "a whole number from 1"),
        ("budget = true", "a whole number from 1"),
        ('budget = "many"', "a whole number from 1"),
        ("timeout = -1", "a number of seconds"),
        ("timeout = 'soon'", "a number of seconds"),
        ("cache = 3", "true or false"),
        ("dir = 3", "a text"),
        ("budget = [", "not valid TOML"),
    ],
)
def test_a_wrong_value_says_what_is_expected_and_where(tmp_path, home, text, said):
    """The key, the file, and what it should be."""
    (tmp_path / "runtape.toml").write_text(text)
    with pytest.raises(UsageError, match=said) as caught:
        read_settings(tmp_path, home)
    assert "runtape.toml" in caught.value.message


def test_a_project_cannot_spend_money_unasked(tmp_path, home):
    """``yes`` comes from the user only; a checkout that sets it is refused."""
    (tmp_path / "runtape.toml").write_text("yes = true\n")
    with pytest.raises(UsageError, match="cannot be set by a project"):
        read_settings(tmp_path, home)
    (tmp_path / "runtape.toml").unlink()
    write_user(home, 'yes = true\n[keys]\nwhy = "w"\n')
    found = read_settings(tmp_path, home)
    assert found.yes
    assert found.keys == {"why": "w"}


def test_environment_values_are_checked_too(tmp_path, home):
    """The variable is named when its value does not fit."""
    with pytest.raises(UsageError, match="RUNTAPE_TIMEOUT must be a number of seconds"):
        read_settings(tmp_path, {**home, "RUNTAPE_TIMEOUT": "soon"})
    assert read_settings(tmp_path, {**home, "RUNTAPE_CACHE": "0"}).cache is False


def test_a_file_that_is_no_text_is_an_error_with_its_name(tmp_path, home):
    """Binary rubbish does not end in a traceback."""
    (tmp_path / "runtape.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"cannot read .*runtape\.toml"):
        read_settings(tmp_path, home)
