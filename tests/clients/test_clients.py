# SPDX-License-Identifier: Apache-2.0
"""Runs the client scripts beside this file, and reports their tests one by one.

The libraries are installed by tests/clients/install into $TRAINYARD_CLIENTS (default build/clients)."""
import json
import os
import pathlib
import re
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
INSTALLED = pathlib.Path(os.environ.get("TRAINYARD_CLIENTS", HERE.parents[1] / "build" / "clients"))


def names(script, pattern):
    return re.findall(pattern, (HERE / script).read_text(), re.MULTILINE)


NODE = names("googleapis_node.js", r"^  async '([^']+)'\(\)")
PYTHON = [name.replace("_", " ") for name in
          re.findall(r"\w+", names("googleapis_python.py", r"(?s)^TESTS = \[(.*?)\]")[0])]


def run(yard, command, needed, **environment):
    if not needed.exists():
        pytest.skip(f"{needed} is not there: run tests/clients/install {INSTALLED}")
    # Whatever the user's environment says about proxies and credentials must not matter.
    kept = {k: v for k, v in os.environ.items() if "proxy" not in k.lower() and not k.startswith("GOOGLE_")}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL,
                          env=dict(kept, TRAINYARD_ENDPOINT=yard.base, GOOGLE_CLOUD_PROJECT=yard.project, **environment))
    results = {}
    for line in done.stdout.splitlines():
        result = json.loads(line)
        results[result["name"]] = result["error"]
    return results, done.stderr


@pytest.fixture(scope="module")
def node(yard):
    return run(yard, ["node", str(HERE / "googleapis_node.js")], INSTALLED / "node/node_modules/googleapis",
               NODE_PATH=str(INSTALLED / "node/node_modules"))


@pytest.fixture(scope="module")
def python(yard):
    return run(yard, [str(INSTALLED / "python/bin/python"), str(HERE / "googleapis_python.py")],
               INSTALLED / "python/.installed")


@pytest.mark.parametrize("name", NODE)
def test_googleapis_for_node(node, name):
    results, errors = node
    assert name in results, f"did not run: {errors}"
    assert results[name] is None, results[name]


@pytest.mark.parametrize("name", PYTHON)
def test_googleapis_for_python(python, name):
    results, errors = python
    assert name in results, f"did not run: {errors}"
    assert results[name] is None, results[name]
