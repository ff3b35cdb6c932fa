# SPDX-License-Identifier: Apache-2.0
"""Tests the recorder itself, the discovery documents by which it reads requests, and the ledger, without an engine."""
import contextlib
import gzip
import json
import socket
import threading

import pytest

from support import ledger
from support.document import Document, snake
from support.recorder import Message, Notes, Recorder, Recording, merge

PATTERN = "^projects/[^/]+$"


def parameter(name, location="query", **more):
    return {name: dict({"location": location, "type": "string"}, **more)}


THING = {"type": "object", "properties": {
    "thingId": {"type": "string"},
    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    "parts": {"type": "array", "items": {"$ref": "Part"}},
    "bootDiskSizeGb": {"type": "integer"},
    "consumedMLUnits": {"type": "number"},
    "anything": {"type": "object", "additionalProperties": {"type": "any"}},
    "inside": {"$ref": "Thing"},
}}
DOCUMENT = Document({
    "name": "toy", "version": "v1",
    "parameters": parameter("alt") | parameter("$.xgafv") | parameter("fields"),
    "schemas": {"Thing": THING,
                "Part": {"type": "object", "properties": {"names": {"type": "array", "items": {"type": "string"}}}}},
    "resources": {"projects": {"resources": {"things": {"methods": {
        "create": {"id": "toy.create", "httpMethod": "POST", "path": "v1/{+parent}/things",
                   "parameters": parameter("parent", "path", pattern=PATTERN) | parameter("thingSize"),
                   "request": {"$ref": "Thing"}, "response": {"$ref": "Thing"}},
        "get": {"id": "toy.get", "httpMethod": "GET", "path": "v1/{+name}", "response": {"$ref": "Thing"},
                "parameters": parameter("name", "path", pattern="^projects/[^/]+/things/[^/]+$")},
        "fly": {"id": "toy.fly", "httpMethod": "GET", "path": "v1/{+name}:fly",
                "parameters": parameter("name", "path", pattern="^projects/[^/]+/things/[^/]+$")},
    }}}}},
})


# ---- documents -------------------------------------------------------------------------------------------

def test_rows_are_paths_and_a_message_inside_itself_ends_there():
    assert DOCUMENT.rows("Thing") == ["thingId", "labels{}", "parts[]", "parts[].names[]", "bootDiskSizeGb", "consumedMLUnits",
                                      "anything", "inside"]
    assert DOCUMENT.methods["toy.create"].request_fields[:2] == ["{parent}", "?thingSize"]


@pytest.mark.parametrize("verb,path,method", [
    ("POST", "/v1/projects/p/things", "toy.create"),
    ("GET", "/v1/projects/p/things/t", "toy.get"),
    ("GET", "/v1/projects/p/things/t:fly", "toy.fly"),
    ("GET", "/v1/projects%2Fp/things/t", "toy.get"),
    ("GET", "/v1/projects/p/things", None),
    ("GET", "/v2/projects/p/things/t", None),
])
def test_a_request_is_known_by_its_method_and_path(verb, path, method):
    found = DOCUMENT.method(verb, path)
    assert (found.id if found else None) == method


def test_fields_are_seen_in_either_spelling_and_null_is_none():
    value = {"thing_id": "x", "labels": {"a": "b"}, "parts": [{"names": ["n"]}, {}], "boot_disk_size_gb": 1, "inside": None,
             "consumed_ml_units": 0.5, "anything": {"what": {"ever": 1}}, "unknown": 1}
    known, strange = DOCUMENT.seen("Thing", value)
    assert known == {"thingId", "labels{}", "parts[]", "parts[].names[]", "bootDiskSizeGb", "consumedMLUnits", "anything"}
    assert strange == {"unknown"}
    assert snake("consumedMLUnits") == "consumed_ml_units" and snake("trainingInput") == "training_input"


@pytest.mark.parametrize("value", [None, [], "text", 7, {"parts": "no list", "labels": 1}, {"parts": [1, None]}])
def test_bodies_of_any_shape_are_looked_at(value):
    DOCUMENT.seen("Thing", value)


# ---- the recorder ----------------------------------------------------------------------------------------

class Server:
    """Answers every connection with the same bytes once the expected number of bytes has arrived; keeps what it received."""

    def __init__(self, expected, answer):
        self.expected, self.answer, self.got = expected, answer, b""
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        connection, _ = self.listener.accept()
        with connection:
            while len(self.got) < self.expected:
                data = connection.recv(65536)
                if not data:
                    break
                self.got += data
            connection.sendall(self.answer)


