# SPDX-License-Identifier: Apache-2.0
"""Calls of Cloud Storage's JSON API in which the test decides each byte, unlike with a client library."""
import base64
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import socket
import urllib.parse
import xml.etree.ElementTree

from .daemon import Answer

KIB, MIB = 1 << 10, 1 << 20
S3 = "{http://s3.amazonaws.com/doc/2006-03-01/}"


def quoted(name):
    return urllib.parse.quote(name, safe="")


def md5_of(data):
    return base64.b64encode(hashlib.md5(data).digest()).decode()


def xml_of(answer):
    assert answer.headers["Content-Type"].startswith("application/xml"), answer
    return xml.etree.ElementTree.fromstring(answer.data)


def pattern(seed, size):
    """Bytes that show to which object and offset they belong."""
    block = hashlib.sha256(str(seed).encode()).digest()
    out = b"".join(block[:24] + i.to_bytes(8, "big") for i in range(size // 32 + 1))
    return out[:size]


def tree_paths(top):
    """Every file below a directory that changes meanwhile. By the time a file is opened, it may be gone or be a directory:
    see passing_over()."""
    return [pathlib.Path(directory, name) for directory, _, names in os.walk(top) for name in names]


def passing_over():
    """Ignores errors about a path that has changed since it was listed."""
    return contextlib.suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError)


def tree_contents(top):
    """The contents of all files, sorted."""
    contents = []
    for path in tree_paths(top):
        with passing_over():
            contents.append(path.read_bytes())
    return sorted(contents)


class Storage:
    """One bucket of a daemon; the daemon may be restarted meanwhile."""

    def __init__(self, daemon, bucket="tests"):
        self.daemon, self.bucket = daemon, bucket

    # ---- objects ----

    @property
    def objects(self):
        return f"/storage/v1/b/{self.bucket}/o"

    @property
    def uploads(self):
        return f"/upload{self.objects}"

    def put(self, name, data, headers=None, **query):
        return self.daemon.request("POST", self.uploads, data, {"Content-Type": "x/y", **(headers or {})},
                                   uploadType="media", name=name, **query)

    def get(self, name, headers=None, **query):
        return self.daemon.request("GET", f"{self.objects}/{quoted(name)}", headers=headers, **query)

    def read(self, name, headers=None, **query):
        return self.get(name, headers, alt="media", **query)

    def delete(self, name, **query):
        return self.daemon.request("DELETE", f"{self.objects}/{quoted(name)}", **query)

    def patch(self, name, body, **query):
        return self.daemon.request("PATCH", f"{self.objects}/{quoted(name)}", body, **query)

    def names(self, **query):
        answer = self.daemon.get(self.objects, **query)
        if answer.status == 404:
            return []
        assert answer.status == 200, answer
        return [item["name"] for item in answer.json.get("items", [])]

    def assert_is(self, name, data):
        """Fails unless the object exists with exactly this data, and its metadata agrees."""
        answer = self.read(name)
        assert answer.status == 200 and answer.data == data, (name, answer.status, len(answer.data), len(data))
        found = self.get(name).json
        assert (found["size"], found["md5Hash"]) == (str(len(data)), md5_of(data)), found

    # ---- resumable sessions ----

    def begin_session(self, name, body=None, headers=None, **query):
        return self.daemon.request("POST", self.uploads, body or {}, headers, uploadType="resumable", name=name, **query)

    def session_of(self, answer):
        """The path and query of the session in this answer."""
        assert answer.status == 200, answer
        address = urllib.parse.urlsplit(answer.headers["Location"])
        return f"{address.path}?{address.query}"

    def session(self, name, body=None, headers=None, **query):
        return self.session_of(self.begin_session(name, body, headers, **query))

    def send(self, session, data, content_range):
        return self.daemon.request("PUT", session, data, {"Content-Range": content_range})

    def received(self, session, total="*"):
        """The number of bytes that a session has received; None: its object is complete."""
        answer = self.send(session, b"", f"bytes */{total}")
        if answer.status == 200:
            return None
        assert answer.status == 308, answer
        return int(answer.headers["Range"].split("-")[1]) + 1 if "Range" in answer.headers else 0

    # ---- uploads in parts ----

    def plain_path(self, name):
        return f"/{self.bucket}/{quoted(name)}"

    def begin_parts(self, name, headers=None):
        """Begins an upload in parts, and returns its id."""
        answer = self.daemon.request("POST", self.plain_path(name) + "?uploads", b"", headers)
        assert answer.status == 200, answer
        return xml_of(answer).find(f"{S3}UploadId").text

    def put_part(self, name, upload, number, data, headers=None):
        return self.daemon.request("PUT", self.plain_path(name), data, headers, partNumber=number, uploadId=upload)

    def end_parts(self, name, upload, tags):
        """Completes an upload. @tags: {number: tag}, in the order in which they are sent."""
        parts = "".join(f"<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>" for number, tag in tags.items())
        return self.daemon.request("POST", self.plain_path(name),
                                   f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode(),
                                   {"Content-Type": "application/xml"}, uploadId=upload)

    # ---- what lies in the state directory ----

    def files(self, where):
        """All files below STATE/where, and their sizes."""
        found = {}
        for path in tree_paths(self.daemon.state_dir / where):
            with passing_over():
                found[str(path)] = path.stat().st_size
        return found


class Raw:
    """A connection on which a test sends any bytes."""

    def __init__(self, daemon, timeout=30):
        self.socket = socket.create_connection(("127.0.0.1", daemon.port), timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def head(self, method, target, **headers):
        lines = [f"{method} {target} HTTP/1.1", "Host: 127.0.0.1"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.send("\r\n".join(lines + ["", ""]).encode())
        return self

    def send(self, data):
        self.socket.sendall(data)
        return self

    def send_all_it_takes(self, data):
        """Sends until the other side stops reading."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall(data)
        return self

    def answer(self, method="POST"):
        response = http.client.HTTPResponse(self.socket, method=method)
        response.begin()
        return Answer(response.status, response.headers, response.read())


def is_root():
    return os.geteuid() == 0


def json_bytes(value):
    return json.dumps(value).encode()
