# SPDX-License-Identifier: Apache-2.0
"""A proxy between a client and the daemon that records requests and answers and changes nothing.

Bytes are passed on as they arrive. A copy of them is parsed as HTTP, as far as that is possible."""
import collections
import contextlib
import fcntl
import gzip
import json
import os
import pathlib
import socket
import threading
import urllib.parse

from .document import ADDRESSES, Document

BLOCK = 1 << 16


class Message:
    """A request or an answer; the rest of its body may still arrive."""

    def __init__(self, head):
        first, *lines = head.decode("latin-1").split("\r\n")
        self.first = first.split(" ", 2)
        self.headers = {}
        for line in lines:
            name, colon, value = line.partition(":")
            if not colon:
                raise ValueError(f"not a header: {line!r}")
            self.headers[name.strip().lower()] = value.strip()
        self.body = bytearray()

    @property
    def method(self):
        return self.first[0]

    @property
    def target(self):
        return self.first[1]

    @property
    def status(self):
        return int(self.first[1])

    @property
    def length(self):
        return int(self.headers["content-length"]) if "content-length" in self.headers else None

    @property
    def chunked(self):
        return self.headers.get("transfer-encoding", "").lower().endswith("chunked")

    def decoded(self):
        return gzip.decompress(self.body) if self.headers.get("content-encoding") == "gzip" else bytes(self.body)

    def json(self):
        try:
            return json.loads(self.decoded() or b"null")
        except (ValueError, OSError, EOFError):
            return None


class Ended(Exception):
    """The stream has ended."""


class Reader:
    """Parses one direction of a connection. It stops at bytes that are not HTTP."""

    def __init__(self):
        self._buffer, self._parser = bytearray(), self._messages()
        next(self._parser)

    def feed(self, data):
        """Adds bytes; b"": the stream has ended."""
        if self._parser:
            try:
                self._parser.send(data)
            except (StopIteration, Ended, ValueError, IndexError):
                self._parser = None

    def _more(self):
        data = yield
        if not data:
            raise Ended
        self._buffer += data

    def _until(self, mark):
        while mark not in self._buffer:
            yield from self._more()
        found, _, rest = bytes(self._buffer).partition(mark)
        self._buffer = bytearray(rest)
        return found

    def _exactly(self, length, into):
        while length:
            if not self._buffer:
                yield from self._more()
            taken = self._buffer[:length]
            del self._buffer[:length]
            into += taken
            length -= len(taken)

    def _chunks(self, into):
        while True:
            size = int((yield from self._until(b"\r\n")).split(b";")[0], 16)
            if size == 0:
                break
            yield from self._exactly(size, into)
            yield from self._until(b"\r\n")
        while (yield from self._until(b"\r\n")):
            pass  # skips the trailers

    def _to_the_end(self, into):
        with contextlib.suppress(Ended):
            while True:
                into += self._buffer
                self._buffer.clear()
                yield from self._more()


class RequestReader(Reader):
    def __init__(self, open_requests):
        self.open = open_requests
        super().__init__()

    def _messages(self):
        while True:
            head = (yield from self._until(b"\r\n\r\n")).lstrip(b"\r\n")
            message = Message(head)
            self.open.append(message)
            if message.chunked:
                yield from self._chunks(message.body)
            else:
                yield from self._exactly(message.length or 0, message.body)


class AnswerReader(Reader):
    def __init__(self, open_requests, on_exchange):
        self.open, self.on_exchange = open_requests, on_exchange
        super().__init__()

    def _messages(self):
        while True:
            answer = Message((yield from self._until(b"\r\n\r\n")))
            if answer.status == 101:
                return
            if answer.status < 200:
                continue
            request = self.open.popleft()
            if request.method == "HEAD" or answer.status in (204, 304):
                pass
            elif answer.chunked:
                yield from self._chunks(answer.body)
            elif answer.length is not None:
                yield from self._exactly(answer.length, answer.body)
            else:
                yield from self._to_the_end(answer.body)
            self.on_exchange(request, answer)


