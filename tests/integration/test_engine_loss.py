# SPDX-License-Identifier: Apache-2.0
"""The engine is unreachable, at the start or later: jobs wait and report why, and the daemon continues."""
import pytest

from support.daemon import script, text_of
from support.engine import PrivateEngine, ensure_test_images
from support.wait import wait_until


# Fails with: report_engine_loss() that says nothing.
@pytest.mark.long
def test_a_job_submitted_without_an_engine_waits_and_runs_when_it_comes(new_daemon):
    engine = PrivateEngine()
    daemon = new_daemon("--offline", engine=engine).start()
    try:
        assert daemon.get("/healthz").status == 200
        job_id = daemon.create(script("echo at last"))
        wait_until(lambda: any("engine" in (text_of(e) or "").lower() for e in daemon.entries(job_id)), 20,
                   "the log says that the engine is away")
        assert daemon.job(job_id)["state"] == "QUEUED"
        cancelled = daemon.create(script("echo never"))
        daemon.cancel(cancelled)
        assert "startTime" not in daemon.until(cancelled, "CANCELLED")

        engine.start()
        ensure_test_images(engine)
        daemon.until(job_id, "SUCCEEDED", "FAILED")
        if daemon.job(job_id)["state"] == "FAILED":  # the engine came up before the test's images were there
            assert "No such image" in daemon.job(job_id)["errorMessage"] or "image" in daemon.job(job_id)["errorMessage"]
        again = daemon.create(script("echo at last"))
        daemon.until(again, "SUCCEEDED")
        assert daemon.lines(again) == ["at last"]
        daemon.stop()
    finally:
        engine.delete()


@pytest.mark.long
def test_a_running_job_outlives_the_engines_crash(new_daemon):
    """With live-restore, containers run on while the engine is down; each of their lines arrives exactly once. Fails with:
    is_reached() that knows no line by its time; followers_reconnect() that goes on at the end of time."""
    engine = PrivateEngine()
    engine.configure(**{"live-restore": True})
    engine.start()
    ensure_test_images(engine)
    daemon = new_daemon("--offline", engine=engine).start()
    try:
        job_id = daemon.create(script("i=0; until [ -e /released ]; do echo line $i; i=$((i+1)); sleep 0.05; done; echo $i lines"))
        daemon.wait_lines(job_id, count=5)
        engine.kill9()
        waiting = daemon.create(script("echo second"))
        assert daemon.job(job_id)["state"] == "RUNNING" and daemon.get("/healthz").status == 200
        engine.start()
        daemon.release(job_id, after={"master-replica-0": len(daemon.lines(job_id)) + 40})
        daemon.until(job_id, "SUCCEEDED")
        lines = daemon.lines(job_id)
        assert lines == [f"line {i}" for i in range(len(lines) - 1)] + [f"{len(lines) - 1} lines"]
        daemon.until(waiting, "SUCCEEDED")
        daemon.stop()
        assert engine.leftovers(daemon.read_instance()) == []
    finally:
        engine.delete()


# Fails with: exit_classify() that takes each kill for the program's own end.
@pytest.mark.long
def test_an_engine_that_stops_takes_its_jobs_with_it_but_not_the_daemon(new_daemon, own_engine):
    daemon = new_daemon("--offline", engine=own_engine).start()
    job_id = daemon.create(script("echo up; while :; do sleep 0.1; done"))
    wait_until(lambda: "up" in daemon.lines(job_id), 30)
    own_engine.stop()
    assert daemon.get("/healthz").status == 200
    own_engine.start()
    # The engine killed it, so the attempt counts as lost and is retried.
    wait_until(lambda: daemon.lines(job_id).count("up") >= 2, 60)
    daemon.until(job_id, "RUNNING")
    daemon.cancel(job_id)
    daemon.until(job_id, "CANCELLED")
    wait_until(lambda: own_engine.leftovers(daemon.read_instance()) == [], 30, "nothing is left")
    daemon.stop()
