# SPDX-License-Identifier: Apache-2.0
"""`trainyard swarm up` and `down`: an agent on each node of a swarm of three engines, and attacks on agents from inside
their network, the only place from which they can be reached."""
import base64
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest

from support.daemon import UNTIL_RELEASED, distributed, program, script
from support.engine import ensure_test_images
from support.swarm import Swarm
from support.tunnels import CALL_WORKER, SAYS, TAKE_CALL, said_it_all
from support.wait import wait_until

pytestmark = pytest.mark.skipif(not shutil.which("ip") or not shutil.which("dockerd"), reason="no ip, or no dockerd, in PATH")

AGENT = "trainyard-agent"
PORT = 2376  # as in scheduler/engine/swarm_agents.h
BEGINNERS = 32  # as in scheduler/engine/swarm_agent.c


@pytest.fixture(scope="module")
def swarm():
    found = Swarm(gpus=(2, 0, 1))
    found.has_agents = False
    try:
        found.start()
        yield found
        if found.has_agents:
            down(found)
    finally:
        found.delete()


@pytest.fixture(scope="module")
def sockets(swarm, tmp_path_factory):
    """All engines are on this machine; this maps the name of each node to its socket."""
    directory = tmp_path_factory.mktemp("sockets")
    for node in swarm.nodes:
        (directory / node.name).symlink_to(node.path)
    return str(directory / "{{.Node.Hostname}}")


def run(engine, word, *words):
    return subprocess.run([program(), "swarm", word, "--engine", engine.host, *words], capture_output=True, text=True, timeout=240)


def up(swarm, sockets, *words, nodes=True):
    named = [f"--node={node.name}={node.host}" for node in swarm.nodes[1:]] if nodes else []
    return run(swarm.manager, "up", "--unencrypted", "--socket", sockets, *named, *words)


def left(swarm):
    """Services, networks and the like of the agents on the manager, and containers and images on any node."""
    manager = swarm.manager
    found = [kind for kind in ("services", "secrets", "configs")
             for item in manager.call("GET", f"/{kind}") if item["Spec"]["Name"] == AGENT]
    found += [network["Name"] for network in manager.call("GET", "/networks") if network["Name"] == AGENT]
    found += [image for node in swarm.nodes for item in node.call("GET", "/images/json") for image in item["RepoTags"] or []
              if image.startswith(AGENT)]
    return found


def agents(swarm):
    return {node["node"]: node for node in json.loads(run(swarm.manager, "status", "-o", "json").stdout)}


def container_of(node):
    """The process of a node's agent on this machine, and the agent's address in the overlay network."""
    found = wait_until(lambda: [c for c in node.containers("trainyard.swarm=agent") if c["State"] == "running"], 30, "an agent runs")
    about = node.inspect(found[0]["Id"])
    assert list(about["NetworkSettings"]["Networks"]) == [AGENT] and not about["HostConfig"]["PortBindings"], about
    return about["State"]["Pid"], about["NetworkSettings"]["Networks"][AGENT]["IPAddress"]


def down(swarm):
    done = run(swarm.manager, "down", *(f"--node={node.name}={node.host}" for node in swarm.nodes[1:]))
    assert done.returncode == 0, done
    assert left(swarm) == []
    swarm.has_agents = False


@pytest.fixture
def agents_up(swarm, sockets):
    """The agents stay for the next test, since `up` and `down` cost six seconds of the processor, unless that test is without."""
    if not swarm.has_agents:
        done = up(swarm, sockets)
        assert done.returncode == 0 and "3 of 3 nodes have an agent that answers" in done.stdout, done
        swarm.has_agents = True
    return swarm


@pytest.fixture
def agents_down(swarm):
    if swarm.has_agents:
        down(swarm)
    return swarm


