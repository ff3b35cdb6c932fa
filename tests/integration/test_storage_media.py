# SPDX-License-Identifier: Apache-2.0
"""Uploads in one request, downloads, names of objects, batches. No engine."""
import base64
import gzip
import hashlib
import http.client
import json
import re
import socket
import threading

import pytest

from support.media import (BUCKET, INSERT, crc32c, download, md5, missing, object_path, own_yard, plain_path,
                           put_media, put_multipart, put_piece, quoted, start_session, yard)


# ---- uploads in one request ----

def test_a_media_upload_is_an_object(yard):
    answer = put_media(yard, "media/one.txt", b"hello")
    made = answer.json
    assert answer.status == 200 and made["kind"] == "storage#object", answer
    assert (made["name"], made["bucket"], made["size"], made["contentType"]) == ("media/one.txt", BUCKET, "5", "text/plain")
    assert (made["crc32c"], made["md5Hash"], made["metageneration"]) == (crc32c(b"hello"), md5(b"hello"), "1")
    got = download(yard, "media/one.txt")
    assert (got.status, got.data, got.headers["Content-Type"]) == (200, b"hello", "text/plain"), got
    again = put_media(yard, "media/one.txt", b"other").json
    assert int(again["generation"]) > int(made["generation"])
    assert download(yard, "media/one.txt").data == b"other"


def test_a_media_upload_may_be_empty_and_untyped(yard):
    answer = yard.request("POST", INSERT, None, {"Content-Length": "0"}, uploadType="media", name="empty")
    assert answer.status == 200 and answer.json["size"] == "0", answer
    assert answer.json["contentType"] == "application/octet-stream"
    got = download(yard, "empty")
    assert (got.status, got.data, got.headers["Content-Length"]) == (200, b"", "0")


def test_an_upload_says_its_name_and_its_way(yard):
    answer = yard.request("POST", INSERT, b"x", uploadType="media")
    assert answer.status == 400 and answer.error["errors"][0]["reason"] == "required", answer
    answer = yard.request("POST", INSERT, b"x", name="n")
    assert answer.status == 400 and "uploadType" in answer.error["message"], answer
    answer = yard.request("POST", INSERT, b"x", name="n", uploadType="carrier-pigeon")
    assert answer.status == 400, answer
    answer = put_multipart(yard, {"name": "a"}, b"x", name="b")
    assert answer.status == 400 and "does not agree" in answer.error["message"], answer


@pytest.mark.parametrize("line", ["\r\n", "\n"])
@pytest.mark.parametrize("boundary", ["b", "===============7330845974216740156==", "__END_OF_PART__(x) y"])
def test_a_multipart_upload_is_an_object_with_metadata(yard, line, boundary):
    resource = {"name": "multi", "metadata": {"color": "blue"}, "cacheControl": "no-store", "contentType": "image/x"}
    data = b"--almost" + line.encode() + b"--\r\r\n\0bytes"
    answer = put_multipart(yard, resource, data, boundary, line=line)
    assert answer.status == 200, answer
    assert (answer.json["contentType"], answer.json["metadata"]) == ("image/x", {"color": "blue"})
    got = download(yard, "multi")
    assert got.data == data and got.headers["Cache-Control"] == "no-store"


def test_a_multipart_upload_of_another_form_is_refused(yard):
    send = lambda body, type_="multipart/related; boundary=b": yard.request(
        "POST", INSERT, body, {"Content-Type": type_}, uploadType="multipart", name="never")
    part = b"--b\r\nContent-Type: application/json\r\n\r\n{}\r\n"
    for body in (b"", b"garbage", part, part + b"--b--", part + part + part + b"--b--", part + part, b"--b--",
                 part.replace(b"{}", b"{]") + part + b"--b--", b"--b\r\n" + b"x" * 20000 + b"\r\n\r\n{}\r\n--b--"):
        answer = send(body)
        assert answer.status == 400 and answer.error["code"] == 400, (body[:80], answer)
    assert send(part + part + b"--b--", "multipart/related").status == 400
    assert send(part.replace(b"{}", b'{"metadata":{"a":"' + b"x" * (2 << 20) + b'"}}') + part + b"--b--").status == 400
    assert missing(yard, "never")


