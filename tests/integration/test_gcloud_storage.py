# SPDX-License-Identifier: Apache-2.0
"""The real `gcloud storage` with the environment of `trainyard env`."""
import filecmp
import os

import pytest

from support.daemon import Daemon
from support.engine import NO_ENGINE
from support.gcloud import gcloud_for, needs_gcloud

pytestmark = [needs_gcloud, pytest.mark.long]


@pytest.fixture(scope="module")
def storage(recording, tmp_path_factory):
    """Runs `gcloud storage WORDS`"""
    directory = tmp_path_factory.mktemp("gcloud-storage")
    with Daemon(directory, NO_ENGINE) as daemon, gcloud_for(daemon, tmp_path_factory.mktemp("gcloud"), recording) as found:
        yield lambda *words, **more: found.run("storage", *map(str, words), **more)


@pytest.fixture
def files(tmp_path):
    """A directory: tree/a.txt, tree/sub/b.txt, large.bin."""
    (tmp_path / "tree/sub").mkdir(parents=True)
    (tmp_path / "tree/a.txt").write_text("1\n")
    (tmp_path / "tree/sub/b.txt").write_text("2\n")
    (tmp_path / "large.bin").write_bytes(os.urandom(9_000_000))
    return tmp_path


def lines(done):
    return [line for line in done.stdout.splitlines() if line]


def test_buckets_are_made_described_changed_and_deleted(storage):
    storage("buckets", "create", "gs://made", "--location", "us-central1", "--default-storage-class", "nearline")
    described = storage("buckets", "describe", "gs://made").stdout
    for line in ("name: made", "location: US-CENTRAL1", "default_storage_class: NEARLINE", "location_type: region"):
        assert line in described, described
    taken = storage("buckets", "create", "gs://made", expect=1).stderr
    assert "HTTPError 409: Your previous request to create the named bucket succeeded and you already own it." in taken
    assert "gs://made/" in lines(storage("ls"))
    assert "made" in lines(storage("buckets", "list", "--format=value(name)"))
    storage("buckets", "update", "gs://made", "--update-labels=a=b", "--versioning")
    assert lines(storage("buckets", "describe", "gs://made", "--format=value(labels.a,versioning_enabled)")) == ["b\tTrue"]
    storage("buckets", "delete", "gs://made")
    assert "gs://made not found: 404" in storage("buckets", "describe", "gs://made", expect=1).stderr


def test_files_go_up_down_and_across(storage, files):
    storage("buckets", "create", "gs://across")
    storage("cp", files / "large.bin", "gs://across/large.bin")
    storage("cp", "gs://across/large.bin", files / "back.bin")
    assert filecmp.cmp(files / "large.bin", files / "back.bin", shallow=False)
    storage("cp", files / "tree/a.txt", "gs://across/dir/a.txt")
    storage("cp", "gs://across/dir/a.txt", "gs://elsewhere/copy.txt")
    assert storage("cat", "gs://elsewhere/copy.txt").stdout == "1\n"
    assert storage("cat", "--range=0-0", "gs://across/dir/a.txt").stdout == "1"
    storage("mv", "gs://across/dir/a.txt", "gs://across/dir/b.txt")
    assert "matched no objects" in storage("cat", "gs://across/dir/a.txt", expect=1).stderr
    assert storage("cat", "gs://across/dir/b.txt").stdout == "1\n"


def test_a_tree_is_copied_listed_and_removed(storage, files):
    storage("cp", "-r", files / "tree", "gs://a-tree/")
    assert [line for line in lines(storage("ls", "-r", "gs://a-tree")) if not line.endswith(":")] == [
        "gs://a-tree/tree/a.txt", "gs://a-tree/tree/sub/b.txt"]
    assert lines(storage("ls", "gs://a-tree/tree/")) == ["gs://a-tree/tree/a.txt", "gs://a-tree/tree/sub/"]
    assert lines(storage("ls", "gs://a-tree/**/b.txt")) == ["gs://a-tree/tree/sub/b.txt"]
    assert "Bucket is not empty" in storage("buckets", "delete", "gs://a-tree", expect=1).stderr
    (files / "down").mkdir()
    storage("cp", "-r", "gs://a-tree/tree", files / "down")
    assert (files / "down/tree/sub/b.txt").read_text() == "2\n"
    storage("rm", "gs://a-tree/tree/a.txt")
    storage("rm", "-r", "gs://a-tree")
    assert "gs://a-tree/" not in lines(storage("ls", expect=None))


def test_directories_are_kept_alike(storage, files):
    storage("rsync", "-r", files / "tree", "gs://synced/dir")
    (files / "tree/a.txt").write_text("changed\n")
    (files / "tree/sub/b.txt").unlink()
    storage("rsync", "-r", "--delete-unmatched-destination-objects", files / "tree", "gs://synced/dir")
    assert lines(storage("ls", "gs://synced/**")) == ["gs://synced/dir/a.txt"]
    assert storage("cat", "gs://synced/dir/a.txt").stdout == "changed\n"
    (files / "down").mkdir()
    storage("rsync", "-r", "gs://synced/dir", files / "down")
    assert (files / "down/a.txt").read_text() == "changed\n"


def test_objects_are_described_changed_and_joined(storage, files):
    for name in ("a.txt", "sub/b.txt"):
        storage("cp", files / "tree" / name, f"gs://objects/{name}")
    described = storage("objects", "describe", "gs://objects/a.txt").stdout
    for line in ("bucket: objects", "content_type: text/plain", "size: 2", "storage_class: STANDARD", "metageneration: 1",
                 "md5_hash: sCYyTGkEsqnLS4jW1hyB0Q==", "crc32c_hash: yW/VHg=="):
        assert line in described, described
    storage("objects", "update", "gs://objects/a.txt", "--cache-control=no-store", "--custom-metadata=a=b")
    assert lines(storage("objects", "describe", "gs://objects/a.txt",
                         "--format=value(cache_control,custom_fields.a,metageneration)")) == ["no-store\tb\t2"]
    storage("objects", "compose", "gs://objects/a.txt", "gs://objects/sub/b.txt", "gs://objects/all")
    assert storage("cat", "gs://objects/all").stdout == "1\n2\n"
    assert lines(storage("du", "-s", "gs://objects")) == ["8            gs://objects"]


def test_what_is_not_there_is_told(storage):
    storage("buckets", "create", "gs://bare")
    assert "matched no objects" in storage("cat", "gs://bare/none", expect=1).stderr
    assert "matched no objects" in storage("rm", "gs://bare/none", expect=1).stderr
    assert "not found: 404" in storage("objects", "describe", "gs://bare/none", expect=1).stderr
