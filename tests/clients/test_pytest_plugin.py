# SPDX-License-Identifier: Apache-2.0
"""deploy/pytest with google-cloud-aiplatform: the test of docs/ci.md, which submits with the library and reads results by
the fixture."""
import os
import re
import subprocess

import pytest

from support.daemon import ROOT, program
from support.engine import IMAGE
from support.marks import long
from support.scripts import PYTHON


def examples():
    """The tests on the page, with and without the plugin, using the tests' image."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/ci.md").read_text(), re.DOTALL)
    assert len(blocks) == 2 and len(blocks[1].splitlines()) <= 15 < 3 * len(blocks[1].splitlines()) <= len(blocks[0].splitlines())
    return [block.replace("my-image:1", IMAGE).replace('["python", "-m", "trainer"]', '["sh", "-c", "echo epochs=$1"]')
            for block in blocks]


@pytest.mark.skipif(not (PYTHON / "bin/pytest").exists(), reason="tests/clients/install has not been run")
@pytest.mark.parametrize("which", [long(0), 1], ids=["without", "with"])
def test_the_examples_of_the_docs_pass(engine, tmp_path, which):
    (tmp_path / "test_example.py").write_text(examples()[which])
    (tmp_path / "trainyard").symlink_to(program())
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "DOCKER_HOST": engine.host, "TRAINYARD_OFFLINE": "true",
                   "PYTHONPATH": str(ROOT / "deploy/pytest")}
    for name in ("TRAINYARD_ENDPOINT", "TRAINYARD"):
        environment.pop(name, None)
    done = subprocess.run([str(PYTHON / "bin/python"), "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider",
                           *(["-p", "pytest_trainyard"] if which else [])],
                          cwd=tmp_path, capture_output=True, text=True, timeout=240, env=environment)
    assert "1 passed" in done.stdout, done.stdout[-6000:]
