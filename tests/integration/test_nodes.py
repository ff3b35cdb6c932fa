# SPDX-License-Identifier: Apache-2.0
"""One daemon that runs jobs on two engines: this machine's as its node "main", and one that appears to be on another machine
as its node "b"."""
import json
import re
import shutil
import subprocess

import pytest

from support.daemon import UNTIL_RELEASED, UNTIL_RELEASED_AGAIN, distributed, program, script, with_gpus
from support.engine import GpuEngine, ensure_test_images
from support.far_engine import FarEngine
from support.tunnels import CALL_WORKER, SAYS, TAKE_CALL, said_it_all
from support.verbs import verb
from support.wait import wait_until


pytestmark = pytest.mark.skipif(not shutil.which("ip"), reason="no ip in PATH")


class PlainFarEngine(FarEngine):
    def __init__(self):
        super().__init__(tls=False)


class NodeEngine(GpuEngine, PlainFarEngine):
    """An engine that appears to be on another machine, and accepts requests for GPUs."""


@pytest.fixture
def b():
    found = NodeEngine()
    found.start()
    try:
        ensure_test_images(found)
        yield found
    finally:
        found.delete()


@pytest.fixture
def nodes_daemon(b, new_daemon):
    """Makes daemons with both nodes. Each node runs one job at a time, so the second job goes to b."""
    def make(*options):
        return new_daemon("--offline", "--stop-grace", "1", "--max-active-jobs", "1", "--node", f"b={b.host}", *options).start()
    return make


def node_ready(daemon, name, ready=True):
    """Waits until a node's engine is reachable (or, with ready=False, is not)."""
    def there():
        node = next(node for node in daemon.get("/healthz").json["nodes"] if node["name"] == name)
        return node if node["reachable"] == ready else None
    return wait_until(there, 60, f"{name} is {'there' if ready else 'away'}")


def both_ready(daemon):
    for name in ("main", "b"):
        node_ready(daemon, name)


def node_of(daemon, job):
    """The node of a job's replicas, according to its report."""
    report = daemon.get(f"/_trainyard/v1/projects/{daemon.project}/jobs/{job}/report").json
    found = {replica.get("node") for replica in report["replicas"]}
    assert len(found) == 1, report
    return found.pop()


def reachable(daemon):
    """Whether each node is reachable, according to the metrics."""
    rows = re.findall(r'^trainyard_node_reachable\{node="(.*)"\} (.)$', daemon.get("/metrics").data.decode(), re.M)
    return {name: int(value) for name, value in rows}


def release(daemon, engine, job, path="/released"):
    label = f"trainyard.job_id={job}"
    running = wait_until(lambda: [c["Id"] for c in engine.containers(label) if c["State"] == "running"], 60, f"{job} runs")
    for container in running:
        engine.put_file(container, path)


def tunnel_is(daemon, engine, state):
    """Waits until the engine's tunnel container is in that state."""
    label = f"trainyard.instance={daemon.read_instance()}"
    wait_until(lambda: [c for c in engine.containers(label) if "trainyard.tunnel" in c["Labels"] and c["State"] == state],
               30, f"a tunnel is {state}")


def nothing_left(daemon, *engines):
    """Waits until nothing is left. Networks and, on b, their tunnels are kept for a short time."""
    for engine in engines:
        wait_until(lambda engine=engine: engine.leftovers(daemon.read_instance()) == [], 30, "nothing is left")