def test_base64_in_a_part_is_undone(yard):
    body = (b"--b\r\nContent-Type: application/json\r\n\r\n{}\r\n--b\r\nContent-Type: text/plain\r\n"
            b"Content-Transfer-Encoding: base64\r\n\r\n" + base64.encodebytes(b"hello" * 50) + b"\r\n--b--")
    answer = yard.request("POST", INSERT, body, {"Content-Type": "multipart/related; boundary=b"},
                          uploadType="multipart", name="b64")
    assert answer.status == 200 and download(yard, "b64").data == b"hello" * 50, answer


def test_a_chunked_upload_has_no_length(yard):
    with socket.create_connection(("127.0.0.1", yard.port), 30) as raw:
        raw.sendall(f"POST {INSERT}?uploadType=media&name=chunked HTTP/1.1\r\nHost: localhost\r\n"
                    "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n".encode())
        assert raw.recv(4096).startswith(b"HTTP/1.1 100")
        raw.sendall(b"3\r\none\r\n" + b"3\r\ntwo\r\n0\r\n\r\n")
        assert raw.recv(4096).startswith(b"HTTP/1.1 200")
    assert download(yard, "chunked").data == b"onetwo"


# ---- checksums ----

CHECKED = {
    "media": lambda yard, name, headers: put_media(yard, name, b"hello", headers),
    "multipart": lambda yard, name, headers: put_multipart(yard, {"name": name}, b"hello", headers=headers),
    "session": lambda yard, name, headers: put_piece(yard, start_session(yard, name), b"hello", headers=headers),
    "plain": lambda yard, name, headers: yard.request("PUT", plain_path(name), b"hello", headers),
}


@pytest.mark.parametrize("way", CHECKED)
def test_checksums_are_checked(yard, way):
    good = {"X-Goog-Hash": f"crc32c={crc32c(b'hello')},md5={md5(b'hello')}"}
    assert CHECKED[way](yard, f"good-{way}", good).status == 200
    bad = [{"X-Goog-Hash": f"crc32c={crc32c(b'jello')}"}, {"X-Goog-Hash": f"md5={md5(b'jello')}"},
           {"Content-MD5": md5(b"jello")}, {"X-Goog-Hash": "crc32c=nonsense"}, {"Content-MD5": "nonsense"}]
    for headers in bad:
        answer = CHECKED[way](yard, f"bad-{way}", headers)
        assert answer.status == 400, (headers, answer)
        assert missing(yard, f"bad-{way}")


def test_checksums_may_stand_in_the_resource(yard):
    assert put_multipart(yard, {"name": "sum", "crc32c": crc32c(b"a"), "md5Hash": md5(b"a")}, b"a").status == 200
    for wrong in ({"crc32c": crc32c(b"b")}, {"md5Hash": md5(b"b")}):
        answer = put_multipart(yard, {"name": "wrong-sum", **wrong}, b"a")
        assert answer.status == 400, answer
    assert missing(yard, "wrong-sum")


# ---- conditions ----

def test_a_generation_that_does_not_match_is_a_412(yard):
    put_media(yard, "cond", b"1")
    for send in (lambda **query: put_media(yard, "cond", b"2", **query),
                 lambda **query: put_multipart(yard, {"name": "cond"}, b"2", **query)):
        answer = send(ifGenerationMatch=0)
        assert answer.status == 412 and answer.error["errors"][0]["reason"] == "conditionNotMet", answer
    session = yard.request("POST", INSERT, None, uploadType="resumable", name="cond", ifGenerationMatch=0)
    assert session.status == 412, session
    answer = yard.request("PUT", plain_path("cond"), b"2", {"x-goog-if-generation-match": "0"})
    assert answer.status == 412 and b"<Code>PreconditionFailed</Code>" in answer.data, answer
    assert download(yard, "cond").data == b"1"


def test_of_two_uploads_for_the_first_generation_one_wins(yard):
    sessions = [start_session(yard, "race", ifGenerationMatch=0) for _ in range(2)]
    statuses = []
    threads = [threading.Thread(target=lambda s=s: statuses.append(put_piece(yard, s, s.encode()).status)) for s in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200, 412]


# ---- downloads ----

@pytest.mark.parametrize("path", [object_path("ranged") + "?alt=media", object_path("ranged", "/download") + "?alt=media",
                                  plain_path("ranged")])
