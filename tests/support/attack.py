# SPDX-License-Identifier: Apache-2.0
"""What the tests of tests/attack share: bytes on a socket, every method that changes something, and proof that nothing did."""
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


def _ordered(yard):
    """What is to happen, and when: as those are told who may ask."""
    clock = yard.get(CLOCK).json
    return yard.get(FAULTS).json, clock["offset"] if clock["steppable"] else None


def _state(yard):
    files = sorted(str(p.relative_to(yard.state_dir)) for p in files_below(yard.state_dir)
                   if not p.name.endswith(("-wal", "-shm")))
    return files, _ordered(yard), {name: _image(yard.state_dir / name) for name in ("state.db", "storage.db", "logs.db")
                   if (yard.state_dir / name).exists()}


def _files_follow(yard):
    """Whether all is done with files that changes of the index asked for: until then it is a row."""
    with contextlib.closing(sqlite3.connect(f"file:{yard.state_dir / 'storage.db'}?mode=ro", uri=True)) as db:
        return db.execute("SELECT count(*) FROM post_commit").fetchone() == (0,)


def settle(yard):
    """Waits until nothing works on the state any more: files follow the index a moment later."""
    seen = [None]

    def is_still():
        before, seen[0] = seen[0], _state(yard)
        return before == seen[0] and _files_follow(yard) or time.sleep(0.2)
    wait_until(is_still, 15, "the state stands still")


@contextlib.contextmanager
def untouched(yard):
    """Not a row, a file, a rule or the clock is another afterwards, and the daemon serves."""
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
    """What does something at that path, where a job's creation would not."""
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

# What a row is depends on its query.
FORMS_OF = {"/upload/storage/v1/b/{bucket}/o": ["?uploadType=media&name=o", "?uploadType=resumable&name=o"],
            "/resumable/upload/storage/v1/b/{bucket}/o": ["?uploadType=resumable&name=o"],
            "/{bucket}/{object=**}": ["", "?uploads"]}


def _filled(path):
    def value(match):
        name = match.group(1)
        return EXAMPLES.get(name, "1" if name in NUMBERED else "x")
    return re.sub(r"\{(\w+)(?:=\*\*)?\}", value, path)


def rows():
    """(method, path, "TOKEN" or "OPEN", "JSON", "OBJECT" or "ANY") of all rows of the API, as their tables have them."""
    printed = subprocess.run([pathlib.Path(program()).parent / "tests/support/print_routes"], capture_output=True, text=True,
                             check=True).stdout
    found = [tuple(line.split(" ")) for line in printed.splitlines()]
    assert len(found) > 200 and all(len(row) == 4 for row in found), printed
    return found


def routes():
    """The same, names filled in."""
    return [(method, _filled(path) + query, who, types) for method, path, who, types in rows()
            for query in (FORMS_OF.get(path, [""]) if method == "POST" else [""])]


def published():
    """(method, path) of all that wants the token where one is wanted."""
    return sorted({(method, path) for method, path, who, _ in routes() if who == "TOKEN"})


def mutating():
    """Of all that may change something, open or not."""
    return sorted({(method, path) for method, path, _, _ in routes() if method not in ("GET", "HEAD")})
