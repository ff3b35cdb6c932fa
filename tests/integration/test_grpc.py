# SPDX-License-Identifier: Apache-2.0
"""The gRPC front end against malicious clients, with hand-made frames of HTTP/2. tests/clients tests it with Google's own
libraries."""
import contextlib
import http.client
import json
import socket
import ssl
import time

import pytest

from support.daemon import Daemon
from support.engine import NO_ENGINE
from support.grpc_peer import (ACK, ALERT, CONTINUATION, DATA, END_HEADERS, END_STREAM, GET_JOB, GOAWAY, HEADERS, HELLO,
                               MISSING, PING, PREFACE, RST_STREAM, SERVICE, SETTINGS, Peer, code, frame, head, header, message, named, part)

LOGGING = "/google.logging.v2.LoggingServiceV2/"
CONNECTIONS_MAX = 128
GROWTH_KIB = 150 << 10


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
    """The port of the gRPC front end. After each test, it must still answer a call, and the daemon must not have grown."""
    before = memory_kib(front)
    yield front.grpc_port
    with Peer(front.grpc_port) as peer:
        assert code(5) in one_call(peer, GET_JOB, MISSING)
    assert memory_kib(front) - before < GROWTH_KIB


def one_call(peer, path, body):
    stream = peer.call(path, body)
    return peer.ends()[stream]


# ---- Cloud Logging ----

# Fails with: the door's families without logging: 12, no such method. Any refused by the reader of binary messages: 3.
def test_cloud_logging_is_served_with_payloads_of_any_type(front, port):
    log = f"projects/{front.project}/logs/by-grpc"
    payload = part(1, b"type.googleapis.com/google.cloud.audit.AuditLog") + part(2, part(7, b"audited"))
    written = b"".join((part(1, log.encode()), part(2, named("global")), part(4, part(3, b"a text")), part(4, part(2, payload))))
    with Peer(port) as peer:
        assert code(0) in one_call(peer, LOGGING + "WriteLogEntries", message(written))
        listed = one_call(peer, LOGGING + "ListLogEntries", message(part(8, f"projects/{front.project}".encode())))
    assert b"a text" in listed and payload in listed
    answer = front.post("/v2/entries:list", {"resourceNames": [f"projects/{front.project}"]}).json
    assert {entry["logName"] for entry in answer["entries"]} == {log}
    assert answer["entries"][1]["protoPayload"]["@type"].endswith(".AuditLog")
    with Peer(port) as peer:
        assert code(0) in one_call(peer, LOGGING + "DeleteLog", message(part(1, log.encode())))
        assert code(5) in one_call(peer, LOGGING + "DeleteLog", message(part(1, log.encode())))


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
        assert peer.pour(peer.begin(GET_JOB), 11 << 20, END_STREAM)
        assert code(8) in peer.ends()[1] and peer.lasts()


@pytest.mark.parametrize("flood", [
    lambda n: frame(HEADERS, END_HEADERS, n, head(GET_JOB)) + frame(RST_STREAM, 0, n, b"\0\0\0\x08"),
    lambda n: frame(SETTINGS, 0, 0), lambda n: frame(PING, 0, 0, b"12345678"),
    lambda n: frame(HEADERS, END_HEADERS, n, head(GET_JOB, **{"x": "y" * 16000}))], ids=["resets", "settings", "pings", "headers"])
def test_floods_end_or_are_borne(port, flood):
    """The frames are sent without reading what comes back."""
    with Peer(port) as peer, contextlib.suppress(OSError):
        peer.socket.settimeout(3)
        for start in range(0, 20000 if flood(1)[3] != HEADERS or len(flood(1)) < 9000 else 400, 100):
            peer.send(b"".join(flood(2 * n + 1) for n in range(start, start + 100)))


def test_a_head_without_an_end_is_ended(port):
    """CVE-2024-27316 and similar: one CONTINUATION frame after the other."""
    with Peer(port, HELLO + frame(HEADERS, 0, 1, head(GET_JOB))) as peer, contextlib.suppress(OSError):
        peer.socket.settimeout(10)
        for _ in range(20000):
            peer.send(frame(CONTINUATION, 0, 1, header("x", "y" * 100) * 10))
        raise AssertionError("all of it was taken")


def test_a_table_of_headers_that_unfolds_is_refused(port):
    """One long value in the header table, referred to by one byte each time: 16 KiB would become 64 MiB."""
    stored = b"\x40" + header("x", "y" * 4000)[1:]
    block = stored + b"\xbe" * 16000
    with Peer(port, PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, END_HEADERS, 1, head(GET_JOB) + stored) +
              frame(HEADERS, END_HEADERS, 3, block[:16384])) as peer:
        peer.socket.settimeout(10)
        assert any(kind in (RST_STREAM, GOAWAY, HEADERS) for kind, *_ in peer.frames())


