# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests that need a running daemon and a real engine."""
import contextlib
import os
import pathlib
import signal
import sys
import warnings

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from support import remains  # noqa: E402
from support.daemon import Daemon  # noqa: E402
from support.engine import IMAGE, Engine, GpuEngine, PrivateEngine, ensure_test_images  # noqa: E402
from support.wait import wait_until  # noqa: E402


def cycle_count(text):
    """With a count of 0, tests would pass without having done anything."""
    count = int(text)
    if count < 1:
        raise ValueError(text)
    return count


def part_of(text):
    part, parts = map(int, text.split("/"))
    if not 1 <= part <= parts:
        raise ValueError(text)
    return part, parts


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="also tests that take long for what they find")
    parser.addoption("--cycles", type=cycle_count, default=1, help="how often the long forms of crash and fault tests repeat their work")
    parser.addoption("--part", type=part_of, default=(1, 1), help="I/N: of the sweep, the I-th of N parts")
    parser.addoption("--minutes", type=float, default=0, help="for how long the soak goes on at least")
    parser.addoption("--seed", type=int, default=0, help="of what tests draw by chance")


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes part with --long, with --cycles 2 and more, or when named (FILE::TEST)")
    config.addinivalue_line("markers", "each_cycle(count): takes part once a cycle, or count times in the long form; each has the next seed after --seed")


def pytest_generate_tests(metafunc):
    mark, config = metafunc.definition.get_closest_marker("each_cycle"), metafunc.config
    if mark:
        first, count = config.getoption("--seed"), config.getoption("--cycles")
        if mark.args and (config.getoption("--long") or count > 1):
            count *= mark.args[0]
        if "seed" in metafunc.fixturenames or count > 1:
            metafunc.fixturenames += [] if "seed" in metafunc.fixturenames else ["seed"]
            metafunc.parametrize("seed", range(first + 1, first + 1 + count))


_has_workers, _ended = False, False


def _children():
    return [int(pid) for path in pathlib.Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()]


