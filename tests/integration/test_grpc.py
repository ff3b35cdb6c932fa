# SPDX-License-Identifier: Apache-2.0
"""The front for gRPC against peers that mean no good, with frames of HTTP/2 made by hand. tests/clients drives it with
Google's own libraries."""
import contextlib
import socket
import ssl
import struct
import time

import pytest

from support.daemon import Daemon
from support.engine import NO_ENGINE

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, ALERT = 0, 1, 3, 4, 6, 7, 8, 21
END_STREAM, ACK, END_HEADERS = 1, 1, 4
SERVICE = "/google.cloud.aiplatform.v1.JobService/"
GET_JOB = SERVICE + "GetCustomJob"
CONNECTIONS_MAX = 128
GROWTH_KIB = 150 << 10


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


# Without a table of headers, so that each value is to be seen where it stands.
HELLO = PREFACE + frame(SETTINGS, 0, 0, b"\0\x01\0\0\0\0")


def settings_of(payload):
    return struct.iter_unpack(">HI", payload)


def header(name, value):
    """A literal that is not indexed, without Huffman's code."""
    def text(word):
        data = word.encode()
        rest = len(data) - 127
        length = bytes([len(data)]) if rest < 0 else b"\x7f" + (bytes([rest]) if rest < 128 else
                                                                bytes([rest & 127 | 128, rest >> 7]))
        return length + data
    return b"\0" + text(name) + text(value)


def head(path, method="POST", kind="application/grpc", **more):
    fields = {":method": method, ":scheme": "http", ":path": path, ":authority": "localhost", "content-type": kind, **more}
    return b"".join(header(name.replace("_", "-"), value) for name, value in fields.items())


def named(name):
    """A message whose first field is a string."""
    return b"\x0a" + bytes([len(name)]) + name.encode()


def message(data, compressed=0):
    return bytes([compressed]) + struct.pack(">I", len(data)) + data


MISSING = message(named("projects/demo-project/locations/us-central1/customJobs/1"))


class Peer:
    """A connection without TLS that has said hello."""

    def __init__(self, port, hello=HELLO, window=None):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        if window:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        self.buffer, self.next = b"", 1
        self.send(hello)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def call(self, path, body=b"", **more):
        """Sends a call whole; its stream."""
        stream, self.next = self.next, self.next + 2
        self.send(frame(HEADERS, END_HEADERS, stream, head(path, **more)) + frame(DATA, END_STREAM, stream, body))
        return stream

    def frames(self):
        """What comes, until the other side ends the connection."""
        while True:
            while len(self.buffer) < 9 or len(self.buffer) < 9 + int.from_bytes(self.buffer[:3], "big"):
                try:
                    data = self.socket.recv(65536)
                except ConnectionResetError:
                    return
                if not data:
                    return
                self.buffer += data
            length = int.from_bytes(self.buffer[:3], "big")
            kind, flags, stream = self.buffer[3], self.buffer[4], int.from_bytes(self.buffer[5:9], "big")
            payload, self.buffer = self.buffer[9:9 + length], self.buffer[9 + length:]
            yield kind, flags, stream, payload

    def ends(self, count=1):
        """{stream: all its bytes} of the next streams that end."""
        found, open_ones = {}, {}
        for kind, flags, stream, payload in self.frames():
            if kind in (DATA, HEADERS):
                open_ones[stream] = open_ones.get(stream, b"") + payload
            if kind == RST_STREAM or (kind in (DATA, HEADERS) and flags & END_STREAM):
                found[stream] = open_ones.pop(stream, b"")
                if len(found) == count:
                    break
        return found

    def lasts(self):
        """Whether a ping is answered."""
        self.send(frame(PING, 0, 0, b"stillyou"))
        return any(kind == PING and flags & ACK and payload == b"stillyou" for kind, flags, _, payload in self.frames())