@pytest.mark.long
def test_up_says_what_is_missing(agents_down, sockets):
    """Fails with: without the check of the kernel, up went on, and on this kernel no node but the manager's answered."""
    swarm = agents_down
    refused = run(swarm.nodes[1], "up", "--unencrypted")
    assert refused.returncode == 1 and "docker node promote" in refused.stderr, refused
    refused = run(swarm.manager, "down")
    assert refused.returncode == 0 and "has no agents" in refused.stdout, refused
    has_esp = subprocess.run([program(), "swarm", "status", "--engine", swarm.manager.host], capture_output=True, text=True,
                             timeout=60).stdout
    if "cannot be encrypted" in has_esp:
        refused = run(swarm.manager, "up")
        assert refused.returncode == 1 and "--unencrypted" in refused.stderr, refused
        assert left(swarm) == []
    # Nodes that do not have the agent's image.
    part = up(swarm, sockets, nodes=False)
    assert part.returncode == 1 and "1 of 3 nodes" in part.stdout, part
    assert "No such image" in part.stderr and "--node node-2=ssh://" in part.stderr and "docker load" in part.stderr, part
    states = agents(swarm)
    assert [states[node.name]["agent"] for node in swarm.nodes] == ["up", "failed", "failed"], states
    assert "No such image" in states["node-2"]["agentProblem"]
    whole = up(swarm, sockets)
    assert whole.returncode == 0 and "3 of 3" in whole.stdout, whole
    # Half of the agents' objects are removed.
    for kind in ("services", "configs"):
        swarm.manager.call("DELETE", f"/{kind}/{AGENT}")
    down(swarm)


@pytest.mark.long
def test_agents_show_what_nodes_run(agents_up, sockets, new_daemon):
    swarm, manager = agents_up, agents_up.manager
    before = manager.call("GET", f"/services/{AGENT}")["Version"]
    assert up(swarm, sockets).returncode == 0
    assert manager.call("GET", f"/services/{AGENT}")["Version"] == before
    ensure_test_images(manager)
    daemon = new_daemon("--offline", engine=manager).start()
    job = daemon.create(script(UNTIL_RELEASED))
    daemon.until(job, "RUNNING")
    shown = agents(swarm)
    assert [(shown[node.name]["agent"], shown[node.name]["replicas"], shown[node.name]["heldGpus"]) for node in swarm.nodes] == [
        ("up", 1, 0), ("up", 0, 0), ("up", 0, 0)], shown
    head = run(manager, "status").stdout.splitlines()[0].split()
    assert head[:5] == ["NODE", "STATE", "ROLE", "AGENT", "CPUS"] and "REPLICAS" in head, head
    daemon.post(f"{daemon.jobs_path}/{job}:cancel", {})
    daemon.until(job, "CANCELLED")
    # An object of that name that belongs to another owner is not changed.
    manager.call("DELETE", f"/services/{AGENT}")
    manager.call("POST", "/services/create", {"Name": AGENT, "TaskTemplate": {"ContainerSpec": {"Image": "other:1"}},
                                              "Mode": {"Replicated": {"Replicas": 0}}})
    refused = run(manager, "down")
    assert refused.returncode == 1 and "has not made" in refused.stderr, refused
    manager.call("DELETE", f"/services/{AGENT}")
    down(swarm)


def reachable(daemon, **wanted):
    """Waits until each node is reachable or not, as given."""
    def there():
        states = {node["name"].replace("-", "_"): node["reachable"] for node in daemon.get("/healthz").json["nodes"]}
        return all(states[name] == state for name, state in wanted.items()) and states
    return wait_until(there, 90, f"nodes are as {wanted}")


def node_of(daemon, job):
    report = daemon.get(f"/_trainyard/v1/projects/{daemon.project}/jobs/{job}/report").json
    return {replica.get("node") for replica in report["replicas"]}


