# SPDX-License-Identifier: Apache-2.0
"""Storage with a full disk, with many writers at once, with slow and aborted requests, and with malicious ones."""
import concurrent.futures
import contextlib
import subprocess
import threading

import pytest

from support.daemon import Daemon
from support.engine import NO_ENGINE
from support.storage import KIB, MIB, Raw, Storage, is_root, json_bytes, md5_of, pattern, tree_contents, tree_paths
from support.wait import wait_until

DISK_MIB = 32


@pytest.fixture(scope="module")
def storage(tmp_path_factory):
    with Daemon(tmp_path_factory.mktemp("storage"), NO_ENGINE) as daemon:
        yield Storage(daemon)


def all_at_once(count, work):
    """Runs work(0), …, work(count - 1) in threads that begin at the same moment; returns the results."""
    start = threading.Barrier(count)

    def one(number):
        start.wait(30)
        return work(number)
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def nothing_under_way(storage):
    wait_until(lambda: not storage.files("uploads"), 20, "the files of broken-off uploads are gone")


# ---- a full disk ----

@pytest.fixture
def small_disk(tmp_path):
    if not is_root():
        pytest.skip("only root can mount a small file system")
    directory = tmp_path / "disk"
    directory.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "tmpfs", str(directory)],
                             capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr}")
    try:
        with Daemon(tmp_path, NO_ENGINE, state_dir=directory / "state") as daemon:
            yield Storage(daemon)
    finally:
        subprocess.run(["umount", "-l", str(directory)], check=True)


def assert_full(answer):
    assert answer.status == 507, answer
    assert "space" in answer.error["message"] or "full" in answer.error["message"], answer.error


@contextlib.contextmanager
def filled(storage):
    """Fills the disk completely."""
    filler = storage.daemon.state_dir.parent / "filler"
    with open(filler, "wb", buffering=0) as file:
        for block in (bytes(MIB), bytes(4 * KIB)):
            with contextlib.suppress(OSError):
                while file.write(block):
                    pass
    yield
    filler.unlink()


def test_an_upload_that_fills_the_disk_is_refused_and_takes_nothing(small_disk):
    storage = small_disk
    kept = pattern("kept", 2 * MIB)
    assert storage.put("kept", kept).status == 200
    for name in ("too-large", "kept"):
        with Raw(storage.daemon) as raw:
            raw.head("POST", f"{storage.uploads}?uploadType=media&name={name}", Content_Length=2 * DISK_MIB * MIB)
            # zeros would be stored as a hole, which takes no space
            assert_full(raw.send_all_it_takes(b"\1" * (2 * DISK_MIB * MIB)).answer())
        nothing_under_way(storage)
        assert storage.names() == ["kept"]
        storage.assert_is("kept", kept)
    most = pattern("most", (DISK_MIB - 8) * MIB)
    assert storage.put("most", most).status == 200  # all of the space is free again
    storage.assert_is("most", most)


def test_a_session_that_met_a_full_disk_goes_on_when_there_is_room(small_disk):
    storage, data = small_disk, pattern("session", 6 * MIB)
    session = storage.session("later")
    assert storage.send(session, data[:MIB], f"bytes 0-{MIB - 1}/*").status == 308
    with filled(storage):
        with Raw(storage.daemon) as raw:
            raw.head("PUT", session, Content_Length=len(data) - MIB,
                     Content_Range=f"bytes {MIB}-{len(data) - 1}/{len(data)}")
            assert_full(raw.send_all_it_takes(data[MIB:]).answer())
        assert storage.names() == []
    received = storage.received(session)
    assert MIB <= received < len(data)
    answer = storage.send(session, data[received:], f"bytes {received}-{len(data) - 1}/{len(data)}")
    assert answer.status == 200, answer
    storage.assert_is("later", data)


