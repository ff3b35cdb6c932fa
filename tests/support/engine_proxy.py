# SPDX-License-Identifier: Apache-2.0
"""A socket between a daemon and its real engine that disturbs chosen calls and passes on all others unchanged.

A fault replaces one call, or each call that matches: `proxy.add(Fault("drop-after", "POST", "/start$", nth=2))`. Calls are
counted from the last proxy.watch(). Tests themselves talk to the engine directly."""
import asyncio
import contextlib
import dataclasses
import json
import os
import re
import socket
import tempfile
import threading

from .engine import Engine

# What dockerd reports when its disk is full: its messages end with the system's own text. Source: moby/moby, daemon/create.go,
# and containerd's runc shim.
NO_SPACE = "no space left on device"
FULL = (("/containers/create", f"mkdir /var/lib/docker/overlay2/4f1c-init: {NO_SPACE}"),
        ("/start$", f"failed to create task for container: failed to create shim task: mkdir /run/x: {NO_SPACE}: unknown"),
        ("/networks/create", f"write /var/lib/docker/network/files/local-kv.db: {NO_SPACE}"),
        ("/images/create", f"failed to register layer: Error processing tar file(exit status 1): write /l: {NO_SPACE}"),
        ("", f"write /var/lib/docker/tmp/x: {NO_SPACE}"))


@dataclasses.dataclass
class Call:
    """One request of the daemon; `path` has no API version."""
    number: int
    method: str
    path: str
    fault: "Fault" = None
    code: int = 0  # status of the engine's own answer; 0: the engine was not asked or did not answer

    def __str__(self):
        return f"{self.number}: {self.method} {self.path} -> {self.code}" + (f" ({self.fault.kind})" if self.fault else "")


@dataclasses.dataclass
class Fault:
    """`nth`: which of the matching calls, from 1; 0: each of them. `number`: the call with this number, whatever its method
    and path."""
    kind: str
    method: str = ""
    path: str = ""
    nth: int = 1
    number: int = 0
    seconds: float = 0.5
    after: int = 0  # the number of bytes of the answer's body that are passed on
    code: int = 500
    message: str = "the engine's own words"
    matched: int = 0
    hits: int = 0
    barrier: threading.Barrier = None  # of calls that meet

    def takes(self, call):
        if self.number:
            return call.number == self.number
        if not re.search(self.method, call.method) or not re.search(self.path, call.path):
            return False
        self.matched += 1
        return self.nth in (0, self.matched)


class Gone(Exception):
    """One of the two sides has closed its connection, or the proxy is to close it."""


def _head_value(head, name):
    found = re.search(rb"(?im)^" + name + rb":[ \t]*([^\r\n]*)", head)
    return found.group(1) if found else None


