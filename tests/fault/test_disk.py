# SPDX-License-Identifier: Apache-2.0
"""The disk below the state directory is full, or breaks, at each write in turn.

What was acknowledged is kept; what cannot be stored is refused in Google's shape, with words that say why; lines wait until
there is room again; nothing half-written stays.

    pytest tests/fault/test_disk.py --cycles 1 --seed 3     # some writes of each call, drawn by the seed
    pytest tests/fault/test_disk.py --cycles 4              # every write, three times over"""
import errno
import itertools
import os
import random
import subprocess

import pytest

from support import shim
from support.marks import long
from support.storage import MIB, Storage, is_root, pattern
from support.wait import wait_until

SAMPLE = 6
DISK_MIB = 24
FAULTS = {"full": errno.ENOSPC, "broken": errno.EIO}
LINES = {"region": "us-central1", "masterConfig": {"imageUri": "image:1"}, "args": ["lines", "3", "exit", "0"]}
HOLD = dict(LINES, args=["hold"])
SAID = ["line 0", "line 1", "line 2"]
# For a full disk, storage answers 507 if an object does not fit, and 503 if its database does not.
REFUSED = (500, 503, 507)
numbers = itertools.count(1)


def in_shape(answer):
    error = answer.json["error"]
    return answer.status in REFUSED and error["code"] == answer.status and error["message"]


# Log entries are written by a separate thread, so the reason is only in the daemon's own log.
NO_REASON = "log entries cannot be stored now"


def says_full(answer):
    """Whether an answer of 503 or 507 names the reason; for 500, it is only in the daemon's own log."""
    return answer.status == 500 or any(word in answer.error["message"] for word in ("full", "space", "I/O error", "Input/output error", NO_REASON))


class World:
    def __init__(self, daemon):
        self.daemon, self.storage = daemon, Storage(daemon)
        assert self.storage.put("first", b"1").status == 200
        self.held = daemon.create(HOLD, labels={"n": "0"})
        daemon.until(self.held, "RUNNING")

    def create(self):
        return self.daemon.post(self.daemon.jobs_path, {"jobId": f"disk_{next(numbers)}", "trainingInput": LINES})

    def patch(self):
        return self.daemon.request("PATCH", f"{self.daemon.jobs_path}/{self.held}?updateMask=labels",
                                   {"labels": {"n": str(next(numbers))}})

    def put(self):
        name = f"o{next(numbers)}"
        return self.storage.put(name, pattern(name, 200_000))

    def resumable(self):
        begun = self.storage.begin_session("later")
        if begun.status in REFUSED:
            return begun
        return self.storage.send(self.storage.session_of(begun), b"x" * 300_000, "bytes 0-299999/300000")

    def write_entries(self):
        return self.daemon.post("/v2/entries:write", {"logName": f"projects/{self.daemon.project}/logs/own",
                                                      "resource": {"type": "global"},
                                                      "entries": [{"textPayload": f"said {next(numbers)}"}]})


CALLS = {"create": World.create, "patch": World.patch, "put": World.put, "resumable": World.resumable,
         "write entries": World.write_entries}


def numbers_of(total, seed, cycles):
    """The numbers of writes at which to fail: all, or the first and some others. Others may have written during the count,
    so the last numbers may lie beyond the call."""
    if cycles > 1:
        return [*range(1, total + 1)] * (cycles - 1)
    return sorted({1, *random.Random(seed).sample(range(1, total + 1), min(SAMPLE, total))})


def perform(call, world):
    """Returns the answer; None: the connection ended before there was one."""
    try:
        return call(world)
    except ConnectionError:
        return None


def check_kept(world, answer):
    """Checks that what a successful answer confirmed is stored."""
    if answer is None or answer.status != 200 or "json" not in answer.headers.get("Content-Type", ""):
        return
    told = answer.json
    if "jobId" in told:
        assert world.daemon.get(f"{world.daemon.jobs_path}/{told['jobId']}").status == 200
    if told.get("kind") == "storage#object":
        read = world.storage.read(told["name"])
        assert read.status == 200 and len(read.data) == int(told["size"]), told


@pytest.fixture(scope="module")
def world(library, fake_yard, tmp_path_factory):
    daemon = shim.FaultyDaemon(library, tmp_path_factory.mktemp("disk"), shim.NO_ENGINE, binary=fake_yard).start()
    yield World(daemon)
    daemon.stop()


# Fails with: file_append() of store/objects/blob_writer.c takes what was not written for written: an object that cannot be read is
# acknowledged. Fails with: upload_session_start() of api/storage/resumable.c that says 404 of what cannot be stored. Fails with:
# changes_commit() of store/group_writer.c forgets COMMIT's outcome: acknowledged jobs and uploads are nowhere.
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("count", [1, shim.FOREVER])
@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_answered_whatever_write_fails(world, name, fault, count, seed, cycles):
    call, daemon = CALLS[name], world.daemon
    right, total = daemon.shim.count(shim.FULL, lambda: call(world))
    assert right.status == 200, right
    failed = 0
    for number in numbers_of(total, seed, cycles):
        with daemon.shim.faults(shim.FULL, number, count, FAULTS[fault]):
            answer = perform(call, world)
        failed += bool(daemon.shim.hit)
        assert daemon.process.poll() is None, daemon.log()[-3000:]
        assert answer is None or answer.status == 200 or (in_shape(answer) and says_full(answer)), (number, answer)
        check_kept(world, answer)
    print(f"{name}: {failed} writes failed, of {total}")
    assert failed
    wait_until(lambda: call(world).status == 200, 30, "it goes on when there is room")
    wait_until(lambda: not [f for f in world.storage.files("uploads") if "arriving" in f], 20, "no file is left half-written")


