"""How much the tests try: hypothesis profiles, and the marker of tests with random examples.

`make test` draws few examples (profile `fast`), `make test-slow` many (`--hypothesis-profile=full`). With
CUBE2NET_SAME_EXAMPLES set, as in `.ci/run`, both draw the same examples every time; without it, every run draws new
ones. No profile has a deadline, because no test depends on a clock.

A shell starts what runs in the background with Ctrl-C ignored, and every child would inherit that. Tests of signals
need the usual handling, so it is restored here.

Files are not flushed to the disk: no test can tell, and it takes a good part of the time of those that save cubes.
"""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import is_hypothesis_test, settings

SAME_EXAMPLES = bool(os.environ.get("CUBE2NET_SAME_EXAMPLES"))
settings.register_profile("fast", max_examples=20, deadline=None, derandomize=SAME_EXAMPLES)
settings.register_profile("full", max_examples=100, deadline=None, derandomize=SAME_EXAMPLES)
settings.load_profile("fast")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that hypothesis feeds, so that `make test-slow` repeats it with more examples."""
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("property")


@pytest.fixture(autouse=True, scope="session")
def unflushed() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield
