# SPDX-License-Identifier: Apache-2.0
"""Scripts that drive a client library and print one line of JSON a test."""
import json
import os
import pathlib
import subprocess

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
INSTALLED = pathlib.Path(os.environ.get("TRAINYARD_CLIENTS", TESTS.parent / "build" / "clients"))

# The runner of a client's scripts, and what must be there for it.
NODE_MODULES, PYTHON = INSTALLED / "node/node_modules", INSTALLED / "python"
RUNNERS = {
    "googleapis-node": (["node"], NODE_MODULES / "googleapis", {"NODE_PATH": str(NODE_MODULES)}),
    "google-api-python-client": ([str(PYTHON / "bin/python"), "-B"], PYTHON / ".installed", {}),
    "aiplatform-node": (["node"], NODE_MODULES / "@google-cloud/aiplatform", {"NODE_PATH": str(NODE_MODULES)}),
    "aiplatform-python": ([str(PYTHON / "bin/python"), "-B"], PYTHON / ".installed", {}),
    "http": (["python3", "-B"], TESTS, {}),
}
# Those of clients that only storage and identity are for.
STORAGE_RUNNERS = {
    "storage-node": (["node"], NODE_MODULES / "@google-cloud/storage", {"NODE_PATH": str(NODE_MODULES)}),
    "storage-python": RUNNERS["google-api-python-client"],
}


def run_script(recording, yard, client, script, environment=None):
    """{test: error or None} of a script in tests/clients, and what it printed on stderr. The recorder hears it."""
    with recording.between(client, yard) as recorder:
        results, errors = _run(RUNNERS[client], script, (environment or {}) | {
            "TRAINYARD_ENDPOINT": recorder.base, "GOOGLE_CLOUD_PROJECT": yard.project})
    if results and not any(results.values()):
        recording.notes.run(client, script)
    return results, errors


def run_in_environment(yard, client, script, **more):
    """The same of a script that is pointed at the daemon by what `trainyard env` says, and `more` variables."""
    return _run((RUNNERS | STORAGE_RUNNERS)[client], script, yard.client_environment() | more)


def _run(how, script, environment):
    runner, needed, own = how
    if not needed.exists():
        pytest.skip(f"{needed} is not there: run tests/clients/install {INSTALLED}")
    # Whatever the user's environment says about proxies and credentials must not matter.
    kept = {k: v for k, v in os.environ.items() if "proxy" not in k.lower() and not k.startswith("GOOGLE_")}
    done = subprocess.run([*runner, str(TESTS / "clients" / script)], capture_output=True, text=True, timeout=300,
                          stdin=subprocess.DEVNULL, env=kept | own | environment)
    results = {}
    for line in done.stdout.splitlines():
        result = json.loads(line)
        results[result["name"]] = result["error"]
    return results, done.stderr