def _runs(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def _end(*_):
    """Ends the run, including the fixtures' clean-up. Workers are given time for theirs, because pytest-xdist would soon
    kill them."""
    global _has_workers, _ended
    told = list(filter(_runs, _children())) if _has_workers else []
    _has_workers, _ended = False, True
    for pid in told:
        os.kill(pid, signal.SIGTERM)
    with contextlib.suppress(AssertionError):
        wait_until(lambda: not any(map(_runs, told)), 60)
    raise KeyboardInterrupt


# A run that is ended by SIGTERM cleans up as after Ctrl-C. Workers are sent SIGTERM in both cases, once.
signal.signal(signal.SIGTERM, _end)
if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
    signal.signal(signal.SIGINT, _end if "PYTEST_XDIST_WORKER" not in os.environ else lambda *_: None)
# This run may ignore signals, because of nohup or as a script's background job. Programs that it starts must not inherit that.
for _ignored in {signal.SIGHUP, signal.SIGINT, signal.SIGQUIT}:
    if signal.getsignal(_ignored) == signal.SIG_IGN:
        signal.signal(_ignored, lambda *_: None)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodeready(node):
    global _has_workers
    _has_workers = True


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    if _ended and hasattr(config, "workerinput"):
        os._exit(2)  # a worker would otherwise wait for work


# The slowest files begin first, so that none of them runs alone at the end.
FIRST = ("test_packages.py", "test_engine_contract.py", "test_gcloud_storage.py", "test_gcloud_flags.py",
         "test_launcher.py", "test_example_trainer.py", "test_tuning.py", "test_crash.py",
         "test_soak.py", "test_engine_socket.py", "test_sweep.py")
# The tests of these files share no state.
SPREAD = ("test_gcloud_flags.py", "test_gcloud_storage.py")


def pytest_collection_modifyitems(config, items):
    named = any("::" in word for word in config.args)
    if not (config.getoption("--long") or config.getoption("--cycles") > 1 or named):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("long")])
        items[:] = [item for item in items if not item.get_closest_marker("long")]
    place = {name: index for index, name in enumerate(FIRST)}
    items.sort(key=lambda item: place.get(item.path.name, len(FIRST)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With -n of pytest-xdist: the tests of a file share daemons, so they run one after the other in one process. The tests
    of SPREAD run in any process that is free."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            path = nodeid.split("::")[0]
            return nodeid.split("[")[0] if path.endswith(SPREAD) else path
    return ByFile(config, log)


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
    """A private engine that accepts requests for GPUs."""
    found = GpuEngine()
    found.start()
    try:
        ensure_test_images(found)
        yield found
    finally:
        found.delete()


def _make(directory, engine, *options, **more):
    # Unless the test names one, the daemon has a project of its own, which identifies its containers even after a crash.
    more.setdefault("project", f"test-{os.getpid()}-{len(Daemon.made)}")
    return Daemon(directory, engine, *options, **more)


@pytest.fixture(scope="module")
def yard(engine, tmp_path_factory):
    """A daemon that all tests of a file share; it never pulls images."""
    daemon = _make(tmp_path_factory.mktemp("yard"), engine, "--offline", "--stop-grace", "2").start()
    yield daemon
    daemon.stop()


@pytest.fixture(scope="module")
def make_daemon(engine, tmp_path_factory):
    """Makes daemons that the tests of a file share; the tests start and stop them."""
    return lambda *options: _make(tmp_path_factory.mktemp("daemon"), engine, *map(str, options))


@pytest.fixture(scope="module")
def narrow_yard(engine, tmp_path_factory):
    """A daemon that runs one job at a time: further jobs stay queued and use no resources."""
    daemon = _make(tmp_path_factory.mktemp("narrow"), engine, "--offline", "--stop-grace", "2", "--max-active-jobs", "1",
                   "--image-map", f"gcr.io/cloud-ml-algos/linear_learner_cpu={IMAGE}").start()
    yield daemon
    daemon.stop()


@pytest.fixture
def new_daemon(engine, tmp_path):
    """Makes daemons that the test itself starts, kills and restarts."""
    made = []

    def make(*options, engine=engine, **more):
        daemon = _make(tmp_path / f"daemon{len(made)}", engine, *options, **more)
        made.append(daemon)
        return daemon
    yield make
    for daemon in made:
        if daemon.process is not None:
            daemon.stop()


def _engine_leftovers(daemon):
    """The names of the objects that a stopped daemon has left in its engine; none if the engine is gone."""
    instance = daemon.read_instance()
    if not instance or not isinstance(daemon.engine, Engine) or not daemon.engine.answers():
        return []
    return daemon.engine.leftovers(instance)


def _leftovers(daemon, **seen):
    """The same, and the processes, mounts and files that the daemon has left on the machine."""
    return _engine_leftovers(daemon) + remains.of_state(daemon.state_dir, **seen)


def _restart(daemon):
    """Starts a daemon again on its state directory. Returns why it did not start, or an empty text."""
    try:
        daemon.start()
    except AssertionError as problem:
        return f"; the next start: {problem}"
    return ""


def _end_restarted(daemon):
    """Kills a daemon that _restart() started, and removes its objects from the engine; never fails a test."""
    if daemon.process is not None:
        with contextlib.suppress(AssertionError):
            daemon.kill9()
    if _engine_leftovers(daemon):
        daemon.engine.remove_leftovers(daemon.read_instance())


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left():
    """After all tests, no daemon that they started has left a container, network or volume in its engine, or a mount, a
    process, a lease of a GPU or an unfinished file on the machine. A daemon that was killed, or stopped while it removed
    a job's network, may have left some: its next start must remove them.
    Fails with: state_dir_sweep(), upload_recover() or gcs_mountpoint_sweep() left out: tests/crash/test_temp_files.py ends
    with an error here as well."""
    yield
    for daemon in Daemon.made:
        if daemon.process is None and isinstance(daemon.engine, Engine) and daemon.engine.answers():
            daemon.engine.unmark(daemon.read_instance())  # a killed daemon did not remove its mark itself
    seen = {"processes": remains.gcs_processes(), "mounts": remains.mount_points()}
    left = [daemon for daemon in Daemon.made if _leftovers(daemon, **seen)]
    if _ended:  # the run was stopped, maybe in a test: its daemons were not stopped in order
        for daemon in filter(_engine_leftovers, left):
            daemon.engine.remove_leftovers(daemon.read_instance())
        return
    stories = {daemon: f"{daemon.made_by} left {_leftovers(daemon)}"
                       f"; jobs: {daemon.query_state('SELECT job_id, state, verdict FROM job')}" for daemon in left}
    for daemon in left:
        stories[daemon] += _restart(daemon)
    with contextlib.suppress(AssertionError):
        wait_until(lambda: not any(map(_leftovers, left)), 30)
    failed = []
    for daemon in left:
        story = f"{stories[daemon]}; log:\n{daemon.log()[-3000:]}"
        if not _leftovers(daemon):
            warnings.warn(f"removed by the next start: {story}")
            daemon.stop()
        elif _engine_leftovers(daemon) == _leftovers(daemon) and daemon.engine.is_miscounted(daemon.read_instance()):
            warnings.warn(f"the engine has lost count of endpoints: {story}")
            daemon.stop()
        else:
            failed.append(story)
        _end_restarted(daemon)
    assert not failed, "\n".join(failed)
