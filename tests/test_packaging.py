"""What is shipped, as seen by the real build backend."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parent.parent


def test_the_wheel_holds_the_two_packages_and_nothing_else(tmp_path):
    """Top level of the wheel: runtape/, runtape_tui/, dist-info."""
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names}
    assert {t for t in tops if not t.endswith(".dist-info")} == {"runtape", "runtape_tui"}
    assert {"runtape/py.typed", "runtape_tui/py.typed"} <= set(names)
    assert any(name.endswith(".schema.json") for name in names)


def test_the_source_archive_holds_what_it_needs_to_be_tested(tmp_path):
    """The sdist brings tests, examples and documents, and no traces or caches."""
    (sdist,) = SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "SPEC.md", "Makefile", "LICENSE", "runtape/__init__.py"} <= names
    assert any(name.startswith("tests/") for name in names)
    assert not any(part in name for name in names for part in (".runtape/", ".venv/", "traces/"))


@pytest.mark.parametrize("package", ["runtape", "tui/runtape_tui"])
def test_packages_are_marked_as_typed(package):
    """Type checkers of users see our types."""
    assert (ROOT / package / "py.typed").is_file()


def test_the_tui_folder_is_no_package():
    """Only tui/runtape_tui is importable; tui/ is a source folder."""
    assert not (ROOT / "tui" / "__init__.py").exists()
