# SPDX-License-Identifier: Apache-2.0
"""Uploads in sessions: pieces, gaps, broken connections, and a daemon that is killed meanwhile. No engine."""
import socket

from support.media import (BUCKET, INSERT, KIB, PIECE, download, md5, missing, object_path, own_yard,
                           plain_path, progress, put_media, put_piece, start_session, yard)
from support.wait import wait_until


def test_a_session_takes_pieces(yard):
    data = bytes(range(256)) * 2 * KIB + b"tail"
    session = start_session(yard, "pieces", {"X-Upload-Content-Type": "text/x"}, {"metadata": {"a": "b"}})
    assert progress(put_piece(yard, session, None, "bytes */*")) == 0
    assert progress(put_piece(yard, session, data[:PIECE], f"bytes 0-{PIECE - 1}/*")) == PIECE
    assert progress(put_piece(yard, session, None, "bytes */*")) == PIECE
    assert missing(yard, "pieces")
    answer = put_piece(yard, session, data[PIECE:], f"bytes {PIECE}-{len(data) - 1}/{len(data)}")
    assert answer.status == 200, answer
    assert (answer.json["size"], answer.json["contentType"], answer.json["metadata"]) == (str(len(data)), "text/x", {"a": "b"})
    assert answer.json["crc32c"] and download(yard, "pieces").data == data
    for again in (put_piece(yard, session, None, f"bytes */{len(data)}"), put_piece(yard, session, None, "bytes */*"),
                  put_piece(yard, session, b"x", "bytes 0-0/1")):
        assert again.status == 200 and again.json["generation"] == answer.json["generation"], again


def test_a_session_may_end_in_one_request(yard):
    for name, content_range in (("whole", None), ("open", "bytes 0-*/*"), ("counted", "bytes 0-*/5"), ("told", "bytes 0-4/5")):
        answer = put_piece(yard, start_session(yard, name), b"hello", content_range)
        assert answer.status == 200 and download(yard, name).data == b"hello", (name, answer)
    for name, content_range in (("none", "bytes */0"), ("none-open", "bytes 0-*/*")):
        answer = put_piece(yard, start_session(yard, name), b"", content_range)
        assert answer.status == 200 and answer.json["size"] == "0", (name, answer)
    answer = yard.request("POST", start_session(yard, "posted"), b"hello")
    assert answer.status == 200 and answer.json["size"] == "5", answer


def test_a_session_that_knows_its_total_ends_with_it(yard):
    session = start_session(yard, "total", {"X-Upload-Content-Length": str(PIECE + 5)})
    assert progress(put_piece(yard, session, b"a" * PIECE, f"bytes 0-{PIECE - 1}/*")) == PIECE
    answer = put_piece(yard, session, b"hello", f"bytes {PIECE}-{PIECE + 4}/{PIECE + 6}")
    assert answer.status == 400, answer
    assert put_piece(yard, session, b"hello", f"bytes {PIECE}-{PIECE + 4}/*").status == 200
    bad = yard.request("POST", INSERT, None, {"X-Upload-Content-Length": "-5"}, uploadType="resumable", name="x")
    assert bad.status == 400, bad


def test_bytes_that_are_there_already_are_passed_over(yard):
    session = start_session(yard, "overlap")
    put_piece(yard, session, b"a" * PIECE, f"bytes 0-{PIECE - 1}/*")
    assert progress(put_piece(yard, session, b"b" * 2 * PIECE, f"bytes 0-{2 * PIECE - 1}/*")) == 2 * PIECE
    assert progress(put_piece(yard, session, b"c" * PIECE, f"bytes 0-{PIECE - 1}/*")) == 2 * PIECE
    assert put_piece(yard, session, b"d" * (PIECE + 3), f"bytes {PIECE}-{2 * PIECE + 2}/{2 * PIECE + 3}").status == 200
    assert download(yard, "overlap").data == b"a" * PIECE + b"b" * PIECE + b"ddd"


def test_pieces_before_the_last_are_whole(yard):
    session = start_session(yard, "odd")
    answer = put_piece(yard, session, b"x" * 100, "bytes 0-99/*")
    assert answer.status == 400 and b"equal or greater than 262144" in answer.data and b"contained 100 bytes" in answer.data
    assert progress(put_piece(yard, session, None, "bytes */*")) == 0
    assert progress(put_piece(yard, session, b"x" * (PIECE + 100), f"bytes 0-{PIECE + 99}/*")) == PIECE


def test_a_gap_is_refused(yard):
    session = start_session(yard, "gap")
    answer = put_piece(yard, session, b"x" * PIECE, f"bytes {PIECE}-{2 * PIECE - 1}/*")
    assert answer.status == 503 and b"the upload offset is 262144 byte(s), which exceeds already uploaded size of 0 byte(s)" in answer.data
    assert progress(put_piece(yard, session, None, "bytes */*")) == 0


