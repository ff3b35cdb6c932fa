# SPDX-License-Identifier: Apache-2.0
"""Jobs with GPUs, and when each had them."""
import concurrent.futures
import contextlib
import http.client
import itertools
import json
import threading

from support.daemon import script, with_gpus
from support.engine import UnixConnection, query

SAY = 'echo "devices $NVIDIA_VISIBLE_DEVICES"'


def gpu_job(count, text=SAY):
    return with_gpus(script(text), count)


class Watch:
    """The end and the owner of each container, from the engine's events."""

    def __init__(self, engine, project):
        self.connection = UnixConnection(engine.path, timeout=None)
        self.connection.request("GET", "/events?" + query(
            filters={"type": ["container"], "event": ["die"], "label": [f"trainyard.project={project}"]}))
        self.response = self.connection.getresponse()
        self.ended = {}
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
            for line in self.response:
                event = json.loads(line)
                self.ended[event["Actor"]["ID"]] = (event["timeNano"], event["Actor"]["Attributes"]["trainyard.job_id"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.sock.shutdown(2)
        self.thread.join(10)
        self.connection.close()


def race(daemons, engine, rounds):
    """Gives each daemon a job for the same GPU at the same time, repeatedly. No two of these jobs may run at the same
    time."""
    with contextlib.ExitStack() as stack:
        watches = [stack.enter_context(Watch(engine, daemon.project)) for daemon in daemons]
        for _ in range(rounds):
            with concurrent.futures.ThreadPoolExecutor(len(daemons)) as pool:
                jobs = list(pool.map(lambda daemon: daemon.create(gpu_job(1, "sleep 0.2")), daemons))
            for daemon, job_id in zip(daemons, jobs, strict=True):
                daemon.until(job_id, "SUCCEEDED", timeout=120)
        ended = {container: end for watch in watches for container, end in watch.ended.items()}
        given = engine.given()
    assert len(ended) == rounds * len(daemons)
    turns = sorted((given[container][0], ended[container][0]) for container in ended)
    assert [pair for pair in itertools.pairwise(turns) if pair[1][0] < pair[0][1]] == [], turns
