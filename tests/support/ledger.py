#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ledger: which client has driven which method and field of ml v1 and aiplatform v1. tests/coverage.json, and tests/coverage.md
made of it.

    export TRAINYARD_COVERAGE=$PWD/build/coverage.json     # what runs note is added to it: begin without
    python3 -m pytest tests/clients                        # and, where gcloud is:
    python3 -m pytest tests/integration/test_gcloud.py tests/integration/test_gcloud_flags.py \
        tests/integration/test_gcloud_ai.py
    python3 tests/support/ledger.py --update

The rows of the clients in the file are replaced; those of the others are kept. So run all tests of a client."""
import argparse
import json
import os
import pathlib
import sys

if __package__ in (None, ""):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from support.document import Document  # noqa: E402

TESTS = pathlib.Path(__file__).resolve().parents[1]
JSON, MARKDOWN = TESTS / "coverage.json", TESTS / "coverage.md"

GCLOUD, NODE, PYTHON, HTTP = "gcloud", "googleapis-node", "google-api-python-client", "http"
VERTEX_NODE, VERTEX_PYTHON = "aiplatform-node", "aiplatform-python"
CLIENTS = [GCLOUD, NODE, PYTHON, VERTEX_NODE, VERTEX_PYTHON, HTTP]
CI_CLIENTS = CLIENTS[1:]


def rows_of(document):
    """What must have a row: {method: {"request": […], "response": […]}}"""
    return {m.id: {"request": m.request_fields, "response": m.response_fields} for m in document.methods.values()}


def load():
    return json.loads(JSON.read_text(encoding="utf-8")) if JSON.exists() else {"methods": {}, "parameters": {}}


def notes_of(client, run):
    """What a run has noted of one client, in the ledger's own form: {(method, part, field): cell}"""
    noted = run["clients"].get(client, {"methods": {}, "parameters": []})
    found = {}
    for method, calls in noted["methods"].items():
        found[method, "calls", ""] = calls["statuses"]
        found.update({(method, "request", field): how for field, how in calls["request"].items()})
        found.update({(method, "response", field): "seen" for field in calls["response"]})
    found.update({("", "parameters", name): "accepted" for name in noted["parameters"]})
    return found


def claims_of(client, ledger):
    """The same, of what the ledger says."""
    found = {}
    for method, parts in ledger["methods"].items():
        for part, rows in parts.items():
            for field, cells in ({"": rows} if part == "calls" else rows).items():
                if client in cells:
                    found[method, part, field] = cells[client]
    found.update({("", "parameters", name): cells[client] for name, cells in ledger["parameters"].items()
                  if client in cells})
    return found


def updated(ledger, run):
    """The ledger after a run."""
    document = Document(*run["documents"])
    said = {}
    for client in CLIENTS:
        said[client] = notes_of(client, run) if client in run["clients"] else claims_of(client, ledger)

    def cells(*key):
        return {client: said[client][key] for client in CLIENTS if key in said[client]}
    methods = {}
    for method, parts in rows_of(document).items():
        methods[method] = {"calls": cells(method, "calls", "")} | {
            part: {field: cells(method, part, field) for field in fields} for part, fields in parts.items()}
    return {"document": document.name, "methods": dict(sorted(methods.items())),
            "parameters": {name: cells("", "parameters", name) for name in document.parameters}}


def row_differences(ledger, document):
    """Rows that the document asks for and the ledger has not, and the other way round."""
    wanted = {(method, part, field) for method, parts in rows_of(document).items()
              for part, fields in parts.items() for field in fields}
    wanted |= {("", "parameters", name) for name in document.parameters}
    there = {(method, part, field) for method, parts in ledger["methods"].items()
             for part in ("request", "response") for field in parts[part]}
    there |= {("", "parameters", name) for name in ledger["parameters"]}
    return ([f"no row: {' '.join(row)}" for row in sorted(wanted - there)]
            + [f"not in the document: {' '.join(row)}" for row in sorted(there - wanted)])


def client_differences(client, ledger, run):
    """Where the ledger is not true of a client that was recorded just now."""
    now, claimed, found = notes_of(client, run), claims_of(client, ledger), []
    for key in sorted(now.keys() | claimed.keys()):
        old, new = claimed.get(key), now.get(key)
        if old != new:
            found.append(f"{' '.join(key)}: the ledger says {old}, this run {new}")
    return found + [f"answered, and not in the document: {field}" for field in run["clients"][client]["strange"]]


# ---- writing ---------------------------------------------------------------------------------------------

