# SPDX-License-Identifier: Apache-2.0
"""Access to the inside of a job's container: a job that prints its own data, and connections that are made in the
container."""
import base64
import json
import select
import socket
import struct
import threading

from .daemon import UNTIL_RELEASED, script
from .engine import IMAGE
from .wait import wait_until

OWN_TOKEN = "/computeMetadata/v1/instance/service-accounts/default/token"
TELL = (f"wget -q -O - --header 'Metadata-Flavor: Google' http://$GCE_METADATA_HOST{OWN_TOKEN} | base64 | tr -d '\\n'; echo; "
        f"hostname; echo $STORAGE_EMULATOR_HOST")
AT_ONCE = 40  # a gateway accepts at most 64 connections
BATCH_BYTES = 100 << 10


class Teller:
    """A job that prints its token, its name and its gateway's address. Then it waits; with `ends` it ends."""

    def __init__(self, daemon, project=None, ends=False):
        self.daemon, self.project, self.ends, self.job_id = daemon, project or daemon.project, ends, daemon.new_id()
        body = {"jobId": self.job_id, "trainingInput": script(TELL if ends else f"{TELL}; {UNTIL_RELEASED}", image=IMAGE)}
        assert daemon.post(f"/v1/projects/{self.project}/jobs", body).status == 200

    def listen(self):
        body = dict(resourceNames=[f"projects/{self.project}"], orderBy="timestamp asc",
                    filter=f'resource.labels.job_id="{self.job_id}" AND resource.labels.task_name="master-replica-0"')

        def lines():
            return [entry["textPayload"] for entry in self.daemon.post("/v2/entries:list", body).json.get("entries", [])]
        wait_until(lambda: len(lines()) == 3, 60, "it has told all")
        token, self.name, self.gateway = lines()
        self.token = json.loads(base64.b64decode(token))["access_token"]
        if self.ends:
            self.daemon.until(self.job_id, "SUCCEEDED", project=self.project)
        return self

    @property
    def container(self):
        return self.daemon.container(self.job_id)


def sh(attacker, text):
    """Runs a script in the job's container and returns its output."""
    call = attacker.daemon.engine.call
    command = call("POST", f"/containers/{attacker.container}/exec", {"Cmd": ["sh", "-c", text], "AttachStdout": True,
                                                                       "AttachStderr": True, "Tty": True})["Id"]
    said = call("POST", f"/exec/{command}/start", {"Detach": False, "Tty": True})
    return (said if isinstance(said, bytes) else json.dumps(said).encode() if said else b"").decode().replace("\r\n", "\n")


def _batches(requests):
    """Splits the requests into lists of (name, request in base64): one shell command can have 128 KiB."""
    batch, size = [], 0
    for name, data in requests.items():
        word = base64.b64encode(data).decode()
        if batch and (len(batch) == AT_ONCE or size + len(word) > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch, size = batch + [(name, word)], size + len(word)
    if batch:
        yield batch


def from_inside(attacker, requests, port="${G##*:}", wait=30):
    """Sends these requests from the container of the attacker's own job to its gateway, each on a connection of its own, and
    returns {name: answer}. `wait`: seconds to wait for the end of an answer."""
    found = {}
    for batch in _batches(requests):
        words = "".join(f"ask {i} {word} & " for i, (_, word) in enumerate(batch))
        text = (f"G=${{STORAGE_EMULATOR_HOST#http://}}; H=${{G%:*}}; P={port}; cd /tmp 2>/dev/null || cd /; "
                'ask() { echo "$2" | base64 -d | nc -w ' + f'{wait} $H $P | base64 | tr -d "\\n" >a$1; }}; ' + words +
                f'wait; i=0; while [ $i -lt {len(batch)} ]; do echo "$i $(cat a$i)"; i=$((i+1)); done')
        said = dict((line.split(" ") + [""])[:2] for line in sh(attacker, text).splitlines() if line)
        found |= {name: base64.b64decode(said[str(i)]) for i, (name, _) in enumerate(batch)}
    return found


def _received(stream, count):
    data = b""
    while len(data) < count:
        piece = stream.recv(count - len(data))
        if not piece:
            raise ConnectionError("the stream has ended")
        data += piece
    return data


def _begin(attacker, command):
    """Starts a command in the job's container. Bytes sent on the stream are its input, frames received its output. Source:
    https://docs.docker.com/reference/api/engine/version/v1.43/#tag/Exec/operation/ExecStart (read 2026-11-22)"""
    engine = attacker.daemon.engine
    made = engine.call("POST", f"/containers/{attacker.container}/exec", {"Cmd": command, "AttachStdin": True,
                                                                        "AttachStdout": True})["Id"]
    stream, body, head = engine.connect(), b'{"Detach":false,"Tty":false}', b""
    stream.sendall(f"POST /exec/{made}/start HTTP/1.1\r\nHost: engine\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n"
                   f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    while not head.endswith(b"\r\n\r\n"):
        head += _received(stream, 1)
    assert head.startswith(b"HTTP/1.1 101 "), head
    return stream


def _carry(near, stream):
    """Copies bytes in both directions until both have ended."""
    open_sides = {near, stream}
    try:
        while open_sides:
            for side in select.select(list(open_sides), [], [])[0]:
                if side is near:
                    data = near.recv(65536)
                    stream.sendall(data)
                    if not data:
                        stream.shutdown(socket.SHUT_WR)
                        open_sides.discard(near)
                    continue
                kind, length = struct.unpack(">B3xI", _received(stream, 8))
                data = _received(stream, length)
                if kind == 1:
                    near.sendall(data)
    except OSError:  # one of the two is closed
        pass
    finally:
        near.close()
        stream.close()


class Inside:
    """Makes connections from inside a job's container to its gateway, like Daemon.connect()."""

    def __init__(self, attacker, port=None):
        address, _, own = attacker.gateway.removeprefix("http://").rpartition(":")
        self.attacker, self.command = attacker, ["nc", address, str(port or own)]

    def connect(self, timeout=60):
        stream = _begin(self.attacker, self.command)
        stream.settimeout(None)
        near, far = socket.socketpair()
        near.settimeout(timeout)
        threading.Thread(target=_carry, args=(far, stream), daemon=True).start()
        return near
