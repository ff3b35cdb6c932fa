# SPDX-License-Identifier: Apache-2.0
"""A clock that can be moved forward: limits of days pass in seconds, and no time occurs twice."""
import datetime
import subprocess
import urllib.parse

import pytest

from support.daemon import UNTIL_RELEASED, script
from support.marks import long
from support.wait import wait_until

CLOCK = "/_trainyard/v1/clock"
WAIT = "while :; do sleep 0.1; done"
DAY = 86400
METADATA = "http://$GCE_METADATA_HOST/computeMetadata/v1/instance/service-accounts/default/token"


def instant(text):
    """Converts a timestamp; cuts nanoseconds off."""
    return datetime.datetime.fromisoformat(text[:19] + "+00:00").timestamp()


def now(daemon):
    answer = daemon.get(CLOCK)
    assert answer.status == 200, answer
    return instant(answer.json["now"])


def advance(daemon, seconds):
    answer = daemon.post(CLOCK, {"advance": f"{seconds}s"})
    assert answer.status == 200, answer
    return answer.json


@pytest.fixture(scope="module")
def yard(make_daemon):
    """Runs one job at a time; others wait."""
    daemon = make_daemon("--offline", "--stop-grace", "1", "--clock", "steppable", "--max-active-jobs", 1).start()
    yield daemon
    daemon.stop()


@pytest.fixture(autouse=True)
def no_job_is_left(yard):
    yield
    yard.cancel_all()


def test_a_step_moves_the_clock_and_never_back(yard):
    before = yard.get(CLOCK).json
    assert before["steppable"] is True
    after = advance(yard, 3600)
    # Fails with: step_clock_move() leaves ahead_ns as it is.
    assert instant(after["now"]) - instant(before["now"]) >= 3600
    assert float(after["offset"][:-1]) - float(before["offset"][:-1]) == 3600
    for bad in ("-1s", "0s", "100000000000s", "1h", ""):
        answer = yard.post(CLOCK, {"advance": bad})
        assert answer.status == 400 and answer.error["status"] == "INVALID_ARGUMENT", (bad, answer)
    assert yard.post(CLOCK, {}).status == 400
    assert yard.get(CLOCK).json["offset"] == after["offset"]


# Fails with: clock_advance() that does not ask for advance().
def test_the_real_clock_cannot_be_put_forward(new_daemon):
    with new_daemon("--offline") as daemon:
        answer = daemon.post(CLOCK, {"advance": "1s"})
        assert answer.status == 400 and answer.error["status"] == "FAILED_PRECONDITION", answer
        assert "--clock steppable" in answer.error["message"]
        assert daemon.get(CLOCK).json["offset"] == "0s" and daemon.get(CLOCK).json["steppable"] is False


# Fails with: MAX_RUNNING_DEFAULT_US of five days, and of fourteen.
def test_seven_days_pass_in_a_moment(yard):
    job_id = yard.create(script("echo begun; " + WAIT))
    assert yard.wait_lines(job_id) == ["begun"]
    yard.until(job_id, "RUNNING")
    advance(yard, 6 * DAY)
    assert yard.job(job_id)["state"] == "RUNNING"
    advance(yard, DAY)
    job = yard.until(job_id, "CANCELLED")
    assert 7 * DAY <= instant(job["endTime"]) - instant(job["startTime"]) < 8 * DAY, job


# Fails with: deadline_reckon() that knows no max_wait_us; that halves it.
@pytest.mark.long
def test_the_wait_for_room_ends_after_its_time(yard):
    runs = yard.create(script(WAIT))
    yard.until(runs, "RUNNING")
    waits, longer = (yard.create(dict(script(WAIT), scheduling={"maxWaitTime": f"{seconds}s"})) for seconds in (1800, 3500))
    advance(yard, 1700)
    assert yard.job(waits)["state"] == "QUEUED"
    advance(yard, 200)
    yard.until(waits, "CANCELLED")
    assert yard.job(longer)["state"] == "QUEUED"
    advance(yard, 1700)
    yard.until(longer, "CANCELLED")
    assert yard.job(runs)["state"] == "RUNNING"


def test_tokens_of_the_metadata_server_expire(yard):
    job_id = yard.create(script(f"wget -qO- --header 'Metadata-Flavor: Google' {METADATA}; echo; {WAIT}"))
    yard.wait_lines(job_id)
    token = [e["jsonPayload"]["access_token"] for e in yard.entries(job_id) if "access_token" in e.get("jsonPayload", {})][0]
    assert yard.request("GET", "/tokeninfo", access_token=token).status == 200
    advance(yard, 7200)
    # Fails with: the identity family on the system's clock.
    answer = yard.request("GET", "/tokeninfo", access_token=token)
    assert answer.status == 400 and answer.json["error"] == "invalid_token", answer


def test_a_jobs_log_goes_forward_over_a_step(yard):
    job_id = yard.create(script(f"echo before; {UNTIL_RELEASED}; echo after"))
    yard.wait_lines(job_id)
    advance(yard, DAY)
    stepped = now(yard)
    yard.release(job_id)
    job = yard.until(job_id, "SUCCEEDED")
    entries = yard.entries(job_id)
    times = [e["timestamp"] for e in entries]
    assert times == sorted(times)
    said = {e["textPayload"]: instant(e["timestamp"]) for e in entries if "textPayload" in e}
    # Fails with: log_pump.c adds nothing to a line's time.
    assert said["before"] < stepped - DAY / 2 and stepped <= said["after"] <= now(yard), said
    assert stepped <= instant(job["endTime"])
    assert instant(job["createTime"]) <= instant(job["startTime"]) <= said["before"]