def to_json(ledger):
    """One line a row, so that a change reads as one."""
    def block(rows, indent):
        lines = [f"{indent} {json.dumps(name)}: {json.dumps(cells)}" for name, cells in rows.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}" if lines else "{}"
    methods = []
    for name, parts in ledger["methods"].items():
        inside = [f'   "calls": {json.dumps(parts["calls"])}']
        inside += [f'   "{part}": {block(parts[part], "   ")}' for part in ("request", "response")]
        methods.append(f"  {json.dumps(name)}: {{\n" + ",\n".join(inside) + "\n  }")
    return (f'{{\n "document": {json.dumps(ledger["document"])},\n "parameters": {block(ledger["parameters"], " ")},\n'
            ' "methods": {\n' + ",\n".join(methods) + "\n }\n}\n")


CELLS = {"accepted": "yes", "seen": "yes", "refused": "refused"}

HEAD = """\
# What clients have driven

Made by `python3 tests/support/ledger.py --update` of what tests recorded between real clients and a daemon; do not edit.
Each method and field of the discovery documents (`{document}`) has a row.

* **yes**: sent, and taken; or seen in an answer.
* **refused**: sent, and always answered with an error: trainyard (or the service itself) does not take such jobs.
* **–**: no test has driven it with this client.

Columns: `gcloud` (recorded on developers' machines), `googleapis-node`, `google-api-python-client`, `aiplatform-node`,
`aiplatform-python` (Vertex AI's own libraries, as far as they speak REST) and `http` (plain HTTP requests), which each run of `deploy/check clients` records anew and compares. In requests `{{name}}` is a parameter of the
path and `?name` one of the query; `[]` is each element of a list, `{{}}` each value of a map.
"""


def table(first, rows):
    yield f"| {first} | " + " | ".join(CLIENTS) + " |"
    yield "| --- " * (len(CLIENTS) + 1) + "|"
    for name, cells in rows.items():
        texts = [cells.get(client, "–") for client in CLIENTS]
        texts = [CELLS.get(t, t) if isinstance(t, str) else ", ".join(map(str, t)) for t in texts]
        yield f"| `{name}` | " + " | ".join(texts) + " |"


def summary(ledger):
    """How many rows have a client, by client."""
    parts = {"methods": [parts["calls"] for parts in ledger["methods"].values()]}
    for part in ("request", "response"):
        parts[part + " fields"] = [cells for m in ledger["methods"].values() for cells in m[part].values()]
    yield "| driven | of | any client | " + " | ".join(CLIENTS) + " |"
    yield "| --- " * (len(CLIENTS) + 3) + "|"
    for name, rows in parts.items():
        counts = [sum(bool(cells) for cells in rows)] + [sum(client in cells for cells in rows) for client in CLIENTS]
        yield f"| {name} | {len(rows)} | " + " | ".join(map(str, counts)) + " |"


def to_markdown(ledger):
    lines = [HEAD.format(document=ledger["document"]), *summary(ledger), "", "## Methods", "",
             "With the HTTP statuses that were seen.", ""]
    lines += table("method", {name: parts["calls"] for name, parts in ledger["methods"].items()})
    lines += ["", "## Parameters that every method takes", "", *table("parameter", ledger["parameters"])]
    for name, parts in ledger["methods"].items():
        lines += ["", f"## {name}"]
        for part, title in (("request", "field of the request"), ("response", "field of the answer")):
            if parts[part]:
                lines += ["", *table(title, parts[part])]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Compares tests/coverage.json with a recorded run, or rewrites it.")
    parser.add_argument("--update", action="store_true", help="write tests/coverage.json and tests/coverage.md")
    parser.add_argument("run", nargs="?", default=os.environ.get("TRAINYARD_COVERAGE"),
                        help="what the tests have recorded (default: $TRAINYARD_COVERAGE)")
    arguments = parser.parse_args()
    ledger = load()
    if not arguments.run and not arguments.update:
        parser.error("no recorded run is named")
    run = json.loads(pathlib.Path(arguments.run).read_text(encoding="utf-8")) if arguments.run else None
    if arguments.update:
        ledger = updated(ledger, run) if run else ledger
        JSON.write_text(to_json(ledger), encoding="utf-8")
        MARKDOWN.write_text(to_markdown(ledger), encoding="utf-8")
        return 0
    found = row_differences(ledger, Document(*run["documents"]))
    for client in CLIENTS:
        if client in run["clients"]:
            found += [f"{client}: {text}" for text in client_differences(client, ledger, run)]
    print("\n".join(found) or "the ledger is true of this run")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
