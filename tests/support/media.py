# SPDX-License-Identifier: Apache-2.0
"""Bytes of objects: each way to upload and download them, resumable sessions, and a daemon without an engine."""
import base64
import hashlib
import json
import re
import urllib.parse

import pytest

from support.daemon import Daemon
from support.engine import NO_ENGINE

KIB = 1 << 10
PIECE = 256 * KIB


@pytest.fixture(scope="module")
def yard(tmp_path_factory):
    daemon = Daemon(tmp_path_factory.mktemp("media"), NO_ENGINE).start()
    make_bucket(daemon, BUCKET)
    yield daemon
    daemon.stop()


@pytest.fixture
def own_yard(tmp_path):
    daemon = Daemon(tmp_path / "own", NO_ENGINE).start()
    make_bucket(daemon, BUCKET)
    yield daemon
    if daemon.process:
        daemon.stop()


BUCKET = "media-bucket"
INSERT = f"/upload/storage/v1/b/{BUCKET}/o"


def make_bucket(daemon, name):
    answer = daemon.post("/storage/v1/b", {"name": name}, project=daemon.project)
    assert answer.status == 200, answer


def quoted(name):
    return urllib.parse.quote(name, safe="")


def object_path(name, prefix=""):
    return f"{prefix}/storage/v1/b/{BUCKET}/o/{quoted(name)}"


def plain_path(name):
    return f"/{BUCKET}/{urllib.parse.quote(name)}"


def resident_bytes(daemon):
    with open(f"/proc/{daemon.pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) * KIB


def put_media(daemon, name, data, headers=None, **query):
    return daemon.request("POST", INSERT, data, headers or {"Content-Type": "text/plain"},
                          uploadType="media", name=name, **query)


def put_multipart(daemon, resource, data, boundary="b0undary", media_type="text/plain", line="\r\n", headers=None, **query):
    body = line.join([f"--{boundary}", "Content-Type: application/json; charset=UTF-8", "", json.dumps(resource),
                      f"--{boundary}", f"Content-Type: {media_type}", "", ""]).encode()
    body += data + f"{line}--{boundary}--{line}".encode()
    headers = {"Content-Type": f'multipart/related; boundary="{boundary}"', **(headers or {})}
    return daemon.request("POST", INSERT, body, headers, uploadType="multipart", **query)


def start_session(daemon, name, headers=None, body=None, **query):
    answer = daemon.request("POST", INSERT, body, headers, uploadType="resumable", name=name, **query)
    assert answer.status == 200 and answer.data == b"", answer
    location = urllib.parse.urlsplit(answer.headers["Location"])
    assert location.netloc == f"127.0.0.1:{daemon.port}" and answer.headers["X-GUploader-UploadID"] in location.query
    return f"{location.path}?{location.query}"


def put_piece(daemon, session, data, content_range=None, headers=None):
    headers = dict(headers or {})
    if content_range:
        headers["Content-Range"] = content_range
    return daemon.request("PUT", session, data, headers)


def progress(answer):
    """The number of stored bytes that a 308 answer reports."""
    assert answer.status == 308 and answer.data == b"", answer
    return int(re.fullmatch(r"bytes=0-(\d+)", answer.headers["Range"]).group(1)) + 1 if "Range" in answer.headers else 0


def download(daemon, name, headers=None, **query):
    return daemon.request("GET", object_path(name), None, headers, alt="media", **query)


def missing(daemon, name):
    return daemon.get(object_path(name)).status == 404


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return base64.b64encode((crc ^ 0xFFFFFFFF).to_bytes(4, "big")).decode()


def md5(data):
    return base64.b64encode(hashlib.md5(data).digest()).decode()