# Fails with: may_retry() of store/logs/logs_writer.c that tries no batch again: lines lost.
@pytest.mark.parametrize("fault", ["full", long("broken")])
def test_a_job_waits_for_room_and_no_line_is_lost_or_doubled(faulty, fault, seed, cycles):
    daemon = faulty().start()
    total = daemon.shim.count(shim.FULL, lambda: daemon.run(LINES))[1]
    lived, failed = [], 0
    for number in numbers_of(total, seed, cycles):
        with daemon.shim.faults(shim.FULL, number, shim.FOREVER, FAULTS[fault]):
            job_id = daemon.new_id()
            answer = daemon.post(daemon.jobs_path, {"jobId": job_id, "trainingInput": LINES})
            assert answer.status == 200 or (in_shape(answer) and says_full(answer)), answer
            if answer.status == 200:
                lived.append(job_id)
                wait_until(lambda: daemon.shim.hit > 2 or "endTime" in daemon.job(job_id), 30)
        failed += bool(daemon.shim.hit)
    for job_id in lived:
        daemon.until(job_id, "SUCCEEDED", timeout=60)
        assert daemon.lines(job_id) == SAID
    daemon.restart()
    for job_id in lived:
        assert daemon.job(job_id)["state"] == "SUCCEEDED"
        assert daemon.lines(job_id) == SAID
    print(f"{len(lived)} jobs outlived {failed} {fault} disks")
    assert failed


# Fails with: open_fail() of store/connection.c without medium_problem(): "disk I/O error (SQLite 4874)", and no word of why.
# Fails with: files_open() of store/store.c without connection_open_fail(), as it was: "use the store: ... (SQLite 13)", by --cycles
# 2.
@pytest.mark.parametrize("fault", [long("full"), "broken"])
def test_a_start_says_what_is_wrong_with_the_disk_or_serves(faulty, fault, seed, cycles):
    """Fails each write of a first start, and of a start with an existing state. The message names the path and the system's
    error."""
    for ready in (False, True):
        daemon = faulty()
        if ready:
            daemon.start().stop()
        daemon.shim.order(shim.FULL)
        daemon.start().stop()
        total, failed = daemon.shim.seen, 0
        assert total
        for number in numbers_of(total, seed, cycles):
            one = faulty() if not ready else daemon
            before = len(one.log())
            one.shim.order(shim.FULL, number, shim.FOREVER, FAULTS[fault])
            try:
                one.start()
            except AssertionError:
                assert one.process.wait(30) == 125, one.log()[-2000:]
                one.process.stdout.close()
                one.process = None
                said = one.log()[before:]
                assert "trainyard: " in said and str(one.state_dir) in said and os.strerror(FAULTS[fault]) in said, said
            failed += bool(one.shim.lift())
            if one.process:
                one.stop()
            one.start().stop()  # and no unfinished file is in the way
        assert failed


@pytest.fixture
def small_disk(tmp_path):
    if not is_root():
        pytest.skip("only root can mount a small file system")
    directory = tmp_path / "disk"
    directory.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "tmpfs", str(directory)],
                             capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr}")
    yield directory
    subprocess.run(["umount", "-l", str(directory)], check=True)


def fill(path):
    """Fills the disk to the last byte."""
    with open(path, "wb", buffering=0) as file:
        for block in (bytes(MIB), bytes(4096)):
            try:
                while file.write(block):
                    pass
            except OSError:
                pass


# More lines than fit on the disk; there is enough space for the job itself.
MANY, ROOM = 8000, MIB // 2


# Fails with: may_retry() of store/logs/logs_writer.c that tries no batch again: lines lost.
def test_a_real_full_disk_refuses_jobs_and_lines_wait_for_room(faulty, small_disk):
    daemon = faulty(state_dir=small_disk / "state").start()
    held = daemon.create(HOLD)
    daemon.until(held, "RUNNING")
    kept = [daemon.run(LINES)["jobId"]]
    filler = small_disk / "filler"
    fill(filler)
    os.truncate(filler, filler.stat().st_size - ROOM)
    prints = daemon.create(dict(LINES, args=["lines", str(MANY), "exit", "0"]))
    wait_until(lambda: "log-commit-failed" in daemon.log(), 30, "its lines find no room")
    fill(small_disk / "rest")
    refused = 0
    for _ in range(40):
        answer = daemon.post(daemon.jobs_path, {"jobId": daemon.new_id(), "trainingInput": LINES,
                                                "labels": {f"k{i}": "v" * 60 for i in range(20)}})
        assert answer.status == 200 or (in_shape(answer) and says_full(answer)), answer
        if answer.status == 200:
            kept.append(answer.json["jobId"])
        refused += answer.status != 200
    assert refused, "the disk was never full"
    assert daemon.job(held)["state"] == "RUNNING"
    assert "endTime" not in daemon.job(prints) and len(daemon.lines(prints)) < MANY
    filler.unlink()
    for job_id in kept:
        daemon.until(job_id, "SUCCEEDED", timeout=60)
        assert daemon.lines(job_id) == SAID
    daemon.until(prints, "SUCCEEDED", timeout=60)
    assert daemon.lines(prints) == [f"line {i}" for i in range(MANY)]
    daemon.cancel(held)
    daemon.until(held, "CANCELLED")