class _Wire:
    """One connection of the daemon; its requests are served one after the other."""

    def __init__(self, proxy, reader, writer):
        self.proxy, self.reader, self.writer = proxy, reader, writer
        self.there = None  # reader and writer of the connection to the engine

    async def serve(self):
        while True:
            head = await self._head(self.reader)
            method, target = head.split(b" ", 2)[:2]
            head, body = self.proxy.place(head, await self._request_body(head))
            call = self.proxy.note(method.decode(), target.decode())
            async with self._client_watched():
                await KINDS[call.fault.kind if call.fault else "pass"](self, call, call.fault, head + body)

    @contextlib.asynccontextmanager
    async def _client_watched(self):
        """Ends the exchange when the daemon hangs up. Until the answer is complete, the daemon sends nothing else."""
        task = asyncio.current_task()
        over = False

        async def watch():
            while not over and not self.reader.at_eof():
                await asyncio.sleep(0.05)
            if not over:
                task.cancel()
        watcher = asyncio.ensure_future(watch())
        try:
            yield
        finally:
            over = True
            watcher.cancel()

    @staticmethod
    async def _head(reader):
        try:
            return await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            raise Gone from None

    async def _request_body(self, head):
        if (_head_value(head, b"transfer-encoding") or b"").lower() == b"chunked":
            return b"".join([piece async for piece in self._chunks(self.reader)])
        return await self.reader.readexactly(int(_head_value(head, b"content-length") or 0))

    @staticmethod
    async def _chunks(reader):
        """Yields chunks as they are on the wire, including the empty one at the end."""
        while True:
            line = await reader.readuntil(b"\r\n")
            size = int(line.split(b";")[0], 16)
            yield line + await reader.readexactly(size + 2)
            if size == 0:
                return

    async def ask(self, call, request):
        """Sends the request on, and returns the head of the engine's answer."""
        if self.there is None:
            try:
                self.there = await asyncio.open_unix_connection(self.proxy.path, limit=1 << 20)
            except OSError:
                raise Gone from None
        self.there[1].write(request)
        head = await self._head(self.there[0])
        call.code = int(head.split(b" ", 2)[1])
        return head

    async def body(self, call, head):
        """Yields pieces of the answer's body as they are on the wire."""
        reader = self.there[0]
        if call.method == "HEAD" or call.code in (204, 304):
            return
        if (_head_value(head, b"transfer-encoding") or b"").lower() == b"chunked":
            async for piece in self._chunks(reader):
                yield piece
        elif _head_value(head, b"content-length") is not None:
            yield await reader.readexactly(int(_head_value(head, b"content-length")))
        else:
            while piece := await reader.read(65536):
                yield piece
            raise Gone

    async def send(self, data):
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self, code, body, content_type="application/json"):
        await self.send(f"HTTP/1.1 {code} Said\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
                        + body)

    async def tunnel(self):
        """After an upgrade: copies bytes in both directions."""
        async def copy(reader, writer):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
            with contextlib.suppress(OSError):
                writer.write_eof()
        await asyncio.gather(copy(self.reader, self.there[1]), copy(self.there[0], self.writer))
        raise Gone

    def close(self):
        for writer in (self.writer, self.there and self.there[1]):
            if writer:
                writer.transport.abort()


# ---- what can happen to a call ----

async def _pass(wire, call, _fault, request):
    head = await wire.ask(call, request)
    await wire.send(head)
    if call.code == 101:
        await wire.tunnel()
    async for piece in wire.body(call, head):
        await wire.send(piece)


async def _delay(wire, call, fault, request):
    await asyncio.sleep(fault.seconds)
    await _pass(wire, call, fault, request)


async def _meet(wire, call, fault, request):
    """The engine is asked once as many calls, also of other proxies, are on their way as the barrier has parties."""
    await asyncio.to_thread(fault.barrier.wait, 60)
    await _pass(wire, call, fault, request)


async def _drop(_wire, _call, _fault, _request):
    raise Gone


async def _drop_after(wire, call, _fault, request):
    """The engine carries the call out, but the daemon gets no answer."""
    head = await wire.ask(call, request)
    if not is_stream(call):
        async for _ in wire.body(call, head):
            pass
    raise Gone


async def _truncate(wire, call, fault, request):
    head = await wire.ask(call, request)
    left = fault.after
    await wire.send(head)
    if left <= 0:
        raise Gone
    async for piece in wire.body(call, head):
        await wire.send(piece[:left])
        left -= len(piece)
        if left <= 0:
            break
    raise Gone


