# SPDX-License-Identifier: Apache-2.0
"""Nodes of a swarm of three engines that go away and come back, again and again, while jobs run there: cables are cut, nodes
drained and switched off, agents killed, the manager's engine started anew, and the daemon killed. What was answered holds;
nothing has an effect twice; nothing is left.

    pytest tests/crash/test_node_storm.py --cycles 100 --seed 1     # so many rounds; --long: a hundred; named: three
"""
import collections
import contextlib
import json
import os
import random
import re
import shutil
import time

import pytest

from support.daemon import Daemon, distributed, script, task_of, text_of
from support.engine import EngineError
from support.swarm import running_swarm
from support.wait import wait_until

pytestmark = [pytest.mark.long,
              pytest.mark.skipif(not shutil.which("ip") or not shutil.which("dockerd"), reason="no ip, or no dockerd, in PATH")]

ROUNDS, LONG_ROUNDS = 3, 100
OPEN_JOBS = 4       # at most, so that the machine keeps up
STEPS = 25          # of a program, each some tenths of a second
AWAY_S = (0, 2, 8, 20)
DRIED_UP = (EngineError, OSError, json.JSONDecodeError)  # an engine that is away
# A program says at each step which try it is, in its log and in storage. Calls do not wait for a network that is cut.
RUNS = ("t=$(cat /proc/sys/kernel/random/uuid); i=0; while [ $i -lt %d ]; do echo $t $i; timeout 2 wget -q -O /dev/null "
        "--header 'Content-Type: text/plain' --post-data $i "
        "\"$STORAGE_EMULATOR_HOST/upload/storage/v1/b/storm/o?uploadType=media&name=%s/$t/$i\"; i=$((i+1)); sleep 0.3; done")
STAYS = "trap 'exit 0' TERM; while :; do sleep 0.2; done"


def none_await(ask, timeout):
    """Waits until there is nothing of it; it is said what is left."""
    with contextlib.suppress(AssertionError):
        wait_until(lambda: not ask(), timeout)
    left = ask()
    assert not left, left


def check_turns(job, tries):
    """Once a try has done something, no earlier one does anything. `tries`: of each thing that was done, in its order."""
    first = list(dict.fromkeys(tries))
    assert tries == sorted(tries, key=first.index), f"{job}: an earlier try was heard of again: {tries}"


TRY = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27} \d+$")