def memory_kib(daemon):
    with open(f"/proc/{daemon.pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))


@pytest.fixture(scope="module")
def front(tmp_path_factory):
    daemon = Daemon(tmp_path_factory.mktemp("front"), NO_ENGINE, "--offline", "--grpc", "127.0.0.1:0").start()
    yield daemon
    daemon.stop()


@pytest.fixture
def port(front):
    """Where it serves; after whatever a test has done, it still answers a call and has not grown."""
    before = memory_kib(front)
    yield front.grpc_port
    with Peer(front.grpc_port) as peer:
        assert code(5) in one_call(peer, GET_JOB, MISSING)
    assert memory_kib(front) - before < GROWTH_KIB


def one_call(peer, path, body):
    stream = peer.call(path, body)
    return peer.ends()[stream]


def code(number):
    """A status as it is in a block of headers; too short for Huffman's code."""
    return bytes([len(str(number))]) + str(number).encode()


# ---- what is no HTTP/2, or no call ----

HELLO_FRAMES = {
    "http1": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "garbage": PREFACE + b"\xff" * 4096,
    "short settings": PREFACE + frame(SETTINGS, 0, 0, b"\0\0\0"), "data of no call": HELLO + frame(DATA, 0, 0, b"x"),
    "even stream": HELLO + frame(HEADERS, END_HEADERS, 2, b"\x82"), "no hpack": HELLO + frame(HEADERS, END_HEADERS, 1, b"\xff" * 64),
    "broken tls": b"\x16\x03\x01\x02\x58" + b"\xff" * 600, "cut tls": b"\x16\x03\x01\0\x05hel", "half a preface": PREFACE[:9],
}


@pytest.mark.parametrize("name", HELLO_FRAMES)
def test_nonsense_ends_the_connection(port, name):
    with Peer(port, HELLO_FRAMES[name]) as peer:
        if name.startswith(("broken", "cut", "half")):
            peer.socket.shutdown(socket.SHUT_WR)
        assert all(kind in (SETTINGS, GOAWAY, RST_STREAM, ALERT) for kind, *_ in peer.frames())


def test_a_call_that_is_none_is_refused_by_its_own_kind(port):
    with Peer(port) as peer:
        rows = {peer.call(SERVICE + "FlyCustomJob", MISSING): code(12), peer.call(GET_JOB, MISSING[:-1]): code(13),
                peer.call(GET_JOB, message(b"x", 1)): code(12), peer.call(GET_JOB, MISSING, grpc_encoding="gzip"): code(12),
                peer.call(GET_JOB, message(b"\x0a\x7f")): code(3), peer.call(GET_JOB, MISSING): code(5),
                peer.call(GET_JOB, b"", method="GET"): code(405), peer.call(GET_JOB, b"", kind="text/html"): code(415)}
        for stream, answer in peer.ends(len(rows)).items():
            assert rows[stream] in answer, (stream, answer)


# ---- too much ----

def test_streams_beyond_the_limit_are_refused_or_answered(port):
    with Peer(port) as peer:
        for _ in range(200):
            peer.call(GET_JOB, MISSING)
        answers = peer.ends(200)
        assert len(answers) == 200 and sum(code(5) in answer for answer in answers.values()) >= 100
        assert peer.lasts()


def test_a_body_beyond_ten_mebibytes_is_refused(port):
    with Peer(port) as peer:
        peer.send(frame(HEADERS, END_HEADERS, 1, head(GET_JOB)))
        block, left, window, stream_window = bytes(16384), 11 << 20, 65535, 65535
        frames = peer.frames()
        while left:
            while min(window, stream_window) < len(block):
                kind, _, stream, payload = next(frames)
                if kind == SETTINGS:
                    stream_window += sum((value - 65535) for key, value in settings_of(payload) if key == 4)
                elif kind == WINDOW_UPDATE:
                    more = int.from_bytes(payload, "big")
                    window, stream_window = window + more * (not stream), stream_window + more * bool(stream)
            left -= len(block)
            window, stream_window = window - len(block), stream_window - len(block)
            peer.send(frame(DATA, 0 if left else END_STREAM, 1, block))
        assert code(8) in peer.ends()[1] and peer.lasts()


@pytest.mark.parametrize("flood", [
    lambda n: frame(HEADERS, END_HEADERS, n, head(GET_JOB)) + frame(RST_STREAM, 0, n, b"\0\0\0\x08"),
    lambda n: frame(SETTINGS, 0, 0), lambda n: frame(PING, 0, 0, b"12345678"),
    lambda n: frame(HEADERS, END_HEADERS, n, head(GET_JOB, **{"x": "y" * 16000}))], ids=["resets", "settings", "pings", "headers"])
def test_floods_end_or_are_borne(port, flood):
    """Sent without reading what comes back."""
    with Peer(port) as peer, contextlib.suppress(OSError):
        peer.socket.settimeout(3)
        for start in range(0, 20000 if flood(1)[3] != HEADERS or len(flood(1)) < 9000 else 400, 100):
            peer.send(b"".join(flood(2 * n + 1) for n in range(start, start + 100)))


def test_who_does_not_read_keeps_no_other_waiting(port):
    with Peer(port, window=4096) as slow, Peer(port) as quick:
        with contextlib.suppress(OSError):
            slow.socket.settimeout(1)
            for _ in range(2000):
                slow.call(GET_JOB, MISSING)
        began = time.monotonic()
        assert code(5) in one_call(quick, GET_JOB, MISSING) and time.monotonic() - began < 5


def test_connections_beyond_the_limit_wait_for_room(port):
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(Peer(port)) for _ in range(CONNECTIONS_MAX)]
        assert all(peer.lasts() for peer in (peers[0], peers[-1]))
        late = stack.enter_context(Peer(port))
        late.socket.settimeout(0.5)
        with pytest.raises(TimeoutError):
            late.lasts()
        peers[0].socket.close()
        late.socket.settimeout(30)
        assert late.lasts()


# ---- TLS, and the end ----

def test_tls_is_for_localhost_only(front, port):
    context = ssl.create_default_context(cafile=front.state_dir / "local-ca/bundle.crt")
    context.set_alpn_protocols(["h2"])
    for name, is_right in (("localhost", True), ("aiplatform.googleapis.com", False)):
        with socket.create_connection(("127.0.0.1", port), timeout=30) as plain:
            with contextlib.nullcontext() if is_right else pytest.raises(ssl.SSLCertVerificationError):
                with context.wrap_socket(plain, server_hostname=name) as secure:
                    assert secure.selected_alpn_protocol() == "h2"


def test_a_stop_does_not_wait_for_those_who_say_nothing(tmp_path):
    daemon = Daemon(tmp_path, NO_ENGINE, "--offline", "--grpc", "127.0.0.1:0").start()
    with contextlib.ExitStack() as stack:
        port = daemon.grpc_port
        peers = [stack.enter_context(Peer(port, hello)) for hello in (HELLO, PREFACE[:5], b"\x16", b"") for _ in range(3)]
        assert peers[0].lasts()
        began = time.monotonic()
        daemon.stop()
        assert time.monotonic() - began < 8