def test_changes_on_a_full_disk_are_refused_whole(small_disk):
    storage = small_disk
    for number in range(20):
        assert storage.put(f"o{number:02}", b"x" * 100).status == 200
    names = storage.names()
    with filled(storage):
        refused = 0
        for number in range(200):
            answer = storage.patch(f"o{number % 20:02}", {"metadata": {"note": "n" * 8000, "number": str(number)}})
            assert answer.status in (200, 507, 503), answer
            refused += answer.status != 200
        assert refused, "nothing was ever full"
        assert storage.names() == names
        for name in names:
            assert storage.read(name).data == b"x" * 100
    wait_until(lambda: storage.patch("o00", {"metadata": {"note": "fits"}}).status == 200, 10)
    assert storage.put("new", b"y").status == 200
    storage.daemon.restart()
    assert storage.names() == ["new", *names]
    assert storage.get("o00").json["metadata"]["note"] == "fits"


# ---- many at once ----

def test_of_writers_that_want_no_object_there_exactly_one_wins(storage):
    for round_ in range(5):
        name, data = f"one-winner-{round_}", [pattern(i, 64 * KIB + i) for i in range(16)]
        answers = all_at_once(16, lambda i: storage.put(name, data[i], ifGenerationMatch=0))
        statuses = sorted(answer.status for answer in answers)
        assert statuses == [200] + [412] * 15
        winner = next(i for i, answer in enumerate(answers) if answer.status == 200)
        storage.assert_is(name, data[winner])
    nothing_under_way(storage)


def test_the_last_of_many_writers_is_there_whole(storage):
    data = [pattern(i, 100 * KIB + i) for i in range(32)]
    answers = all_at_once(32, lambda i: storage.put("overwritten", data[i]))
    assert {answer.status for answer in answers} == {200}
    generations = [int(answer.json["generation"]) for answer in answers]
    assert len(set(generations)) == 32
    storage.assert_is("overwritten", data[generations.index(max(generations))])


def test_64_uploads_at_once_all_arrive(storage):
    data = [pattern(i, 256 * KIB + i) for i in range(64)]
    answers = all_at_once(64, lambda i: storage.put(f"many/{i:02}", data[i]))
    assert {answer.status for answer in answers} == {200}
    assert [answer.json["md5Hash"] for answer in answers] == [md5_of(one) for one in data]
    assert storage.names(prefix="many/") == [f"many/{i:02}" for i in range(64)]
    for i in range(64):
        storage.assert_is(f"many/{i:02}", data[i])


def test_readers_see_one_version_whole_while_it_is_overwritten_and_deleted(storage):
    versions = [pattern(i, 300 * KIB) for i in range(2)]
    storage.put("changing", versions[0])
    over = threading.Event()

    def read():
        seen = set()
        while not over.is_set():
            answer = storage.read("changing")
            assert answer.status in (200, 404), answer
            if answer.status == 200:
                assert answer.data in versions, len(answer.data)
                assert f"md5={md5_of(answer.data)}" in answer.headers.get_all("x-goog-hash", [""])[0] + ",".join(
                    answer.headers.get_all("x-goog-hash", []))
                seen.add(versions.index(answer.data))
        return seen
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read) for _ in range(4)]
        for i in range(40):
            assert storage.put("changing", versions[i % 2]).status == 200
            if i % 8 == 7:
                assert storage.delete("changing").status == 204
        over.set()
        assert set().union(*(reader.result() for reader in readers)) == {0, 1}


# ---- slow and broken-off ones ----