class Storm:
    def __init__(self, swarm, daemon, seed):
        self.swarm, self.daemon, self.dice = swarm, daemon, random.Random(seed)
        self.jobs, self.figures = {}, collections.Counter()  # jobs: as they were last seen

    # ---- what clients do ----

    def open_jobs(self):
        """And notes those that have ended."""
        for job in [job for job, found in self.jobs.items() if "endTime" not in found]:
            self.jobs[job] = self.daemon.job(job)
        return {job: found["state"] for job, found in self.jobs.items() if "endTime" not in found}

    def create(self):
        job = self.daemon.new_id("storm")
        wide = {"masterType": "n1-standard-64", "workerType": "n1-standard-64"}  # each takes a whole node
        text = RUNS % (STEPS, job)
        body = self.dice.choice((
            lambda: script(text), lambda: distributed(text, STAYS, workers=1),
            lambda: distributed(text, STAYS, workers=1) | wide))()
        self.daemon.create(body, job_id=job)
        self.jobs[job] = {}

    def fill(self):
        for _ in range(OPEN_JOBS - len(self.open_jobs())):
            self.create()

    # ---- what happens to nodes; each returns what makes it good again ----

    def cut(self, node):
        self.swarm.plug(node, "down")
        return lambda: self.swarm.plug(node, "up")

    def drain(self, node):
        self.swarm.availability_set(node.name, "drain")
        return lambda: self.swarm.availability_set(node.name, "active")

    def switch_off(self, node):
        node.stop()
        return lambda: self.swarm.switch_on(node)

    def agent_kill(self, node):
        for agent in node.containers("trainyard.swarm=agent"):
            if agent["State"] == "running":
                node.kill(agent["Id"])
        return lambda: None

    def daemon_kill(self, _node):
        self.daemon.kill9()
        return self.daemon.start

    def happen(self):
        guests = self.swarm.nodes[1:]
        what, node = self.dice.choice([(act, node) for node in guests for act in (
            self.cut, self.drain, self.switch_off, self.agent_kill)] + [
            (self.cut, self.swarm.manager), (self.switch_off, self.swarm.manager), (self.daemon_kill, None)])
        away_s = self.dice.choice(AWAY_S)
        name = what.__name__.replace("_", " ")
        print(f"{time.strftime('%H:%M:%S')} {name} {node.name if node else ''} for {away_s} s", flush=True)
        self.figures[name] += 1
        again = what(node)
        until = time.monotonic() + away_s
        while time.monotonic() < until:
            self.check_addresses()
            time.sleep(0.2)
        again()
        if what == self.drain or node is self.swarm.manager:
            wait_until(self.swarm.is_whole, 90, "the swarm is whole")

    # ---- what must hold ----

    def check_addresses(self):
        """No container has the address of another one, on whichever node: networks of jobs over several nodes are one."""
        owners = {}
        for node in self.swarm.nodes:
            try:
                found = node.containers(f"trainyard.instance={self.instance}")
            except DRIED_UP:
                continue
            for container in found:
                for network in container["NetworkSettings"]["Networks"].values():
                    place = network["NetworkID"], network["IPAddress"]
                    if container["State"] == "running" and all(place):
                        assert place not in owners, (place, owners[place], container["Names"], node.name)
                        owners[place] = (container["Names"], node.name)
        self.figures["looks"] += 1

    def check_job(self, job, found):
        # sh says, too, that a call was ended.
        lines = [text_of(e).split() for e in self.daemon.entries(job)
                 if task_of(e) == "master-replica-0" and TRY.match(text_of(e))]
        tries = list(dict.fromkeys(words[0] for words in lines))
        told = self.daemon.service_lines(job)
        if found["state"] == "FAILED":
            assert "lost" in found["errorMessage"], found
            self.figures["lost too often"] += 1
        else:
            assert found["state"] == "SUCCEEDED", (found, told)
        for at, one in enumerate(tries):
            numbers = [int(number) for name, number in lines if name == one]
            assert numbers == list(range(len(numbers))), f"{job}, try {at}: {numbers}"
            if found["state"] == "SUCCEEDED" and one == tries[-1]:
                assert len(numbers) == STEPS, (job, numbers, told)
        check_turns(job, [name for name, _ in lines])
        objects = self.daemon.get("/storage/v1/b/storm/o", prefix=f"{job}/").json.get("items", [])
        check_turns(job, [o["name"].split("/")[1] for o in sorted(objects, key=lambda o: o["timeCreated"])])
        self.figures["tries"] += len(tries)
        self.figures["objects"] += len(objects)

    def settle(self):
        wait_until(self.swarm.is_whole, 120, "the swarm is whole")
        none_await(self.open_jobs, 300)
        for job, found in self.jobs.items():
            self.check_job(job, found)
        for node in reversed(self.swarm.nodes):  # the manager's networks are in use by containers of the others
            none_await(lambda node=node: [] if node.is_miscounted(self.instance) else node.leftovers(self.instance), 150)

    def run(self, rounds):
        self.instance = self.daemon.read_instance()
        try:
            for _ in range(rounds):
                self.fill()
                time.sleep(self.dice.uniform(0, 3))  # at any moment of a job
                self.happen()
            self.settle()
        finally:
            print({"jobs": len(self.jobs), **self.figures})


@pytest.fixture
def swarm(tmp_path):
    with running_swarm((0, 0, 0), agents_in=tmp_path) as found:
        yield found


def test_nodes_that_come_and_go_lose_nothing_and_leave_nothing(swarm, tmp_path, pytestconfig, monkeypatch):
    cycles = pytestconfig.getoption("--cycles")
    rounds = cycles if cycles > 1 else LONG_ROUNDS if pytestconfig.getoption("--long") else ROUNDS
    monkeypatch.setenv("DOCKER_HOST", swarm.manager.host)
    daemon = Daemon(tmp_path, swarm.manager, "--offline", "--stop-grace", "1", "--engine", "swarm", "--node-patience", "4",
                    "--job-networks", "plain-overlays", project=f"storm-{os.getpid()}").start()
    try:
        Storm(swarm, daemon, pytestconfig.getoption("--seed")).run(rounds)
        daemon.stop()
    finally:
        if daemon.process is not None:
            daemon.kill9()
