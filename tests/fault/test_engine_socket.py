# SPDX-License-Identifier: Apache-2.0
"""The way to the engine is cut, goes, hangs or lies, for longer than one call; and the engine's disk is full.

    pytest tests/fault/test_engine_socket.py --cycles 3     # all of it three times; 2 and more: also what takes minutes"""
import subprocess

import pytest

from support.daemon import script
from support.engine import PrivateEngine, ensure_test_images, lib
from support.engine_cycles import Distributed
from support.engine_proxy import NO_SPACE, EngineProxy, Fault
from support.marks import long
from support.wait import wait_until

pytestmark = pytest.mark.each_cycle
SAY = "i=0; until [ -e /released ]; do echo line $i; i=$((i+1)); sleep 0.02; done; echo $i lines"


@pytest.fixture(scope="module")
def way(engine, make_daemon):
    """A daemon, and the proxy to its engine."""
    proxy = EngineProxy(engine)
    daemon = make_daemon("--offline", "--stop-grace", 1)
    daemon.engine = proxy
    daemon.start()
    yield daemon, proxy
    proxy.watch()
    daemon.stop()
    engine.check_nothing_left(daemon.read_instance())
    proxy.close()
    daemon.engine = engine


@pytest.fixture
def proxy(way):
    yield way[1]
    way[1].watch()


@pytest.fixture
def daemon(way):
    return way[0]


def check_counted(lines):
    assert lines == [f"line {i}" for i in range(len(lines) - 1)] + [f"{len(lines) - 1} lines"]


# Fails with: open_stream() without frames_reset().
def test_a_log_stream_that_is_cut_in_each_part_of_a_frame_loses_and_doubles_nothing(daemon, proxy, cycles):
    # The head of a frame has 8 bytes, its line about 40. Each further cut is followed by a longer wait.
    places = [4, 8, 20, 45] if cycles == 1 else list(range(1, 60, 2))
    proxy.watch(*[Fault("truncate", "GET", "/logs.*follow=1", after=place) for place in places])
    job_id = daemon.create(script(SAY))
    wait_until(lambda: len(proxy.seen("GET", "/logs.*follow=1")) > min(8, len(places)), 90, "it was cut some times")
    proxy.watch()
    daemon.release(job_id, after={"master-replica-0": 30})
    daemon.until(job_id, "SUCCEEDED")
    check_counted(daemon.lines(job_id))


# Fails with: events_done() that does nothing.
def test_events_that_are_cut_lose_no_exit(daemon, proxy):
    job_id = daemon.create(script(SAY))
    daemon.wait_lines(job_id)
    proxy.watch(Fault("truncate", "GET", "^/events"), Fault("truncate", "GET", "^/events", after=40))
    proxy.cut()
    # The first stream ends at once, the next one inside the event about the exit.
    wait_until(lambda: len(proxy.seen("GET", "^/events")) >= 2, 90, "events are asked for again")
    daemon.release(job_id)
    daemon.until(job_id, "SUCCEEDED")
    check_counted(daemon.lines(job_id))


# Fails with: report_engine_loss() that says nothing.
def test_a_socket_that_goes_is_told_and_jobs_go_on_when_it_comes(daemon, proxy):
    running = daemon.create(script(SAY))
    daemon.wait_lines(running)
    proxy.disappear()
    waiting = daemon.create(script("echo at last"))
    for job_id in (running, waiting):
        wait_until(lambda: any("Waiting for the container engine: " in text
                               for severity, text in daemon.service_lines(job_id) if severity == "WARNING"), 90, "it is told")
    # The second job may have been admitted before the loss was noticed.
    assert daemon.job(running)["state"] == "RUNNING" and daemon.job(waiting)["state"] in ("QUEUED", "PREPARING")
    assert daemon.get("/healthz").status == 200
    daemon.engine.put_file(daemon.container(running), "/released")
    proxy.appear()
    for job_id in (running, waiting):
        daemon.until(job_id, "SUCCEEDED")
    check_counted(daemon.lines(running))
    assert daemon.lines(waiting) == ["at last"]


