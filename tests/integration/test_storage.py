# SPDX-License-Identifier: Apache-2.0
"""Cloud Storage's JSON API over HTTP, on a daemon that needs no engine for it."""
import base64
import concurrent.futures
import hashlib
import urllib.parse

import pytest

from support.daemon import Daemon
from support.engine import NO_ENGINE


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    """Buckets are created on first use."""
    with Daemon(tmp_path_factory.mktemp("storage"), NO_ENGINE) as found:
        yield found


@pytest.fixture(scope="module")
def strict_shelf(tmp_path_factory):
    with Daemon(tmp_path_factory.mktemp("strict"), NO_ENGINE, "--buckets", "strict") as found:
        yield found


def object_path(bucket, name, *verb):
    return "/".join([f"/storage/v1/b/{bucket}/o/{urllib.parse.quote(name, safe='')}", *verb])


def upload(daemon, bucket, name, data=b"x", **query):
    return daemon.request("POST", f"/upload/storage/v1/b/{bucket}/o", data, {"Content-Type": "text/plain"},
                          uploadType="media", name=name, **query)


def download(daemon, bucket, name, **query):
    return daemon.get(object_path(bucket, name), alt="media", **query)


@pytest.fixture
def bucket(shelf):
    name = shelf.new_id("bucket").replace("_", "-")
    assert shelf.post("/storage/v1/b", {"name": name}, project=shelf.project).status == 200
    return name


def test_bytes_come_back_with_what_is_known_of_them(shelf, bucket):
    data = bytes(range(256)) * 4096
    made = upload(shelf, bucket, "dir/bytes", data)
    assert made.status == 200, made
    assert made.json["md5Hash"] == base64.b64encode(hashlib.md5(data).digest()).decode()
    assert (made.json["size"], made.json["contentType"]) == (str(len(data)), "text/plain")
    assert shelf.get(object_path(bucket, "dir/bytes")).json == made.json
    assert download(shelf, bucket, "dir/bytes").data == data
    for link in ("selfLink", "mediaLink"):
        assert made.json[link].startswith(shelf.base + "/")
        assert shelf.get(made.json[link][len(shelf.base):]).status == 200


@pytest.mark.parametrize("name", ["a b", "ä/ö", "..a", "a//b", "/a", "a/", "%2F", "a?b#c", "x:cancel", "日本", "a" * 1024,
                                  "A", "\t", "'\"\\", "+&="])
def test_any_name_is_a_name(shelf, bucket, name):
    made = upload(shelf, bucket, name)
    assert made.status == 200 and made.json["name"] == name, made
    assert shelf.get(object_path(bucket, name)).json["name"] == name
    assert [item["name"] for item in shelf.get(f"/storage/v1/b/{bucket}/o").json["items"]] == [name]
    assert shelf.get(made.json["mediaLink"][len(shelf.base):]).data == b"x"
    assert shelf.request("DELETE", object_path(bucket, name)).status == 204


def test_a_patch_a_copy_and_a_move(shelf, bucket):
    upload(shelf, bucket, "a", b"first")
    patched = shelf.request("PATCH", object_path(bucket, "a"), {"metadata": {"k": "v"}})
    assert patched.json["metadata"] == {"k": "v"} and patched.json["metageneration"] == "2"
    copied = shelf.post(object_path(bucket, "a", "rewriteTo", "b", bucket, "o", "b"), {})
    assert copied.json["done"] is True and copied.json["resource"]["metadata"] == {"k": "v"}
    assert shelf.post(object_path(bucket, "b", "moveTo", "o", "c")).json["name"] == "c"
    assert shelf.get(object_path(bucket, "b")).status == 404
    assert download(shelf, bucket, "c").data == b"first"


def test_parts_are_joined(shelf, bucket):
    for number in range(3):
        upload(shelf, bucket, f"part-{number}", b"%d" % number * 100000)
    joined = shelf.post(object_path(bucket, "all", "compose"),
                        {"sourceObjects": [{"name": f"part-{number}"} for number in range(3)]})
    assert joined.status == 200 and joined.json["componentCount"] == 3 and "md5Hash" not in joined.json
    assert download(shelf, bucket, "all").data == b"0" * 100000 + b"1" * 100000 + b"2" * 100000


def test_pages_meet_without_gaps(shelf, bucket):
    names = sorted(f"{first}/{second:03}" for first in "abc" for second in range(40))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(answer.status == 200 for answer in pool.map(lambda name: upload(shelf, bucket, name), names))
    found, token = [], {}
    while token is not None:
        page = shelf.get(f"/storage/v1/b/{bucket}/o", maxResults=7, **token).json
        found += [item["name"] for item in page["items"]]
        token = {"pageToken": page["nextPageToken"]} if "nextPageToken" in page else None
    assert found == names
    assert shelf.get(f"/storage/v1/b/{bucket}/o", delimiter="/").json["prefixes"] == ["a/", "b/", "c/"]


