# SPDX-License-Identifier: Apache-2.0
"""A client for gRPC that makes the frames of HTTP/2 itself: so it can send wrong ones, and costs little."""
import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION, ALERT = 0, 1, 3, 4, 6, 7, 8, 9, 21
END_STREAM, ACK, END_HEADERS = 1, 1, 4
FRAME_MAX = 16384
SERVICE = "/google.cloud.aiplatform.v1.JobService/"
GET_JOB = SERVICE + "GetCustomJob"


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


# Sets the size of the header table to 0, so that each header's value is on the wire.
HELLO = PREFACE + frame(SETTINGS, 0, 0, b"\0\x01\0\0\0\0")


def settings_of(payload):
    return struct.iter_unpack(">HI", payload)


def header(name, value):
    """A literal header: not indexed, and without Huffman coding."""
    def text(word):
        data = word.encode()
        if len(data) < 127:
            return bytes([len(data)]) + data
        rest, length = len(data) - 127, b"\x7f"
        while rest > 127:
            length, rest = length + bytes([rest & 127 | 128]), rest >> 7
        return length + bytes([rest]) + data
    return b"\0" + text(name) + text(value)


def head_fields(path, method="POST", kind="application/grpc", **more):
    fields = {":method": method, ":scheme": "http", ":path": path, ":authority": "localhost", "content-type": kind, **more}
    return [(name.replace("_", "-"), value) for name, value in fields.items()]


def block(fields):
    return b"".join(header(name, value) for name, value in fields)


def head(path, method="POST", kind="application/grpc", **more):
    return block(head_fields(path, method, kind, **more))


def named(name):
    """A message whose first field is a string."""
    return b"\x0a" + bytes([len(name)]) + name.encode()


def part(number, data):
    """A field whose value is a text or a message."""
    return bytes([number << 3 | 2, len(data)]) + data


def message(data, compressed=0):
    return bytes([compressed]) + struct.pack(">I", len(data)) + data


MISSING = message(named("projects/demo-project/locations/us-central1/customJobs/1"))


class Peer:
    """A connection without TLS on which the client's preface has been sent."""

    def __init__(self, port, hello=HELLO, window=None):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if window:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        self.buffer, self.next = b"", 1
        # the windows for data to be sent: that of the connection (stream 0) now, and the initial one of each stream (setting
        # 4)
        self.windows = {0: 65535, 4: 65535}
        self.send(hello)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def call(self, path, body=b"", **more):
        """Sends a complete call; returns its stream's number."""
        return self.call_headed(head(path, **more), body)

    def call_headed(self, headers, body=b""):
        """The same with any block of headers."""
        stream, self.next = self.next, self.next + 2
        kind = HEADERS
        while len(headers) > FRAME_MAX:
            self.send(frame(kind, 0, stream, headers[:FRAME_MAX]))
            kind, headers = CONTINUATION, headers[FRAME_MAX:]
        self.send(frame(kind, END_HEADERS, stream, headers) + frame(DATA, END_STREAM, stream, body))
        return stream

    def begin(self, path, **more):
        """Sends only the head of a call; returns its stream's number."""
        stream, self.next = self.next, self.next + 2
        self.send(frame(HEADERS, END_HEADERS, stream, head(path, **more)))
        return stream

    def pour(self, stream, size, end=0, insists=False):
        """Sends as much of a body as the windows allow; returns whether all of it was sent. `insists`: continues after an
        answer."""
        used, frames = 0, self.frames()  # bytes of the stream's window that are used
        while size:
            length = min(size, FRAME_MAX)
            while min(self.windows[4] - used, self.windows[0]) < length:
                kind, flags, number, payload = next(frames, (GOAWAY, 0, 0, b""))
                if kind == GOAWAY or (number == stream and not insists and (kind == RST_STREAM or flags & END_STREAM)):
                    return False
                if kind == WINDOW_UPDATE and number == stream:
                    used -= int.from_bytes(payload, "big")
            size, used, self.windows[0] = size - length, used + length, self.windows[0] - length
            self.send(frame(DATA, 0 if size else end, stream, bytes(length)))
        return True

    def frames(self):
        """Yields the frames that arrive, until the other side ends the connection."""
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
            if kind == SETTINGS:
                self.windows.update(settings_of(payload))
            elif kind == WINDOW_UPDATE and not stream:
                self.windows[0] += int.from_bytes(payload, "big")
            yield kind, flags, stream, payload

    def ends(self, count=1):
        """Returns {stream: all its bytes} of the next streams that end."""
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
        """Whether the other side answers a ping."""
        self.send(frame(PING, 0, 0, b"stillyou"))
        return any(kind == PING and flags & ACK and payload == b"stillyou" for kind, flags, _, payload in self.frames())


def code(number):
    """A gRPC status as it is in a block of headers; it is too short to be Huffman-coded."""
    return bytes([len(str(number))]) + str(number).encode()
