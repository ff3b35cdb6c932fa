# SPDX-License-Identifier: Apache-2.0
"""Runs the scripts that use Google's storage and auth libraries, and reports their tests one by one.

Their environment is exactly what `trainyard env` prints. They call the daemon directly, because the recorder counts fields,
and these calls are about objects."""
import pathlib
import re

import pytest

from support.scripts import run_in_environment

HERE = pathlib.Path(__file__).parent
SCRIPTS = {"storage_node.js": "storage-node", "storage_python.py": "storage-python", "gcsfs_python.py": "storage-python",
           "identity_python.py": "storage-python"}


def names(script):
    text = (HERE / script).read_text()
    if script.endswith(".js"):
        return re.findall(r"^  async '([^']+)'\(\)", text, re.MULTILINE)
    return [name.replace("_", " ") for name in re.findall(r"\w+", re.findall(r"(?s)^TESTS = \[(.*?)\]", text, re.M)[0])]


@pytest.fixture(scope="module")
def results(yard):
    """Runs a script when its first test needs it."""
    ran = {}

    def of(script):
        if script not in ran:
            ran[script] = run_in_environment(yard, SCRIPTS[script], script)
        return ran[script]
    return of


@pytest.mark.parametrize("script, name", [(script, name) for script in SCRIPTS for name in names(script)])
def test_client(results, script, name):
    found, errors = results(script)
    assert name in found, f"did not run: {errors}"
    assert found[name] is None, found[name]
