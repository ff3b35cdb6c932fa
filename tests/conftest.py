# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests that need a running daemon and a real engine."""
import os
import pathlib
import signal
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from support.daemon import Daemon  # noqa: E402
from support.engine import IMAGE, Engine, GpuEngine, PrivateEngine, ensure_test_images  # noqa: E402

_daemons = []


def _end(*_):
    raise KeyboardInterrupt


# Whoever ends the run by SIGTERM gets the same clean-up as by Ctrl-C.
signal.signal(signal.SIGTERM, _end)


@pytest.fixture(scope="session")
def engine():
    """The machine's engine, with the images of the tests."""
    found = Engine()
    if not found.answers():
        pytest.skip(f"no Docker Engine answers at {found.path}")
    ensure_test_images(found)
    return found


@pytest.fixture
def own_engine():
    """A started engine that a test may stop and kill."""
    found = PrivateEngine()
    found.start()
    try:
        ensure_test_images(found)
        yield found
    finally:
        found.delete()


@pytest.fixture(scope="module")
def gpu_engine():
    """A started engine of its own that takes requests for GPUs."""
    found = GpuEngine()
    found.start()
    try:
        ensure_test_images(found)
        yield found
    finally:
        found.delete()


def _make(directory, engine, *options, **more):
    # A project of its own: what its containers are known by, also after a crash.
    project = f"test-{os.getpid()}-{len(_daemons)}"
    daemon = Daemon(directory, engine, *options, project=project, **more)
    _daemons.append(daemon)
    return daemon


@pytest.fixture(scope="module")
def yard(engine, tmp_path_factory):
    """A daemon for all tests of a file; it never pulls."""
    daemon = _make(tmp_path_factory.mktemp("yard"), engine, "--offline", "--stop-grace", "2").start()
    yield daemon
    daemon.stop()


@pytest.fixture(scope="module")
def make_daemon(engine, tmp_path_factory):
    """Makes daemons that tests of a file share, and start and stop themselves."""
    return lambda *options: _make(tmp_path_factory.mktemp("daemon"), engine, *map(str, options))


@pytest.fixture(scope="module")
def narrow_yard(engine, tmp_path_factory):
    """The same, one job at a time: behind one that runs, others stay queued and cost nothing."""
    daemon = _make(tmp_path_factory.mktemp("narrow"), engine, "--offline", "--stop-grace", "2", "--max-active-jobs", "1",
                   "--image-map", f"gcr.io/cloud-ml-algos/linear_learner_cpu={IMAGE}").start()
    yield daemon
    daemon.stop()


@pytest.fixture
def new_daemon(engine, tmp_path):
    """Makes daemons that a test starts, kills and restarts as it likes."""
    made = []

    def make(*options, engine=engine, **more):
        daemon = _make(tmp_path / f"daemon{len(made)}", engine, *options, **more)
        made.append(daemon)
        return daemon
    yield make
    for daemon in made:
        if daemon.process is not None:
            daemon.stop()


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left():
    """After all tests the engine has no container, network or volume of any daemon they started."""
    yield
    left = []
    for daemon in _daemons:
        if isinstance(daemon.engine, Engine) and daemon.engine.answers():
            instance = daemon.read_instance()
            if instance:
                left += daemon.engine.leftovers(instance)
                daemon.engine.remove_leftovers(instance)
    assert not left, f"left in the engine: {left}"