def test_a_slow_client_keeps_nobody_waiting_and_its_object_appears_at_its_end(storage):
    data = pattern("slow", 512 * KIB)
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(Raw(storage.daemon)) for _ in range(20)]
        for i, raw in enumerate(slow):
            raw.head("POST", f"{storage.uploads}?uploadType=media&name=slow/{i}", Content_Length=len(data))
            raw.send(data[:len(data) // 2 + i])
        assert storage.put("quick", b"x").status == 200
        assert storage.names(prefix="slow/") == []
        for i, raw in enumerate(slow):
            raw.send(data[len(data) // 2 + i:])
            assert raw.answer().status == 200
    for i in range(20):
        storage.assert_is(f"slow/{i}", data)


@pytest.mark.parametrize("how", ["media", "multipart", "chunked"])
def test_an_upload_that_breaks_off_leaves_no_object(storage, how):
    data = pattern("broken", 200 * KIB)
    with Raw(storage.daemon) as raw:
        if how == "media":
            raw.head("POST", f"{storage.uploads}?uploadType=media&name=broken", Content_Length=len(data))
        elif how == "chunked":
            raw.head("POST", f"{storage.uploads}?uploadType=media&name=broken", Transfer_Encoding="chunked")
            raw.send(b"%x\r\n" % len(data))
        else:
            raw.head("POST", f"{storage.uploads}?uploadType=multipart", Content_Length=len(data) + 1000,
                     Content_Type="multipart/related; boundary=b")
            raw.send(b'--b\r\nContent-Type: application/json\r\n\r\n{"name":"broken"}\r\n--b\r\n\r\n')
        raw.send(data[:150 * KIB])
    nothing_under_way(storage)
    assert storage.get("broken").status == 404


def test_a_session_keeps_what_came_before_the_line_broke(storage):
    data = pattern("truncated", 3 * MIB)
    session = storage.session("truncated", headers={"X-Upload-Content-Length": str(len(data))})
    with Raw(storage.daemon) as raw:
        raw.head("PUT", session, Content_Length=len(data), Content_Range=f"bytes 0-{len(data) - 1}/{len(data)}")
        raw.send(data[:2 * MIB])
        wait_until(lambda: max(storage.files("uploads").values(), default=0) >= MIB, 20, "bytes arrive")
    received = storage.received(session, len(data))
    assert 0 < received <= 2 * MIB
    assert storage.get("truncated").status == 404
    answer = storage.send(session, data[received:], f"bytes {received}-{len(data) - 1}/{len(data)}")
    assert answer.status == 200, answer
    storage.assert_is("truncated", data)


# ---- checksums ----

WRONG = md5_of(b"something else")


@pytest.mark.parametrize("how", ["Content-MD5", "x-goog-hash md5", "x-goog-hash crc32c", "metadata"])
def test_an_upload_with_a_wrong_checksum_leaves_no_object(storage, how):
    data = pattern("wrong", 100 * KIB)
    if how == "metadata":
        body = (b"--b\r\nContent-Type: application/json\r\n\r\n" + json_bytes({"name": "wrong", "md5Hash": WRONG})
                + b"\r\n--b\r\nContent-Type: x/y\r\n\r\n" + data + b"\r\n--b--")
        answer = storage.daemon.request("POST", storage.uploads, body, {"Content-Type": "multipart/related; boundary=b"},
                                        uploadType="multipart")
    else:
        header = {"Content-MD5": {"Content-MD5": WRONG}, "x-goog-hash md5": {"x-goog-hash": "md5=" + WRONG},
                  "x-goog-hash crc32c": {"x-goog-hash": "crc32c=AAAAAA=="}}[how]
        answer = storage.put("wrong", data, header)
    assert answer.status == 400, answer
    assert answer.error["errors"][0]["reason"] == "invalid", answer.error
    assert storage.get("wrong").status == 404
    nothing_under_way(storage)


def test_a_session_with_a_wrong_checksum_never_becomes_an_object(storage):
    session = storage.session("wrong-session", {"md5Hash": WRONG})
    answer = storage.send(session, b"bytes", "bytes 0-4/5")
    assert answer.status == 400, answer
    assert storage.get("wrong-session").status == 404


# ---- requests that mean harm ----

CONTENT_RANGES = ["", "bytes", "bytes 0-4", "bytes 4-0/5", "bytes -1-4/5", "bytes 0-4/4", "bytes 0-5/5", "bytes */-1",
                  "bytes 0-18446744073709551615/18446744073709551616", "bytes 9223372036854775807-9223372036854775807/*",
                  "bytes 0-4/5/6", "octets 0-4/5", "bytes 0-4/5, bytes 0-4/5", "bytes 00000000000000000000000000000000000-4/5",
                  "bytes 0x0-0x4/5", "bytes */*/", "bytes 5-9/10"]


@pytest.mark.parametrize("content_range", CONTENT_RANGES)
def test_a_content_range_that_is_none_is_refused_and_the_session_goes_on(storage, content_range):
    name = f"ranged-{CONTENT_RANGES.index(content_range)}"
    session = storage.session(name)
    answer = storage.send(session, b"bytes", content_range)
    if content_range == "bytes 00000000000000000000000000000000000-4/5" and answer.status == 200:
        return
    if content_range == "":
        assert answer.status in (200, 400), answer
        return
    # A piece that begins after the received bytes is answered with their number, as in the real service.
    assert answer.status in (400, 416, 503, 308), answer
    assert storage.get(name).status == 404
    assert storage.send(session, b"bytes", "bytes 0-4/5").status == 200
    storage.assert_is(name, b"bytes")


@pytest.mark.parametrize("wanted, status, expected", [
    ("bytes=0-0", 206, b"0"), ("bytes=-1", 206, b"9"), ("bytes=5-", 206, b"56789"), ("bytes=0-99999999999999999999", 206, None),
    ("bytes=10-", 416, None), ("bytes=10-20", 416, None), ("bytes=-0", 416, None),
    ("bytes=5-4", 200, b"0123456789"), ("bytes=a-b", 200, b"0123456789"), ("lines=0-1", 200, b"0123456789"),
    ("bytes", 200, b"0123456789"), ("bytes=--1", 200, b"0123456789"), ("bytes=-18446744073709551617", 206, None)])
def test_ranges_of_downloads(storage, wanted, status, expected):
    storage.put("digits", b"0123456789")
    answer = storage.read("digits", {"Range": wanted})
    if expected is None and status == 206:  # for numbers beyond 64 bits, either answer is right
        assert answer.status in (200, 206, 416), answer
        return
    assert answer.status == status, answer
    if expected is not None:
        assert answer.data == expected


BODIES = {
    "no boundary": ("multipart/related", b"--b\r\n\r\n{}\r\n--b\r\n\r\nx\r\n--b--"),
    "empty boundary": ('multipart/related; boundary=""', b"--\r\n\r\n{}\r\n--\r\n\r\nx\r\n----"),
    "long boundary": ("multipart/related; boundary=" + "b" * 5000, b"--b\r\n\r\n"),
    "never closed": ("multipart/related; boundary=b", b'--b\r\n\r\n{"name":"harm"}\r\n--b\r\n\r\nxxxxxx'),
    "one part": ("multipart/related; boundary=b", b'--b\r\n\r\n{"name":"harm"}\r\n--b--'),
    "nothing": ("multipart/related; boundary=b", b""),
    "no JSON": ("multipart/related; boundary=b", b'--b\r\n\r\n{"name":\r\n--b\r\n\r\nx\r\n--b--'),
    "an array": ("multipart/related; boundary=b", b'--b\r\n\r\n["harm"]\r\n--b\r\n\r\nx\r\n--b--'),
    "deep": ("multipart/related; boundary=b", b"--b\r\n\r\n" + b"[" * 100000 + b"\r\n--b\r\n\r\nx\r\n--b--"),
    "large metadata": ("multipart/related; boundary=b",
                       b'--b\r\n\r\n{"name":"harm","x":"' + b"y" * 9 * MIB + b'"}\r\n--b\r\n\r\nx\r\n--b--'),
    "headers without an end": ("multipart/related; boundary=b", b"--b\r\n" + b"x: y\r\n" * 50000),
    "NUL in the name": ("multipart/related; boundary=b", b'--b\r\n\r\n{"name":"ha\\u0000rm"}\r\n--b\r\n\r\nx\r\n--b--'),
    "bad UTF-8": ("multipart/related; boundary=b", b'--b\r\n\r\n{"name":"harm\xff"}\r\n--b\r\n\r\nx\r\n--b--'),
    "no name": ("multipart/related; boundary=b", b"--b\r\n\r\n{}\r\n--b\r\n\r\nx\r\n--b--"),
}


@pytest.mark.parametrize("body", BODIES)
def test_a_multipart_body_that_is_none_is_refused(storage, body):
    before = storage.names(prefix="harm")
    kind, data = BODIES[body]
    with Raw(storage.daemon) as raw:
        raw.head("POST", f"{storage.uploads}?uploadType=multipart", Content_Length=len(data), Content_Type=kind)
        answer = raw.send_all_it_takes(data).answer()
    assert answer.status in (400, 413), answer
    assert answer.error["message"]
    assert storage.names(prefix="harm") == before == []
    nothing_under_way(storage)


@pytest.mark.parametrize("target", [
    "/storage/v1/b/tests/o/%zz", "/storage/v1/b/tests/o/a%00b", "/storage/v1/b/tests/o/%ff%fe", "/storage/v1/b//o/a",
    "/storage/v1/b/tests/o?maxResults=-1", "/storage/v1/b/tests/o?pageToken=garbage", "/storage/v1/b/tests/o?maxResults=x",
    "/storage/v1/b/tests/o?pageToken=%00%ff", "/storage/v1/b/../../etc/o", "/storage/v1/b/%2e%2e/o/%2e%2e",
    "/storage/v1/b/tests/o/a?generation=x", "/storage/v1/b/tests/o/a?ifGenerationMatch=99999999999999999999",
    "/tests/../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/tests/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "//etc/passwd",
    "/upload/storage/v1/b/tests/o?uploadType=resumable&upload_id=none", "/upload/storage/v1/b/tests/o?upload_id=../../x"])
def test_an_address_that_leads_nowhere_is_refused(storage, target):
    storage.put("a", b"x")
    for method in ("GET", "PUT", "DELETE"):
        with Raw(storage.daemon) as raw:
            answer = raw.head(method, target, Content_Length=0).answer(method)
        # Plain paths of the XML API can have such names as objects, which are not files.
        assert 400 <= answer.status < 500 or "/storage/v1/" not in target or (answer.status, method) == (200, "GET"), (
            method, answer)
        assert answer.status < 500 and b"root:" not in answer.data
    assert storage.daemon.get("/healthz").status == 200


@pytest.mark.parametrize("headers", [
    {"Content_Length": "-1"}, {"Content_Length": "99999999999999999999999"}, {"Content_Length": "5x"},
    {"Transfer_Encoding": "chunked", "Content_Length": "5"}, {"Transfer_Encoding": "gzip"},
    {"Content_Length": "0", "X": "y" * 100000}])
def test_a_head_that_means_harm_gets_an_answer_or_a_closed_line(storage, headers):
    with Raw(storage.daemon) as raw:
        raw.head("POST", f"{storage.uploads}?uploadType=media&name=headed", **headers)
        raw.send_all_it_takes(b"0\r\n\r\n")
        with contextlib.suppress(OSError):
            raw.socket.shutdown(1)
            first = raw.socket.recv(100)
            assert first == b"" or first.startswith(b"HTTP/1.1 "), first
            assert not first.startswith(b"HTTP/1.1 5") or first.startswith(b"HTTP/1.1 501"), first
    assert storage.daemon.get("/healthz").status == 200


def test_a_session_of_another_object_or_none_is_not_found(storage):
    session = storage.session("own")
    for upload_id in ("", "x", "../own", "%00", "a" * 5000):
        answer = storage.daemon.request("PUT", f"{storage.uploads}?uploadType=resumable&upload_id={upload_id}", b"x",
                                        {"Content-Range": "bytes 0-0/1"})
        assert answer.status in (400, 404, 410), answer
    assert storage.daemon.request("DELETE", session).status == 499
    assert storage.send(session, b"x", "bytes 0-0/1").status in (404, 410, 499)


# ---- as files ----

def test_outputs_are_files_for_plain_tools_and_no_name_leaves_their_directory(storage):
    own = Storage(storage.daemon, "seen-as-files")
    names = ["plain.txt", "dir/plain.txt", "../escape", "/abs", "a//b", "a/../../../x", "dir", "Dir/plain.txt", "DIR/plain.txt",
             "x" * 1024, "d/" * 500 + "y", "ü/日本", "a\\b", "nul\x01"]
    for name in names:
        assert own.put(name, name.encode()).status == 200, name
    top = storage.daemon.state_dir / "gs"
    tree = top / own.bucket

    wait_until(lambda: tree_contents(tree) == sorted(name.encode() for name in names), what="each object is a file")
    assert (tree / "plain.txt").read_bytes() == b"plain.txt"
    assert not [path for path in tree_paths(top) if path.is_symlink() or not path.resolve().is_relative_to(top)]
    assert {path.name for path in top.iterdir()} >= {own.bucket}
    assert not (storage.daemon.state_dir / "escape").exists() and not (top / "escape").exists()
    for name in names:
        assert own.delete(name).status == 204
    wait_until(lambda: tree_contents(tree) == [], what="and none that is no object")
