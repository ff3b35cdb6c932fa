# SPDX-License-Identifier: Apache-2.0
"""Every field of Job through each client: the scripts beside this file send what fields.json lists."""
import json
import pathlib

import pytest

from support.scripts import run_script

FIELDS = json.loads(pathlib.Path(__file__).with_name("fields.json").read_text())
SCRIPTS = {"googleapis-node": "fields_node.js", "google-api-python-client": "fields_python.py", "http": "fields_http.py"}
NAMES = (["holds the queue"] + ["sends " + row["name"] for row in FIELDS["accepted"]]
         + ["is refused " + row["name"] for row in FIELDS["refused"]]
         + ["lists them all page after page", "takes the parameters of every method", "keeps a policy",
            "knows the project and its locations", "sees how jobs end"])


@pytest.fixture(scope="module")
def results(recording, narrow_yard):
    done = {}

    def find(client):
        if client not in done:
            try:
                done[client] = run_script(recording, narrow_yard, client, SCRIPTS[client])
            finally:
                narrow_yard.cancel_all()
        return done[client]
    return find


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("client", SCRIPTS)
def test_fields(results, client, name):
    found, errors = results(client)
    assert name in found, f"did not run: {errors}"
    assert found[name] is None, found[name]