def test_ranges_are_given(yard, path):
    put_media(yard, "ranged", b"0123456789")
    get = lambda range_: yard.request("GET", path, headers={"Range": range_} if range_ else None)
    for range_, data, told in (("bytes=0-3", b"0123", "0-3"), ("bytes=7-", b"789", "7-9"), ("bytes=-2", b"89", "8-9"),
                               ("bytes=9-100", b"9", "9-9"), ("bytes=-100", b"0123456789", "0-9")):
        answer = get(range_)
        assert (answer.status, answer.data) == (206, data), (range_, answer)
        assert answer.headers["Content-Range"] == f"bytes {told}/10" and answer.headers["Content-Length"] == str(len(data))
    for range_ in (None, "bytes=0-1,3-4", "nonsense", "bytes=5-2"):
        answer = get(range_)
        assert (answer.status, answer.data) == (200, b"0123456789"), (range_, answer)
        assert "Content-Range" not in answer.headers
    answer = get("bytes=10-")
    assert answer.status == 416 and answer.headers["Content-Range"] == "bytes */10", answer
    assert (b"<Code>InvalidRange</Code>" in answer.data) == (path == plain_path("ranged"))


def test_an_empty_object_has_no_range(yard):
    put_media(yard, "void", b"")
    for path in (object_path("void") + "?alt=media", plain_path("void")):
        answer = yard.request("GET", path, headers={"Range": "bytes=0-9"})
        assert answer.status == 416 and answer.headers["Content-Range"] == "bytes */0", answer


def test_headers_tell_of_the_object(yard):
    put_multipart(yard, {"name": "told", "contentDisposition": "attachment; filename=x", "contentLanguage": "de",
                         "cacheControl": "public, max-age=60", "metadata": {"Color": "blue"}}, b"hello", media_type="text/x")
    made = yard.get(object_path("told")).json
    for method in ("GET", "HEAD"):
        headers = yard.request(method, plain_path("told")).headers
        for name, value in {
            "Content-Type": "text/x", "Content-Length": "5", "Content-Disposition": "attachment; filename=x",
            "Content-Language": "de", "Cache-Control": "public, max-age=60", "Accept-Ranges": "bytes",
            "ETag": f'"{hashlib.md5(b"hello").hexdigest()}"', "x-goog-generation": made["generation"],
            "x-goog-metageneration": "1", "x-goog-hash": f"crc32c={crc32c(b'hello')},md5={md5(b'hello')}",
            "x-goog-storage-class": "STANDARD", "x-goog-stored-content-length": "5",
            "x-goog-stored-content-encoding": "identity", "x-goog-meta-color": "blue",
        }.items():
            assert headers[name] == value, name
        assert headers["Last-Modified"].endswith(" GMT")
    headers = download(yard, "told").headers
    assert headers["ETag"] == made["etag"] and headers["x-goog-generation"] == made["generation"]
    assert headers["x-goog-hash"] and "x-goog-meta-color" not in headers


def test_a_name_of_metadata_that_is_no_header_is_left_out(yard):
    put_multipart(yard, {"name": "odd-meta", "metadata": {"a b": "1", "c\r\nX-Evil": "2", "d": "x\r\ny", "e": "5"}}, b"")
    headers = yard.get(plain_path("odd-meta")).headers
    assert headers["x-goog-meta-e"] == "5" and "X-Evil" not in headers and "x-goog-meta-d" not in headers


def test_much_metadata_is_told(yard):
    metadata = {f"key-{i:03}": "v" * 20 for i in range(80)}
    put_multipart(yard, {"name": "much-meta", "metadata": metadata}, b"")
    headers = yard.get(plain_path("much-meta")).headers
    assert {k[len("x-goog-meta-"):]: v for k, v in headers.items() if k.startswith("x-goog-meta-")} == metadata


def test_what_is_known_is_not_sent_again(yard):
    put_media(yard, "fresh", b"hello")
    headers = yard.get(plain_path("fresh")).headers
    for asked in ({"If-None-Match": headers["ETag"]}, {"If-None-Match": f'"x", {headers["ETag"]}'}, {"If-None-Match": "*"},
                  {"If-Modified-Since": headers["Last-Modified"]}):
        answer = yard.request("GET", plain_path("fresh"), headers=asked)
        assert (answer.status, answer.data) == (304, b""), (asked, answer)
    for asked in ({"If-None-Match": '"x"'}, {"If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"}, {"If-Match": headers["ETag"]},
                  {"If-Match": "*"}, {"If-Unmodified-Since": headers["Last-Modified"]}, {"If-Modified-Since": "nonsense"}):
        assert yard.request("GET", plain_path("fresh"), headers=asked).status == 200, asked
    for asked in ({"If-Match": '"x"'}, {"If-Unmodified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"},
                  {"x-goog-if-generation-match": "1"}):
        answer = yard.request("GET", plain_path("fresh"), headers=asked)
        assert answer.status == 412 and b"PreconditionFailed" in answer.data, (asked, answer)
    generation = headers["x-goog-generation"]
    assert download(yard, "fresh", ifGenerationMatch=1).status == 412
    assert download(yard, "fresh", ifGenerationNotMatch=generation).status == 304
    assert download(yard, "fresh", generation=generation).data == b"hello"
    assert download(yard, "fresh", generation=1).status == 404
    assert yard.get(plain_path("fresh"), generation=1).status == 404


