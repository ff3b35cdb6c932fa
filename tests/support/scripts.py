# SPDX-License-Identifier: Apache-2.0
"""Runs scripts that use a client library and print one line of JSON for each test."""
import json
import os
import pathlib
import subprocess

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
INSTALLED = pathlib.Path(os.environ.get("TRAINYARD_CLIENTS", TESTS.parent / "build" / "clients"))

# For each client: the program that runs its scripts, and the files that must be installed.
NODE_MODULES, PYTHON = INSTALLED / "node/node_modules", INSTALLED / "python"
RUNNERS = {
    "googleapis-node": (["node"], NODE_MODULES / "googleapis", {"NODE_PATH": str(NODE_MODULES)}),
    "google-api-python-client": ([str(PYTHON / "bin/python"), "-B"], PYTHON / ".installed", {}),
    "aiplatform-node": (["node"], NODE_MODULES / "@google-cloud/aiplatform", {"NODE_PATH": str(NODE_MODULES)}),
    "aiplatform-python": ([str(PYTHON / "bin/python"), "-B"], PYTHON / ".installed", {}),
    "http": (["python3", "-B"], TESTS, {}),
}
# Clients that only test storage and identity.
STORAGE_RUNNERS = {
    "storage-node": (["node"], NODE_MODULES / "@google-cloud/storage", {"NODE_PATH": str(NODE_MODULES)}),
    "storage-python": RUNNERS["google-api-python-client"],
}


def run_script(recording, yard, client, script, environment=None):
    """Runs a script of tests/clients through the recorder. Returns {test: error or None}, and what it printed on stderr."""
    with recording.between(client, yard) as recorder:
        results, errors = _run(RUNNERS[client], script, (environment or {}) | {
            "TRAINYARD_ENDPOINT": recorder.base, "GOOGLE_CLOUD_PROJECT": yard.project})
    if results and not any(results.values()):
        recording.notes.run(client, script)
    return results, errors


def run_in_environment(yard, client, script, **more):
    """The same with the environment that `trainyard env` sets, and `more` variables."""
    return _run((RUNNERS | STORAGE_RUNNERS)[client], script, yard.client_environment() | more)


def _run(how, script, environment):
    runner, needed, own = how
    if not needed.exists():
        pytest.skip(f"{needed} is not there: run tests/clients/install {INSTALLED}")
    # The user's own variables for proxies and credentials must have no effect.
    kept = {k: v for k, v in os.environ.items() if "proxy" not in k.lower() and not k.startswith("GOOGLE_")}
    done = subprocess.run([*runner, str(TESTS / "clients" / script)], capture_output=True, text=True, timeout=300,
                          stdin=subprocess.DEVNULL, env=kept | own | environment)
    results = {}
    for line in done.stdout.splitlines():
        result = json.loads(line)
        results[result["name"]] = result["error"]
    return results, done.stderr
