# SPDX-License-Identifier: Apache-2.0
"""Podman as the engine: its differences from Docker have no effect on jobs."""
import pytest
from support.contract import contract_check
from support.daemon import UNTIL_RELEASED, distributed, script
from support.podman import podman_start
from support.tuning import tuning_input
from support.tunnels import CALL_WORKER, SAYS, TAKE_CALL, said_it_all, tunnel_of
from support.verbs import clean_apart
from support.wait import wait_until

FLOOD = 100000
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def podman():
    found, problem = podman_start()
    if not found:
        pytest.skip(problem)
    yield found
    found.delete()


@pytest.fixture
def daemon(podman, new_daemon):
    return new_daemon("--offline", engine=podman).start()


def test_the_engine_room_keeps_its_contract(podman):
    """The program is given the known differences of this engine."""
    contract_check(podman, timeout=900)


def test_no_line_of_a_flood_is_lost_or_doubled(daemon):
    """Podman's times are whole seconds, and its followed streams lose lines. Fails with: streams_lose_lines false."""
    said = f"seq {FLOOD}; printf half; {UNTIL_RELEASED}; echo a line; seq {FLOOD + 1} {2 * FLOOD}; echo error >&2"
    job = daemon.create(distributed(said, said, workers=1))
    daemon.wait_lines(job, count=1000)
    daemon.kill9()
    daemon.start()
    daemon.until(job, "RUNNING")
    daemon.release(job, "master-0", "worker-0")
    assert daemon.until(job, "SUCCEEDED", "FAILED", timeout=200)["state"] == "SUCCEEDED"
    numbers = [str(number) for number in range(1, 2 * FLOOD + 1)]
    for task in ("master-replica-0", "worker-replica-0"):
        lines = daemon.lines(job, task)
        assert len(lines) == 2 * FLOOD + 2, (task, len(lines))
        lines.remove("error")
        assert lines == numbers[:FLOOD] + ["halfa line"] + numbers[FLOOD:], task


def test_replicas_reach_storage_metadata_and_each_other(daemon):
    job = daemon.run(distributed(CALL_WORKER + SAYS, TAKE_CALL + SAYS, workers=1))
    lines = [daemon.lines(job["jobId"], task) for task in ("master-replica-0", "worker-replica-0")]
    assert lines[0].pop(0) == "called", (lines, daemon.log())
    assert all(map(said_it_all, lines)) and lines[0] != lines[1], (lines, daemon.log())


def test_an_idle_daemon_is_seen_from_another_network(daemon, tmp_path):
    """Podman has another name for the event that a volume was removed. Fails with: watch_open() with the marker's name as a
    filter."""
    wait_until(lambda: daemon.engine.marker(daemon.read_instance()), 30, "a marker")
    done = clean_apart(daemon, tmp_path)
    assert done.returncode == 1 and "another daemon of instance" in done.stderr, (done, daemon.log())
    daemon.stop()
    assert daemon.engine.marker(daemon.read_instance()) is None


def test_metrics_of_trials_arrive(daemon):
    job = daemon.create(tuning_input(maxTrials=1))
    done = daemon.until(job, "SUCCEEDED", "FAILED")
    assert "objectiveValue" in done["trainingOutput"]["trials"][0]["finalMetric"], done


def test_a_daemon_that_died_takes_its_jobs_over(daemon):
    """The new tunnel has the same address as before, including the hardware address, so replicas find it."""
    job = daemon.create(script(f"{SAYS}; {UNTIL_RELEASED}; {SAYS}"))
    daemon.wait_lines(job, count=3)
    before = tunnel_of(daemon)["Id"]
    daemon.kill9()
    daemon.start()
    wait_until(lambda: tunnel_of(daemon)["Id"] != before, 30, "another tunnel")
    daemon.until(job, "RUNNING")
    daemon.release(job)
    assert daemon.until(job, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED"
    lines = daemon.lines(job)
    assert said_it_all(lines[:3]) and said_it_all(lines[3:]) and len(lines) == 6, (lines, daemon.log())
