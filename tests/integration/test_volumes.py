# SPDX-License-Identifier: Apache-2.0
"""Images with a VOLUME: the engine makes a volume without trainyard's labels for each container; it is removed together with
the container."""
import pytest

from support.daemon import UNTIL_RELEASED, Daemon, distributed
from support.engine import VOLUME_IMAGE
from support.wait import wait_until

WAITS = 'trap "exit 0" TERM; echo begun; while :; do sleep 0.1; done'


def volumes_of(daemon, job_id):
    return {mount["Name"] for container in daemon.containers(job_id)
            for mount in daemon.engine.inspect(container["Id"])["Mounts"]}


@pytest.fixture
def daemon(tmp_path, own_engine):
    """Uses a private engine, in which nothing else makes volumes."""
    with Daemon(tmp_path, own_engine, "--offline", "--stop-grace", "1") as found:
        yield found


# Fails with: "v=1" left out of remove_send() of scheduler/engine/docker_replica.c, or of drop() of docker_throttle.c.
@pytest.mark.long
def test_no_volume_is_left_of_any_container(daemon):
    job_id = daemon.new_id()
    for rule in ({"fault": "preempt", "replica": 0}, {"fault": "slowNetwork", "replica": 1, "bytesPerSecond": 20000}):
        answer = daemon.post("/_trainyard/v1/faults", dict(rule, job=job_id, role="worker", logPattern="^begun$", count=1))
        assert answer.status == 200, answer
    daemon.create(distributed(UNTIL_RELEASED, WAITS, workers=2, image=VOLUME_IMAGE), job_id=job_id)
    cancelled = daemon.create(distributed(WAITS, image=VOLUME_IMAGE))
    daemon.wait_lines(job_id, "worker-replica-0", 2)
    wait_until(lambda: len(daemon.get("/_trainyard/v1/faults").json["faults"][1].get("lastHitTime", "")), 30, "it is slowed")
    volumes = wait_until(lambda: len(found := volumes_of(daemon, job_id)) == 3 and found, 30, "each replica has one")
    daemon.until(cancelled, "RUNNING")
    assert len(volumes_of(daemon, cancelled)) == 1 and volumes < {volume["Name"] for volume in daemon.engine.volumes()}
    daemon.cancel(cancelled)
    daemon.release(job_id)
    daemon.until(job_id, "SUCCEEDED")
    daemon.until(cancelled, "CANCELLED")
    wait_until(lambda: daemon.engine.volumes() == [], 30, "all volumes are gone")
