#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The part of the Docker Engine's API that the daemon uses, over a unix socket, without containers: for more of them than a
machine can run, and for more output than programs could print.

    simulated_engine.py SOCKET

What a container does is in its command, which is what a job's args say:

    flood N COUNT     prints N lines as fast as they are read, once COUNT floods run
    tick STEP TOTAL   prints a line whenever all floods together have handed over another STEP lines, TOTAL in the end
    both end with 0 once all was read
    lines N exit CODE prints N lines and ends with CODE, whoever reads them
    others run until they are stopped

No line is kept: those of a flood are made of their numbers, and so are the instants of all."""
import asyncio
import contextlib
import hashlib
import json
import re
import sys
import time
import urllib.parse

INFO = {"NCPU": 64, "MemTotal": 256 << 30, "ServerVersion": "simulated", "KernelVersion": "0"}
CHUNK = 500  # lines of a flood per write
PADDING = b"x" * 50
NEVER = "0001-01-01T00:00:00Z"
LINE_NS = 1000  # time between two lines of a replica
LIFE_S = 0.002  # how long a container of `say` lives


def instant(ns):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ns // 10**9)) + f".{ns % 10**9:09d}Z"


def frame(ns, text, head={}):
    """A frame with one line. The text of its timestamp's second is cached."""
    second = ns // 10**9
    if second not in head:
        head.clear()
        head[second] = time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(second)).encode()
    line = b"%b%09dZ %b\n" % (head[second], ns % 10**9, text)
    return b"\1\0\0\0" + len(line).to_bytes(4, "big") + line


class Program:
    """The output of a container: line i, and the number of lines so far."""
    count = 0
    total = None

    def text(self, i):
        raise NotImplementedError

    async def more(self, engine, seen):
        """Waits until there are more lines than `seen`, or no more will come."""
        raise NotImplementedError

    def handed_over(self, engine, count):
        """Called when this many lines were sent to a follower."""

    def begin(self, container):
        """Called when the container is started."""

    def stop(self):
        """Called when the container is told to end; it prints no more."""


class Flood(Program):
    def __init__(self, total, together):
        self.count, self.total, self.together = 0, total, together
        self.sent = 0

    def text(self, i):
        return b"flood %08d %b" % (i, PADDING)

    async def more(self, engine, seen):
        while engine.flood_count < self.together:
            await engine.ticked()
        self.count = self.total

    def handed_over(self, engine, count):
        if count > self.sent:
            engine.flooded += count - self.sent
            self.sent = count
            engine.tick()

    def stop(self):
        self.count = self.sent

    def is_over(self, engine):
        return self.sent >= self.total


class Tick(Program):
    def __init__(self, step, total):
        self.step, self.total, self.told = step, total // step, []

    @property
    def count(self):
        return len(self.told)

    def text(self, i):
        return b"tick %d after %d" % (i, self.told[i])

    async def more(self, engine, seen):
        while engine.flooded < (seen + 1) * self.step:
            await engine.ticked()
        if len(self.told) == seen < self.total:
            self.told.append(engine.flooded)  # the number of flooded lines when the line is sent

    def is_over(self, engine):
        return len(self.told) >= self.total


class Lines(Program):
    def __init__(self, total, code):
        self.count, self.total, self.code = 0, total, code

    def begin(self, container):
        self.count = self.total
        asyncio.get_running_loop().call_later(LIFE_S, container.end, self.code)

    def text(self, i):
        return b"line %d" % i

    async def more(self, engine, seen):
        """All lines exist from the start. When the container ends, waiting readers return."""
        await asyncio.Event().wait()

    def is_over(self, engine):
        return False


class Said(Lines):
    """All lines exist from the start, and the container does not end by itself."""

    def __init__(self, total):
        super().__init__(total, 0)

    def begin(self, container):
        self.count = self.total


class Silent(Program):
    total = 0

    async def more(self, engine, seen):
        pass

    def is_over(self, engine):
        return False


def program_of(command):
    words = command or []
    if words[:1] == ["flood"]:
        return Flood(int(words[1]), int(words[2]))
    if words[:1] == ["tick"]:
        return Tick(int(words[1]), int(words[2]))
    if words[:1] == ["lines"]:
        return Lines(int(words[1]), int(words[3]))
    if words[:1] == ["said"]:
        return Said(int(words[1]))
    return Silent()


