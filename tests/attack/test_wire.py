# SPDX-License-Identifier: Apache-2.0
"""Bytes that two parsers could interpret differently, too many bytes, and too few per second."""
import contextlib
import gzip
import os
import socket
import time

import pytest

from support.attack import EVIL, job_body, raw, request_bytes, settle, statuses, untouched
from support.grpc_peer import (CONTINUATION, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, RST_STREAM, SERVICE, Peer, block, code, frame, head_fields, message,
                               named, part)
from support.wait import wait_until

HEAD_LIMIT_S = 30  # as in daemon/wiring.c
GRPC_PLACES = 128  # as in api/grpc/front.c
LONG_HEAD = 16 << 10
RESET = b"reset"


def smuggled(yard):
    return request_bytes("POST", yard.jobs_path, job_body("smuggled"))


def test_what_is_smuggled_would_work_and_be_seen(yard):
    with pytest.raises(AssertionError), untouched(yard):
        assert statuses(raw(yard, smuggled(yard).replace(b"smuggled", b"controls"))) == [200]
    settle(yard)


def framed(path, lines, body):
    return (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n".encode() +
            lines + b"\r\n\r\n" + body)


def torn(inner, line):
    """For a parser that takes `line` as the end of the head, the body ends earlier by the rest of the head."""
    body = b"{}" + inner
    return b"Content-Length: %d\r\n%s\r\nX: %s" % (len(body), line, b"x" * (len(inner) - len(b"X: \r\n\r\n"))), body


def cases(inner):
    """(name, header lines, body): in one of two interpretations, the body ends early and `inner` is a request of its own."""
    early, chunk = b"0\r\n\r\n" + inner, b"%x\r\n%s\r\n0\r\n\r\n" % (len(inner), inner)
    length = b"Content-Length: %d" % len(early)
    yield "both, coding ends it", length + b"\r\nTransfer-Encoding: chunked", early
    yield "both, length ends it", b"Content-Length: 4\r\nTransfer-Encoding: chunked", chunk
    yield "both, coding first", b"Transfer-Encoding: chunked\r\n" + length, early
    yield "two lengths", b"Content-Length: 0\r\nContent-Length: %d" % len(inner), inner
    yield "two lengths in one", b"Content-Length: 0, %d" % len(inner), inner
    yield "equal lengths", b"Content-Length: 0\r\nContent-Length: 0", inner
    yield "signed length", b"Content-Length: +%d" % len(inner), inner
    yield "hex length", b"Content-Length: 0x0", inner
    yield "negative length", b"Content-Length: -1", inner
    yield "huge length", b"Content-Length: 18446744073709551616", inner
    yield "two codings", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", early
    yield "coding in a list", b"Transfer-Encoding: gzip, chunked", early
    yield "unknown coding", b"Transfer-Encoding: xchunked\r\n" + length, early
    yield "space before the colon", length + b"\r\nTransfer-Encoding : chunked", early
    yield "folded coding", length + b"\r\nTransfer-Encoding:\r\n chunked", early
    yield "folded by a tab", length + b"\r\nTransfer-Encoding:\r\n\tchunked", early
    yield "folded coding first", b"Transfer-Encoding:\r\n chunked\r\n" + length, early
    yield "folded length", b"Content-Length:\r\n 0", inner
    yield "folded twice", length + b"\r\nTransfer-Encoding:\r\n \r\n chunked", early
    yield "folded after a comma", length + b"\r\nTransfer-Encoding: chunked,\r\n chunked", early
    yield "folded name", length + b"\r\nX: a\r\n Transfer-Encoding: chunked\r\nY: b", b"x" * len(early)
    yield "bare LF", length + b"\r\nX: a\nTransfer-Encoding: chunked", early
    yield "bare CR", length + b"\r\nX: a\rTransfer-Encoding: chunked", early
    yield "tab in the coding", length + b"\r\nTransfer-Encoding:\tchunked", early
    yield "quoted coding", length + b"\r\nTransfer-Encoding: \"chunked\"", early
    yield "NUL in the coding", length + b"\r\nTransfer-Encoding: chunked\0x", early
    yield "line without a name", *torn(inner, b": x")
    yield "line that begins with NUL", *torn(inner, b"\0x")
    yield "NUL in the length", b"Content-Length: 0\0%d" % len(inner), inner
    yield "NUL behind the coding", b"Transfer-Encoding: chunked\0,identity\r\n" + length, early
    yield "bad chunk size", b"Transfer-Encoding: chunked", b"0x5\r\nhello\r\n0\r\n\r\n" + inner
    yield "negative chunk size", b"Transfer-Encoding: chunked", b"-1\r\n" + early
    yield "chunk size beyond 64 bits", b"Transfer-Encoding: chunked", b"10000000000000000\r\n" + early
    yield "chunk without its end", b"Transfer-Encoding: chunked", b"2\r\n{}xx0\r\n\r\n" + inner