def test_up_with_another_socket_waits_for_agents_that_have_it(agents_up, tmp_path):
    """Fails with: swarm_agents_ask() for any socket: `swarm up` ended while the agents with the old one ran."""
    other = tmp_path / "other"
    other.mkdir()
    for node in agents_up.nodes:
        (other / node.name).symlink_to(node.path)
    done = up(agents_up, str(other / "{{.Node.Hostname}}"))
    assert done.returncode == 0 and "3 of 3" in done.stdout, done
    for node in agents_up.nodes:
        mounts = [mount["Source"] for found in node.containers("trainyard.swarm=agent") if found["State"] == "running"
                  for mount in found["Mounts"] if mount["Type"] == "bind" and mount["Destination"] == "/var/run/docker.sock"]
        assert mounts == [str(other / node.name)], (node.name, mounts)


@pytest.mark.long
def test_an_upgrade_is_handed_on_by_the_agents_that_run(agents_up, sockets, tmp_path):
    """No --node names the guests' engines. Fails with: image_hand_on() without image_give_to_agents(): no such image there."""
    def images():
        return {container["Image"] for node in agents_up.nodes for container in node.containers("trainyard.swarm=agent")
                if container["State"] == "running"}
    before = images()
    newer = tmp_path / "trainyard"
    newer.write_bytes(pathlib.Path(program()).read_bytes() + b"newer")
    newer.chmod(0o755)
    done = subprocess.run([newer, "swarm", "up", "--engine", agents_up.manager.host, "--unencrypted", "--socket", sockets],
                          capture_output=True, text=True, timeout=240)
    assert done.returncode == 0 and "3 of 3" in done.stdout, done
    assert len(images()) == 1 and not images() & before, (before, images())
    down(agents_up)