def test_what_was_packed_is_unpacked_for_who_does_not_take_gzip(yard):
    plain = b"hello gzip " * 10000
    packed = gzip.compress(plain)
    answer = put_multipart(yard, {"name": "packed", "contentEncoding": "gzip"}, packed)
    assert answer.json["size"] == str(len(packed)) and answer.json["md5Hash"] == md5(packed)
    for path in (object_path("packed") + "?alt=media", plain_path("packed")):
        answer = yard.request("GET", path, headers={"Accept-Encoding": "gzip"})
        assert (answer.data, answer.headers["Content-Encoding"]) == (packed, "gzip")
        answer = yard.request("GET", path, headers={"Accept-Encoding": "gzip", "Range": "bytes=0-9"})
        assert (answer.status, answer.data) == (206, packed[:10])
        for headers in ({"Accept-Encoding": "identity"}, {"Range": "bytes=0-9", "Accept-Encoding": "identity"}):
            answer = yard.request("GET", path, headers=headers)
            assert (answer.status, answer.data) == (200, plain)
            assert "Content-Encoding" not in answer.headers and "Content-Length" not in answer.headers
            assert answer.headers["x-goog-stored-content-encoding"] == "gzip"
            assert answer.headers["x-goog-stored-content-length"] == str(len(packed))
    put_multipart(yard, {"name": "packed", "contentEncoding": "gzip", "cacheControl": "no-transform"}, packed)
    answer = yard.request("GET", plain_path("packed"), headers={"Accept-Encoding": "identity"})
    assert (answer.data, answer.headers["Content-Encoding"]) == (packed, "gzip")


def test_an_upload_with_a_content_encoding_is_kept_as_it_came(yard):
    packed = gzip.compress(b"hello")
    yard.request("PUT", plain_path("enc"), packed, {"Content-Encoding": "gzip"})
    put_media(yard, "enc2", packed, contentEncoding="gzip")
    for name in ("enc", "enc2"):
        made = yard.get(object_path(name)).json
        assert (made["contentEncoding"], made["size"]) == ("gzip", str(len(packed)))
        assert download(yard, name, {"Accept-Encoding": "identity"}).data == b"hello"


def test_what_is_no_gzip_is_not_sent_as_if_it_were(yard):
    put_multipart(yard, {"name": "no-gzip", "contentEncoding": "gzip"}, b"this is no gzip")
    with pytest.raises(http.client.IncompleteRead):
        download(yard, "no-gzip", {"Accept-Encoding": "identity"})
    assert download(yard, "no-gzip", {"Accept-Encoding": "gzip"}).data == b"this is no gzip"


# ---- names ----

NAMES = ["../up", "a/../b", "a//b", "/x", "x/", "//", "a%2Fb", "a b", "a+b", "ümlaut/日本", "Case", "case", "CASE", "a?b#c",
         "con", ".", "..", "x" * 1024, "a\\b", "-rf", "\x01\x7f", "..." , "%", "a:b", "o/b/o", "copyTo"]


@pytest.mark.parametrize("name", NAMES, ids=[repr(n[:20]) for n in NAMES])
def test_any_name_goes_all_ways(yard, name):
    data = name.encode()
    answer = put_media(yard, name, data)
    if name in (".", ".."):
        assert answer.status == 400, answer
        return
    assert answer.status == 200 and answer.json["name"] == name, answer
    assert download(yard, name).data == data
    assert yard.get(object_path(name, "/download") + "?alt=media").data == data
    assert yard.get(f"/{BUCKET}/{quoted(name)}").data == data
    assert yard.get(object_path(name)).json["name"] == name
    assert put_multipart(yard, {"name": name}, data + b"2").status == 200
    session = start_session(yard, name)
    assert put_piece(yard, session, data + b"3").json["name"] == name
    answer = yard.request("PUT", f"/{BUCKET}/{quoted(name)}", data + b"4")
    assert answer.status == 200 and download(yard, name).data == data + b"4"


