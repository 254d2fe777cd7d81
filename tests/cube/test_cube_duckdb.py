import subprocess
import sys
import textwrap
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from cube2net.api.build import build
from cube2net.api.datasets import load_bundled
from cube2net.cube.engines import duckdb as engines
from cube2net.cube.engines.duckdb import DuckDB, measure_anonymous_memory, release_memory
from cube2net.errors import InputError, ParameterError

from cuts import CutError, told

NUMBERS = {"numbers": pa.table({"x": pa.array(np.arange(10), pa.int32())})}
PLAN = {
    "even": "SELECT x FROM numbers WHERE x % 2 = 0",
    "squares": "SELECT x, x * x AS y FROM even ORDER BY x DESC",
}


def test_tables_are_the_same_in_memory_and_in_a_folder(tmp_path: Path) -> None:
    one = DuckDB().run(NUMBERS, PLAN, ["squares"])["squares"]
    other = DuckDB(memory="8GB").run(NUMBERS, PLAN, ["squares"], folder=tmp_path)["squares"]
    assert one.equals(other)
    assert one["y"].to_pylist() == [64, 36, 16, 4, 0]


def test_a_run_that_was_cut_off_goes_on_after_its_last_statement(tmp_path: Path) -> None:
    with pytest.raises(CutError):
        DuckDB().run(NUMBERS, PLAN, ["squares"], folder=tmp_path, progress=told([], "cube: squares"))
    stages: list[str] = []
    made = DuckDB().run(NUMBERS, PLAN, ["squares"], folder=tmp_path, progress=told(stages))
    assert stages == ["cube: taken from the run before, which did not finish: even", "cube: squares", "cube"]
    assert made["squares"].equals(DuckDB().run(NUMBERS, PLAN, ["squares"])["squares"])


def test_a_finished_run_does_nothing_again(tmp_path: Path) -> None:
    first = DuckDB().run(NUMBERS, PLAN, ["squares"], folder=tmp_path)["squares"]
    stages: list[str] = []
    again = DuckDB().run(NUMBERS, PLAN, ["squares"], folder=tmp_path, progress=told(stages))["squares"]
    assert stages == ["cube: taken from the run before, which did not finish: even, squares", "cube"]
    assert again.equals(first)


def test_half_written_files_of_a_crash_are_written_anew(tmp_path: Path) -> None:
    (tmp_path / engines.DATABASE).write_bytes(b"not a database at all" * 1000)
    (tmp_path / "squares.arrow.part").write_bytes(b"half")
    made = DuckDB().run(NUMBERS, PLAN, ["squares"], folder=tmp_path)
    assert made["squares"]["y"].to_pylist() == [64, 36, 16, 4, 0]
    assert not list(tmp_path.glob("*.part"))


def test_what_does_not_fit_the_memory_goes_to_disk_and_the_answer_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    many = {"numbers": pa.table({"x": pa.array(rng.permutation(3_000_000))})}
    plan = {"sorted": "SELECT x, x * 2 AS y, x * 3 AS z FROM numbers ORDER BY x"}
    monkeypatch.setattr(DuckDB, "_compute_limit", lambda self: 60_000_000)
    spilt: list[int] = []
    connected = engines.DuckDB._connect

    def watched(self, folder):  # type: ignore[no-untyped-def]
        from contextlib import contextmanager

        @contextmanager
        def opened():  # type: ignore[no-untyped-def]
            with connected(self, folder) as connection:
                yield connection
                memory = connection.sql("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchall()
                spilt.append(int(memory[0][0]))

        return opened()

    monkeypatch.setattr(engines.DuckDB, "_connect", watched)
    made = DuckDB(memory="1GB").run(many, plan, ["sorted"], folder=tmp_path)["sorted"]
    assert made["x"].to_numpy().tolist() == list(range(3_000_000))
    assert spilt[0] <= 60_000_000 < made.nbytes


def test_memory_that_is_too_small_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        ParameterError, match="memory is '5MB', of which .* MB are taken already: give more, such as 1GB"
    ):
        DuckDB(memory="5MB").run(NUMBERS, PLAN, ["squares"])
    for text in ("", "4", "4 apples", "0GB", "-1GB"):
        with pytest.raises(
            ParameterError, match=f"memory is {text!r}, expected a number and a unit, such as 512MB or 4GB"
        ):
            DuckDB(memory=text)
    monkeypatch.setattr(DuckDB, "_compute_limit", lambda self: 1_000_000)
    many = {"numbers": pa.table({"x": pa.array(np.arange(2_000_000))})}
    plan = {"lists": "SELECT x, count(*) AS n, list(x) AS l FROM numbers GROUP BY x"}
    with pytest.raises(InputError, match="DuckDB needs more than its memory of 1GB for the statement 'lists'"):
        DuckDB(memory="1GB").run(many, plan, ["lists"])


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_finished_table_that_cannot_be_read_is_made_again(tmp_path: Path, share: float) -> None:
    first = DuckDB().run(NUMBERS, PLAN, ["squares"], folder=tmp_path)["squares"].to_pylist()
    whole = (tmp_path / "squares.arrow").read_bytes()
    (tmp_path / "squares.arrow").write_bytes(whole[: int(share * len(whole))])
    assert DuckDB().run(NUMBERS, PLAN, ["squares"], folder=tmp_path)["squares"].to_pylist() == first


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.9])
def test_a_database_that_is_cut_short_is_made_again(tmp_path: Path, share: float) -> None:
    many = {"numbers": pa.table({"x": pa.array(np.random.default_rng(0).permutation(300_000))})}
    plan = {"even": "SELECT x FROM numbers WHERE x % 2 = 0", "few": "SELECT x FROM even ORDER BY x LIMIT 3"}
    with pytest.raises(CutError):
        DuckDB().run(many, plan, ["few"], folder=tmp_path, progress=told([], "cube: few"))
    whole = (tmp_path / engines.DATABASE).read_bytes()
    (tmp_path / engines.DATABASE).write_bytes(whole[: int(share * len(whole))])
    assert DuckDB().run(many, plan, ["few"], folder=tmp_path)["few"]["x"].to_pylist() == [0, 2, 4]


