# SPDX-License-Identifier: Apache-2.0
"""What the tests of tests/attack share: bytes on a socket, every method that changes something, and proof that nothing did."""
import contextlib
import json
import os
import pathlib
import re
import socket
import sqlite3
import time

from .wait import wait_until

JSON = "application/json"
EVIL = "http://evil.example"


def raw(yard, data, wait=10):
    """Sends bytes and the end, reads until the daemon closes the connection: it must not be silent for `wait` seconds."""
    seen = b""
    with yard.connect(wait) as client:
        with contextlib.suppress(OSError):
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionError):
            while piece := client.recv(65536):
                seen += piece
    return seen


def statuses(answer):
    return [int(code) for code in re.findall(rb"HTTP/1\.1 (\d+) ", answer)]


def _image(path):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return db.serialize()


def _rows(image):
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.deserialize(image[:18] + b"\1\1" + image[20:])  # without a log of its own, which memory cannot have
        return list(db.iterdump())


def files_below(directory):
    """All of them and all directories; what goes in the meantime is passed over, where rglob() would fail."""
    return [pathlib.Path(place, name) for place, directories, files in os.walk(directory) for name in (*directories, *files)]


def _state(yard):
    files = sorted(str(p.relative_to(yard.state_dir)) for p in files_below(yard.state_dir)
                   if not p.name.endswith(("-wal", "-shm")))
    return files, {name: _image(yard.state_dir / name) for name in ("state.db", "storage.db", "logs.db")
                   if (yard.state_dir / name).exists()}


def settle(yard):
    """Waits until nothing works on the state any more: files follow the index a moment later."""
    seen = [None]

    def is_still():
        before, seen[0] = seen[0], _state(yard)
        return before == seen[0] or time.sleep(0.2)
    wait_until(is_still, 15, "the state stands still")


@contextlib.contextmanager
def untouched(yard):
    """Not a row and not a file of the state is another afterwards, and the daemon serves."""
    before = _state(yard)
    yield
    assert yard.get("/healthz").status == 200
    after = _state(yard)
    if after != before:
        assert after[0] == before[0]
        for name, image in after[1].items():
            assert image == before[1][name] or _rows(image) == _rows(before[1][name]), name


def job_body(job_id):
    return json.dumps(dict(jobId=job_id, trainingInput=dict(region="us-central1", masterConfig=dict(imageUri="i:1")))).encode()


def request_bytes(method, path, body=b"", **headers):
    headers = {"Host": "localhost", "Content-Type": JSON, "Content-Length": str(len(body)),
               **{name.replace("_", "-"): value for name, value in headers.items()}}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items() if value is not None)
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + body


def _methods(resources):
    for resource in resources.values():
        yield from resource.get("methods", {}).values()
        yield from _methods(resource.get("resources", {}))


EXAMPLES = {"project": "p", "bucket": "attacked", "object": "o", "jobId": "j", "location": "us-central1"}


def _filled(path, method):
    def value(match):
        name = match.group(1).lstrip("+")
        pattern = method.get("parameters", {}).get(name, {}).get("pattern", "")
        if pattern:
            return re.sub(r"\[\^/\][+*]", "x", pattern.strip("^$"))
        return EXAMPLES.get(name, "x")
    return re.sub(r"\{(\+?\w+)\}", value, path)


def published(yard):
    """(method, path) of all that the discovery documents tell of, and of what is in none."""
    found = set()
    for item in yard.get("/discovery/v1/apis").json["items"]:
        document = yard.get(f"/discovery/v1/apis/{item['name']}/{item['version']}/rest").json
        for method in _methods(document["resources"]):
            found.add((method["httpMethod"], "/" + (document.get("servicePath", "") + _filled(method["path"], method)).lstrip("/")))
    found |= {("POST", "/_trainyard/v1/projects/p/jobs:plan"), ("PUT", "/attacked/o"), ("DELETE", "/attacked/o"),
              ("POST", "/attacked/o?uploads"), ("POST", "/upload/storage/v1/b/attacked/o?uploadType=media&name=o"),
              ("POST", "/upload/storage/v1/b/attacked/o?uploadType=resumable&name=o"), ("POST", "/batch/storage/v1"),
              ("GET", "/attacked/o"), ("GET", "/attacked"), ("GET", "/_trainyard/v1/projects/p/jobs/j/report")}
    vertex = "/_trainyard/v1/projects/p/locations/us-central1"
    found |= {("POST", f"{vertex}/{jobs}:plan") for jobs in ("customJobs", "hyperparameterTuningJobs")}
    found |= {("GET", f"{vertex}/{jobs}/1/report") for jobs in ("customJobs", "hyperparameterTuningJobs")}
    return sorted(found)


def mutating(yard):
    return [(method, path) for method, path in published(yard) if method != "GET"]
