"""Build a cube on a standalone Spark cluster of two workers on this machine, and compare it with DuckDB's.

    python benchmarks/spark_cluster.py [--papers 30000] [--partitions 4]

Starts a master and two workers of the Spark in pyspark, builds the cube of a generated bibliography with a shared
staging folder, and again while the process of one worker is killed. Needs the extra ``cube2net[spark]``, Java and
/proc.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import cube2net as c2n
from cube2net.cube.engines.spark import Spark
from cube2net.cube.storage.reader import read_manifest
from dblp_like_corpus import make_dblp_like

HOST = "127.0.0.1"
EXECUTOR = b"CoarseGrainedExecutorBackend"


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """Start a master with two workers of one core each for a context; yield its address."""
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": HOST, "SPARK_WORKER_DIR": str(folder)}
    port = free_port()
    roles = [["master.Master", "--host", HOST, "--port", str(port), "--webui-port", str(free_port())]]
    for _ in range(2):
        options = ["--cores", "1", "--memory", "2g", "--webui-port", str(free_port())]
        roles.append(["worker.Worker", *options, f"spark://{HOST}:{port}"])
    with ExitStack() as stack:
        for number, (role, *options) in enumerate(roles):
            log = stack.enter_context((folder / f"{number}.log").open("wb"))
            command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{role}", *options]
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            if number == 0:
                wait_for(port)
        os.environ["SPARK_LOCAL_IP"] = HOST
        yield f"spark://{HOST}:{port}"


def free_port() -> int:
    with socket.socket() as one:
        one.bind((HOST, 0))
        return int(one.getsockname()[1])


def wait_for(port: int) -> None:
    for _ in range(60):
        with socket.socket() as one:
            if one.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.5)
    raise SystemExit("the master does not answer")


def executors(folder: Path) -> list[int]:
    """Return the processes of the workers with this folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if EXECUTOR in (process / "cmdline").read_bytes() and folder in (process / "cwd").resolve().parents:
                found.append(int(process.name))
        except OSError:
            continue
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--papers", type=int, default=30_000)
    parser.add_argument("--partitions", type=int, default=4)
    given = parser.parse_args()
    corpus = make_dblp_like(given.papers)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        (folder / "staging").mkdir()
        began = time.perf_counter()
        c2n.build(corpus, corpus.dimensions, out=folder / "duckdb")
        print(f"DuckDB: {time.perf_counter() - began:.1f} s", flush=True)
        expected = read_manifest(folder / "duckdb")["files"]
        with cluster(folder) as master:
            spark = Spark(
                master=master, memory="1GB", staging=str(folder / "staging"), shuffle_partitions=given.partitions
            )
            for killed in (False, True):

                def progress(stage: str, done: int, total: int | None = None, killed: bool = killed) -> None:
                    if killed and stage == "cube: links":
                        os.kill(executors(folder)[0], signal.SIGKILL)

                began = time.perf_counter()
                c2n.build(corpus, corpus.dimensions, out=folder / "spark", engine=spark, progress=progress)
                same = read_manifest(folder / "spark")["files"] == expected
                how = "one worker's process killed" if killed else "left alone"
                seconds = time.perf_counter() - began
                print(f"two workers, {how}: {seconds:.1f} s, {len(expected)} files {'equal' if same else 'DIFFER'}")
                if not same:
                    raise SystemExit(1)


if __name__ == "__main__":
    main()
