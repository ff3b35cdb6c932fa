# SPDX-License-Identifier: Apache-2.0
"""The programs of deploy/testcontainers.md, with Testcontainers from the registries of Python and Node. Ryuk, its container
that removes what a killed test leaves, is not started, because its image would have to be pulled."""
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from support.contained import image_of
from support.daemon import ROOT

pytestmark = [pytest.mark.long, pytest.mark.skipif(not shutil.which("docker"), reason="no docker in PATH")]
PAGE = ROOT / "deploy/testcontainers.md"


@pytest.fixture(scope="module")
def image(engine):
    """The image that the page names. Leaks are not searched for: a sanitized program cannot do that in a container."""
    name = f"trainyard-testcontainers:{os.getpid()}"
    subprocess.run(["docker", "build", "-q", "-t", name, "-"], check=True, text=True, env=os.environ | {"DOCKER_HOST": engine.host},
                   capture_output=True, input=f"FROM {image_of(engine)}\nENV ASAN_OPTIONS=detect_leaks=0\n")
    yield name
    engine.remove_image(name)


@pytest.fixture
def run(engine, image):
    def run(words, place, language, name):
        program, = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)
        assert "trainyard:0.2.0" in program and program.count("/var/run/docker.sock") == 2
        program = program.replace("trainyard:0.2.0", image).replace("/var/run/docker.sock", engine.path, 1)
        (place / name).write_text(program)
        done = subprocess.run([*words, name], cwd=place, capture_output=True, text=True, timeout=240,
                              env=os.environ | {"DOCKER_HOST": engine.host, "TESTCONTAINERS_RYUK_DISABLED": "true"})
        assert done.returncode == 0, done.stdout + done.stderr
        assert json.loads(done.stdout) == {}
        left = engine.call("GET", "/containers/json?all=1")
        assert not [container for container in left if container["Image"] == image]
    return run


def test_python(run, tmp_path):
    """Fails with: a page whose variable is TOKEN, or whose port is 8080."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path], check=True)
    subprocess.run([tmp_path / "bin/pip", "install", "-q", "--disable-pip-version-check", "testcontainers"], check=True, timeout=600)
    run([tmp_path / "bin/python"], tmp_path, "python", "page.py")


@pytest.mark.skipif(not shutil.which("npm"), reason="no npm in PATH")
def test_node(run, tmp_path):
    # needed with Node 18 and 20
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "testcontainers@10"],
                   check=True, cwd=tmp_path, timeout=600)
    run(["node"], tmp_path, "js", "page.mjs")
