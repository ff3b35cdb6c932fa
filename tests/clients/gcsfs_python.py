# SPDX-License-Identifier: Apache-2.0
"""gcsfs, through which pandas, dask and others read gs:// addresses, pointed at trainyard by `trainyard env`. Prints one
line of JSON a test; see test_storage_clients.py."""
import os
import tempfile

import fsspec
import gcsfs

from one_by_one import run_tests

fs = gcsfs.GCSFileSystem(project=os.environ["GOOGLE_CLOUD_PROJECT"])
BUCKET = f"gcsfs-{os.getpid()}"
fs.mkdir(BUCKET)
MIB = 1 << 20


def refused(kind, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except kind as error:
        return error
    raise AssertionError(f"was not refused with {kind.__name__}")


def names(paths):
    return sorted(path.removeprefix(BUCKET + "/") for path in paths)


def opens_files_to_write_and_to_read():
    with fsspec.open(f"gs://{BUCKET}/a.txt", "w") as file:
        file.write("one\ntwo\n")
    with fsspec.open(f"gs://{BUCKET}/a.txt", "r") as file:
        assert file.readlines() == ["one\n", "two\n"]
    data = os.urandom(3 * MIB) * 4
    with fs.open(f"{BUCKET}/large", "wb", block_size=5 * MIB) as file:
        for start in range(0, len(data), MIB):
            file.write(data[start:start + MIB])
    with fs.open(f"{BUCKET}/large", "rb", block_size=MIB) as file:
        assert file.size == len(data)
        file.seek(7 * MIB + 1)
        assert file.read(1000) == data[7 * MIB + 1:7 * MIB + 1001]
        file.seek(0)
        assert file.read() == data
    refused(FileNotFoundError, fs.open, f"{BUCKET}/none", "rb")


def leaves_nothing_when_a_write_is_given_up():
    file = fs.open(f"{BUCKET}/given-up", "wb", block_size=MIB, autocommit=False)
    file.write(bytes(2 * MIB))
    file.discard()
    assert not fs.exists(f"{BUCKET}/given-up")


def lists_and_finds():
    for name in ("l/a.csv", "l/b/1.csv", "l/b/2.csv", "l/z.txt"):
        fs.pipe(f"{BUCKET}/{name}", name.encode())
    assert names(fs.ls(f"{BUCKET}/l")) == ["l/a.csv", "l/b", "l/z.txt"]
    details = {entry["name"]: entry for entry in fs.ls(f"gs://{BUCKET}/l", detail=True)}
    assert details[f"{BUCKET}/l/b"]["type"] == "directory" and details[f"{BUCKET}/l/a.csv"]["size"] == 7
    assert names(fs.glob(f"{BUCKET}/l/*.csv")) == ["l/a.csv"]
    assert names(fs.glob(f"{BUCKET}/l/**/*.csv")) == ["l/a.csv", "l/b/1.csv", "l/b/2.csv"]
    assert names(fs.find(f"{BUCKET}/l")) == ["l/a.csv", "l/b/1.csv", "l/b/2.csv", "l/z.txt"]
    assert fs.isdir(f"{BUCKET}/l/b") and fs.isfile(f"{BUCKET}/l/z.txt") and not fs.exists(f"{BUCKET}/l/none")
    assert fs.du(f"{BUCKET}/l") == 7 + 9 + 9 + 7
    assert BUCKET in [name.rstrip("/") for name in fs.ls("")]
    refused(FileNotFoundError, fs.ls, f"{BUCKET}/none")


def copies_moves_and_removes():
    fs.pipe({f"{BUCKET}/m/{i}": str(i).encode() for i in range(5)})
    fs.copy(f"{BUCKET}/m/1", f"{BUCKET}/m/copy")
    fs.mv(f"{BUCKET}/m/2", f"{BUCKET}/m/moved")
    assert fs.cat(f"{BUCKET}/m/copy") == b"1" and not fs.exists(f"{BUCKET}/m/2")
    assert fs.cat_file(f"{BUCKET}/m/moved", start=0, end=1) == b"2"
    fs.rm(f"{BUCKET}/m/moved")
    fs.rm(f"{BUCKET}/m", recursive=True)
    assert not fs.exists(f"{BUCKET}/m")
    refused(FileNotFoundError, fs.rm, f"{BUCKET}/none")


def uploads_and_downloads_directories():
    with tempfile.TemporaryDirectory() as directory:
        os.makedirs(directory + "/up/sub")
        for name in ("a", "sub/b"):
            with open(f"{directory}/up/{name}", "w") as file:
                file.write("contents of " + name)
        fs.put(directory + "/up", f"{BUCKET}/up", recursive=True)
        assert names(fs.find(f"{BUCKET}/up")) == ["up/a", "up/sub/b"]
        fs.get(f"{BUCKET}/up", directory + "/down", recursive=True)
        assert open(directory + "/down/sub/b").read() == "contents of sub/b"


def checks_what_it_reads():
    checked = gcsfs.GCSFileSystem(project=os.environ["GOOGLE_CLOUD_PROJECT"], consistency="md5")
    checked.pipe(f"{BUCKET}/checked", b"x" * 1000)
    assert checked.cat(f"{BUCKET}/checked") == b"x" * 1000
    info = checked.info(f"{BUCKET}/checked")
    assert info["size"] == 1000 and info["md5Hash"] and info["crc32c"]


def keeps_metadata():
    fs.pipe(f"{BUCKET}/described", b"x")
    fs.invalidate_cache()
    fs.setxattrs(f"{BUCKET}/described", content_type="x/y", epoch="7")
    assert fs.getxattr(f"{BUCKET}/described", "epoch") == "7"
    fs.invalidate_cache()
    assert fs.info(f"{BUCKET}/described")["contentType"] == "x/y"
    fs.touch(f"{BUCKET}/empty")
    assert fs.size(f"{BUCKET}/empty") == 0


TESTS = [opens_files_to_write_and_to_read, leaves_nothing_when_a_write_is_given_up, lists_and_finds,
         copies_moves_and_removes, uploads_and_downloads_directories, checks_what_it_reads, keeps_metadata]

run_tests(TESTS)
