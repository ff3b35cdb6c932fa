# SPDX-License-Identifier: Apache-2.0
"""tests/coverage.json says what this run has driven, no more and no less. `tests/support/ledger.py --update` rewrites it."""
import pathlib

import pytest

from support import ledger
from support.document import ADDRESS, Document

HERE = pathlib.Path(__file__).parent
SCRIPTS = {ledger.NODE: "*_node.js", ledger.PYTHON: "*_python.py", ledger.HTTP: "*_http.py"}


def test_every_method_and_field_of_the_document_has_a_row(yard):
    answer = yard.get(ADDRESS)
    assert answer.status == 200, answer
    assert ledger.row_differences(ledger.load(), Document(answer.json)) == []


@pytest.mark.parametrize("client", ledger.CI_CLIENTS)
def test_the_ledger_is_true_of(recording, client):
    noted = recording.notes.clients if recording.notes else {}
    scripts = {path.name for path in HERE.glob(SCRIPTS[client])}
    missing = scripts - set(noted.get(client, {}).get("runs", []))
    if missing:
        pytest.skip(f"not all of {client}'s scripts ran well before this: {', '.join(sorted(missing))}")
    assert ledger.client_differences(client, ledger.load(), {"clients": noted}) == []


def test_the_page_is_made_of_the_file():
    assert ledger.MARKDOWN.read_text(encoding="utf-8") == ledger.to_markdown(ledger.load())
    assert ledger.JSON.read_text(encoding="utf-8") == ledger.to_json(ledger.load())