NAMES = [name for name, _, _ in cases(b"")]


# Tried with uploads as well, which accept any bytes, unlike the jobs API, whose bodies must be JSON. Fails with:
# head_check_framing() that returns STATUS_OK at once; that does not look at folded, at controlled, or at torn.
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_smuggled_behind_a_doubtful_length(yard, name):
    lines, body = next((lines, body) for each, lines, body in cases(smuggled(yard)) if each == name)
    for path in (yard.jobs_path, "/upload/storage/v1/b/attacked/o?uploadType=media&name=outer", "/attacked/outer"):
        with untouched(yard):
            answer = raw(yard, framed(path, lines, body))
        codes = statuses(answer)
        assert len(set(codes)) == 1 and codes[0] >= 400 and b"smuggled" not in answer, answer


# Fails with: exchange_begin() that does not close for head_says_identity(): a second answer, and the job is there.
@pytest.mark.parametrize("lines", [b"Content-Length: 0\r\nTransfer-Encoding: identity",
                                   b"Transfer-Encoding: identity\r\nContent-Length: 0"])
def test_what_is_said_to_be_empty_is_the_connections_last(yard, lines):
    with untouched(yard):
        answer = raw(yard, framed(yard.jobs_path, lines, smuggled(yard)))
    assert statuses(answer) == [400] and b"smuggled" not in answer, answer


# Fails with: head_check_framing() that does not look at torn; request_line_end() that does not compare.
@pytest.mark.parametrize("head", [b"GET %s\0/x HTTP/1.1\r\nHost: localhost", b"GET %s\0/x HTTP/1.1", b"GET\0X %s HTTP/1.1\r\nHost: localhost",
                                  b"GET %s HTTP/1.1\r\nHost: localhost\0.evil.example",
                                  b"GET %s HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\0.evil.example",
                                  b"GET %s HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: none\0cross-site",
                                  b"GET %s HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\nY: c",
                                  b"GET %s HTTP/1.1\nHost: localhost", b"GET %s HTTP/1.1\r\nHost: localhost\nX: a"])
def test_a_head_has_no_nul_and_whole_line_ends(yard, head):
    answer = raw(yard, head % yard.jobs_path.encode() + b"\r\n\r\n")
    assert statuses(answer) == [400] and b"Connection: close" in answer, answer


# Fails with: head_says_coding() that returns false: a second answer, and the job is there.
def test_what_comes_in_chunks_is_the_connections_last(yard):
    for chunks in (b"2\r\n{}\r\n0\r\n\r\n", b"2;\n{}\r\n0\r\n\r\n", b"2\n{}\n0\n\n"):
        with untouched(yard):
            answer = raw(yard, framed(yard.jobs_path, b"Transfer-Encoding: chunked", chunks + smuggled(yard)))
        assert statuses(answer) == [400] and b"Connection: close" in answer and b"smuggled" not in answer, answer


# Fails with: on_request() that looks at the head again with the trailers in it.
def test_chunk_extensions_and_trailers_say_nothing(yard):
    body = b'5;a="\r\n{"x":\r\n3;b\r\n1} \r\n0\r\nHost: evil.example\r\nContent-Length: 5\r\n\r\n'
    with untouched(yard):
        answer = raw(yard, framed(yard.jobs_path, b"Connection: close\r\nTransfer-Encoding: chunked", body))
    assert statuses(answer) == [400] and rb'Unknown name \"x\"' in answer, answer


CREATE = SERVICE + "CreateCustomJob"
GOOD = head_fields(CREATE)
SPEC = part(1, part(1, part(1, b"n1-standard-4")) + b"\x10\1" + part(6, part(1, b"i:1")))
CALL = message(named("projects/p/locations/us-central1") + part(2, part(2, b"called") + part(4, SPEC)))


def other(name, value, *more):
    """The valid head with another value of this field; None: without the field."""
    return [(each, value if each == name else of) for each, of in GOOD if each != name or value is not None] + list(more)


