# SPDX-License-Identifier: Apache-2.0
"""Google's storage library for Python, pointed at trainyard by `trainyard env`. Prints one line of JSON a test; see
test_storage_clients.py."""
import base64
import hashlib
import io
import os
import tempfile

import google_crc32c
from google.api_core import exceptions
from google.cloud import storage
from google.cloud.storage import fileio, transfer_manager
from google.cloud.storage.exceptions import InvalidResponse

from one_by_one import run_tests

KIB, MIB = 1 << 10, 1 << 20
client = storage.Client()
bucket = client.create_bucket(f"python-{os.getpid()}")

# A pattern in which no two positions look the same.
PATTERN = b"".join(i.to_bytes(4, "big") for i in range(3 * MIB // 4)) + b"and an odd end"

# Legal names of objects that a file system, a URL or a shell could misinterpret.
HOSTILE_NAMES = ["a//b", "a/../b", "../b", "/a", "a/", "a/./b", "a/..", "...", "ü/日本", "a?b#c%2F", "a%2Fb", "%00", "a b+c",
                 "case", "CASE", "Case", "x" * 1024, "日" * 341 + "x", "a\tb", "\x7f", "a\\b", "-rf", "*", "~", "$(x)", "a\"b'c",
                 "e\u0301", "\u00e9", "a:b", "nul", "CON", ".hidden", "dir/.", "&=;", "[a-z]", "\U0001f600"]


def refused(kind, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except kind as error:
        return error
    raise AssertionError(f"was not refused with {kind.__name__}")


def put(name, data=b"hello", **more):
    blob = bucket.blob(name)
    blob.upload_from_string(data, **more)
    return blob


def crc32c_of(data):
    return base64.b64encode(google_crc32c.value(data).to_bytes(4, "big")).decode()


def md5_of(data):
    return base64.b64encode(hashlib.md5(data).digest()).decode()


def makes_lists_changes_and_deletes_buckets():
    name = f"python-more-{os.getpid()}"
    made = client.create_bucket(name, location="europe-west1")
    assert (made.name, made.metageneration, made.location) == (name, 1, "EUROPE-WEST1"), vars(made)
    assert made.time_created.tzinfo and made.storage_class == "STANDARD"
    refused(exceptions.Conflict, client.create_bucket, name)
    refused(exceptions.BadRequest, client.create_bucket, "Not_A-Bucket")
    assert [b.name for b in client.list_buckets(prefix="python-more-")] == [name]
    one_a_page = [b.name for b in client.list_buckets(page_size=1)]
    assert name in one_a_page and bucket.name in one_a_page and one_a_page == sorted(one_a_page)
    made.labels = {"team": "a"}
    made.patch()
    assert (made.metageneration, client.get_bucket(name).labels) == (2, {"team": "a"})
    made.update()
    refused(exceptions.PreconditionFailed, made.patch, if_metageneration_match=1)
    assert client.lookup_bucket(name) is not None
    made.blob("left").upload_from_string("x")
    refused(exceptions.Conflict, made.delete)
    made.delete(force=True)
    refused(exceptions.NotFound, client.get_bucket, name)
    assert client.lookup_bucket(name) is None


def uploads_small_objects_in_one_request():
    for data in (b"", b"x", PATTERN[:KIB]):
        blob = put("small/one", data, content_type="application/x-thing")
        assert (blob.size, blob.content_type) == (len(data), "application/x-thing")
        assert (blob.crc32c, blob.md5_hash) == (crc32c_of(data), md5_of(data))
        assert blob.download_as_bytes() == data
    first = put("small/one", "text")
    second = put("small/one", "texts")
    assert second.generation > first.generation and second.metageneration == 1
    assert second.download_as_text() == "texts"


def uploads_in_resumable_chunks():
    blob, data = bucket.blob("chunked", chunk_size=MIB), PATTERN * 3  # the library does this above 8 MiB
    blob.metadata = {"epoch": "7"}
    blob.upload_from_file(io.BytesIO(data), size=len(data), content_type="x/y", checksum="crc32c")
    assert (blob.size, blob.crc32c, blob.md5_hash) == (len(data), crc32c_of(data), md5_of(data))
    found = bucket.get_blob("chunked")
    assert (found.metadata, found.content_type) == ({"epoch": "7"}, "x/y")
    assert blob.download_as_bytes(checksum="md5") == data
    blob.upload_from_file(io.BytesIO(PATTERN[:MIB]), checksum="md5")  # without a known length
    assert blob.download_as_bytes(checksum="crc32c") == PATTERN[:MIB]


class Broken(io.BytesIO):
    """Fails once, at its second block."""
    reads = 0

    def read(self, size=-1):
        self.reads += 1
        if self.reads == 2:
            raise ConnectionError("the source broke")
        return super().read(size)


def resumes_an_upload_that_was_interrupted():
    blob = bucket.blob("resumed", chunk_size=256 * KIB)
    url = blob.create_resumable_upload_session(content_type="x/y", size=len(PATTERN))
    send = client._http.request
    size = len(PATTERN)
    status = send("PUT", url, headers={"Content-Range": f"bytes */{size}"}, data=b"")
    assert (status.status_code, status.headers.get("Range")) == (308, None), status.text
    part = send("PUT", url, headers={"Content-Range": f"bytes 0-{256 * KIB - 1}/{size}"}, data=PATTERN[:256 * KIB])
    assert (part.status_code, part.headers["Range"]) == (308, f"bytes=0-{256 * KIB - 1}"), part.text
    assert bucket.get_blob("resumed") is None
    # Bytes that are sent again are ignored.
    rest = send("PUT", url, headers={"Content-Range": f"bytes {128 * KIB}-{size - 1}/{size}"}, data=PATTERN[128 * KIB:])
    assert rest.status_code == 200, rest.text
    assert rest.json()["crc32c"] == crc32c_of(PATTERN)
    again = send("PUT", url, headers={"Content-Range": f"bytes */{size}"}, data=b"")
    assert (again.status_code, again.json()["generation"]) == (200, rest.json()["generation"])
    assert bucket.blob("resumed").download_as_bytes() == PATTERN
    refused(ConnectionError, blob.upload_from_file, Broken(bytes(MIB)), retry=None)
    assert bucket.blob("resumed").download_as_bytes() == PATTERN


def cancels_an_upload():
    url = bucket.blob("cancelled").create_resumable_upload_session(size=MIB)
    send = client._http.request
    assert send("PUT", url, headers={"Content-Range": f"bytes 0-{256 * KIB - 1}/{MIB}"}, data=bytes(256 * KIB)).status_code == 308
    assert send("DELETE", url).status_code == 499
    assert send("PUT", url, headers={"Content-Range": f"bytes */{MIB}"}, data=b"").status_code in (404, 410, 499)
    assert bucket.get_blob("cancelled") is None


def writes_and_reads_like_files():
    blob = bucket.blob("file.txt", chunk_size=256 * KIB)
    with blob.open("w", encoding="utf-8") as file:
        file.writelines(f"Zeile {i} ü\n" for i in range(60000))
    with blob.open("r", encoding="utf-8") as file:
        assert file.readline() == "Zeile 0 ü\n"
        assert sum(1 for _ in file) == 59999
    with blob.open("wb") as file:
        file.write(PATTERN)
    with blob.open("rb", chunk_size=MIB) as file:
        file.seek(2 * MIB + 5)
        assert file.read(100) == PATTERN[2 * MIB + 5:2 * MIB + 105]
        file.seek(-10, io.SEEK_END)
        assert file.read() == PATTERN[-10:]
    refused(exceptions.NotFound, lambda: bucket.blob("file.none").open("rb").read())
    assert isinstance(blob.open("rb"), fileio.BlobReader)


def downloads_whole_ranges_and_streams():
    blob = put("ranges", PATTERN)
    size = len(PATTERN)
    assert blob.download_as_bytes() == PATTERN
    for start, end, expected in ((0, 0, PATTERN[:1]), (5, 9, PATTERN[5:10]), (size - 1, size + 100, PATTERN[-1:]),
                                 (MIB, None, PATTERN[MIB:])):
        assert blob.download_as_bytes(start=start, end=end) == expected, (start, end)
    assert blob.download_as_bytes(start=-7) == PATTERN[-7:]
    refused(exceptions.RequestRangeNotSatisfiable, blob.download_as_bytes, start=size)
    blob = bucket.blob("ranges", chunk_size=256 * KIB)
    out = io.BytesIO()
    blob.download_to_file(out)
    assert out.getvalue() == PATTERN
    with tempfile.TemporaryDirectory() as directory:
        bucket.blob("ranges").download_to_filename(directory + "/x")
        assert open(directory + "/x", "rb").read() == PATTERN


def has_checksums_checked_by_the_server():
    blob = bucket.blob("wrong")
    blob.md5_hash = md5_of(b"something else")
    refused(exceptions.BadRequest, blob.upload_from_string, b"bytes")
    assert bucket.get_blob("wrong") is None
    blob = bucket.blob("wrong")
    blob.crc32c = crc32c_of(b"something else")
    refused(exceptions.BadRequest, blob.upload_from_string, b"bytes", checksum=None)
    assert bucket.get_blob("wrong") is None
    blob.crc32c = crc32c_of(b"bytes")
    blob.upload_from_string(b"bytes")
    assert bucket.get_blob("wrong").size == 5


def lists_by_prefix_delimiter_and_page():
    names = ["l/a", "l/b/1", "l/b/2", "l/c/", "l/c/d/e", "l/z"]
    for name in names:
        put(name)
    listed = lambda **how: client.list_blobs(bucket, **how)  # noqa: E731
    assert [b.name for b in listed(prefix="l/")] == names
    level = listed(prefix="l/", delimiter="/")
    assert ([b.name for b in level], level.prefixes) == (["l/a", "l/z"], {"l/b/", "l/c/"})
    level = listed(prefix="l/", delimiter="/", include_trailing_delimiter=True)
    assert [b.name for b in level] == ["l/a", "l/c/", "l/z"]
    for size in range(1, 4):
        paged, found, prefixes = listed(prefix="l/", delimiter="/", page_size=size), [], []
        for page in paged.pages:
            found += [b.name for b in page]
            prefixes += page.prefixes
        assert (found, prefixes) == (["l/a", "l/z"], ["l/b/", "l/c/"]), (size, found, prefixes)
    assert [b.name for b in listed(prefix="l/", page_size=2)] == names
    assert [b.name for b in listed(start_offset="l/b/2", end_offset="l/z")] == ["l/b/2", "l/c/", "l/c/d/e"]
    assert [b.name for b in listed(match_glob="l/*/?")] == ["l/b/1", "l/b/2"]
    assert [b.name for b in listed(prefix="l/", max_results=2)] == names[:2]
    assert [b.name for b in listed(prefix="l/", fields="items(name),nextPageToken")] == names
    assert list(listed(prefix="nothing/")) == []
    # the bucket does not exist before the first write
    refused(exceptions.NotFound, list, client.list_blobs("no-such-bucket-here"))


def copies_rewrites_and_moves():
    source = put("from", PATTERN, content_type="x/y")
    copied = bucket.copy_blob(source, bucket, "copied")
    assert (copied.crc32c, copied.content_type) == (source.crc32c, "x/y")
    target = bucket.blob("rewritten")
    target.content_type = "x/z"
    token, done, total = target.rewrite(source)
    assert (token, done, total) == (None, len(PATTERN), len(PATTERN))
    assert bucket.get_blob("rewritten").content_type == "x/z"
    target.update_storage_class("NEARLINE")
    assert bucket.get_blob("rewritten").storage_class == "NEARLINE"
    bucket.rename_blob(copied, "moved")
    assert bucket.get_blob("copied") is None and bucket.blob("moved").download_as_bytes() == PATTERN
    refused(exceptions.NotFound, bucket.copy_blob, bucket.blob("none"), bucket, "x")
    refused(exceptions.PreconditionFailed, bucket.copy_blob, source, bucket, "moved", if_generation_match=0)


def composes_objects():
    parts = [put(f"part/{i}", PATTERN[i * KIB:(i + 1) * KIB]) for i in range(32)]
    whole = bucket.blob("composed")
    whole.content_type = "x/y"
    whole.compose(parts)
    assert (whole.size, whole.component_count, whole.md5_hash) == (32 * KIB, 32, None), whole._properties
    assert whole.crc32c == crc32c_of(PATTERN[:32 * KIB])
    assert whole.download_as_bytes() == PATTERN[:32 * KIB]
    whole.compose([whole, parts[0]])
    assert whole.download_as_bytes() == PATTERN[:32 * KIB] + PATTERN[:KIB]
    refused(exceptions.BadRequest, whole.compose, parts + parts[:1])
    refused(exceptions.NotFound, whole.compose, [parts[0], bucket.blob("part/none")])


def changes_metadata():
    blob = put("described")
    generation = blob.generation
    blob.metadata, blob.cache_control = {"a": "1", "b": "2"}, "no-store"
    blob.content_disposition, blob.content_language, blob.content_encoding = "inline", "de", "identity"
    blob.patch()
    assert (blob.generation, blob.metageneration) == (generation, 2)
    again = bucket.get_blob("described")
    assert (again.metadata, again.cache_control, again.content_language) == ({"a": "1", "b": "2"}, "no-store", "de")
    blob.metadata = {"a": "1", "b": None}  # None removes the member
    blob.patch()
    assert bucket.get_blob("described").metadata == {"a": "1"}
    again.reload()
    assert (again.metageneration, again.metadata) == (3, {"a": "1"})
    again.metadata = {"c": "3"}
    again.update()
    assert bucket.get_blob("described").metadata == {"c": "3"}
    refused(exceptions.NotFound, bucket.blob("none").patch)


def holds_conditions():
    first = put("held", b"1", if_generation_match=0)
    refused(exceptions.PreconditionFailed, put, "held", b"2", if_generation_match=0)
    put("held", b"2", if_generation_match=first.generation)
    refused(exceptions.PreconditionFailed, put, "held", b"3", if_generation_match=first.generation)
    held = bucket.get_blob("held")
    refused(exceptions.PreconditionFailed, held.patch, if_metageneration_match=7)
    refused(exceptions.PreconditionFailed, held.download_as_bytes, if_generation_match=first.generation)
    refused(exceptions.PreconditionFailed, held.delete, if_generation_match=first.generation)
    refused(exceptions.NotModified, held.reload, if_generation_not_match=held.generation)
    refused(exceptions.NotFound, bucket.blob("held", generation=first.generation).reload)
    assert held.download_as_bytes(if_generation_match=held.generation, if_etag_match=held.etag) == b"2"
    chunked = bucket.blob("held", chunk_size=256 * KIB)
    refused(exceptions.PreconditionFailed, chunked.upload_from_file, io.BytesIO(PATTERN), if_generation_match=0)
    held.delete(if_generation_match=held.generation)
    refused(exceptions.NotFound, held.delete)


def sends_batches():
    blobs = [put(f"batch/{i}") for i in range(5)]
    with client.batch():
        for blob in blobs[:3]:
            blob.metadata = {"seen": "yes"}
            blob.patch()
    assert [bucket.get_blob(b.name).metadata for b in blobs] == [{"seen": "yes"}] * 3 + [None] * 2
    with client.batch(raise_exception=False) as batch:
        for blob in (*blobs, bucket.blob("batch/none")):
            blob.delete()
    assert [r.status_code for r in batch._responses] == [204] * 5 + [404]
    assert list(client.list_blobs(bucket, prefix="batch/")) == []
    bucket.delete_blobs([put("batch/a"), put("batch/b")])
    refused(exceptions.NotFound, bucket.delete_blobs, [bucket.blob("batch/a")])


def moves_many_files_at_once():
    with tempfile.TemporaryDirectory() as directory:
        names = [f"{i % 3}/{i}" for i in range(24)]
        for name in names:
            os.makedirs(os.path.dirname(f"{directory}/{name}"), exist_ok=True)
            open(f"{directory}/{name}", "w").write("contents of " + name)
        results = transfer_manager.upload_many_from_filenames(bucket, names, directory, blob_name_prefix="many/",
                                                              worker_type="thread", max_workers=8)
        assert results == [None] * len(names), results
        results = transfer_manager.download_many_to_path(bucket, names, directory + "/back", blob_name_prefix="many/",
                                                         worker_type="thread", max_workers=8)
        assert results == [None] * len(names), results
        assert all(open(f"{directory}/back/{n}").read() == "contents of " + n for n in names)
        put("large", PATTERN)
        transfer_manager.download_chunks_concurrently(bucket.blob("large"), directory + "/large", chunk_size=MIB,
                                                      worker_type="thread", max_workers=4)
        assert open(directory + "/large", "rb").read() == PATTERN


def uploads_a_file_in_parts_at_once():
    """The XML API's multipart upload."""
    data = PATTERN * 5
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        for checksum in ("crc32c", "md5", None):
            blob = bucket.blob(f"in/parts & {checksum}")
            blob.metadata, blob.cache_control = {"epoch": "7"}, "no-store"
            transfer_manager.upload_chunks_concurrently(file.name, blob, content_type="text/x", chunk_size=5 * MIB,
                                                        worker_type="thread", max_workers=4, checksum=checksum)
            found = bucket.get_blob(blob.name)
            assert (found.size, found.crc32c, found.md5_hash) == (len(data), crc32c_of(data), None), vars(found)
            assert (found.content_type, found.metadata, found.cache_control) == ("text/x", {"epoch": "7"}, "no-store")
            assert found.download_as_bytes() == data
        error = refused(InvalidResponse, transfer_manager.upload_chunks_concurrently, file.name, bucket.blob("in/small"),
                        chunk_size=MIB, worker_type="thread", retry=None)
    assert error.response.status_code == 400 and b"<Code>EntityTooSmall</Code>" in error.response.content
    assert bucket.get_blob("in/small") is None


def keeps_any_name():
    for name in HOSTILE_NAMES:
        assert put(name, name).name == name
    listed = {b.name: b for b in client.list_blobs(bucket)}
    for name in HOSTILE_NAMES:
        assert name in listed, name
        assert listed[name].download_as_text() == name, name
        assert bucket.get_blob(name).size == len(name.encode()), name
    assert [b.name for b in client.list_blobs(bucket)] == sorted(listed, key=str.encode)
    copied = bucket.copy_blob(listed["a?b#c%2F"], bucket, "a/../b#%")
    assert copied.download_as_text() == "a?b#c%2F"
    for name in HOSTILE_NAMES:
        bucket.delete_blob(name)
        assert bucket.get_blob(name) is None, name


def refuses_names_that_are_none():
    for name in (".", "..", "a\nb", "a\rb", "x" * 1025, "日" * 342, ".well-known/acme-challenge/x"):
        refused(exceptions.BadRequest, put, name)


def tells_what_is_missing():
    missing = refused(exceptions.NotFound, bucket.blob("none").download_as_bytes)
    assert f"No such object: {bucket.name}/none" in str(missing), missing
    missing = refused(exceptions.NotFound, bucket.blob("none").reload)
    assert f"No such object: {bucket.name}/none" in str(missing), missing
    refused(exceptions.NotFound, bucket.delete_blob, "none")
    assert bucket.get_blob("none") is None and not bucket.blob("none").exists() and bucket.exists()
    missing = refused(exceptions.NotFound, client.get_bucket, "no-such-bucket-here")
    assert missing.errors[0]["reason"] == "notFound", missing.errors


def makes_buckets_on_first_use():
    name = f"python-first-use-{os.getpid()}"
    blob = client.bucket(name).blob("a")
    blob.upload_from_string("x")
    assert client.get_bucket(name).name == name
    client.bucket(name).delete(force=True)


TESTS = [makes_lists_changes_and_deletes_buckets, uploads_small_objects_in_one_request, uploads_in_resumable_chunks,
         resumes_an_upload_that_was_interrupted, cancels_an_upload, writes_and_reads_like_files,
         downloads_whole_ranges_and_streams, has_checksums_checked_by_the_server, lists_by_prefix_delimiter_and_page,
         copies_rewrites_and_moves, composes_objects, changes_metadata, holds_conditions, sends_batches,
         moves_many_files_at_once, uploads_a_file_in_parts_at_once, keeps_any_name, refuses_names_that_are_none,
         tells_what_is_missing, makes_buckets_on_first_use]

run_tests(TESTS)
