# SPDX-License-Identifier: Apache-2.0
"""Images whose labels look like those that the daemon sets."""
import uuid

import pytest

from support.daemon import UNTIL_RELEASED, Daemon, one_replica, script
from support.engine import query
from support.marks import long

STUBBORN = 'trap "" TERM; echo ready; while :; do sleep 0.1; done'
LABELS = ("instance", "project", "job_id", "job", "pool", "replica", "attempt", "gateway", "made", "throttle")


@pytest.fixture(scope="module")
def yard(engine, tmp_path_factory):
    daemon = Daemon(tmp_path_factory.mktemp("labels"), engine, "--offline", "--stop-grace", "1", project="attack-labels").start()
    yield daemon
    daemon.stop()


@pytest.fixture
def image(engine):
    name = f"trainyard-labels:{uuid.uuid4().hex[:12]}"
    yield name
    engine.remove_image(name)


# Fails with: labels_make() that writes no restart of 0: the replica was that of another restart, and nothing removed it.
@pytest.mark.parametrize("restart", ["3", long("-1"), long("3x"), "4294967299"])
def test_a_label_of_the_image_does_not_keep_a_job_alive(yard, engine, image, restart):
    labels = {f"trainyard.{name}": "3" for name in LABELS} | {"trainyard.restart": restart, "exitCode": "0", "name": "x"}
    engine.import_image(image, {}, [f'LABEL {name}="{value}"' for name, value in labels.items()])
    job_id = yard.create(one_replica("sh", "-c", STUBBORN, image=image))
    yard.wait_lines(job_id)
    yard.cancel(job_id)
    yard.until(job_id, "CANCELLED", timeout=30)
    assert yard.containers(job_id) == []
    failing = yard.create(one_replica("sh", "-c", "exit 3", image=image))
    assert "status of 3." in yard.until(failing, "FAILED")["errorMessage"]


# Fails with: event_is_of_its_name() true: the job was lost with the other's end; docker_container_is_made_here() true: the
# other container was given the replica's name, or was removed.
def test_a_container_by_hand_of_an_image_of_a_replica_is_another(yard, engine, image):
    job_id = yard.create(script(UNTIL_RELEASED))
    yard.until(job_id, "RUNNING")
    replica, (repo, tag) = yard.container(job_id), image.split(":")
    engine.call("POST", "/commit?" + query(container=replica, repo=repo, tag=tag, pause=0), {})
    body = {"Image": image, "Cmd": ["sleep", "600"]}
    ends, stays = (engine.call("POST", "/containers/create", body)["Id"] for _ in range(2))
    try:
        for container in (ends, stays):
            engine.call("POST", f"/containers/{container}/start")
        name = engine.inspect(stays)["Name"]
        engine.remove(ends)
        yard.restart()  # the daemon reads all containers at its start
        assert yard.job(job_id)["state"] == "RUNNING"
        engine.put_file(replica, "/released")
        yard.until(job_id, "SUCCEEDED")
        assert not [text for severity, text in yard.service_lines(job_id) if severity in ("WARNING", "ERROR")]
        found = engine.inspect(stays)
        assert found["Name"] == name and found["State"]["Running"]
    finally:
        engine.remove(stays)
