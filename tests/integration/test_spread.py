# SPDX-License-Identifier: Apache-2.0
"""One daemon on two nodes of a swarm: a job that needs more than one node has replicas on both."""
import json
import shutil
import subprocess

import pytest
from support.daemon import UNTIL_RELEASED, distributed, program
from support.swarm import running_swarm
from support.tunnels import CALL_WORKER, SAYS, TAKE_CALL, said_it_all, tunnel_of
from support.verbs import verb
from support.wait import wait_until

pytestmark = [pytest.mark.long, pytest.mark.skipif(not shutil.which("ip") or not shutil.which("dockerd"), reason="no ip, or no dockerd, in PATH")]

LARGE = "n1-standard-64"  # takes a whole node


@pytest.fixture(scope="module")
def swarm():
    with running_swarm() as found:
        yield found


@pytest.fixture
def daemon(swarm, new_daemon):
    manager, guest = swarm.nodes
    made = new_daemon("--offline", "--stop-grace", "1", "--job-networks", "plain-overlays", "--node", f"b={guest.host}",
                      engine=manager).start()
    for name in ("main", "b"):
        wait_until(lambda name=name: [node for node in made.get("/healthz").json["nodes"] if node["name"] == name and node["reachable"]],
                   60, f"{name} answers")
    return made


def large(master, worker):
    return distributed(master, worker, workers=1) | {"masterType": LARGE, "workerType": LARGE}


def nodes_of(daemon, job):
    report = daemon.get(f"/_trainyard/v1/projects/{daemon.project}/jobs/{job}/report").json
    return {replica["name"]: replica.get("node") for replica in report["replicas"]}, report.get("placement")


def containers(swarm, job):
    return [[c["Id"] for c in node.containers(f"trainyard.job_id={job}") if c["State"] == "running"] for node in swarm.nodes]


def release(swarm, job):
    running = wait_until(lambda: containers(swarm, job) if all(containers(swarm, job)) else None, 60, f"{job} runs on both")
    for node, ids in zip(swarm.nodes, running):
        for container in ids:
            node.put_file(container, "/released")


def nothing_left(daemon, swarm):
    for node in swarm.nodes:
        wait_until(lambda node=node: node.leftovers(daemon.read_instance()) == [], 60, "nothing is left")


def test_a_job_larger_than_a_node_is_on_two(daemon, swarm):
    job = daemon.create(large(f"{CALL_WORKER}{SAYS}; {UNTIL_RELEASED}", f"{TAKE_CALL}{SAYS}; {UNTIL_RELEASED}"))
    daemon.until(job, "RUNNING", "FAILED")
    nodes, placement = nodes_of(daemon, job)
    assert sorted(nodes.values()) == ["b", "main"], (nodes, daemon.log())
    assert "On main: " in placement and "on b: " in placement
    assert [len(ids) for ids in containers(swarm, job)] == [1, 1]
    # The metadata server tells each replica its own name, so it knows them by their addresses.
    master = daemon.wait_lines(job, count=4)
    worker = daemon.wait_lines(job, "worker-replica-0", count=3)
    assert "called" in master and said_it_all(master) and said_it_all(worker), (master, worker, daemon.log())
    assert master[-2] != worker[-2]
    for replica in nodes:
        assert verb(daemon, "shell", f"{job}/{replica}", "--", "sh", "-c", "echo in $((6 * 7))").split()[-1] == "42"
    assert "on b: " in " ".join(verb(daemon, "describe", job).split())
    release(swarm, job)
    assert daemon.until(job, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED", daemon.log()
    small = daemon.run(distributed(f"{SAYS}"))
    assert len(set(nodes_of(daemon, small["jobId"])[0].values())) == 1 and said_it_all(daemon.lines(small["jobId"]))
    nothing_left(daemon, swarm)


def test_a_daemon_that_died_finds_a_job_on_both_nodes(daemon, swarm):
    job = daemon.create(large(f"echo began; {UNTIL_RELEASED}; {SAYS}", f"echo began; {UNTIL_RELEASED}"))
    for task in ("master-replica-0", "worker-replica-0"):
        daemon.wait_lines(job, task, count=1)
    before = containers(swarm, job)
    daemon.kill9()
    daemon.start()
    daemon.until(job, "RUNNING")
    wait_until(lambda: json.loads(verb(daemon, "queue", "-o", "json"))["room"]["containers"] == 2, 30, "both are counted")
    assert containers(swarm, job) == before
    tunnel_of(daemon)
    release(swarm, job)
    assert daemon.until(job, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED", daemon.log()
    assert [daemon.lines(job, task).count("began") for task in ("master-replica-0", "worker-replica-0")] == [1, 1]
    nothing_left(daemon, swarm)


def test_clean_removes_what_is_on_both_nodes(daemon, swarm):
    job = daemon.create(large(UNTIL_RELEASED, UNTIL_RELEASED))
    daemon.until(job, "RUNNING")
    daemon.kill9()
    manager, guest = swarm.nodes
    words = [program(), "clean", "--state-dir", str(daemon.state_dir), "--engine", manager.host, "--node", f"b={guest.host}"]
    assert guest.leftovers(daemon.read_instance())
    subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    for node in swarm.nodes:
        assert node.leftovers(daemon.read_instance()) == []