# name -> fields of the head, and the refusal: a reset of the stream, a gRPC code, or an HTTP status.
ODD_CALLS = {
    "two authorities": (GOOD[:4] + [(":authority", "evil.example")] + GOOD[4:], RESET),
    "no authority": (other(":authority", None), RESET), "an empty authority": (other(":authority", ""), RESET),
    "a host alone": (other(":authority", None, ("host", "localhost")), code(7)),
    "two hosts": (other(":authority", None, ("host", "localhost"), ("host", "evil.example")), RESET),
    "a user": (other(":authority", "evil.example@localhost"), code(7)),
    "a host behind a user": (other(":authority", "localhost@evil.example"), code(7)),
    "a long authority": (other(":authority", "localhost" + "." * 600), code(7)),
    "a line in the authority": (other(":authority", "localhost\nX: y"), RESET),
    "a NUL in the authority": (other(":authority", "localhost\0.evil.example"), RESET),
    "two authorities in one": (other(":authority", "localhost,evil.example"), code(7)),
    "a line in a token": (GOOD + [("authorization", "Bearer x\nHost: localhost")], RESET),
    "a coding": (GOOD + [("transfer-encoding", "chunked")], RESET),
    "a connection": (GOOD + [("connection", "close")], RESET),
    "a capital": (GOOD + [("X-Upper", "a")], RESET), "a blank in a name": (GOOD + [("x y", "a")], RESET),
    "a late pseudo-header": (GOOD[:3] + GOOD[4:] + [GOOD[3]], RESET),
    "too short a length": (GOOD + [("content-length", "3")], RESET),
    "too long a length": (GOOD + [("content-length", "1000000")], RESET),
    "a negative length": (GOOD + [("content-length", "-1")], RESET),
    "two lengths": (GOOD + [("content-length", str(len(CALL)))] * 2, RESET),
    "an absolute path": (other(":path", "http://localhost" + CREATE), RESET), "a star": (other(":path", "*"), RESET),
    "dots": (other(":path", "/x/.." + CREATE), code(12)), "a query": (other(":path", CREATE + "?x=y"), code(12)),
    "an escape": (other(":path", CREATE.replace("J", "%4a")), code(12)),
    "a long path": (other(":path", CREATE + "x" * 20000), code(12)), "a longer path": (other(":path", CREATE + "x" * 60000), RESET),
    "another method": (other(":method", "GET", ("x-http-method-override", "POST")), b"405"),
    "a preflight": (other(":method", "OPTIONS"), b"405"), "a tunnel": (other(":method", "CONNECT"), RESET),
    **{kind: (other("content-type", kind), b"415") for kind in ("text/plain", "application/x-www-form-urlencoded",
                                                                "multipart/form-data; boundary=b", "application/json",
                                                                "application/grpc-web", "application/grpcx")},
    "no type": (other("content-type", None), b"415"),
    "an origin": (GOOD + [("origin", EVIL)], code(7)), "no origin": (GOOD + [("origin", "null")], code(7)),
    "a long origin": (GOOD + [("origin", "http://" + "a" * 9000)], code(7)),
    "another site": (GOOD + [("sec-fetch-site", "cross-site")], code(7)),
}


# Fails with: head_write() of front.c without Origin or Sec-Fetch-Site; copy_take() that keeps nothing of what is too long;
# media_is_grpc() that looks at the beginning alone; nghttp2_option_set_no_http_messaging() for the session.
@pytest.mark.parametrize("name", ODD_CALLS)
def test_an_odd_call_by_grpc_is_none(tcp_yard, name):
    fields, refusal = ODD_CALLS[name]
    with untouched(tcp_yard), Peer(tcp_yard.grpc_port) as peer:
        stream = peer.call_headed(block(fields), CALL)
        kinds = {}
        for kind, flags, number, payload in peer.frames():
            if number == stream and kind in (HEADERS, RST_STREAM) and (kind == RST_STREAM or flags & END_STREAM):
                kinds[kind] = payload
                break
    assert RST_STREAM in kinds if refusal is RESET else refusal in kinds[HEADERS], kinds


def test_a_good_call_would_work_and_be_seen(tcp_yard):
    with pytest.raises(AssertionError), untouched(tcp_yard), Peer(tcp_yard.grpc_port) as peer:
        stream = peer.call_headed(block(GOOD + [("origin", "http://localhost:1")]), CALL)
        assert b"customJobs/" in peer.ends()[stream]
    settle(tcp_yard)


