# SPDX-License-Identifier: Apache-2.0
"""tests/coverage.json says what this run has driven, no more and no less. `tests/support/ledger.py --update` rewrites it."""
import pytest

from support import ledger
from support.document import ADDRESSES, Document

# Those that go through the recorder.
SCRIPTS = {ledger.NODE: ["googleapis_node.js", "fields_node.js"], ledger.PYTHON: ["googleapis_python.py", "fields_python.py"],
           ledger.VERTEX_NODE: ["aiplatform_node.js"],
           ledger.VERTEX_PYTHON: ["aiplatform_python.py", "aiplatform_training_python.py"], ledger.HTTP: ["fields_http.py", "aiplatform_http.py"]}


def test_every_method_and_field_of_the_document_has_a_row(yard):
    document = Document(*(yard.get(address).json for address in ADDRESSES))
    assert ledger.row_differences(ledger.load(), document) == []


@pytest.mark.parametrize("client", ledger.CI_CLIENTS)
def test_the_ledger_is_true_of(recording, client):
    noted = recording.notes.clients if recording.notes else {}
    missing = set(SCRIPTS[client]) - set(noted.get(client, {}).get("runs", []))
    if missing:
        pytest.skip(f"not all of {client}'s scripts ran well before this: {', '.join(sorted(missing))}")
    assert ledger.client_differences(client, ledger.load(), {"clients": noted}) == []


def test_the_page_is_made_of_the_file():
    assert ledger.MARKDOWN.read_text(encoding="utf-8") == ledger.to_markdown(ledger.load())
    assert ledger.JSON.read_text(encoding="utf-8") == ledger.to_json(ledger.load())
