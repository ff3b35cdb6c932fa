# SPDX-License-Identifier: Apache-2.0
"""tests/coverage.md lists exactly what this run has called. `tests/support/ledger.py --update` rewrites it."""
import pytest

from support import ledger

# Scripts whose calls go through the recorder.
SCRIPTS = {ledger.NODE: ["googleapis_node.js", "fields_node.js"], ledger.PYTHON: ["googleapis_python.py", "fields_python.py"],
           ledger.VERTEX_NODE: ["aiplatform_node.js"], ledger.VERTEX_PYTHON: ["aiplatform_python.py"], ledger.HTTP: ["fields_http.py", "aiplatform_http.py"]}


@pytest.mark.parametrize("client", ledger.CI_CLIENTS)
def test_the_ledger_is_true_of(recording, client):
    noted = recording.notes.clients if recording.notes else {}
    missing = set(SCRIPTS[client]) - set(noted.get(client, {}).get("runs", []))
    if missing:
        pytest.skip(f"not all of {client}'s scripts ran well before this: {', '.join(sorted(missing))}")
    run = {"documents": recording.notes.document.values, "clients": {client: noted[client]}}
    page = ledger.PAGE.read_text(encoding="utf-8")
    assert ledger.strange(client, run) == []
    assert ledger.updated(page, run).splitlines() == page.splitlines()
