# SPDX-License-Identifier: Apache-2.0
"""kill -9 of the daemon while objects come and go: what was acknowledged is there, and whole; nothing else is seen.

    pytest tests/crash/test_storage_crash.py --cycles 10 --seed 20     # all of it ten times; what is drawn, by seeds from 21 on"""
import concurrent.futures
import contextlib
import http.client
import random
import threading

import pytest

from support.daemon import Daemon
from support.engine import Engine
from support.storage import KIB, MIB, Storage, pattern, tree_contents
from support.wait import wait_until

pytestmark = pytest.mark.each_cycle
NO_ENGINE = Engine("/nonexistent/docker.sock")
WRITERS = 6


@pytest.fixture
def storage(tmp_path):
    with Daemon(tmp_path, NO_ENGINE) as daemon:
        yield Storage(daemon)


class Books:
    """The acknowledged state: for each name the number of its last version, or None if it was deleted, and further versions
    that are possible because their calls were not answered."""

    def __init__(self):
        self.known, self.lock, self.changed = {}, threading.Lock(), threading.Condition()
        self.acknowledged = 0

    def try_change(self, name, version, change, status):
        with self.lock:
            last = self.known.get(name, [None])
            self.known[name] = last + [version]
        try:
            if change().status != status:
                raise AssertionError(f"{name} version {version}")
        except (OSError, http.client.HTTPException):
            return False
        with self.lock:
            self.known[name] = [version]
        with self.changed:
            self.acknowledged += 1
            self.changed.notify_all()
        return True

    def wait_for(self, count):
        with self.changed:
            assert self.changed.wait_for(lambda: self.acknowledged >= count, 60)


def size_of(name, version):
    return random.Random(f"{name} {version}").choice((0, 1, 100, 64 * KIB, 700 * KIB))


def data_of(name, version):
    return pattern(f"{name} {version}", size_of(name, version))


def write_until_it_dies(storage, books, writer, version):
    dice = random.Random(f"{writer} {version}")
    while True:
        name, version = f"w{writer}/{dice.randint(0, 9)}", version + 1
        if books.known.get(name, [None])[-1] is not None and dice.random() < 0.2:
            go_on = books.try_change(name, None, lambda: storage.delete(name), 204)
        else:
            go_on = books.try_change(name, version, lambda: storage.put(name, data_of(name, version)), 200)
        if not go_on:
            return


def assert_as_in(books, storage):
    listed = storage.names()
    for name, allowed in books.known.items():
        answer = storage.read(name)
        assert (answer.status == 200) == (name in listed), name
        if answer.status == 404:
            assert None in allowed, f"{name} is lost, of {allowed}"
        else:
            fitting = [version for version in allowed if version is not None and data_of(name, version) == answer.data]
            assert fitting, f"{name}: {len(answer.data)} bytes are none of {allowed}"
            storage.assert_is(name, answer.data)
            allowed = fitting
        books.known[name] = [None] if answer.status == 404 else allowed


# Fails with: changes_commit() that answers before it commits; upload_recover() that removes nothing.
@pytest.mark.each_cycle(3)
def test_what_was_acknowledged_is_there_and_whole_after_any_kill(storage, seed):
    books, dice = Books(), random.Random(seed)
    for round_ in range(4):
        with concurrent.futures.ThreadPoolExecutor(WRITERS) as pool:
            writers = [pool.submit(write_until_it_dies, storage, books, i, 1000 * round_) for i in range(WRITERS)]
            books.wait_for(books.acknowledged + dice.randint(1, 80))
            storage.daemon.kill9()
            for writer in writers:
                writer.result()
        storage.daemon.start()
        assert_as_in(books, storage)
        wait_until(lambda: not storage.files("uploads"), 20, "nothing is left of uploads that were killed")
    live = sorted(data_of(name, known[0]) for name, known in books.known.items() if known != [None])
    tree = storage.daemon.state_dir / "gs" / storage.bucket
    wait_until(lambda: tree_contents(tree) == live, 20, "the tree of files is as the index says")
    wait_until(lambda: sum(storage.files("blobs").values()) == sum(map(len, live)), 20, "no blob is kept for nobody")