@pytest.mark.long
def test_each_job_is_on_one_node_and_reaches_the_daemon_from_there(nodes_daemon, engine, b):
    """Fails with: gateway_keep.c with the first node's engine: the job on b could not reach storage; daemon_nodes_engine() that
    always is the first one's: no shell in the second job."""
    daemon = nodes_daemon()
    both_ready(daemon)
    here = daemon.create(script(f"{SAYS}; {UNTIL_RELEASED}"))
    daemon.until(here, "RUNNING")
    there = daemon.create(distributed(f"{CALL_WORKER}{SAYS}; {UNTIL_RELEASED}", TAKE_CALL + UNTIL_RELEASED, workers=1))
    daemon.until(there, "RUNNING")
    waits = daemon.create(script("true"))
    assert (node_of(daemon, here), node_of(daemon, there)) == ("main", "b")
    assert len(b.containers(f"trainyard.job_id={there}")) == 2 and engine.containers(f"trainyard.job_id={there}") == []
    assert said_it_all(daemon.wait_lines(here, count=3)), daemon.log()
    assert said_it_all(daemon.wait_lines(there, count=4)), (daemon.lines(there), daemon.log())
    for job in (here, there):
        assert verb(daemon, "shell", job, "--", "sh", "-c", "echo in $((6 * 7))").split() == ["in", "42"]
    shown = json.loads(verb(daemon, "queue", "-o", "json"))
    assert [node["node"] for node in shown["nodes"]] == ["main", "b"] and shown["room"]["jobs"] == 2
    assert [(node["jobs"], node["maxJobs"]) for node in shown["nodes"]] == [(1, 1), (1, 1)]
    reason = shown["jobs"][0]["reason"]
    assert reason == "The nodes have too little room now. main, b run as many jobs as they may (1)." and shown["jobs"][0]["job"].endswith(waits)
    assert "b: 1 of 1 jobs" in " ".join(verb(daemon, "queue").split())
    assert reachable(daemon) == {"main": 1, "b": 1}
    assert "b: " in verb(daemon, "status") and "NODE" in verb(daemon, "describe", there)
    release(daemon, engine, here)
    daemon.until(waits, "SUCCEEDED")
    assert node_of(daemon, waits) == "main"
    release(daemon, b, there)
    for job in (here, there):
        assert daemon.until(job, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED"
    nothing_left(daemon, engine, b)


@pytest.mark.long
def test_gpus_are_those_of_the_node(nodes_daemon, b):
    daemon = nodes_daemon("--gpus", "none", "--node-gpus", "b=0+1")
    both_ready(daemon)
    assert [(gpu["node"], gpu["id"]) for gpu in json.loads(verb(daemon, "gpus", "-o", "json"))["gpus"]] == [("b", "0"), ("b", "1")]
    gpu = daemon.create(with_gpus(distributed(UNTIL_RELEASED), 2))
    daemon.until(gpu, "RUNNING")
    container = b.containers(f"trainyard.job_id={gpu}")[0]["Id"]
    assert b.given()[container][1] == ["0", "1"] and node_of(daemon, gpu) == "b"
    second = daemon.create(with_gpus(distributed("true"), 1))
    plain = daemon.run(script("true"))  # this job needs no GPU, so it does not wait
    assert node_of(daemon, plain["jobId"]) == "main"
    said = wait_until(lambda: [text for _, text in daemon.service_lines(second) if "waits for GPUs" in text], 30, "it says why")
    assert "Too few GPUs are free now. main has too few free GPUs (0; each master takes 1). b runs as many jobs" in said[0]
    assert verb(daemon, "gpus").count(" b ") == 2
    release(daemon, b, gpu)
    for job in (gpu, second):
        assert daemon.until(job, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED"


@pytest.mark.long
def test_jobs_go_to_the_nodes_with_the_label(nodes_daemon, engine, b):
    """Without a rule, the first job goes to main."""
    daemon = nodes_daemon("--node-label", "b=gpu:a100", "--place", "n1-highmem-2=gpu:a100", "--place", "worker=node:c")
    both_ready(daemon)
    there = daemon.create(distributed("true") | {"masterType": "n1-highmem-2"})
    assert daemon.until(there, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED"
    here = daemon.create(distributed("true"))
    assert daemon.until(here, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED"
    assert (node_of(daemon, there), node_of(daemon, here)) == ("b", "main")
    nowhere = daemon.post(daemon.jobs_path, {"jobId": "nowhere", "trainingInput": distributed("true", "true", workers=1)})
    assert nowhere.status == 429 and b"lack the label node:c (--place worker=node:c)" in nowhere.data, nowhere
    nothing_left(daemon, engine, b)


@pytest.mark.long
def test_a_daemon_that_died_finds_its_jobs_on_their_nodes(nodes_daemon, engine, b):
    """Fails with: room_take() without the assignment's node: the job on b was looked for on main, and ran a second time."""
    daemon = nodes_daemon()
    both_ready(daemon)
    jobs = []
    for _ in range(2):
        jobs.append(daemon.create(script(f"echo began; {UNTIL_RELEASED}; {SAYS}")))
        daemon.wait_lines(jobs[-1], count=1)
    before = {c["Id"] for e in (engine, b) for job in jobs for c in e.containers(f"trainyard.job_id={job}")}
    daemon.kill9()
    tunnel_is(daemon, b, "exited")
    refused = subprocess.run([*daemon.command()[:-2]], capture_output=True, text=True, timeout=60)
    assert refused.returncode and "is on the node b, which no --node names" in refused.stderr, refused
    daemon.start()
    both_ready(daemon)
    for job in jobs:
        daemon.until(job, "RUNNING")
    tunnel_is(daemon, b, "running")
    assert {c["Id"] for e in (engine, b) for job in jobs for c in e.containers(f"trainyard.job_id={job}")} == before
    release(daemon, engine, jobs[0])
    release(daemon, b, jobs[1])
    for job in jobs:
        assert daemon.until(job, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED"
        assert daemon.lines(job).count("began") == 1 and said_it_all(daemon.lines(job)), daemon.log()
    nothing_left(daemon, engine, b)


@pytest.mark.long
def test_a_node_that_goes_away_takes_only_its_own_jobs_with_it(nodes_daemon, engine, b):
    daemon = nodes_daemon()
    both_ready(daemon)
    stays = daemon.create(script(f"echo began; {UNTIL_RELEASED}"))
    daemon.wait_lines(stays, count=1)
    lost = daemon.create(script(f"echo began; {UNTIL_RELEASED}; {UNTIL_RELEASED_AGAIN}"))
    daemon.wait_lines(lost, count=1)
    assert node_of(daemon, lost) == "b"
    b.kill9()
    node_ready(daemon, "b", False)
    health = daemon.get("/healthz").json
    assert health["status"] == "degraded" and "node b does not answer" in health["reason"] and health["engine"]["reachable"]
    assert daemon.get("/readyz").status == 200
    assert "not reached" in verb(daemon, "status") and "b: " in verb(daemon, "status")
    assert reachable(daemon) == {"main": 1, "b": 0}
    checked = subprocess.run([program(), "doctor", "--state-dir", str(daemon.state_dir), "--engine", engine.host, "--node", f"b={b.host}"],
                             capture_output=True, text=True, timeout=60)
    assert "the node b: cannot reach the engine" in " ".join(checked.stdout.split()), checked
    release(daemon, engine, stays)
    assert daemon.until(stays, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED"
    after = daemon.run(script("true"))
    assert node_of(daemon, after["jobId"]) == "main"
    assert not [text for _, text in daemon.service_lines(after["jobId"]) if "Waiting for the container engine" in text]
    assert [text for _, text in daemon.service_lines(lost) if "Waiting for the container engine of the node b: " in text]
    b.start()
    node_ready(daemon, "b")
    # With one engine the rules are the same: dockerd has ended its containers, or still has them.
    daemon.until(lost, "RUNNING")
    release(daemon, b, lost)
    release(daemon, b, lost, "/released-again")
    assert daemon.until(lost, "SUCCEEDED", "FAILED", timeout=90)["state"] == "SUCCEEDED", daemon.log()
    assert node_of(daemon, lost) == "b"
    nothing_left(daemon, engine, b)


@pytest.mark.long
def test_clean_sweeps_all_nodes(nodes_daemon, engine, b):
    """Fails with: clean that visits the first engine alone: what was on b stayed."""
    daemon = nodes_daemon()
    both_ready(daemon)
    for _ in range(2):
        daemon.until(daemon.create(script(UNTIL_RELEASED)), "RUNNING")
    daemon.kill9()
    instance = daemon.read_instance()
    assert engine.leftovers(instance) and b.leftovers(instance)
    words = [program(), "clean", "--state-dir", str(daemon.state_dir), "--engine", engine.host, "--node", f"b={b.host}"]
    listed = subprocess.run([*words, "--list"], capture_output=True, text=True, timeout=60, check=True).stdout
    assert listed.count(f"\n{instance}  ") == 2 and f"at {b.host}:" in listed
    subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert engine.leftovers(instance) == [] and b.leftovers(instance) == []


@pytest.mark.long
def test_an_engine_is_one_node(b, new_daemon, tmp_path):
    """Both nodes would have the same engine, and each would remove the other's containers. Fails with: twin_of() that finds
    none."""
    link = tmp_path / "link.sock"
    link.symlink_to(b.path)
    daemon = new_daemon("--offline", "--node", f"again=unix://{link}", engine=b).start()
    wait_until(lambda: [node for node in daemon.get("/healthz").json["nodes"]
                        if node["detail"] in ("it is the engine of the node main", "it is the engine of the node again")],
               30, "the second one says so")
    job = daemon.create(script(UNTIL_RELEASED))
    daemon.until(job, "RUNNING")
    release(daemon, b, job)
    assert daemon.until(job, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED"


@pytest.mark.parametrize("options, said", [
    (["--node", "main=unix:///a"], "--node"), (["--node", "B=unix:///a"], "--node"), (["--node", "b=a"], "--node"),
    (["--node", "b=unix:///a", "--node", "b=unix:///c"], "--node: b is named twice"),
    (["--node", "b=unix:///a", "--node", "c=unix:///a"], "--node: c and b are the same engine, unix:///a"),
    (["--node-gpus", "b=1"], "--node-gpus: there is no --node b=URL"),
    (["--node", "b=unix:///a", "--node-gpus", "b=0+0"], "--node-gpus"),
    (["--node-label", "b=gpu:a100"], "--node-label: there is no --node b=URL"), (["--node-label", "main=gpu"], "--node-label"),
    (["--place", "worker=main"], "--place"),
])
def test_names_that_mean_nothing_are_refused(tmp_path, options, said):
    done = subprocess.run([program(), "serve", "--state-dir", str(tmp_path / "state"), "--listen", "127.0.0.1:0", *options],
                          capture_output=True, text=True, timeout=30)
    assert done.returncode and said in done.stderr, done