# {path} is a path at which a POST creates a resource.
TARGETS = ["{path}%00", "{path}%0d%0aX:%20y", "//evil.example/", "*", "{path}%", "{path}%zz", "{path}#x", "http://",
           "http://localhost", "localhost:1", "/v1/projects/%c0%ae/jobs", "/v1/projects/../jobs", "{path}/..%2f..%2fx",
           "ftp://localhost{path}", "{path}/../x", "/%2e%2e{path}", "{path}\\..\\x", "{path}\x7f", "file://{path}"]


# Fails with: decode() that lets %00 through.
@pytest.mark.parametrize("target", TARGETS)
def test_a_strange_target_reaches_nothing(yard, target):
    with untouched(yard):
        answer = raw(yard, request_bytes("POST", target.format(path=yard.jobs_path), job_body("target"), Connection="close"))
    assert len(statuses(answer)) == 1 and statuses(answer)[0] >= 400, answer
    assert b"\r\nX: y" not in answer


# name -> the request, to a path at which a POST creates a resource from JSON, and the status.
TOO_MUCH = [
    ("a target", lambda path: b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414),
    ("a header", lambda path: request_bytes("GET", path, X_A="a" * 100000), 431),
    ("many headers", lambda path: request_bytes("GET", path, **{f"X-{i}": "a" for i in range(20000)}), 431),
    ("a length", lambda path: request_bytes("POST", path, b"{}", Content_Length=str(1 << 40)), 413),
    ("depth", lambda path: request_bytes("POST", path, b'{"jobId":' + b"[" * 500000), 400),
    ("a deep object", lambda path: request_bytes("POST", path, b'{"a":' * 300000 + b"1" + b"}" * 300000), 400),
    ("parameters", lambda path: request_bytes("GET", path + "?" + "a&" * 10000), 400),
    ("a form's parameters", lambda path: request_bytes("POST", path, b"&" * 5000, X_HTTP_Method_Override="GET",
                                                       Content_Type="application/x-www-form-urlencoded"), 400),
    ("segments", lambda path: request_bytes("GET", "/a" * 10000), 404),
    ("a gzip bomb", lambda path: request_bytes("POST", path, gzip.compress(b"a" * (32 << 20), 1), Content_Encoding="gzip"), 413),
]


# Fails with: HEAD_LIMIT_BYTES of 4 MiB; exchange_begin() that takes any length for 0; query_parse() without PAIR_LIMIT; unpack()
# without its limit.
@pytest.mark.parametrize("what,data,status", TOO_MUCH, ids=lambda value: value if isinstance(value, str) else "")
def test_too_much_is_refused(yard, what, data, status):
    with untouched(yard):
        sent = data(yard.jobs_path)
        answer = raw(yard, sent, wait=30)
    if answer or sent.index(b"\r\n\r\n") < LONG_HEAD:  # a longer request is not read completely, so the answer may be lost
        assert statuses(answer) == [status], answer[:500]


def job_text(head, tail="", region="us-central1"):
    return ('{' + head + f'"trainingInput":{{"region":"{region}","masterConfig":{{"imageUri":"i:1"}}}}' + tail + '}').encode()


BODIES = {
    "NaN": job_text('"jobId":"a",', ',"labels":{"x":NaN}'), "an infinity": job_text('"jobId":"a",', ',"labels":{"x":-Infinity}'),
    "a number without end": job_text('"jobId":"a",', ',"labels":{"x":1e999}'),
    "a long number": job_text('"jobId":"a",', f',"labels":{{"x":{"9" * 400}}}'),
    "no UTF-8": job_text('"jobId":"a",').replace(b'"a"', b'"a\xff"'),
    "a long form of UTF-8": job_text('"jobId":"a",').replace(b'"a"', b'"a\xc0\xaf"'),
    "a NUL": job_text('"jobId":"a",').replace(b'"a"', b'"a\0b"'), "an escaped NUL": job_text('"jobId":"a\\u0000b",'),
    "a NUL for a name": job_text('"jobId":"a","\\u0000":1,'), "half a surrogate": job_text('"jobId":"a",', ',"labels":{"x":"\\ud800"}'),
    "a line end in a text": job_text('"jobId":"a",', ',"labels":{"x":"y\nz"}'),
    "a mark of byte order": b"\xef\xbb\xbf" + job_text('"jobId":"a",'), "UTF-16": job_text('"jobId":"a",').decode().encode("utf-16"),
    "two values": job_text('"jobId":"a",') + b"{}", "a NUL behind it": job_text('"jobId":"a",') + b"\0{}",
    "a comment": job_text('"jobId":"a",/*x*/'), "other quotes": b"{'jobId':'a'}", "two commas": job_text('"jobId":"a",', ",,"),
    "a list": b"[" + job_text('"jobId":"a",') + b"]", "a text": b'"jobId"', "null": b"null", "blanks": b" \n ",
    # The last of two equal keys counts, as in protobuf, for the check and for what is stored.
    "a bad one last": job_text('"jobId":"a","jobId":"../b",'), "a bad form of the name last": job_text('"jobId":"a","job_id":"../b",'),
}