# Fails with: upload_recover() that removes all that is no object yet.
def test_a_session_goes_on_after_a_kill(storage):
    data = pattern("session", 3 * MIB)
    session = storage.session("resumed", {"metadata": {"epoch": "7"}})
    assert storage.send(session, data[:MIB], f"bytes 0-{MIB - 1}/{len(data)}").status == 308
    storage.daemon.kill9()
    storage.daemon.start()
    assert storage.names() == []
    received = storage.received(session, len(data))
    assert received == MIB  # bytes that a 308 answer confirmed are kept
    assert storage.send(session, data[MIB:2 * MIB], f"bytes {MIB}-{2 * MIB - 1}/{len(data)}").status == 308
    storage.daemon.kill9()
    storage.daemon.start()
    answer = storage.send(session, data[2 * MIB:], f"bytes {2 * MIB}-{len(data) - 1}/{len(data)}")
    assert answer.status == 200, answer
    storage.daemon.kill9()
    storage.daemon.start()
    storage.assert_is("resumed", data)
    assert storage.get("resumed").json["metadata"] == {"epoch": "7"}
    again = storage.send(session, b"", f"bytes */{len(data)}")
    assert (again.status, again.json["generation"]) == (200, answer.json["generation"])


# Fails with: upload_recover() that removes all that is no object yet.
def test_parts_that_were_answered_survive_kills_and_become_an_object(storage):
    data = pattern("parts", 12 * MIB)
    pieces = {2: data[5 * MIB:10 * MIB], 1: data[:5 * MIB], 3: data[10 * MIB:]}
    upload, tags = storage.begin_parts("parts", {"Content-Type": "text/x", "x-goog-meta-epoch": "7"}), {}
    for number, piece in pieces.items():
        assert storage.put_part("parts", upload, number, b"replaced").status == 200
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", storage.daemon.port, timeout=30)) as half:
            half.putrequest("PUT", f"{storage.plain_path('parts')}?partNumber={number}&uploadId={upload}")
            half.putheader("Content-Length", len(piece))
            half.endheaders(piece[:MIB])
            answer = storage.put_part("parts", upload, number, piece)
            assert answer.status == 200, answer
            tags[number] = answer.headers["ETag"]
            storage.daemon.kill9()
        storage.daemon.start()
        assert storage.names() == []
    wait_until(lambda: sorted(storage.files("uploads").values()) == sorted(map(len, pieces.values())), 20,
               "only the parts that were answered are left")
    answer = storage.end_parts("parts", upload, dict(sorted(tags.items())))
    assert answer.status == 200, answer
    storage.daemon.kill9()
    storage.daemon.start()
    assert storage.read("parts").data == data
    found = storage.get("parts").json
    assert (found["contentType"], found["metadata"], found.get("md5Hash")) == ("text/x", {"epoch": "7"}, None)
    assert storage.end_parts("parts", upload, tags).status == 404
    wait_until(lambda: not storage.files("uploads"), 20, "the parts are gone")


# Fails with: assembly_finish_run() without assembly_drop().
def test_an_end_that_was_killed_is_an_object_or_can_be_done_again(storage, seed):
    dice = random.Random(seed)
    data = [pattern(f"part {number}", 5 * MIB) for number in range(4)]
    for round_ in range(5):
        name = f"round-{round_}"
        upload = storage.begin_parts(name)
        tags = {n + 1: storage.put_part(name, upload, n + 1, piece).headers["ETag"] for n, piece in enumerate(data)}
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            end = pool.submit(storage.end_parts, name, upload, tags)
            with contextlib.suppress(concurrent.futures.TimeoutError):
                end.exception(dice.random() / 50)
            storage.daemon.kill9()
            end.exception()
        storage.daemon.start()
        if storage.get(name).status == 404:
            answer = storage.end_parts(name, upload, tags)
            assert answer.status == 200, answer
        else:
            assert storage.end_parts(name, upload, tags).status == 404
        assert storage.read(name).data == b"".join(data)
        wait_until(lambda: not storage.files("uploads"), 20, "nothing is left of the parts")


# Fails with: changes_commit() that answers before it commits.
def test_buckets_and_their_settings_survive_a_kill(storage):
    made = storage.daemon.post("/storage/v1/b", {"name": "kept-bucket", "labels": {"a": "1"}}, project="demo-project")
    assert made.status == 200, made
    storage.daemon.kill9()
    storage.daemon.start()
    assert storage.daemon.get("/storage/v1/b/kept-bucket").json["labels"] == {"a": "1"}
    assert storage.daemon.request("DELETE", "/storage/v1/b/kept-bucket").status == 204
    storage.daemon.kill9()
    storage.daemon.start()
    assert storage.daemon.get("/storage/v1/b/kept-bucket").status == 404