@pytest.mark.long
def test_up_says_soon_that_a_network_is_blocked(agents_down, sockets):
    """Fails with: result_print() that visits one node after the other, and says nothing until its time is over."""
    swarm, guest = agents_down, agents_down.nodes[1]
    rule = ["nsenter", "--net", "--target", str(guest.pid), "iptables", "-I", "INPUT", "-p", "udp", "--dport", "4789", "-j", "DROP"]
    subprocess.run(rule, check=True, timeout=30)
    with subprocess.Popen([program(), "swarm", "up", "--engine", swarm.manager.host, "--unencrypted", "--socket", sockets,
                           *(f"--node={node.name}={node.host}" for node in swarm.nodes[1:]), "--timeout", "300s"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as runs:
        said = runs.stderr.readline()
        assert said.startswith(f"trainyard: the agent of the node {guest.name} runs, but does not answer yet"), said
        assert "UDP port 4789" in runs.stderr.readline() and runs.poll() is None
        subprocess.run([word if word != "-I" else "-D" for word in rule], check=True, timeout=30)
        assert runs.wait(200) == 0 and "3 of 3" in runs.stdout.read()
    down(swarm)


def test_a_daemon_runs_jobs_on_all_nodes_of_the_swarm(agents_up, new_daemon, monkeypatch):
    swarm = agents_up
    for node in swarm.nodes:
        ensure_test_images(node)
    swarm.availability_set("node-3", "active", gpu="a100")
    monkeypatch.setenv("DOCKER_HOST", swarm.manager.host)
    daemon = new_daemon("--offline", "--stop-grace", "1", "--max-active-jobs", "1", "--engine", "swarm",
                        "--place", "n1-highmem-2=gpu:a100", engine=swarm.manager).start()
    assert set(reachable(daemon, main=True, node_2=True, node_3=True)) == {"main", "node_2", "node_3"}
    labelled = daemon.create(script(f"{SAYS}; {UNTIL_RELEASED}") | {"masterType": "n1-highmem-2", "scaleTier": "CUSTOM"})
    daemon.until(labelled, "RUNNING")
    here = daemon.create(script(UNTIL_RELEASED))
    daemon.until(here, "RUNNING")
    there = daemon.create(distributed(f"{CALL_WORKER}{SAYS}; {UNTIL_RELEASED}", TAKE_CALL + UNTIL_RELEASED, workers=1))
    daemon.until(there, "RUNNING")
    assert (node_of(daemon, labelled), node_of(daemon, here), node_of(daemon, there)) == ({"node-3"}, {"main"}, {"node-2"})
    for job, count in ((labelled, 3), (there, 4)):
        assert said_it_all(daemon.wait_lines(job, count=count)), (daemon.lines(job), daemon.log())
    assert [agents(swarm)[node.name]["replicas"] for node in swarm.nodes] == [1, 2, 1]
    # One agent is drained from its node, and one is killed.
    swarm.availability_set("node-2", "drain")
    reachable(daemon, main=True, node_2=False, node_3=True)
    swarm.availability_set("node-2", "active")
    swarm.nodes[2].kill(swarm.nodes[2].containers("trainyard.swarm=agent")[0]["Id"])
    reachable(daemon, main=True, node_2=True, node_3=True)
    for job, node in ((labelled, swarm.nodes[2]), (here, swarm.manager), (there, swarm.nodes[1])):
        for container in node.containers(f"trainyard.job_id={job}"):
            node.put_file(container["Id"], "/released")
    for job in (labelled, here, there):
        assert daemon.until(job, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED", daemon.log()
    for node in swarm.nodes:
        wait_until(lambda node=node: node.leftovers(daemon.read_instance()) == [], 60, "nothing is left")
    swarm.availability_set("node-3", "active")


def cut(swarm, node):
    swarm.plug(node, "down")
    return lambda: swarm.plug(node, "up")


def drain(swarm, node):
    swarm.availability_set(node.name, "drain", kind="guest")
    return lambda: swarm.availability_set(node.name, "active", kind="guest")


def power_off(swarm, node):
    node.stop()

    def again():
        node.start()
        node.cable(swarm.hub)
    return again


def hang(_swarm, node):
    os.kill(node.pid, signal.SIGSTOP)  # its agent answers
    return lambda: os.kill(node.pid, signal.SIGCONT)


NAMED = "named"  # each node by --node NAME=swarm:ID:URL, without --engine swarm


@pytest.mark.parametrize("go, how", [(cut, "found"), *(pytest.param(go, how, marks=pytest.mark.long) for go, how in (
    (drain, "found"), (power_off, "found"), (hang, "found"), (drain, NAMED)))])
def test_jobs_of_a_lost_node_go_on_elsewhere(agents_up, new_daemon, monkeypatch, go, how):
    """Fails with: without a patience the job waited for its node; without swarm_nodes_report() it waited for 15 minutes for one that
    was drained or down, and so did it for one that is named, as long as only `--engine swarm` had the watch."""
    swarm, guests = agents_up, agents_up.nodes[1:]
    for node in swarm.nodes:
        ensure_test_images(node)
    for node in guests:
        swarm.availability_set(node.name, "active", kind="guest")
    monkeypatch.setenv("DOCKER_HOST", swarm.manager.host)
    ids = {node["Description"]["Hostname"]: node["ID"] for node in swarm.manager.call("GET", "/nodes")}
    nodes = ["--engine", "swarm"] if how != NAMED else [word for node in guests for word in (
        "--node", f"{node.name}=swarm:{ids[node.name]}:{swarm.manager.host}", "--node-label", f"{node.name}=kind:guest")]
    daemon = new_daemon("--offline", "--stop-grace", "1", *nodes, "--place", "n1-highmem-2=kind:guest",
                        "--node-patience", "3" if go in (cut, hang) else "900", "--max-active-jobs", "1", engine=swarm.manager).start()
    reachable(daemon, main=True, node_2=True, node_3=True)
    body = distributed(f"{CALL_WORKER}{SAYS}; {UNTIL_RELEASED}", f"{TAKE_CALL}{UNTIL_RELEASED}", workers=1)
    job = daemon.create(body | {"masterType": "n1-highmem-2", "workerType": "n1-highmem-2"})
    daemon.until(job, "RUNNING")
    assert said_it_all(daemon.wait_lines(job, count=4)), (daemon.lines(job), daemon.log())
    lost = next(node for node in guests if node_of(daemon, job) == {node.name})
    other = next(node for node in guests if node is not lost)
    back = go(swarm, lost)
    # A call to an engine that hangs is given up after a minute; the next is half a minute later at most.
    wait_until(lambda: node_of(daemon, job) == {other.name}, 150 if go is hang else 90, "the job is on another node")
    daemon.until(job, "RUNNING")
    assert said_it_all(daemon.wait_lines(job, count=8)[4:]), (daemon.lines(job), daemon.log())
    service = daemon.service_lines(job)
    assert any(f"The node {lost.name} does not answer" in text for _, text in service), service
    back()
    wait_until(lambda: lost.leftovers(daemon.read_instance()) == [], 120, "the first attempt is removed")
    assert len(other.containers(f"trainyard.job_id={job}")) == 2
    again = daemon.create(script(UNTIL_RELEASED) | {"masterType": "n1-highmem-2", "scaleTier": "CUSTOM"})
    daemon.until(again, "RUNNING")
    assert node_of(daemon, again) == {lost.name}
    for node, name in ((other, job), (lost, again)):
        for container in node.containers(f"trainyard.job_id={name}"):
            node.put_file(container["Id"], "/released")
    for name in (job, again):
        assert daemon.until(name, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED", daemon.log()
    for node in swarm.nodes:
        wait_until(lambda node=node: node.leftovers(daemon.read_instance()) == [], 60, "nothing is left")
    for node in guests:
        swarm.availability_set(node.name, "active")


COUNTS = "i=0; until [ -e /released ]; do echo $i; i=$((i+1)); sleep 1; done"
HANG_S = 45


@pytest.mark.long
def test_a_manager_that_hangs_ends_no_job(agents_up, new_daemon, monkeypatch):
    """All nodes are reached through the manager's engine. While that hangs, the daemon answers, jobs run on, and no node is lost;
    afterwards all is as before."""
    swarm, guest = agents_up, agents_up.nodes[1]
    for node in swarm.nodes:
        ensure_test_images(node)
        swarm.availability_set(node.name, "active", place=node.name)
    monkeypatch.setenv("DOCKER_HOST", swarm.manager.host)
    daemon = new_daemon("--offline", "--stop-grace", "1", "--engine", "swarm", "--node-patience", "3", "--place", "n1-highmem-2=place:node-1",
                        "--place", "n1-highmem-4=place:node-2", engine=swarm.manager).start()
    reachable(daemon, main=True, node_2=True, node_3=True)
    jobs = [daemon.create(script(COUNTS) | {"scaleTier": "CUSTOM", "masterType": machine})
            for machine in ("n1-highmem-2", "n1-highmem-4")]
    for job in jobs:
        daemon.wait_lines(job, count=2)
    pid = swarm.manager.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        until = time.monotonic() + HANG_S
        waits = daemon.create(script("echo done"))
        while time.monotonic() < until:
            assert daemon.get("/healthz").status == 200
            assert [daemon.job(job)["state"] for job in jobs] == ["RUNNING", "RUNNING"], daemon.log()
            time.sleep(0.5)
        assert daemon.job(waits)["state"] in ("QUEUED", "PREPARING")
    finally:
        os.kill(pid, signal.SIGCONT)
    daemon.until(waits, "SUCCEEDED", "FAILED", timeout=120)
    reachable(daemon, main=True, node_2=True, node_3=True)
    assert daemon.lines(waits) == ["done"]
    for job, node in zip(jobs, (swarm.manager, guest)):
        daemon.wait_lines(job, count=HANG_S)
        for container in node.containers(f"trainyard.job_id={job}"):
            node.put_file(container["Id"], "/released")
        assert daemon.until(job, "SUCCEEDED", "FAILED", timeout=90)["state"] == "SUCCEEDED", daemon.log()
        lines = daemon.lines(job)
        assert lines == [str(number) for number in range(len(lines))], (lines, daemon.service_lines(job))
    assert "node-lost" not in daemon.log()
    for node in swarm.nodes:
        wait_until(lambda node=node: node.leftovers(daemon.read_instance()) == [], 60, "nothing is left")


def test_a_node_that_joins_later_gets_jobs(agents_up, new_daemon, monkeypatch):
    """Fails with: without the look at the swarm the daemon had two nodes until its next start."""
    swarm, late = agents_up, agents_up.nodes[2]
    for node in swarm.nodes:
        ensure_test_images(node)
    swarm.leave(late)
    monkeypatch.setenv("DOCKER_HOST", swarm.manager.host)
    daemon = new_daemon("--offline", "--stop-grace", "1", "--engine", "swarm", "--place", "n1-highmem-2=node:node-3",
                        engine=swarm.manager).start()
    reachable(daemon, main=True, node_2=True)
    swarm.join(late)
    wait_until(lambda: len(daemon.get("/healthz").json["nodes"]) == 3, 60, "the node is seen")
    reachable(daemon, main=True, node_2=True, node_3=True)
    job = daemon.create(script(f"{SAYS}; {UNTIL_RELEASED}") | {"masterType": "n1-highmem-2", "scaleTier": "CUSTOM"})
    daemon.until(job, "RUNNING")
    assert node_of(daemon, job) == {"node-3"}
    assert said_it_all(daemon.wait_lines(job, count=3)), (daemon.lines(job), daemon.log())
    late.put_file(late.containers(f"trainyard.job_id={job}")[0]["Id"], "/released")
    daemon.until(job, "SUCCEEDED")
    wait_until(lambda: late.leftovers(daemon.read_instance()) == [], 60, "nothing is left")


@pytest.mark.long
def test_a_job_larger_than_a_node_is_on_several_nodes_of_the_swarm(agents_up, new_daemon, monkeypatch):
    swarm = agents_up
    for node in swarm.nodes:
        ensure_test_images(node)
    monkeypatch.setenv("DOCKER_HOST", swarm.manager.host)
    daemon = new_daemon("--offline", "--stop-grace", "1", "--engine", "swarm", "--job-networks", "plain-overlays",
                        engine=swarm.manager).start()
    reachable(daemon, main=True, node_2=True, node_3=True)
    body = distributed(f"{CALL_WORKER}{SAYS}; {UNTIL_RELEASED}", f"{TAKE_CALL}{SAYS}; {UNTIL_RELEASED}", workers=2)
    job = daemon.create(body | {"masterType": "n1-standard-64", "workerType": "n1-standard-64"})  # each takes a whole node
    daemon.until(job, "RUNNING", "FAILED")
    assert node_of(daemon, job) == {"main", "node-2", "node-3"}, daemon.log()
    assert said_it_all(daemon.wait_lines(job, count=4)), (daemon.lines(job), daemon.log())
    masters = [(node, found["Id"]) for node in swarm.nodes for found in node.containers(f"trainyard.job_id={job}")
               if found["Labels"]["trainyard.replica"] == "master-0"]
    assert len(masters) == 1
    masters[0][0].put_file(masters[0][1], "/released")
    assert daemon.until(job, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED", daemon.log()
    for node in swarm.nodes:
        wait_until(lambda node=node: node.leftovers(daemon.read_instance()) == [], 60, "nothing is left")


@pytest.mark.long
@pytest.mark.parametrize("go", [cut, power_off])
def test_a_job_over_nodes_is_tried_again_without_a_lost_one(agents_up, new_daemon, monkeypatch, go):
    """Fails with: with the job's number for the second network, the new replicas were in the old one, where the lost ones have
    their addresses."""
    swarm = agents_up
    for node in swarm.nodes:
        ensure_test_images(node)
    monkeypatch.setenv("DOCKER_HOST", swarm.manager.host)
    daemon = new_daemon("--offline", "--stop-grace", "1", "--engine", "swarm", "--job-networks", "plain-overlays",
                        "--node-patience", "3", engine=swarm.manager).start()
    reachable(daemon, main=True, node_2=True, node_3=True)
    body = distributed(f"{CALL_WORKER}{SAYS}; {UNTIL_RELEASED}", f"{TAKE_CALL}{UNTIL_RELEASED}", workers=1)
    job = daemon.create(body | {"masterType": "n1-standard-64", "workerType": "n1-standard-64"})  # each takes a whole node
    daemon.until(job, "RUNNING", "FAILED")
    on = node_of(daemon, job)
    assert len(on) == 2, daemon.log()
    lost = next(node for node in swarm.nodes[1:] if node.name in on)
    assert said_it_all(daemon.wait_lines(job, count=4)), (daemon.lines(job), daemon.log())
    back = go(swarm, lost)
    wait_until(lambda: lost.name not in node_of(daemon, job), 120, "the job is on other nodes")
    daemon.until(job, "RUNNING", "FAILED")
    assert said_it_all(daemon.wait_lines(job, count=8)[4:]), (daemon.lines(job), daemon.log())
    back()
    wait_until(lambda: lost.leftovers(daemon.read_instance()) == [], 120, "the first attempt is removed")
    for node in swarm.nodes:
        for container in node.containers(f"trainyard.job_id={job}"):
            node.put_file(container["Id"], "/released")
    assert daemon.until(job, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED", daemon.log()
    for node in swarm.nodes:
        wait_until(lambda node=node: node.leftovers(daemon.read_instance()) == [], 60, "nothing is left")


def test_a_daemon_needs_the_agents(agents_down, tmp_path):
    refused = subprocess.run([program(), "serve", "--state-dir", str(tmp_path / "state"), "--listen", "127.0.0.1:0", "--engine", "swarm"],
                             capture_output=True, text=True, timeout=60, env={"DOCKER_HOST": agents_down.manager.host, "PATH": "/usr/bin"})
    assert refused.returncode and "trainyard swarm up" in refused.stderr, refused


# Runs in the network namespace of one agent, and sends messages to another one. Prints one line for each.
CALLER = r"""
import concurrent.futures, socket, ssl, sys
address, port, keys_path, question = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
PATIENCE = 5 if question == "ask" else 20

def plain():
    return socket.create_connection((address, port), timeout=PATIENCE)

def ask(certificates, opened=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if certificates:
        context.load_cert_chain(certificates)
    try:
        with opened or plain() as raw, context.wrap_socket(raw) as connection:
            connection.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
            return connection.recv(1000).split(b"\r\n")[0].decode() or "closed"
    except OSError as problem:
        return "refused: " + str(problem)

if question == "ask":
    print(ask(keys_path if keys_path != "-" else None))
elif question == "burst":
    held = [plain() for _ in range(int(sys.argv[5]))]
    with concurrent.futures.ThreadPoolExecutor(len(held)) as threads:
        answers = list(threads.map(lambda raw: ask(keys_path, raw), held))
    print(len(answers), sorted(set(answers)))
elif question == "plain":
    with plain() as connection:
        try:
            connection.sendall(b"GET /_ping HTTP/1.0\r\n\r\n" + b"x" * 100000)
            while got := connection.recv(1000):
                print("got", got[:20])
            print("closed")
        except OSError as problem:
            print("closed")
elif question == "flood":
    held = [plain() for _ in range(int(sys.argv[5]))]
    print("held", flush=True)
    ended = 0
    for connection in held:
        connection.settimeout(60)
        try:
            ended += connection.recv(1) == b""
        except ConnectionError:
            ended += 1
    print("ended", ended, flush=True)
elif question == "ports":
    print(sorted({int(line.split()[1].split(":")[1], 16) for path in ("/proc/net/tcp", "/proc/net/tcp6") for line in open(path)
                  if line.split()[3] == "0A" and not line.split()[1].startswith("0B00007F")}))
"""


def caller(pid, *words):
    return ["nsenter", "--net", "--target", str(pid), sys.executable, "-c", CALLER, *map(str, words)]


def said(pid, *words):
    return subprocess.run(caller(pid, *words), capture_output=True, text=True, timeout=120, check=True).stdout.strip()


def pem(path, keys):
    path.write_text(keys["certificate"] + keys["key"])
    return path


@pytest.mark.long
def test_an_agent_serves_for_the_swarms_key_alone(agents_up, tmp_path):
    """Fails with: without GNUTLS_CERT_REQUIRE the first question was answered with 200, without
    gnutls_session_set_verify_cert() the second and the third."""
    here, _ = container_of(agents_up.nodes[1])
    _, address = container_of(agents_up.nodes[2])
    daemons = json.loads(base64.b64decode(agents_up.manager.call("GET", f"/configs/{AGENT}")["Spec"]["Data"]))
    agents_own = json.loads(pathlib.Path(f"/proc/{here}/root/run/secrets/{AGENT}").read_text())
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                    "-subj", "/CN=trainyard daemon", "-keyout", tmp_path / "key", "-out", tmp_path / "cert"], check=True,
                   capture_output=True, timeout=60)
    other = {"certificate": (tmp_path / "cert").read_text(), "key": (tmp_path / "key").read_text()}
    assert said(here, address, PORT, pem(tmp_path / "daemon.pem", daemons), "ask") == "HTTP/1.0 200 OK"
    for keys in ("-", pem(tmp_path / "other.pem", other), pem(tmp_path / "agent.pem", agents_own)):
        answer = said(here, address, PORT, keys, "ask")
        assert answer.startswith("refused: ") or answer == "closed", (keys, answer)
    assert said(here, address, PORT, "-", "plain").splitlines()[-1] == "closed"
    assert daemons["key"] != agents_own["key"] and daemons["certificate"] == agents_own["trusted"]
    # No other port is open, and nothing from the node itself can be reached.
    assert said(here, address, PORT, "-", "ports") == f"[{PORT}]"
    for place in (agents_up.nodes[2].address, address):
        assert said(agents_up.nodes[1].pid, place, PORT, "-", "ask").startswith("refused: "), place


@pytest.mark.long
def test_a_burst_waits_for_its_turn(agents_up, tmp_path):
    """All connections of a daemon to a node come from one address. Fails with: the agent closed what came while 32 of an address
    had not shown their certificate."""
    here, _ = container_of(agents_up.nodes[1])
    _, address = container_of(agents_up.nodes[2])
    daemons = json.loads(base64.b64decode(agents_up.manager.call("GET", f"/configs/{AGENT}")["Spec"]["Data"]))
    keys = pem(tmp_path / "daemon.pem", daemons)
    assert said(here, address, PORT, keys, "burst", 4 * BEGINNERS) == f"{4 * BEGINNERS} ['HTTP/1.0 200 OK']"


@pytest.mark.long
def test_strangers_keep_no_one_out(agents_up):
    """For each address, up to BEGINNERS connections may send nothing for five seconds; further ones of that address wait,
    and do not delay other addresses. Fails with: without the count of beginners, the agent had a thread for each of them."""
    here, _ = container_of(agents_up.nodes[1])
    there, address = container_of(agents_up.nodes[2])
    with subprocess.Popen(caller(here, address, PORT, "-", "flood", 4 * BEGINNERS), stdout=subprocess.PIPE, text=True) as flood:
        try:
            assert flood.stdout.readline() == "held\n"
            threads = len(list(pathlib.Path(f"/proc/{there}/task").iterdir()))
            assert threads <= BEGINNERS + 3, threads
            assert agents(agents_up)["node-3"]["replicas"] == 0  # the agent answers
            assert flood.stdout.readline() == f"ended {4 * BEGINNERS}\n"
        finally:
            flood.kill()
    wait_until(lambda: len(list(pathlib.Path(f"/proc/{there}/task").iterdir())) <= 2, 60, "all of it is over")