async def _cut_head(wire, call, _fault, request):
    head = await wire.ask(call, request)
    await wire.send(head[:len(head) // 2])
    raise Gone


async def _garbage(wire, call, _fault, request):
    await wire.ask(call, request)
    await wire.send(b"\x00\xff\x17SSH-2.0-no\r\n\r\n" * 20)
    raise Gone


async def _nonsense(wire, call, _fault, request):
    """The engine carries the call out, but the answer's body is not JSON."""
    await _swallow(wire, call, request)
    await wire.answer(call.code if call.code != 204 else 200, b'{"Id": [[[\xff')


async def _other_shape(wire, call, _fault, request):
    await _swallow(wire, call, request)
    await wire.answer(call.code if call.code != 204 else 200, b'{"Id": 7, "State": [], "Config": "none"}')


async def _swallow(wire, call, request):
    head = await wire.ask(call, request)
    if is_stream(call):
        wire.there[1].transport.abort()
        wire.there = None
        return
    async for _ in wire.body(call, head):
        pass


async def _refuse(wire, _call, fault, _request):
    await wire.answer(fault.code, json.dumps({"message": fault.message}).encode() + b"\n")


async def _full(wire, call, _fault, _request):
    words = next(words for path, words in FULL if re.search(path, call.path))
    await wire.answer(500, json.dumps({"message": words}).encode() + b"\n")


async def _hang(_wire, _call, _fault, _request):
    await asyncio.Event().wait()


async def _trickle(wire, call, fault, request):
    """Sends the answer one byte at a time; after the first thousand bytes, the rest at once."""
    head = await wire.ask(call, request)
    left = 1000
    for piece in [head]:
        for i in range(len(piece)):
            await wire.send(piece[i:i + 1])
            await asyncio.sleep(fault.seconds / 1000)
    async for piece in wire.body(call, head):
        for i in range(min(left, len(piece))):
            await wire.send(piece[i:i + 1])
            await asyncio.sleep(fault.seconds / 1000)
        await wire.send(piece[max(0, min(left, len(piece))):])
        left -= min(left, len(piece))


async def _away(wire, _call, fault, _request):
    """Closes the socket and all connections; the socket is back some time later."""
    wire.proxy.go_away(fault.seconds)
    raise Gone


KINDS = {"pass": _pass, "delay": _delay, "meet": _meet, "drop": _drop, "drop-after": _drop_after, "truncate": _truncate,
         "cut-head": _cut_head, "garbage": _garbage, "nonsense": _nonsense, "other-shape": _other_shape, "refuse": _refuse,
         "full": _full, "hang": _hang, "trickle": _trickle, "away": _away}


def is_stream(call):
    return call.path.startswith("/events") or "follow=1" in call.path or call.path.startswith("/images/create")


class EngineProxy(Engine):
    """Tests talk to the engine itself; the daemon is given `host`. `places`: {directory as the daemon sees it: as the engine
    sees it}."""

    def __init__(self, engine, places=()):
        super().__init__(engine.path)
        self.places = dict(places)
        self.directory = tempfile.mkdtemp(prefix="typ", dir="/tmp")
        self.socket_path = self.directory + "/docker.sock"
        self.calls, self.faults, self._lock = [], [], threading.Lock()
        self._tasks, self._server, self._away = set(), None, 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._run(self._listen())

    @property
    def host(self):
        return "unix://" + self.socket_path

    def place(self, head, body):
        """Replaces the directories in a request by those that the engine knows."""
        for seen, real in self.places.items():
            body = body.replace(seen.encode() + b"/", real.encode() + b"/")
        return re.sub(rb"(?im)^(content-length:[ \t]*)\d+", rb"\g<1>%d" % len(body), head), body

    def watch(self, *faults):
        """Forgets all faults and the calls so far; the numbers of calls begin at 1 again."""
        with self._lock:
            self.calls, self.faults = [], list(faults)

    def add(self, fault):
        with self._lock:
            self.faults.append(fault)
        return fault

    def note(self, method, target):
        with self._lock:
            call = Call(len(self.calls) + 1, method, re.sub(r"^/v1\.\d+", "", target))
            call.fault = next((fault for fault in self.faults if fault.takes(call)), None)
            if call.fault:
                call.fault.hits += 1
            self.calls.append(call)
            return call

    def seen(self, method="", path=""):
        with self._lock:
            return [call for call in self.calls if re.search(method, call.method) and re.search(path, call.path)]

    def cut(self):
        """Closes all connections."""
        self._loop.call_soon_threadsafe(self._cut)

    def disappear(self):
        """Removes the socket until appear() is called."""
        self._loop.call_soon_threadsafe(self.go_away, None)

    def appear(self):
        self._run(self._listen())

    def close(self):
        async def end():
            self._hide()
            self._cut()
            await asyncio.sleep(0)
        self._run(end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.socket_path)
        os.rmdir(self.directory)

    # ---- on its own thread ----

    def _run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(30)

    async def _listen(self):
        if self._server is None:
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listener.bind(self.socket_path)
            self._server = await asyncio.start_unix_server(self._serve, sock=listener, limit=1 << 20, backlog=1000)

    async def _serve(self, reader, writer):
        task = asyncio.current_task()
        self._tasks.add(task)
        wire = _Wire(self, reader, writer)
        try:
            await wire.serve()
        except (Gone, OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            wire.close()

    def _cut(self):
        for task in list(self._tasks):
            task.cancel()

    def _hide(self):
        if self._server is not None:
            self._server.close()
            self._server = None
            os.unlink(self.socket_path)

    def go_away(self, seconds):
        self._hide()
        self._cut()
        if seconds is not None:
            self._loop.call_later(seconds, lambda: asyncio.ensure_future(self._listen()))