# Fails with: message_parse_body() without syntax_check(), with JSON_DISABLE_EOF_CHECK and JSON_ALLOW_NUL.
@pytest.mark.parametrize("name", BODIES)
def test_an_odd_body_makes_nothing(yard, name):
    with untouched(yard):
        answer = raw(yard, request_bytes("POST", yard.jobs_path, BODIES[name], Connection="close"))
    assert statuses(answer) == [400], answer


class Slow:
    """A client that sends something, and then a little at a time."""

    def __init__(self, yard, start, more):
        self.start, self.more, self.seen, self.open = start, more, b"", True
        self.client = yard.connect()
        self.client.setblocking(False)
        self.client.sendall(start)

    def is_cut(self):
        try:
            while self.open and (piece := self.client.recv(4096)):
                self.seen += piece
            self.open = False
        except BlockingIOError:
            with contextlib.suppress(OSError):
                self.client.send(self.more)
        except ConnectionError:
            self.open = False
        return not self.open


def slow_ones(yard):
    head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
    return [Slow(yard, *each) for each in (
        (b"", b""), (b"", b"G"), (head, b""), (head, b"X"), (head, b"X-A: b\r\n"),
        (framed(yard.jobs_path, b"Content-Length: 1000000", b"{"), b" "),
        (framed(yard.jobs_path, b"Transfer-Encoding: chunked", b""), b"1\r\n{\r\n"))]


def test_clients_that_say_almost_nothing_are_cut_off(yards):
    """All are tried at once, because this takes the full time limit. The gRPC clients send bytes all the time, but none that
    count as activity. Fails with: late_cut() that cuts no connection; room_wait() of gRPC without room_make(); session_run() that
    takes any byte for a reason to stay."""
    port, begun = yards["tcp"].grpc_port, time.monotonic()
    busy = [Peer(port) for _ in range(GRPC_PLACES)]  # uses all connections

    def are_cut():
        for peer in busy:
            with contextlib.suppress(OSError):
                peer.send(frame(PING, 0, 0, b"stillyou"))
        return all([client.is_cut() for client in clients])
    clients = [client for yard in yards.values() for client in slow_ones(yard)]
    try:
        with contextlib.ExitStack() as stack:
            for yard in yards.values():
                stack.enter_context(untouched(yard))
            wait_until(are_cut, HEAD_LIMIT_S + 10, "all are cut off")
        assert time.monotonic() - begun > HEAD_LIMIT_S - 5, "cut off too soon"
        for client in clients:
            assert statuses(client.seen) == ([] if client.start.startswith(b"POST") else [408]), client.seen
        with Peer(port) as late:
            assert late.lasts()
    finally:
        for client in (*[client.client for client in clients], *[peer.socket for peer in busy]):
            client.close()


# Fails with: connection_begin() without room_make().
def test_silent_connections_keep_nobody_out(yard):
    with contextlib.ExitStack() as stack:
        for i in range(700):
            with contextlib.suppress(OSError):
                stack.enter_context(yard.connect(5))
            if i % 32 == 0:
                assert yard.get("/healthz").status == 200
        assert yard.get("/healthz").status == 200


# Fails with: room_make() by deadlines, as it was: a next request may come later than a first one, so all who came were cut.
def test_resting_connections_keep_nobody_out(yard):
    with contextlib.ExitStack() as stack:
        for _ in range(700):
            client = stack.enter_context(yard.connect())
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert client.recv(12) == b"HTTP/1.1 200"


# Adds a header of 4,000 bytes to the table, and the byte that then refers to it: 2.5 MB expand to 10 GB.
KEPT = b"\x40\x01x\x7f\xa1\x1e" + b"v" * 4000
AGAIN = b"\xbe"
CALM = (11).to_bytes(4, "big")
FLOOD_BYTES, FLOOD_CPU_S = 2_500_000, 1.0


def long_head():
    yield frame(HEADERS, 0, 1, KEPT)
    while True:
        yield frame(CONTINUATION, 0, 1, AGAIN * 16384)