@pytest.mark.parametrize("name", ["x" * 1025, "a\rb", "a\nb", "a\0b", ""], ids=["long", "cr", "lf", "nul", "empty"])
def test_a_name_that_is_none_is_refused(yard, name):
    for send in (lambda: put_media(yard, name, b"x"), lambda: put_multipart(yard, {"name": name}, b"x"),
                 lambda: yard.request("POST", INSERT, {"name": name}, uploadType="resumable"),
                 lambda: yard.request("PUT", f"/{BUCKET}/{quoted(name)}", b"x") if name else put_media(yard, name, b"x")):
        answer = send()
        assert answer.status == 400, answer


def test_a_bucket_appears_when_it_is_first_written_to(own_yard):
    answer = own_yard.request("POST", "/upload/storage/v1/b/brand-new/o", b"x", uploadType="media", name="n")
    assert answer.status == 200, answer
    assert own_yard.get("/storage/v1/b/brand-new").status == 200
    answer = own_yard.request("POST", "/upload/storage/v1/b/No_Bucket!/o", b"x", uploadType="media", name="n")
    assert answer.status in (400, 404), answer


# ---- batches ----

def batch(yard, calls, line="\r\n", path="/batch/storage/v1"):
    parts = []
    for number, (method, target, body) in enumerate(calls):
        text = json.dumps(body) if body is not None else ""
        head = [f"Content-Type: application/json", f"Content-Length: {len(text)}"] if body is not None else []
        parts += ["--xyz", "Content-Type: application/http", f"Content-ID: <b+{number}>", "",
                  f"{method} {target} HTTP/1.1", *head, "", text]
    body = line.join(parts + ["--xyz--", ""])
    answer = yard.request("POST", path, body, {"Content-Type": 'multipart/mixed; boundary="xyz"'})
    if answer.status != 200:
        return answer
    boundary = re.fullmatch(r"multipart/mixed; boundary=(\S+)", answer.headers["Content-Type"]).group(1)
    answers = []
    for part in answer.data.decode().split(f"--{boundary}")[1:-1]:
        head, inner = part.split("\r\n\r\n", 1)
        status, rest = inner.split("\r\n", 1)
        answers.append((re.search(r"Content-ID: <response-b\+(\d+)>", head).group(1), int(status.split()[1]),
                        rest.split("\r\n\r\n", 1)[1].strip()))
    assert [a[0] for a in answers] == [str(i) for i in range(len(calls))]
    return [(status, json.loads(text) if text else None) for _, status, text in answers]


@pytest.mark.parametrize("line", ["\r\n", "\n"])
def test_a_batch_is_many_calls(yard, line):
    put_media(yard, "in-batch", b"x")
    base = f"http://127.0.0.1:{yard.port}"
    answers = batch(yard, [("GET", object_path("in-batch"), None), ("PATCH", base + object_path("in-batch"), {"metadata": {"a": "b"}}),
                           ("GET", object_path("not-there"), None), ("DELETE", object_path("in-batch"), None),
                           ("GET", "/v1/nothing", None)], line)
    assert [status for status, _ in answers][:4] == [200, 200, 404, 204], answers
    assert answers[0][1]["name"] == "in-batch" and answers[1][1]["metadata"] == {"a": "b"}
    assert answers[4][0] == 404
    assert missing(yard, "in-batch")


def test_a_batch_that_cannot_be_read_does_nothing(yard):
    put_media(yard, "safe", b"x")
    delete = ("DELETE", object_path("safe"), None)
    assert batch(yard, []).status == 400
    assert batch(yard, [delete] + [("GET", object_path("safe"), None)] * 100).status == 400
    assert len(batch(yard, [("GET", object_path("safe"), None)] * 100)) == 100
    broken = (f"--xyz\r\n\r\nDELETE {object_path('safe')} HTTP/1.1\r\n\r\n\r\n--xyz\r\n\r\ngarbage\r\n--xyz--")
    answer = yard.request("POST", "/batch/storage/v1", broken, {"Content-Type": "multipart/mixed; boundary=xyz"})
    assert answer.status == 400, answer
    assert not missing(yard, "safe")


def test_media_and_batches_are_no_part_of_a_batch(yard):
    answers = batch(yard, [("POST", INSERT + "?uploadType=media&name=x", None), ("POST", "/batch/storage/v1", None),
                           ("GET", object_path("safe") + "?alt=media", None)])
    assert all(status >= 400 for status, _ in answers), answers