def test_only_one_of_many_makes_what_must_not_be_there(shelf, bucket):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: upload(shelf, bucket, "lock", b"%d" % n, ifGenerationMatch=0), range(16)))
    assert sorted(answer.status for answer in answers) == [200] + [412] * 15
    assert answers[[a.status for a in answers].index(412)].error["errors"][0]["reason"] == "conditionNotMet"


def test_no_change_of_many_is_lost(shelf, bucket):
    upload(shelf, bucket, "notes")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: shelf.request("PATCH", object_path(bucket, "notes"), {"metadata": {f"k{n}": "v"}}),
                                range(16)))
    assert {answer.status for answer in answers} == {200}
    seen = shelf.get(object_path(bucket, "notes")).json
    assert (len(seen["metadata"]), seen["metageneration"]) == (16, "17")


def test_a_bucket_appears_on_first_use(shelf):
    for path in ("/storage/v1/b/first-use/o", "/first-use"):
        assert shelf.get(path).status == 404, path
    assert shelf.get("/storage/v1/b/first-use").status == 404
    assert upload(shelf, "first-use", "x").status == 200
    assert shelf.get("/storage/v1/b/first-use").json["name"] == "first-use"
    assert upload(shelf, "No-Name", "x").status == 400


# Fails with: inserts, XML's PUT and copies that make the bucket before they look at their conditions (as they did).
def test_a_write_that_is_refused_makes_no_bucket(shelf, bucket):
    upload(shelf, bucket, "source")
    put = {"x-goog-if-generation-match": "5"}
    refused = [upload(shelf, "refused", "x", ifGenerationMatch=5), shelf.request("PUT", "/refused/x", b"x", put),
               shelf.request("POST", object_path(bucket, "source") + "/copyTo/b/refused/o/x", ifGenerationMatch=5),
               shelf.request("POST", "/upload/storage/v1/b/refused/o", {}, uploadType="resumable", name="x", ifGenerationMatch=5)]
    assert [answer.status for answer in refused] == [412] * 4
    assert shelf.get("/storage/v1/b/refused").status == 404


def test_a_job_has_the_bucket_of_its_directory(shelf):
    """The report of the first job says that the bucket was created."""
    body = {"region": "us-central1", "jobDir": "gs://of-a-job/dir", "masterConfig": {"imageUri": "trainyard-test:1"}}
    jobs = f"/_trainyard/v1/projects/{shelf.project}/jobs"
    planned = shelf.post(jobs + ":plan", dict(jobId="planned", trainingInput=body)).json
    assert shelf.get("/storage/v1/b/of-a-job").status == 404
    made = [shelf.create(body), shelf.create(body)]
    assert shelf.get("/storage/v1/b/of-a-job").status == 200
    told = [[d["text"] for d in answer["differences"] if d["code"] == "bucket-made"]
            for answer in (planned, *(shelf.get(f"{jobs}/{job}/report").json for job in made))]
    text = "The bucket gs://of-a-job is made for this job: in the cloud it must exist before."
    assert told == [[text], [text], []]


def test_a_strict_daemon_wants_its_buckets_made(strict_shelf):
    refused = upload(strict_shelf, "first-use", "x")
    assert refused.status == 404 and refused.error["message"] == "The specified bucket does not exist."
    assert strict_shelf.get("/storage/v1/b/first-use/o").status == 404
    strict_shelf.create({"region": "us-central1", "jobDir": "gs://of-a-job/dir",
                         "masterConfig": {"imageUri": "trainyard-test:1"}})
    assert strict_shelf.get("/storage/v1/b/of-a-job").status == 404


def test_what_was_answered_is_there_after_a_kill(tmp_path):
    with Daemon(tmp_path, NO_ENGINE) as daemon:
        made = [upload(daemon, "kept", f"o{number}", b"%d" % number).json for number in range(20)]
        daemon.kill9()
        daemon.start()
        assert daemon.get("/storage/v1/b/kept/o").json["items"] == sorted(
            ({**item, **{link: item[link].replace(item["mediaLink"].split("/download")[0], daemon.base)
                         for link in ("selfLink", "mediaLink")}} for item in made), key=lambda item: item["name"])
        assert download(daemon, "kept", "o7").data == b"7"


def test_another_emulator_can_have_the_storage(tmp_path):
    with Daemon(tmp_path, NO_ENGINE, "--storage-endpoint", "http://127.0.0.1:9") as daemon:
        assert daemon.get("/storage/v1/b", project="p").status == 404
        assert daemon.get("/some-bucket/some-object").status == 404
        assert daemon.get("/discovery/v1/apis/storage/v1/rest").status == 404
        assert not (daemon.state_dir / "storage.db").exists()


def test_the_methods_are_published(shelf):
    document = shelf.get("/discovery/v1/apis/storage/v1/rest").json
    methods = document["resources"]["objects"]["methods"]
    assert methods["rewrite"]["path"].endswith("b/{sourceBucket}/o/{sourceObject}/rewriteTo/b/{destinationBucket}"
                                               "/o/{destinationObject}")
    assert methods["get"]["parameterOrder"] == ["bucket", "object"]
    assert document["schemas"]["Object"]["properties"]["generation"]["format"] == "int64"