class Recorder:
    """Listens on a port of its own inside a `with`. Calls `on_exchange(request, answer)` in its threads."""

    def __init__(self, port, on_exchange):
        self.upstream, self.on_exchange = port, on_exchange
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.base = f"http://127.0.0.1:{self.port}"
        self._threads, self._sockets, self._ended, self._lock = [], set(), False, threading.Lock()

    def __enter__(self):
        self._start(self._accept)
        return self

    def __exit__(self, *_):
        # close() does not wake a thread that is blocked in accept(); shutdown() does.
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        with self._lock:
            self._ended = True
            for connection in self._sockets:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _start(self, function, *args):
        thread = threading.Thread(target=function, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self._start(self._serve, client)

    def _serve(self, client):
        try:
            daemon = socket.create_connection(("127.0.0.1", self.upstream))
        except OSError:
            client.close()
            return
        open_requests = collections.deque()
        pair = (client, daemon)
        with client, daemon:
            with self._lock:
                if self._ended:
                    return
                self._sockets.update(pair)
            for connection in pair:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            back = threading.Thread(target=pass_on, daemon=True, args=(
                daemon, client, AnswerReader(open_requests, self.on_exchange)))
            back.start()
            pass_on(client, daemon, RequestReader(open_requests))
            back.join()
            with self._lock:
                self._sockets.difference_update(pair)


def pass_on(source, target, reader):
    """Copies bytes until the source ends. Bytes are parsed before they are sent, so that a request is known before its
    answer arrives."""
    while True:
        try:
            data = source.recv(BLOCK)
        except OSError:
            data = b""
        reader.feed(data)
        try:
            if not data:
                target.shutdown(socket.SHUT_WR)
                return
            target.sendall(data)
        except OSError:
            with contextlib.suppress(OSError):
                source.shutdown(socket.SHUT_RDWR)
            return


class Notes:
    """What clients called: {client: {"methods": {id: …}, "parameters": […], "strange": […], "runs": […]}}."""

    def __init__(self, document):
        self.document, self.clients = document, {}
        self._lock = threading.Lock()

    def run(self, client, name):
        """Records that a client's script or test was completed."""
        with self._lock:
            add(self._client(client)["runs"], [name])

    def exchange(self, client, request, answer):
        address = urllib.parse.urlsplit(request.target)
        verb, query, body = request.method, urllib.parse.parse_qs(address.query, keep_blank_values=True), request.json()
        # Clients send a GET with a very long address as a POST with this header.
        override = request.headers.get("x-http-method-override")
        if verb == "POST" and override:
            verb, body = override, None
            query |= urllib.parse.parse_qs(request.decoded().decode("latin-1"), keep_blank_values=True)
        methods = self.document.methods_of(verb, address.path)
        answered = [(set(), set())] * len(methods)
        if answer.status < 400 and not {"fields", "callback", "$fields"} & set(query):
            answered = [self.document.seen(method.response, answer.json()) for method in methods]
        # If services share a path, a field is strange only if none of them has it.
        strange = set.intersection(*(unknown for _, unknown in answered)) if methods else set()
        for method, (known, _) in zip(methods, answered):
            asked, common = self.document.parameters_seen(method, query)
            fields, _ = self.document.seen(method.request, body)
            with self._lock:
                self._write(self._client(client), method, answer.status, asked | fields, common, known, strange)

    def _client(self, name):
        return self.clients.setdefault(name, {"methods": {}, "parameters": [], "strange": [], "runs": []})

    @staticmethod
    def _write(noted, method, status, asked, common, answered, strange):
        calls = noted["methods"].setdefault(method.id, {"statuses": [], "request": {}, "response": []})
        add(calls["statuses"], [status])
        for field in asked:
            accepted = status < 400 or calls["request"].get(field) == "accepted"
            calls["request"][field] = "accepted" if accepted else "refused"
        add(calls["response"], answered)
        add(noted["parameters"], common)
        add(noted["strange"], [f"{method.id} {field}" for field in strange])


def add(values, more):
    values[:] = sorted(set(values) | set(more))


def merge(into, clients):
    """Adds the contents of other Notes of the same document."""
    for name, new in clients.items():
        old = into.setdefault(name, {"methods": {}, "parameters": [], "strange": [], "runs": []})
        for key in ("parameters", "strange", "runs"):
            add(old[key], new[key])
        for method, calls in new["methods"].items():
            found = old["methods"].setdefault(method, {"statuses": [], "request": {}, "response": []})
            add(found["statuses"], calls["statuses"])
            add(found["response"], calls["response"])
            for field, how in calls["request"].items():
                if found["request"].get(field) != "accepted":
                    found["request"][field] = how


class Recording:
    """The notes of a test run, added to those of other runs in the file that TRAINYARD_COVERAGE names."""

    def __init__(self, path=None):
        self.path, self.notes = path or os.environ.get("TRAINYARD_COVERAGE"), None

    @contextlib.contextmanager
    def between(self, client, daemon):
        """Puts a recorder before the daemon; clients use its address, `.base`."""
        if self.notes is None:
            self.notes = Notes(Document(*(daemon.get(address).json for address in ADDRESSES)))
        with Recorder(daemon.port, lambda request, answer: self.notes.exchange(client, request, answer)) as recorder:
            yield recorder

    def save(self):
        if self.notes is None or not self.path:
            return
        path = pathlib.Path(self.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # several test runs may write at the same time
            file.seek(0)
            before = json.loads(file.read() or "{}")
            clients = before.get("clients", {})
            merge(clients, self.notes.clients)
            file.truncate(0)
            json.dump({"documents": self.notes.document.values, "clients": clients}, file, indent=1, sort_keys=True)
            file.write("\n")