def many_heads():
    yield frame(HEADERS, END_HEADERS, 1, block(head_fields(SERVICE + "x")) + KEPT)
    for stream in range(3, 1 << 20, 2):
        yield frame(HEADERS, END_HEADERS | END_STREAM, stream, block(head_fields(SERVICE + "x")) + AGAIN * 7)


def fat_heads():
    """Each head is complete in one frame: 16 KB expand to 64 MB."""
    yield frame(HEADERS, END_HEADERS, 1, block(head_fields(SERVICE + "x")) + KEPT)
    for stream in range(3, 1 << 20, 2):
        yield frame(HEADERS, END_HEADERS | END_STREAM, stream, block(head_fields(SERVICE + "x")) + AGAIN * 16000)


def empty_continuations():
    yield frame(HEADERS, 0, 1, KEPT)
    while True:
        yield frame(CONTINUATION, 0, 1) * 1000


def heads_of_no_stream():
    """Too many streams are open, but heads of refused streams are decoded all the same."""
    yield frame(HEADERS, END_HEADERS, 1, block(head_fields(SERVICE + "x")) + KEPT)
    for stream in range(3, 1 << 20, 2):
        yield frame(HEADERS, END_HEADERS, stream, block(head_fields(SERVICE + "x")) if stream < 201 else AGAIN * 16384)


def cpu_s(daemon):
    with open(f"/proc/{daemon.pid}/stat", encoding="utf-8") as file:
        return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")


# Fails with: on_begin_frame() that counts nothing: all 2.5 MB of the first, third and last are unpacked.
# Fails with: head_count() that returns true: all of fat_heads is.
@pytest.mark.parametrize("flood", [long_head, many_heads, fat_heads, empty_continuations, heads_of_no_stream])
def test_packed_heads_cost_no_time_without_a_token(locked_yards, flood):
    locked = locked_yards["tcp"]
    before, sent = cpu_s(locked), 0
    with Peer(locked.grpc_port) as peer:
        with contextlib.suppress(ConnectionError):
            for piece in flood():
                sent += len(piece)
                peer.send(piece)
                if sent > FLOOD_BYTES:
                    break
        peer.socket.settimeout(10)
        with contextlib.suppress(ConnectionError):
            ends = [payload[4:8] for kind, _, _, payload in peer.frames() if kind == GOAWAY]
            assert ends in ([CALM], []), ends
    assert cpu_s(locked) - before < FLOOD_CPU_S
    assert locked.get("/healthz").status == 200


def test_a_head_that_unpacked_is_too_long_is_reset_and_no_other(locked_yards):
    """Fails with: head_count() that returns true: it is answered as any other."""
    with Peer(locked_yards["tcp"].grpc_port) as peer:
        fields = block(head_fields(SERVICE + "x"))
        peer.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, fields + KEPT + AGAIN * 8))
        peer.send(frame(HEADERS, END_HEADERS | END_STREAM, 3, fields + AGAIN * 6))
        ends = {}
        for kind, flags, stream, payload in peer.frames():
            if stream and (kind == RST_STREAM or flags & END_STREAM):
                ends.setdefault(stream, payload if kind == RST_STREAM else kind)
            if len(ends) == 2:
                break
    assert ends == {1: CALM, 3: HEADERS}, ends


def own_address():
    """An address of this machine that is not loopback; no packet is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        with contextlib.suppress(OSError):
            probe.connect(("192.0.2.1", 9))
            return probe.getsockname()[0]
    return None


# Connections from loopback all count as one client. The unix socket is only its owner's. Fails with: connections_admit() that
# returns true; address_is_full() that returns false.
@pytest.mark.parametrize("name,most", [("http", 128), ("grpc", 32)])
def test_one_address_cannot_take_all_places(locked_yards, name, most):
    locked = locked_yards["tcp"]
    address, port = own_address(), locked.grpc_port if name == "grpc" else locked.port
    if not address or address.startswith("127."):
        pytest.skip("this machine has no address but loopback")
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(socket.create_connection((address, port), timeout=5)) for _ in range(most + 12)]

        def closed():
            count = 0
            for client in clients:
                client.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    try:
                        count += client.recv(1) == b""
                    except ConnectionError:
                        count += 1
            return count == 12
        wait_until(closed, 10, "what is over the limit is closed")
        assert locked.get("/healthz").status == 200
        with Peer(locked.grpc_port) as peer:
            assert peer.lasts()
