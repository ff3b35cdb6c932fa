# SPDX-License-Identifier: Apache-2.0
"""deploy/compose.yaml with docker-compose itself. The image has the program under test; nothing is pulled or built."""
import json
import os
import shutil
import subprocess

import pytest

from support.contained import image_of
from support.engine import IMAGE, ROOT

pytestmark = [pytest.mark.long, pytest.mark.skipif(not shutil.which("docker-compose"), reason="no docker-compose in PATH")]


def test_the_test_container_reaches_the_daemon(own_engine, tmp_path):
    """The host name, port and state are those of the file. Fails with: TRAINYARD_TOKEN_FILE left out of it."""
    (tmp_path / "token").write_text("of-a-test-0123456789\n")
    (tmp_path / "here.json").write_text(json.dumps({
        "services": {"trainyard": {"image": image_of(own_engine), "command": ["serve", "--offline"],
                                   "environment": {"ASAN_OPTIONS": "detect_leaks=0"},
                                   "volumes": [f"{own_engine.path}:/var/run/docker.sock"]},
                     "test": {"image": IMAGE}},
        "secrets": {"token": {"file": str(tmp_path / "token")}}}))
    command = ["docker-compose", "-p", f"ty-compose-{os.getpid()}", "-f", ROOT / "deploy/compose.yaml", "-f", tmp_path / "here.json"]

    def compose(*words):
        done = subprocess.run([*command, *words], env=os.environ | {"DOCKER_HOST": own_engine.host}, capture_output=True, text=True,
                              timeout=300)
        assert done.returncode == 0, (done, subprocess.run([*command, "logs"], env=os.environ | {"DOCKER_HOST": own_engine.host},
                                                           capture_output=True, text=True, timeout=60).stdout)
        return done.stdout
    try:
        assert compose("run", "--rm", "-T", "test").strip() == "{}"
        assert compose("exec", "-T", "trainyard", "/usr/bin/trainyard", "version").startswith("trainyard ")
    finally:
        compose("down", "--volumes", "--timeout", "30")
    assert own_engine.containers("com.docker.compose.project") == []