def test_a_stream_by_the_clients_own_clock_sees_all(yard):
    job_id = yard.create(script("echo told"))
    yard.until(job_id, "SUCCEEDED")
    advance(yard, DAY)
    client_now = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=5)
    answer = yard.post("/v2/entries:list", {
        "resourceNames": [f"projects/{yard.project}"], "orderBy": "timestamp asc",
        "filter": f'resource.type="ml_job" AND resource.labels.job_id="{job_id}" AND timestamp>="1970-01-01T01:00:00Z"'
                  f' AND timestamp<"{client_now:%Y-%m-%dT%H:%M:%S.%fZ}"'})
    assert answer.status == 200, answer
    # Fails with: log_filter_init() is told of no ahead_ns.
    assert "told" in [e.get("textPayload") for e in answer.json.get("entries", [])]


# Fails with: row_read() that does not look at SESSION_LIFETIME_US.
def test_an_upload_that_waited_a_week_is_over(yard):
    insert = "/upload/storage/v1/b/some-bucket/o?uploadType=resumable&name="
    begun = [urllib.parse.urlsplit(yard.request("POST", insert + name).headers["Location"]) for name in "ab"]
    paths = [f"{url.path}?{url.query}" for url in begun]
    assert yard.request("PUT", paths[0], b"x").status == 200
    advance(yard, 8 * DAY)
    assert yard.request("PUT", paths[1], b"x").status in (404, 410)


# Fails with: fault_wait_us() that does not look at after_us; running_us that counts from when a replica was first seen;
# made_us_read() that returns 0: of the second attempt.
@pytest.mark.parametrize("attempt", [1, long(2)])
def test_a_fault_after_an_hour(yard, attempt):
    """Also with a restart in that hour, and for a container that is not the job's first. The rule about the network shows
    that rules were evaluated."""
    job_id = yard.new_id()

    def order(**rule):
        answer = yard.post("/_trainyard/v1/faults", dict(rule, job=job_id))
        assert answer.status == 200, answer
        return answer.json["id"]

    def hits(number):
        return yard.get(f"/_trainyard/v1/faults/{number}").json["hits"]
    if attempt == 2:
        order(fault="crash", attempt=1)
    late = order(fault="exit", exitCode=7, attempt=attempt, afterSeconds=3600)
    early = order(fault="cutNetwork", attempt=attempt)
    yard.create(script("echo begun; " + WAIT), job_id=job_id)
    wait_until(lambda: hits(early) == "1", 60, "rules are looked at")
    assert hits(late) == "0"
    advance(yard, 1800)
    yard.restart()
    assert hits(late) == "0"
    advance(yard, 1800)
    assert "status of 7." in yard.until(job_id, "FAILED")["errorMessage"]


def test_times_survive_a_restart_and_do_not_go_back(new_daemon):
    daemon = new_daemon("--offline", "--clock", "steppable@2020-02-29T12:00:00Z").start()
    begun = instant("2020-02-29T12:00:00Z")
    assert begun <= now(daemon) < begun + 3600
    job_id = daemon.create(script(UNTIL_RELEASED + "; echo done"))
    daemon.until(job_id, "RUNNING")
    advance(daemon, 90 * DAY)
    seen = now(daemon)
    daemon.kill9()
    daemon.start()
    # Fails with: emulator_clock_keep() and kept_write() write nothing: the second daemon refuses to begin so early.
    assert seen <= now(daemon) < seen + 3600
    daemon.until(job_id, "CANCELLED")  # its limit had passed before the kill, and running time is not lost by it
    advance(daemon, 3650 * DAY)  # further ahead than real time will pass
    daemon.stop()
    refused = subprocess.run([*daemon.command()[:-1], "real"], capture_output=True, text=True, timeout=60)
    assert refused.returncode == 2 and "ahead of the real one" in refused.stderr, refused
    daemon.start()
    daemon.stop()


# Fails with: start_find() that does not ask state_is_there(), or only for a time that is past: running jobs met their deadlines,
# and there was no way back; ahead_find() that leaves the file of a clock that is real now.
@pytest.mark.long
def test_a_clock_that_was_behind_stays_real_once_it_is(new_daemon):
    daemon = new_daemon("--offline", "--clock", "steppable@2020-01-01T00:00:00Z").start()
    daemon.stop()
    daemon.options = ("--offline", "--clock", "real")
    daemon.start()
    real = now(daemon)
    daemon.stop()
    for when in ("2020-01-01T00:00:00Z", "2190-01-01T00:00:00Z"):
        daemon.options = ("--offline", "--clock", f"steppable@{when}")
        refused = subprocess.run(daemon.command(), capture_output=True, text=True, timeout=60)
        assert refused.returncode == 2 and "ran by the real clock" in refused.stderr, refused
    daemon.options = ("--offline", "--clock", "steppable")
    daemon.start()
    assert now(daemon) >= real