def test_a_body_that_is_not_what_its_header_says_is_refused(yard):
    session = start_session(yard, "lie")
    for sent in (9, 11):
        answer = put_piece(yard, session, b"x" * sent, "bytes 0-9/10")
        assert answer.status == 400 and f"There were {sent} byte(s) in the request body".encode() in answer.data, answer
    for content_range in ("bytes 0-1", "bytes 5-1/10", "0-1/2", "bytes x-y/z"):
        assert put_piece(yard, session, b"x", content_range).status == 400, content_range
    assert missing(yard, "lie")


def test_a_client_may_ask_for_another_status_than_308(yard):
    session = start_session(yard, "no308")
    answer = put_piece(yard, session, b"x" * PIECE, f"bytes 0-{PIECE - 1}/*", {"X-GUploader-No-308": "yes"})
    assert answer.status == 200 and answer.headers["X-HTTP-Status-Code-Override"] == "308", answer
    assert answer.headers["Range"] == f"bytes=0-{PIECE - 1}"


def test_a_session_can_be_cancelled(yard):
    session = start_session(yard, "cancelled")
    assert yard.request("DELETE", session).status == 499
    assert put_piece(yard, session, b"x").status in (404, 410, 499)
    assert yard.request("DELETE", session).status == 404
    assert missing(yard, "cancelled")


def test_an_unknown_session_is_a_404(yard):
    for upload_id in ("nothing", "..", "a" * 64, "%00", "/etc/passwd"):
        path = f"{INSERT}?uploadType=resumable&upload_id={upload_id}"
        assert put_piece(yard, path, b"x").status in (400, 404), upload_id
    session = start_session(yard, "here")
    elsewhere = session.replace(BUCKET, "other-bucket")
    assert put_piece(yard, elsewhere, b"x").status == 404
    assert yard.request("PUT", INSERT, b"x").status == 400


def test_an_upload_cut_off_leaves_nothing(yard):
    body = b"--b\r\nContent-Type: application/json\r\n\r\n{}\r\n--b\r\n\r\n" + b"x" * 100000
    files = lambda: sorted((yard.state_dir / "uploads").iterdir())
    before = files()  # the files of open sessions
    for target, headers in ((f"POST {INSERT}?uploadType=media&name=cut", ""),
                            (f"POST {INSERT}?uploadType=multipart&name=cut", "Content-Type: multipart/related; boundary=b\r\n"),
                            (f"PUT {plain_path('cut')}", "")):
        with socket.create_connection(("127.0.0.1", yard.port), 30) as raw:
            raw.sendall(f"{target} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: 10000000\r\n\r\n".encode() + body)
        with socket.create_connection(("127.0.0.1", yard.port), 30) as raw:
            raw.sendall(f"{target} HTTP/1.1\r\nHost: localhost\r\n{headers}Transfer-Encoding: chunked\r\n\r\n".encode()
                        + b"%x\r\n%s\r\n" % (len(body), body))
    wait_until(lambda: files() == before, 30, "nothing is left of what was cut off")
    assert missing(yard, "cut")


def cut_piece(daemon, session, data, content_range, length):
    """Sends a part of a piece and closes the connection."""
    with socket.create_connection(("127.0.0.1", daemon.port), 30) as raw:
        raw.sendall(f"PUT {session} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n"
                    f"Content-Range: {content_range}\r\n\r\n".encode() + data)


def test_a_session_goes_on_where_it_was_cut_off(yard):
    data = bytes(range(256)) * 4096
    session = start_session(yard, "cut-session")
    cut_piece(yard, session, data[:300000], f"bytes 0-{len(data) - 1}/{len(data)}", len(data))
    there = wait_until(lambda: progress(put_piece(yard, session, None, f"bytes */{len(data)}")) or None, 30, "what came is kept")
    assert 0 < there <= 300000
    answer = put_piece(yard, session, data[there:], f"bytes {there}-{len(data) - 1}/{len(data)}")
    assert answer.status == 200 and answer.json["md5Hash"] == md5(data), answer
    assert download(yard, "cut-session").data == data


def test_a_session_survives_the_daemons_death(own_yard):
    data = bytes(range(256)) * 4096
    session = start_session(own_yard, "deadly")
    assert progress(put_piece(own_yard, session, data[:2 * PIECE], f"bytes 0-{2 * PIECE - 1}/{len(data)}")) == 2 * PIECE
    done = put_media(own_yard, "acknowledged", b"kept").json
    own_yard.kill9()
    own_yard.start()
    assert download(own_yard, "acknowledged").data == b"kept"
    assert own_yard.get(object_path("acknowledged")).json["generation"] == done["generation"]
    there = progress(put_piece(own_yard, session, None, f"bytes */{len(data)}"))
    assert there == 2 * PIECE
    answer = put_piece(own_yard, session, data[there:], f"bytes {there}-{len(data) - 1}/{len(data)}")
    assert answer.status == 200 and answer.json["md5Hash"] == md5(data), answer
    own_yard.kill9()
    own_yard.start()
    assert put_piece(own_yard, session, None, f"bytes */{len(data)}").json["generation"] == answer.json["generation"]
    assert download(own_yard, "deadly").data == data