class Container:
    def __init__(self, engine, name, body):
        self.engine, self.name, self.body = engine, name, body
        self.id = hashlib.sha256(name.encode()).hexdigest()
        self.labels = body["Labels"]
        self.program = program_of(body.get("Cmd"))
        self.state, self.started_ns, self.finished_ns, self.code = "created", 0, 0, 0
        self.over = asyncio.Event()

    def start(self):
        if self.state == "created":
            self.state, self.started_ns = "running", time.time_ns()
            self.engine.started.add(self)
            self.engine.flood_count += isinstance(self.program, Flood)
            self.engine.tick()
            self.program.begin(self)

    def end(self, code):
        if self.state != "running":
            return
        self.state, self.code = "exited", code
        self.finished_ns = max(time.time_ns(), self.line_ns(self.program.count))
        self.engine.started.discard(self)
        self.over.set()
        self.engine.tell(self, "die", exitCode=str(code))

    def line_ns(self, i):
        return self.started_ns + i * LINE_NS

    def first_since(self, since_ns):
        return max(0, -(-(since_ns - self.started_ns) // LINE_NS)) if since_ns else 0

    def inspected(self):
        return {"Id": self.id, "Name": "/" + self.name, "Config": {"Labels": self.labels},
                "State": {"Running": self.state == "running", "ExitCode": self.code, "OOMKilled": False,
                          "StartedAt": instant(self.started_ns) if self.started_ns else NEVER,
                          "FinishedAt": instant(self.finished_ns) if self.finished_ns else NEVER}}

    def listed(self):
        return {"Id": self.id, "Names": ["/" + self.name], "Labels": self.labels, "State": self.state}


class SimulatedEngine:
    def __init__(self):
        self.containers, self.networks, self.listeners = {}, {}, set()
        self.started, self.flooded, self.flood_count = set(), 0, 0
        self.strange = []  # requests that trainyard does not make
        self.tick_event = asyncio.Event()

    # ---- what goes on in it ----

    def tick(self):
        """Called when a flood has handed lines over, or a container was started."""
        self.tick_event.set()
        self.tick_event = asyncio.Event()

    async def ticked(self):
        await self.tick_event.wait()

    def tell(self, container, action, **attributes):
        event = {"Type": "container", "Action": action, "timeNano": time.time_ns(),
                 "Actor": {"ID": container.id, "Attributes": dict(container.labels, **attributes)}}
        for listener in list(self.listeners):
            listener.put_nowait(event)

    def find(self, name):
        return self.containers.get(name)

    # ---- streams ----

    async def events(self, writer):
        queue = asyncio.Queue()
        self.listeners.add(queue)
        try:
            stream_begin(writer, "application/json")
            while True:
                writer.write(json.dumps(await queue.get()).encode() + b"\n")
                await writer.drain()
        finally:
            self.listeners.discard(queue)

    async def logs(self, writer, container, query):
        program, follows = container.program, query.get("follow") == "1"
        stream_begin(writer, "application/vnd.docker.raw-stream")
        seconds, _, rest = query.get("since", "0").partition(".")
        at = container.first_since(int(seconds) * 10**9 + int(rest.ljust(9, "0")[:9] or 0))
        if "tail" in query:
            at = max(0, program.count - int(query["tail"]))
        while True:
            until = min(program.count, at + CHUNK)
            if until > at:
                writer.write(b"".join(frame(container.line_ns(i), program.text(i)) for i in range(at, until)))
                await writer.drain()
                at = until
                if follows:
                    program.handed_over(self, at)
            elif not follows or container.over.is_set():
                return
            elif program.is_over(self):
                container.end(0)
            else:
                more = asyncio.ensure_future(program.more(self, at))
                over = asyncio.ensure_future(container.over.wait())
                waiting = (over,) if program.total == 0 else (more, over)
                _, pending = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in {more, over, *pending}:
                    task.cancel()


def stream_begin(writer, kind):
    writer.write(f"HTTP/1.1 200 OK\r\nApi-Version: 1.43\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n".encode())


def labels_fit(labels, query):
    wanted = json.loads(query.get("filters", "{}")).get("label", [])
    return all(labels.get(word.partition("=")[0]) == word.partition("=")[2] for word in wanted)


# ---- calls: each returns (status, value) ----

def ping(engine, query, body):
    return 200, "OK"


def info(engine, query, body):
    return 200, INFO


def image(engine, query, body, name):
    return 200, {"Id": "sha256:" + hashlib.sha256(name.encode()).hexdigest()}


def container_list(engine, query, body):
    return 200, [c.listed() for c in engine.containers.values() if labels_fit(c.labels, query)]


def container_create(engine, query, body):
    if not (body and body.get("Image")):
        return 400, {"message": "Config cannot be empty in order to create a container"}
    if engine.find(query["name"]):
        return 409, {"message": "Conflict. The container name is already in use"}
    engine.containers[query["name"]] = container = Container(engine, query["name"], body)
    return 201, {"Id": container.id, "Warnings": []}


def container_call(engine, query, body, name, action):
    container = engine.find(name)
    if not container:
        return 404, {"message": "No such container: " + name}
    return CONTAINER_CALLS[action](engine, container)  # the log of an existing container is a stream


def container_inspect(_, container):
    return 200, container.inspected()


def container_start(_, container):
    container.start()
    return 204, None


def container_end(_, container):
    if container.state != "running":
        return 304, None
    container.program.stop()
    container.end(143)
    return 204, None


def container_remove(engine, query, body, name):
    container = engine.containers.pop(name, None)
    if not container:
        return 404, {"message": "No such container: " + name}
    container.end(137)
    engine.tell(container, "destroy")
    return 204, None


CONTAINER_CALLS = {"json": container_inspect, "start": container_start, "stop": container_end, "kill": container_end}


def network_list(engine, query, body):
    return 200, [n for n in engine.networks.values() if labels_fit(n["Labels"], query)]


def network_create(engine, query, body):
    if not body.get("Name"):
        return 400, {"message": 'invalid name: ""'}
    number = hashlib.sha256(body["Name"].encode()).hexdigest()
    if number in engine.networks:
        return 409, {"message": "network with that name already exists"}
    engine.networks[number] = dict(body, Id=number)
    return 201, {"Id": number, "Warning": ""}


def network_remove(engine, query, body, name):
    return (204, None) if engine.networks.pop(name, None) else (404, {"message": "no such network"})


def standing(engine, query, body):
    """For tests: the state of all programs."""
    return 200, {"flooded": engine.flooded, "running": len(engine.started), "containers": len(engine.containers),
                 "networks": len(engine.networks), "strange": engine.strange}


CALLS = [(method, re.compile(pattern), call) for method, pattern, call in (
    ("GET", "/_ping", ping), ("GET", "/info", info), ("GET", "/images/(.+)/json", image),
    ("GET", "/containers/json", container_list), ("POST", "/containers/create", container_create),
    ("GET", "/containers/([^/]+)/(json|logs)", container_call), ("POST", "/containers/([^/]+)/(start|stop|kill)", container_call),
    ("DELETE", "/containers/([^/]+)", container_remove), ("GET", "/networks", network_list),
    ("POST", "/networks/create", network_create), ("DELETE", "/networks/([^/]+)", network_remove),
    ("GET", "/simulated", standing))]


def answer(writer, status, value):
    body = b"" if value is None else value.encode() if isinstance(value, str) else json.dumps(value).encode()
    writer.write(f"HTTP/1.1 {status} X\r\nApi-Version: 1.43\r\nContent-Type: application/json\r\n"
                 f"Content-Length: {len(body)}\r\n\r\n".encode() + body)


def call(engine, method, path, query, body):
    for wanted, pattern, function in CALLS:
        match = pattern.fullmatch(path)
        if match and wanted == method:
            return function(engine, query, body, *match.groups())
    engine.strange.append(f"{method} {path}")
    return 404, {"message": f"{method} {path} is not simulated"}


async def serve_one(engine, reader, writer):
    """Serves one request; returns whether the connection stays open."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    method, target, _ = head.split(" ", 2)
    length = re.search(r"(?i)\r\ncontent-length: *(\d+)", head)
    data = await reader.readexactly(int(length.group(1))) if length else b""
    url = urllib.parse.urlsplit(target)
    path = re.sub(r"^/v1\.\d+", "", urllib.parse.unquote(url.path))
    query = dict(urllib.parse.parse_qsl(url.query))
    followed = re.fullmatch("/containers/([^/]+)/logs", path)
    if path == "/events" and "until" in query:
        answer(writer, 200, "")  # there is no history of events
        await writer.drain()
    elif path == "/events":
        await engine.events(writer)
    elif followed and engine.find(followed.group(1)):
        await engine.logs(writer, engine.find(followed.group(1)), query)
    else:
        status, value = call(engine, method, path, query, json.loads(data) if data else None)
        answer(writer, status, value)
        await writer.drain()
        return True
    return False


async def serve(engine, reader, writer):
    try:
        while await serve_one(engine, reader, writer):
            pass
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def main(path):
    engine = SimulatedEngine()
    server = await asyncio.start_unix_server(lambda reader, writer: serve(engine, reader, writer), path, limit=1 << 24,
                                             backlog=1024)
    print("ready", flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
