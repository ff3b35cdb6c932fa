# SPDX-License-Identifier: Apache-2.0
"""Runs the client scripts beside this file, and reports their tests one by one.

The libraries are installed by tests/clients/install into $TRAINYARD_CLIENTS (default build/clients)."""
import pathlib
import re

import pytest

from support.scripts import run_script

HERE = pathlib.Path(__file__).parent


def names(script, pattern):
    return re.findall(pattern, (HERE / script).read_text(), re.MULTILINE)


NODE = names("googleapis_node.js", r"^  async '([^']+)'\(\)")
PYTHON = [name.replace("_", " ") for name in
          re.findall(r"\w+", names("googleapis_python.py", r"(?s)^TESTS = \[(.*?)\]")[0])]


@pytest.fixture(scope="module")
def node(recording, yard):
    return run_script(recording, yard, "googleapis-node", "googleapis_node.js")


@pytest.fixture(scope="module")
def python(recording, yard):
    return run_script(recording, yard, "google-api-python-client", "googleapis_python.py")


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