def exchange(asked, answered, piece=None):
    """Sends `asked` through a recorder in pieces; returns what arrived on either side, and what was recorded."""
    noted, server = [], Server(len(asked), answered)
    with Recorder(server.port, lambda request, answer: noted.append((request, answer))) as recorder:
        with socket.create_connection(("127.0.0.1", recorder.port), timeout=30) as client:
            for start in range(0, len(asked), piece or len(asked)):
                client.sendall(asked[start:start + (piece or len(asked))])
            back = b""
            while True:
                data = client.recv(65536)
                if not data:
                    break
                back += data
    server.thread.join()
    server.listener.close()
    assert (server.got, back) == (asked, answered)
    return noted


LENGTH = b"POST /v1/projects/p/things HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n" + b'{"thingId":"x"}'
CHUNKED = (b"POST /v1/projects/p/things HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
           b"5;note=1\r\n{\"thi\r\na\r\nngId\":\"x\"}\r\n0\r\nTrailer: t\r\n\r\n")
GET = b"GET /v1/projects/p/things/t HTTP/1.1\r\n\r\n"
OK = b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"thingId":"x"}'
ZIPPED = gzip.compress(b'{"thingId":"x"}', mtime=0)

EXCHANGES = [
    # name, request bytes, answer bytes, [(method, request's body, status, answer's body)]
    ("length", LENGTH, OK, [("POST", {"thingId": "x"}, 200, {"thingId": "x"})]),
    ("chunked", CHUNKED, b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n{"thingId":"x"}\r\n0\r\n\r\n',
     [("POST", {"thingId": "x"}, 200, {"thingId": "x"})]),
    ("kept alive", GET + CHUNKED + GET, OK + OK + OK,
     [("GET", None, 200, {"thingId": "x"}), ("POST", {"thingId": "x"}, 200, {"thingId": "x"}), ("GET", None, 200, {"thingId": "x"})]),
    ("to the end", GET, b'HTTP/1.0 200 OK\r\n\r\n{"thingId":"x"}', [("GET", None, 200, {"thingId": "x"})]),
    ("compressed", GET, b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(ZIPPED) + ZIPPED,
     [("GET", None, 200, {"thingId": "x"})]),
    ("continue", LENGTH, b"HTTP/1.1 100 Continue\r\n\r\n" + OK, [("POST", {"thingId": "x"}, 200, {"thingId": "x"})]),
    ("head", GET.replace(b"GET", b"HEAD") + GET, b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n" + OK,
     [("HEAD", None, 200, None), ("GET", None, 200, {"thingId": "x"})]),
    ("no content", GET + GET, b"HTTP/1.1 204 No Content\r\n\r\n" + OK,
     [("GET", None, 204, None), ("GET", None, 200, {"thingId": "x"})]),
    ("not JSON", GET, b"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\n{]", [("GET", None, 500, None)]),
    ("not HTTP", b"\x16\x03\x01 what is this\r\n\r\n\xff\xfe", b"\x00\r\n\r\n\x01", []),
    ("odd length", LENGTH.replace(b"15", b"xx"), OK, [("POST", None, 200, {"thingId": "x"})]),
]


@pytest.mark.parametrize("piece", [None, 1, 7], ids=["at once", "byte by byte", "in pieces"])
@pytest.mark.parametrize("asked,answered,wanted", [row[1:] for row in EXCHANGES], ids=[row[0] for row in EXCHANGES])
def test_bytes_go_through_and_messages_are_noted(asked, answered, wanted, piece):
    noted = exchange(asked, answered, piece)
    assert [(q.method, q.json(), a.status, a.json()) for q, a in noted] == wanted


def test_a_recorder_ends_though_a_client_stays_connected():
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        with Recorder(listener.getsockname()[1], None) as recorder:
            stack.enter_context(socket.create_connection(("127.0.0.1", recorder.port)))
            stack.enter_context(listener.accept()[0])


# ---- notes and the ledger --------------------------------------------------------------------------------

def request(first, body=b"", **headers):
    message = Message("\r\n".join([first + " HTTP/1.1"] + [f"{k.replace('_', '-')}: {v}" for k, v in headers.items()]).encode())
    message.body += body
    return message


def answer(status, value):
    message = Message(f"HTTP/1.1 {status} X".encode())
    message.body += json.dumps(value).encode()
    return message


