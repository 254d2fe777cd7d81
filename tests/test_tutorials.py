"""Every tutorial runs from its first cell to its last and shows what is stored in it."""

import pytest

pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

from run_tutorials import TUTORIALS, differences


@pytest.mark.parametrize("name", sorted(path.stem for path in TUTORIALS.glob("*.ipynb")))
def test_a_tutorial_runs_and_shows_what_is_stored(name: str) -> None:
    assert differences(TUTORIALS / f"{name}.ipynb") == []
