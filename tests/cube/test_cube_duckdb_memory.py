"""Limits of memory: what is free goes back, and what a build needs is said before it begins."""

from pathlib import Path

import numpy as np
import pytest

from cube2net.api.build import build
from cube2net.api.datasets import load_bundled
from cube2net.cube.engines import duckdb as engines
from cube2net.cube.engines.duckdb import DuckDB, measure_anonymous_memory, release_memory
from cube2net.errors import ParameterError


def test_free_memory_is_given_back_and_what_is_used_stays() -> None:
    rows = np.arange(1000)
    release_memory()
    assert rows.sum() == 499_500
    assert measure_anonymous_memory() > 0


def test_what_is_free_is_given_back_before_memory_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = [900_000_000]
    monkeypatch.setattr(engines, "measure_anonymous_memory", lambda: taken[0])
    monkeypatch.setattr(engines, "release_memory", lambda: taken.__setitem__(0, 200_000_000))
    assert DuckDB(memory="1GB")._compute_limit() == int(0.85 * 800_000_000)


def test_a_limit_below_what_a_build_takes_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(
        ParameterError, match="memory is '200MB', and a build takes at least 300 MB: give 300MB or more"
    ):
        build(tmp_path, source="tables", out=tmp_path / "cube", memory="200MB")
    assert list(tmp_path.iterdir()) == []


def test_a_limit_below_what_topics_take_is_refused_before_they_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "measure_anonymous_memory", lambda: 100_000_000)
    said: list[str] = []
    with pytest.raises(
        ParameterError, match="memory is '400MB', and finding topics in 39,833 texts takes about 459 MB"
    ):
        build(
            load_bundled(),
            out=tmp_path / "cube",
            memory="400MB",
            progress=lambda stage, done, total=None: said.append(stage),
        )
    assert said == []
    assert list(tmp_path.iterdir()) == []
