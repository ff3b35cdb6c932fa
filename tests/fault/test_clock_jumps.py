# SPDX-License-Identifier: Apache-2.0
"""The machine's clock is set while the real engine runs jobs: nothing ends early or late for it, no time goes back, and no
line is lost or doubled.

    pytest tests/fault/test_clock_jumps.py --cycles 3"""
import json
import re

import pytest

from support.daemon import UNTIL_RELEASED, UNTIL_RELEASED_AGAIN, program, script
from support.engine_proxy import EngineProxy
from support.marks import long

pytestmark = pytest.mark.each_cycle
HOUR, DAY = 3600, 86400
METADATA = "http://$GCE_METADATA_HOST/computeMetadata/v1/instance/service-accounts/default/token"
TOKEN = f"echo \"token $(wget -q -O - --header 'Metadata-Flavor: Google' {METADATA})\""
COUNT = "for n in $(seq {} {}); do echo out $n; echo err $n >&2; done"


@pytest.fixture
def proxied(engine):
    proxy = EngineProxy(engine)
    yield proxy
    proxy.close()


def check_times(job):
    times = [job["createTime"], job["startTime"], job["endTime"]]
    assert times == sorted(times)


def check_told(daemon, seconds):
    told = [float(by) for by in re.findall(r" warning +clock-jumped by_s=([+-][\d.]+)", daemon.log())]
    assert len(told) == 1 and abs(told[0] - seconds) < 2, daemon.log()[-2000:]


# Fails with: scheduler_reconcile() without clock_watch_note(): the log says nothing.
# Fails with: job_run_deadline_us() reckoned at each look: a day ahead, the job of an hour is cancelled at once.
# Fails with: reading_knows() without is_reached(): what was read before the connection broke comes again.
@pytest.mark.parametrize("seconds", [DAY, long(-HOUR)], ids=["a day ahead", "an hour back"])
def test_a_clock_that_is_set(proxied, faulty, seconds):
    daemon = faulty("--offline", "--stop-grace", "1", "--max-active-jobs", "3", engine=proxied, binary=program()).start()
    talks = daemon.create(script(f"{TOKEN}; {COUNT.format(1, 500)}; {UNTIL_RELEASED}; {COUNT.format(501, 1000)};"
                                 f"{UNTIL_RELEASED_AGAIN}; {COUNT.format(1001, 1500)}"))
    limited = daemon.create(dict(script("sleep 600"), scheduling={"maxRunningTime": f"{HOUR}s"}))
    for job_id in (talks, limited):
        daemon.until(job_id, "RUNNING")
    said = next(line for line in daemon.wait_lines(talks, count=1001) if line.startswith("token "))
    token = json.loads(said.removeprefix("token "))["access_token"]
    assert daemon.request("GET", "/tokeninfo", access_token=token).status == 200
    daemon.release(talks)

    daemon.shim.set_clock(seconds)
    proxied.cut()  # all streams are read on from their last position
    waits = daemon.create(dict(script("echo waited"), scheduling={"maxWaitTime": f"{HOUR}s"}))
    daemon.until(waits, "SUCCEEDED")
    check_told(daemon, seconds)
    for job_id in (talks, limited):
        assert daemon.job(job_id)["state"] == "RUNNING", daemon.job(job_id)
    # As with every program when the clock is set back: what had expired stays expired, and other tokens live longer.
    assert daemon.request("GET", "/tokeninfo", access_token=token).status == (400 if seconds > 0 else 200)

    daemon.release(talks, again=True)
    check_times(daemon.until(talks, "SUCCEEDED"))
    daemon.cancel(limited)
    check_times(daemon.until(limited, "CANCELLED"))
    lines = [line for line in daemon.lines(talks) if not line.startswith("token ")]
    for stream in ("out", "err"):
        assert [line for line in lines if line.startswith(stream)] == [f"{stream} {n}" for n in range(1, 1501)]
    stamps = [entry["timestamp"] for entry in daemon.entries(talks)]
    assert stamps == sorted(stamps)
    proxied.check_nothing_left(daemon.read_instance())
