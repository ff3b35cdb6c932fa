#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ledger: which client has driven which method of ml v1 and aiplatform v1, and how many of their fields. It is the page
tests/coverage.md.

    export TRAINYARD_COVERAGE=$PWD/build/coverage.json     # a run adds its notes to it, field by field: begin without
    python3 -m pytest tests/clients                        # and, where gcloud is:
    python3 -m pytest tests/integration/test_gcloud.py tests/integration/test_gcloud_flags.py \
        tests/integration/test_gcloud_ai.py
    python3 tests/support/ledger.py --update

The columns of the clients in the file are replaced; those of the others are kept. So run all tests of a client."""
import argparse
import json
import os
import pathlib
import sys

if __package__ in (None, ""):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from support.document import Document  # noqa: E402

PAGE = pathlib.Path(__file__).resolve().parents[1] / "coverage.md"

GCLOUD, NODE, PYTHON, HTTP = "gcloud", "googleapis-node", "google-api-python-client", "http"
VERTEX_NODE, VERTEX_PYTHON = "aiplatform-node", "aiplatform-python"
CLIENTS = [GCLOUD, NODE, PYTHON, VERTEX_NODE, VERTEX_PYTHON, HTTP]
CI_CLIENTS = CLIENTS[1:]
NONE = "–"

HEAD = """\
# What clients have driven

Made by `python3 tests/support/ledger.py --update` of what tests recorded between real clients and a daemon; do not edit.
It counts methods and fields of the discovery documents (`{document}`): a field counts once for each method in whose requests it
was sent, or in whose answers it was seen. A method's row has the HTTP statuses that were seen.

Columns: `gcloud` (recorded on developers' machines), `googleapis-node`, `google-api-python-client`, `aiplatform-node`,
`aiplatform-python` (Vertex AI's own libraries, as far as they speak REST) and `http` (plain HTTP requests), which each run of
`deploy/check clients` records anew and compares.
"""


def cells_of(page):
    """{first cell of a row: {client: cell}} for all tables of a page."""
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in page.splitlines() if line.startswith("|")]
    return {row[0]: dict(zip(CLIENTS, row[-len(CLIENTS):])) for row in rows}


def rows_of(document, noted):
    """What one client has called and sent: {first cell of a row: cell}"""
    calls = {id: noted["methods"][id] for id in document.methods if id in noted["methods"]}
    rows = {"methods": len(calls)}
    for part, known in ("request", "request_fields"), ("response", "response_fields"):
        rows[f"{part} fields"] = sum(len(set(calls[id][part]) & set(getattr(document.methods[id], known))) for id in calls)
    rows["parameters of all methods"] = len(set(noted["parameters"]) & set(document.parameters))
    rows.update({f"`{id}`": ", ".join(map(str, noted["statuses"])) for id, noted in calls.items()})
    return {name: str(cell) for name, cell in rows.items()}


def updated(page, run):
    """The page with the results of a run."""
    document, before = Document(*run["documents"]), cells_of(page)
    driven = {client: rows_of(document, run["clients"][client]) if client in run["clients"] else
              {name: cells[client] for name, cells in before.items()} for client in CLIENTS}
    totals = {"methods": len(document.methods),
              "request fields": sum(len(m.request_fields) for m in document.methods.values()),
              "response fields": sum(len(m.response_fields) for m in document.methods.values()),
              "parameters of all methods": len(document.parameters)}

    def line(name, *more):
        return "| " + " | ".join([name, *more, *(driven[client].get(name, NONE) for client in CLIENTS)]) + " |"

    def head(*names):
        return ["| " + " | ".join([*names, *CLIENTS]) + " |", "| --- " * (len(names) + len(CLIENTS)) + "|"]
    lines = [HEAD.format(document=document.name), *head("driven", "of"), *(line(name, str(total)) for name, total in totals.items()),
             "", *head("method"), *(line(f"`{id}`") for id in sorted(document.methods))]
    return "\n".join(lines) + "\n"


def strange(client, run):
    """Messages about answered fields that the discovery document lacks."""
    return [f"answered, but not in the discovery document: {field}" for field in run["clients"][client]["strange"]]


def main():
    parser = argparse.ArgumentParser(description="Compares tests/coverage.md with a recorded run, or rewrites it.")
    parser.add_argument("--update", action="store_true", help="write tests/coverage.md")
    parser.add_argument("run", nargs="?", default=os.environ.get("TRAINYARD_COVERAGE"),
                        help="the file that the tests have written (default: $TRAINYARD_COVERAGE)")
    arguments = parser.parse_args()
    if not arguments.run:
        parser.error("name the file of a recorded run, or set TRAINYARD_COVERAGE to its path (see this program's head)")
    run = json.loads(pathlib.Path(arguments.run).read_text(encoding="utf-8"))
    before = PAGE.read_text(encoding="utf-8")
    after = updated(before, run)
    if arguments.update:
        PAGE.write_text(after, encoding="utf-8")
        return 0
    found = [line for line in after.splitlines() if line not in before.splitlines()]
    found += [text for client in CLIENTS if client in run["clients"] for text in strange(client, run)]
    print("\n".join(found) or "tests/coverage.md agrees with this run")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