def test_a_window_of_nothing_keeps_no_other_waiting(port):
    """Answers that may not be sent yet are kept, within limits, on the connection that asked."""
    closed = PREFACE + frame(SETTINGS, 0, 0, b"\0\x01\0\0\0\0\0\x04\0\0\0\0")
    with Peer(port, closed) as stalled, Peer(port) as quick:
        for _ in range(90):
            stalled.call(GET_JOB, MISSING)
        assert stalled.lasts()
        assert code(5) in one_call(quick, GET_JOB, MISSING)


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


def test_who_waits_for_an_answer_makes_no_room(front, port):
    """Fails with: room_make() that takes a connection with a call under way for the one that is useless longest."""
    number = front.post("/_trainyard/v1/faults", {"fault": "timeout", "seconds": 3,
                                                  "method": "aiplatform.projects.locations.customJobs.get"}).json["id"]
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(Peer(port)) for _ in range(CONNECTIONS_MAX)]
        assert all(peer.lasts() for peer in (peers[0], peers[-1]))
        assert code(5) in one_call(peers[0], GET_JOB, MISSING)
    assert front.get(f"/_trainyard/v1/faults/{number}").json["hits"] == "1"


# ---- TLS, and the end ----

# Fails with: name_add() that takes an address for a host.
def test_tls_is_for_this_machines_own_names_only(front, port):
    context = ssl.create_default_context(cafile=front.state_dir / "local-ca/bundle.crt")
    context.set_alpn_protocols(["h2"])
    for name, is_right in (("localhost", True), ("127.0.0.1", True), ("::1", True), ("127.0.0.2", False),
                           ("aiplatform.googleapis.com", False)):
        with socket.create_connection(("127.0.0.1", port), timeout=30) as plain:
            with contextlib.nullcontext() if is_right else pytest.raises(ssl.SSLCertVerificationError):
                with context.wrap_socket(plain, server_hostname=name) as secure:
                    assert secure.selected_alpn_protocol() == "h2"


# Fails with: stream_socket_is_rest() that says no.
@pytest.mark.parametrize("protocols", [None, ["http/1.1"], ["h2", "http/1.1"]])
def test_rest_is_at_the_same_port_by_tls(front, port, protocols):
    """Google serves both at one host, and its libraries switch from one to the other."""
    context = ssl.create_default_context(cafile=front.state_dir / "local-ca/bundle.crt")
    if protocols:
        context.set_alpn_protocols(protocols)
    for _ in range(2):
        client = http.client.HTTPSConnection("localhost", port, timeout=10, context=context)
        for _ in range(2):
            client.request("GET", "/v1/projects/demo-project/locations/us-central1/customJobs")
            answer = client.getresponse()
            assert answer.status == 200 and json.loads(answer.read()) == {}
        client.request("GET", "/healthz", headers={"Host": "evil.example"})
        assert client.getresponse().status == 403
        client.close()


# Fails with: host_refuse() without the names; guards without hosts: of the listener, of the door.
def test_a_host_name_may_be_added_and_the_others_are_told(tmp_path):
    daemon = Daemon(tmp_path, NO_ENGINE, "--offline", "--grpc", "127.0.0.1:0", "--host-name", "yard.example",
                    "--host-name", "other.example")
    with daemon:
        for host, status in ("yard.example", 200), ("OTHER.example:80", 200), ("evil.example", 403):
            client = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=10)
            client.request("GET", daemon.jobs_path, headers={"Host": host})
            answer = client.getresponse()
            said = answer.read().decode()
            assert answer.status == status, said
            client.close()
        for word in '"evil.example', "localhost", "127.0.0.1", "yard.example", "other.example", "`serve --host-name NAME`":
            assert word in json.loads(said)["error"]["message"]
        with Peer(daemon.grpc_port) as peer:
            stream = peer.call(GET_JOB, MISSING, **{":authority": "yard.example"})
            assert code(5) in peer.ends()[stream]


# Fails with: stream_socket_is_rest() that waits for more of what is whole; or that takes a cut hello for REST's.
def test_hellos_in_pieces_are_waited_for(front, port):
    context = ssl.create_default_context(cafile=front.state_dir / "local-ca/bundle.crt")
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(back, there, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    hello = there.read()
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(0, len(hello), 100):
            client.sendall(hello[at:at + 100])
        assert client.recv(1) == b"\x16"


def test_a_stop_does_not_wait_for_those_who_say_nothing(tmp_path):
    daemon = Daemon(tmp_path, NO_ENGINE, "--offline", "--grpc", "127.0.0.1:0").start()
    with contextlib.ExitStack() as stack:
        port = daemon.grpc_port
        peers = [stack.enter_context(Peer(port, hello)) for hello in (HELLO, PREFACE[:5], b"\x16", b"") for _ in range(3)]
        assert peers[0].lasts()
        began = time.monotonic()
        daemon.stop()
        assert time.monotonic() - began < 8