def test_a_disk_that_is_full_is_one_sentence(tmp_path: Path) -> None:
    program = f"""
        import resource, signal, sys
        from pathlib import Path
        import numpy as np, pyarrow as pa
        from cube2net.cube import DuckDB
        from cube2net.errors import InputError
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
        many = {{"numbers": pa.table({{"x": pa.array(np.random.default_rng(0).permutation(2_000_000))}})}}
        plan = {{"all_of_them": "SELECT x, x * x AS y FROM numbers"}}
        try:
            DuckDB().run(many, plan, [], folder=Path({str(tmp_path)!r}))
        except InputError as error:
            print(error)
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True)
    assert ended.stdout.startswith("DuckDB could not finish the statement 'all_of_them': ")
    assert len(ended.stdout.splitlines()) == 1


@pytest.mark.parametrize("said", [RuntimeError("Query interrupted"), duckdb.InterruptException("INTERRUPT Error")])
def test_ctrl_c_in_the_middle_of_a_statement_is_an_interrupt(said: Exception) -> None:
    with pytest.raises(KeyboardInterrupt), DuckDB()._explain_errors("the statement 'links'"):
        raise said
    with pytest.raises(RuntimeError, match="something else"), DuckDB()._explain_errors("the statement 'links'"):
        raise RuntimeError("something else")


def test_duckdb_shows_no_progress_of_its_own_and_fetches_nothing(tmp_path: Path) -> None:
    with DuckDB()._connect(tmp_path) as connection:
        for name in ("enable_progress_bar", "autoinstall_known_extensions", "autoload_known_extensions"):
            assert connection.sql(f"SELECT current_setting('{name}')").fetchall() == [(False,)]


def test_a_path_with_a_question_mark_is_only_a_path(tmp_path: Path) -> None:
    place = tmp_path / "what?" / "stage?"
    place.mkdir(parents=True)
    made = DuckDB().run({}, {"one": "SELECT 1 AS number"}, ["one"], folder=place)
    assert made["one"]["number"].to_pylist() == [1]
    assert (place / "one.arrow").exists()


def test_the_plan_runs_in_a_notebook_without_the_package_that_draws_duckdbs_bar() -> None:
    """DuckDB asks IPython where it is, and refuses to change a setting of its bar where it cannot draw one."""
    code = """
    import sys, types
    notebook = types.ModuleType("IPython")
    notebook.get_ipython = lambda: types.SimpleNamespace(config={"IPKernelApp": {"connection_file": "kernel.json"}})
    notebook.display = types.ModuleType("IPython.display")
    sys.modules |= {"IPython": notebook, "IPython.display": notebook.display, "ipywidgets": None}
    import duckdb
    try:
        duckdb.connect().execute("SET enable_progress_bar = false")
    except duckdb.InvalidInputException:
        pass
    else:
        sys.exit("DuckDB does not take this for a notebook")
    from cube2net.cube import DuckDB
    print(DuckDB().run({}, {"one": "SELECT 1 AS x"}, ["one"])["one"].to_pylist())
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[{'x': 1}]\n", "")


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