# Fails with: link_lose() that does not ask again.
@pytest.mark.parametrize("kind", ["garbage", *map(long, ["nonsense", "other-shape", "cut-head"])])
def test_an_engine_that_answers_nothing_but_nonsense_is_waited_for(daemon, proxy, kind):
    job_id = daemon.create(script(SAY))
    daemon.wait_lines(job_id)
    proxy.watch(Fault(kind, path="^/(info|_ping|containers/json)", nth=0))
    proxy.cut()
    wait_until(lambda: len(proxy.seen()) > 2, 90, "it is asked again and again")
    assert daemon.get("/healthz").status == 200 and daemon.job(job_id)["state"] == "RUNNING"
    proxy.watch()
    daemon.release(job_id)
    daemon.until(job_id, "SUCCEEDED")
    check_counted(daemon.lines(job_id))


# The calls that hang, and what brings the daemon to make them. Each ends by a limit of one or two minutes, so they hang in
# parallel.
HANGING = [("GET", "^/_ping"), ("GET", "^/info"), ("GET", "^/events"), ("POST", "/start"), ("GET", "^/containers/json")]


# Fails with: easy_configure() of docker_http.c without a TIMEOUT_MS.
@pytest.mark.long
def test_calls_that_hang_for_ever_are_given_up_in_the_end(engine, make_daemon):
    made = []
    for method, path in HANGING:
        proxy = EngineProxy(engine)
        proxy.watch(Fault("hang", method, path))
        daemon = make_daemon("--offline", "--stop-grace", 1)
        daemon.engine = proxy
        daemon.start()
        if path == "^/_ping":
            proxy.cut()
        cycle = Distributed(daemon)
        cycle.job_id = cycle.create()
        made.append((daemon, proxy, cycle))
    for daemon, proxy, cycle in made:
        cycle.check(cycle.end(300))
        daemon.stop()
        engine.check_nothing_left(daemon.read_instance())
        daemon.engine = engine
        proxy.close()


# Fails with: replica_refuse() that forgets the text.
@pytest.mark.parametrize("path", ["/containers/create", *map(long, ["/networks/create", "/start$"])])
def test_an_engine_whose_disk_stays_full_fails_the_job_with_its_words(daemon, proxy, path):
    """The disk could become free, so the job is retried as often as for any other error of the engine."""
    label = f"trainyard.instance={daemon.read_instance()}"
    wait_until(lambda: proxy.networks(label) == [], 30, "no job's network is left that another could take")
    proxy.watch(Fault("full", "POST", path, nth=0))
    job = daemon.run(script("echo never"), "FAILED", timeout=120)
    assert NO_SPACE in job["errorMessage"], job
    assert daemon.containers(job["jobId"]) == [] and daemon.lines(job["jobId"]) == []
    proxy.watch()
    assert daemon.run(script("echo now"))["state"] == "SUCCEEDED"


@pytest.fixture
def small_engine():
    """An engine whose data are on a disk of a few megabytes."""
    found = PrivateEngine()
    lib("as_root", "mkdir", "-p", found.data)
    lib("as_root", "mount", "-t", "tmpfs", "-o", "size=24m", "none", found.data)
    try:
        found.start()
        ensure_test_images(found)
        yield found
    finally:
        found.delete()


# Fails with: replica_refuse() that forgets the text.
@pytest.mark.long
def test_a_disk_that_is_really_full(new_daemon, small_engine):
    """The user gets docker's own error text; the job that fills the disk gets ENOSPC."""
    daemon = new_daemon("--offline", engine=small_engine).start()
    job = daemon.run(script("dd if=/dev/zero of=/big bs=1M count=100 2>&1 || echo no more >&2; exit 5"), "FAILED", timeout=90)
    assert "status of 5" in job["errorMessage"], job
    free = subprocess.run(["df", "-k", "--output=avail", small_engine.data], capture_output=True, text=True, check=True)
    assert int(free.stdout.split()[-1]) > 1000, "what it wrote went with its container"
    lib("as_root", "sh", "-c", f"dd if=/dev/zero of={small_engine.data}/filler bs=64k 2>/dev/null || :")
    job = daemon.run(script("echo never"), "FAILED", timeout=120)
    assert NO_SPACE in job["errorMessage"], job
    lib("as_root", "rm", small_engine.data + "/filler")
    job_id = daemon.create(script("echo again"))
    daemon.until(job_id, "SUCCEEDED")
    assert daemon.lines(job_id) == ["again"]
    daemon.stop()
    assert small_engine.leftovers(daemon.read_instance()) == []
