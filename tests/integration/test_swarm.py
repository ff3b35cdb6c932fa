# SPDX-License-Identifier: Apache-2.0
"""The engines of a Docker Swarm: its nodes, and networks over them."""
import os
import pathlib
import shutil
import subprocess

import pytest
from support.daemon import program
from support.swarm import Swarm

pytestmark = pytest.mark.skipif(not shutil.which("ip") or not shutil.which("dockerd"), reason="no ip, or no dockerd, in PATH")


@pytest.fixture(scope="module")
def swarm():
    found = Swarm(gpus=(2, 0))
    try:
        found.start()
        yield found
    finally:
        found.delete()


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
