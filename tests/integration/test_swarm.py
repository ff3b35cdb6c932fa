# SPDX-License-Identifier: Apache-2.0
"""The engines of a Docker Swarm as nodes, and networks across them."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest
from support.daemon import program
from support.swarm import Swarm

pytestmark = [pytest.mark.long, pytest.mark.skipif(not shutil.which("ip") or not shutil.which("dockerd"), reason="no ip, or no dockerd, in PATH")]


@pytest.fixture(scope="module")
def swarm():
    found = Swarm(gpus=(2, 0))
    try:
        found.start()
        yield found
    finally:
        found.delete()


def status(engine, *words):
    return subprocess.run([program(), "swarm", "status", "--engine", engine.host, *words], capture_output=True, text=True, timeout=60)


def test_the_nodes_of_a_swarm_are_shown(swarm):
    manager, guest = swarm.nodes
    ids = {node["Description"]["Hostname"]: node for node in manager.call("GET", "/nodes")}
    worker = ids["node-2"]
    manager.call("POST", f"/nodes/{worker['ID']}/update?version={worker['Version']['Index']}",
                 {**worker["Spec"], "Availability": "drain", "Labels": {"gpu": "a100"}})
    shown = json.loads(status(manager, "-o", "json").stdout)
    assert [(node["node"], node["state"], node["manager"], node["gpus"], node["labels"]) for node in shown] == [
        ("node-1", "up", True, ["GPU-1-0", "GPU-1-1"], {}), ("node-2", "drained", False, [], {"gpu": "a100"})]
    lines = status(manager).stdout.splitlines()
    assert lines[0].split() == ["NODE", "STATE", "ROLE", "CPUS", "MEMORY", "GPUS", "ADDRESS", "LABELS"], lines
    assert lines[2].split()[:3] == ["node-2", "drained", "worker"] and lines[2].endswith("gpu=a100"), lines
    assert status(manager, "-o", "name").stdout == "node-1\nnode-2\n"
    refused = status(guest)
    assert refused.returncode == 1 and "docker node promote" in refused.stderr, refused
    worker = manager.call("GET", f"/nodes/{worker['ID']}")
    manager.call("POST", f"/nodes/{worker['ID']}/update?version={worker['Version']['Index']}",
                 {**worker["Spec"], "Availability": "active", "Labels": {}})


@pytest.mark.parametrize("test", ["a_manager_reports_the_nodes", "replicas_of_two_nodes_reach_each_other_and_the_daemon",
                                  "an_encrypted_overlay_carries_what_the_kernel_can"])
def test_engines_of_two_nodes_keep_the_contract(swarm, test):
    contract = pathlib.Path(program()).parent / "tests/integration/engine_contract"
    manager, guest = swarm.nodes
    ended = subprocess.run([contract], env={**os.environ, "DOCKER_HOST": manager.host, "TRAINYARD_TEST_GUEST": guest.path,
                                            "TRAINYARD_TEST_FILTER": test, "CMOCKA_MESSAGE_OUTPUT": "TAP"},
                           capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"\nok 1 - {test}" in ended.stdout, ended.stdout
