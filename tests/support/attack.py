# SPDX-License-Identifier: Apache-2.0
"""Helpers for tests/attack: raw bytes on a socket, each method that changes state, and a proof that no state changed."""
import contextlib
import json
import os
import pathlib
import re
import socket
import sqlite3
import subprocess
import time

from .daemon import program
from .wait import wait_until

JSON = "application/json"
EVIL = "http://evil.example"
FAULTS, CLOCK = "/_trainyard/v1/faults", "/_trainyard/v1/clock"


def raw(yard, data, wait=10):
    """Sends the bytes, shuts the sending side down, and reads until the daemon closes. Fails after `wait` seconds of
    silence."""
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
        # sets the file format version to "without WAL", which a database in memory cannot have
        db.deserialize(image[:18] + b"\1\1" + image[20:])
        return list(db.iterdump())


def files_below(directory):
    """All files and directories below `directory`. Skips paths that disappear meanwhile, on which rglob() would fail."""
    return [pathlib.Path(place, name) for place, directories, files in os.walk(directory) for name in (*directories, *files)]


def _ordered(yard):
    """The fault rules, and by how much the clock was moved; None: it cannot be moved."""
    clock = yard.get(CLOCK).json
    return yard.get(FAULTS).json, clock["offset"] if clock["steppable"] else None


def _state(yard):
    files = sorted(str(p.relative_to(yard.state_dir)) for p in files_below(yard.state_dir)
                   if not p.name.endswith(("-wal", "-shm")))
    return files, _ordered(yard), {name: _image(yard.state_dir / name) for name in ("state.db", "storage.db", "logs.db")
                   if (yard.state_dir / name).exists()}


def _files_follow(yard):
    """Whether the file changes that the index asked for are done. Until then each is a row in the database."""
    with contextlib.closing(sqlite3.connect(f"file:{yard.state_dir / 'storage.db'}?mode=ro", uri=True)) as db:
        return db.execute("SELECT count(*) FROM post_commit").fetchone() == (0,)


def settle(yard):
    """Waits until no work changes the state any more: files follow the database a moment later."""
    seen = [None]

    def is_still():
        before, seen[0] = seen[0], _state(yard)
        return before == seen[0] and _files_follow(yard) or time.sleep(0.2)
    wait_until(is_still, 15, "the state stands still")


@contextlib.contextmanager
def untouched(yard):
    """Fails if a row, a file, a fault rule or the clock has changed in the block, or if the daemon no longer serves."""
    before = _state(yard)
    yield
    assert yard.get("/healthz").status == 200
    after = _state(yard)
    if after != before:
        assert after[:2] == before[:2]
        for name, image in after[2].items():
            assert image == before[2][name] or _rows(image) == _rows(before[2][name]), name


def job_body(job_id):
    return json.dumps(dict(jobId=job_id, trainingInput=dict(region="us-central1", masterConfig=dict(imageUri="i:1")))).encode()


def order_body(path, job_id):
    """A body that the path accepts and that changes state. For a path that does not create jobs it differs from a job."""
    order = {CLOCK: dict(advance="3600s"), FAULTS: dict(job="none", fault="preempt")}.get(path)
    return json.dumps(order).encode() if order else job_body(job_id)


def request_bytes(method, path, body=b"", **headers):
    headers = {"Host": "localhost", "Content-Type": JSON, "Content-Length": str(len(body)),
               **{name.replace("_", "-"): value for name, value in headers.items()}}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items() if value is not None)
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + body


EXAMPLES = {"project": "p", "bucket": "attacked", "object": "o", "job": "j", "location": "us-central1", "api": "ml", "version": "v1",
            "sourceBucket": "attacked", "destinationBucket": "attacked"}
NUMBERED = ("customJob", "hyperparameterTuningJob", "trainingPipeline", "model", "operation", "trial", "fault")

# The queries with which a row does different things.
FORMS_OF = {"/upload/storage/v1/b/{bucket}/o": ["?uploadType=media&name=o", "?uploadType=resumable&name=o"],
            "/resumable/upload/storage/v1/b/{bucket}/o": ["?uploadType=resumable&name=o"],
            "/{bucket}/{object=**}": ["", "?uploads"]}


def _filled(path):
    def value(match):
        name = match.group(1)
        return EXAMPLES.get(name, "1" if name in NUMBERED else "x")
    return re.sub(r"\{(\w+)(?:=\*\*)?\}", value, path)


def rows():
    """All rows of the API: (method, path, "TOKEN" or "OPEN", "JSON", "OBJECT" or "ANY"), as the product's tables have
    them."""
    printed = subprocess.run([pathlib.Path(program()).parent / "tests/support/print_routes"], capture_output=True, text=True,
                             check=True).stdout
    found = [tuple(line.split(" ")) for line in printed.splitlines()]
    assert len(found) > 200 and all(len(row) == 4 for row in found), printed
    return found


def routes():
    """The same rows with values in place of the {names}."""
    return [(method, _filled(path) + query, who, types) for method, path, who, types in rows()
            for query in (FORMS_OF.get(path, [""]) if method == "POST" else [""])]


def published():
    """(method, path) of all rows that require the token if there is one."""
    return sorted({(method, path) for method, path, who, _ in routes() if who == "TOKEN"})


def mutating():
    """All rows that may change state, whether or not they require the token."""
    return sorted({(method, path) for method, path, _, _ in routes() if method not in ("GET", "HEAD")})
