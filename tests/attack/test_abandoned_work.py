# SPDX-License-Identifier: Apache-2.0
"""Work is stopped if the job that requested it has disconnected, and a job's requests do not delay those of others."""
import concurrent.futures
import time

import pytest

from support.daemon import Daemon
from support.inside import Teller, from_inside, sh
from support.vitals import thread_count
from support.wait import wait_until

from .test_gateway import with_token

NAMES, NAME_BYTES, BATCHES, PARTS = 150, 1000, 20, 100
GLOB = "**a" * 300  # each list takes the maximum time that a list may take
OTHERS_S, STOP_S = 5, 10  # half a second would be enough, but the machine may be busy

# Requests 20 batches of 100 slow lists. At the end, prints how nc ended.
ATTACK = rf"""trap '' HUP; cd /tmp || cd /; G=${{STORAGE_EMULATOR_HOST#http://}}; i=0; : >body
while [ $i -lt {PARTS} ]; do printf '\055\055b\r\nContent-Type: application/http\r\n\r\n'; i=$((i+1))
printf 'GET /storage/v1/b/slow/o?matchGlob={GLOB} HTTP/1.1\r\n\r\n\r\n'; done >body; printf '\055\055b\055\055\r\n' >>body
(printf 'POST /batch/storage/v1 HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/mixed; boundary=b\r\nContent-Length: %d\r\n\r\n' \
$(wc -c <body); cat body) >request; i=0
while [ $i -lt {BATCHES} ]; do nc -w $WAIT ${{G%:*}} ${{G##*:}} <request >/dev/null 2>&1 & i=$((i+1)); done; """


@pytest.fixture
def daemon(engine, tmp_path):
    with Daemon(tmp_path, engine, "--offline", "--stop-grace", "1", "--stop-jobs", project="attack-work") as found:
        yield found


def fill(daemon):
    def put(number):
        name = "a" * (NAME_BYTES - 4) + f"{number:04}"
        return daemon.request("POST", "/upload/storage/v1/b/slow/o", b"", {"Content-Type": "text/plain"}, uploadType="media",
                              name=name).status
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert set(pool.map(put, range(NAMES))) == {200}


# Fails with: part_run() of batch.c and rows_take() without work_check(): lists go on for a minute, and so does the daemon that is
# to stop; may_take() without READER_SHARE: the twenty have all readers, and others wait.
def test_lists_that_nobody_waits_for_end(daemon):
    fill(daemon)
    attacker, other = Teller(daemon).listen(), Teller(daemon).listen()
    before = thread_count(daemon)
    sh(attacker, "WAIT=1; " + ATTACK + "wait")
    begun = time.monotonic()
    assert daemon.get("/storage/v1/b/slow/o", maxResults=1).status == 200
    answers = from_inside(other, {"list": with_token("GET", "/storage/v1/b/slow/o?maxResults=1", None)})
    assert answers["list"].startswith(b"HTTP/1.1 200") and time.monotonic() - begun < OTHERS_S
    wait_until(lambda: thread_count(daemon) <= before + 2, 15, "their threads have ended")
    sh(attacker, "WAIT=60; " + ATTACK + "sleep 1")
    assert thread_count(daemon) > before + BATCHES / 2
    daemon.cancel(attacker.job_id)
    daemon.until(attacker.job_id, "CANCELLED")
    wait_until(lambda: thread_count(daemon) <= before + 2, 15, "they have ended with their job")
    sh(other, "WAIT=60; " + ATTACK + "sleep 1")
    assert thread_count(daemon) > before + BATCHES / 2
    begun = time.monotonic()
    daemon.stop()
    assert time.monotonic() - begun < STOP_S