def noted(*exchanges):
    notes = Notes(DOCUMENT)
    for asked, answered in exchanges:
        notes.exchange("http", asked, answered)
    return notes.clients


CREATE = "POST /v1/projects/p/things?alt=json&thing_size=3"


def test_what_is_refused_once_and_accepted_once_is_accepted():
    clients = noted((request(CREATE, b'{"thingId": "x", "labels": {}}'), answer(400, {"error": {}})),
                    (request(CREATE, b'{"thingId": "x"}'), answer(200, {"thingId": "x", "later": 1})))
    assert clients["http"]["methods"] == {"toy.create": {
        "statuses": [200, 400], "response": ["thingId"],
        "request": {"{parent}": "accepted", "?thingSize": "accepted", "thingId": "accepted", "labels{}": "refused"}}}
    assert (clients["http"]["parameters"], clients["http"]["strange"]) == (["?alt"], ["toy.create later"])


def test_a_get_that_is_too_long_for_an_address_is_one():
    clients = noted((request("POST /v1/projects/p/things/t", b"alt=json", x_http_method_override="GET"), answer(200, {})))
    assert list(clients["http"]["methods"]) == ["toy.get"] and clients["http"]["parameters"] == ["?alt"]


def test_an_answer_cut_by_a_mask_or_of_another_service_says_nothing():
    clients = noted((request("GET /v1/projects/p/things/t?fields=x"), answer(200, {"thingId": "x"})),
                    (request("POST /v2/entries:list", b"{}"), answer(200, {"entries": []})))
    assert clients["http"]["methods"]["toy.get"]["response"] == [] and len(clients["http"]["methods"]) == 1


def run_of(*exchanges):
    return {"documents": DOCUMENT.values, "clients": noted(*exchanges)}


GOOD = (request(CREATE, b'{"thingId": "x"}'), answer(200, {"thingId": "x"}))


def test_a_page_made_of_a_run_is_true_of_it_and_has_every_method():
    run = run_of(GOOD)
    page = ledger.updated("", run)
    assert ledger.updated(page, run) == page and ledger.strange("http", run) == []
    cells = ledger.cells_of(page)
    assert cells["`toy.create`"]["http"] == "200" and cells["`toy.get`"]["http"] == "–"
    assert cells["methods"]["http"] == "1" and cells["methods"]["gcloud"] == "–"
    assert {f"`{id}`" for id in DOCUMENT.methods} <= set(cells)


def test_a_page_that_claims_too_much_or_too_little_is_found_out():
    page = ledger.updated("", run_of(GOOD))
    more = run_of(GOOD, (request(CREATE, b'{"labels": {}}'), answer(200, {"bootDiskSizeGb": 1, "odd": 1})))
    less = run_of((request("GET /v1/projects/p/things/t"), answer(404, {})))
    before = ledger.cells_of(page)
    for run, step in (more, 1), (less, -1):
        assert ledger.updated(page, run) != page
        after = ledger.cells_of(ledger.updated(page, run))
        for part in "request fields", "response fields":
            assert (int(after[part]["http"]) - int(before[part]["http"])) * step > 0, part
    assert ledger.strange("http", more) == ["answered, but not in the discovery document: toy.create odd"]


def test_clients_that_a_run_has_not_keep_their_cells():
    run = run_of((request("GET /v1/projects/p/things/t"), answer(200, {"thingId": "x"})))
    before = ledger.updated("", {"documents": DOCUMENT.values, "clients": {"gcloud": noted(GOOD)["http"]}})
    after = ledger.cells_of(ledger.updated(before, run))
    assert after["`toy.create`"]["gcloud"] == "200" and after["`toy.create`"]["http"] == "–"
    assert after["`toy.get`"] == dict.fromkeys(ledger.CLIENTS, "–") | {"http": "200"}


def test_runs_side_by_side_add_to_one_file(tmp_path):
    path = tmp_path / "deep" / "run.json"
    for client in ("http", "gcloud", "http"):
        recording = Recording(path)
        recording.notes = Notes(DOCUMENT)
        recording.notes.exchange(client, *GOOD)
        recording.notes.run(client, "script")
        recording.save()
    assert sorted(json.loads(path.read_text())["clients"]) == ["gcloud", "http"]
    both = {}
    merge(both, noted((request(CREATE, b'{"thingId": "x"}'), answer(400, {}))))
    merge(both, noted(GOOD))
    assert both["http"]["methods"]["toy.create"]["request"]["thingId"] == "accepted"
