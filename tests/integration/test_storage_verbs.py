# SPDX-License-Identifier: Apache-2.0
"""`trainyard cp`, `ls`, `cat` and `rm` for objects of Cloud Storage."""
import base64
import gzip
import http.server
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time
import types

import pytest

from support.daemon import Daemon, program
from support.engine import NO_ENGINE
from support.marks import long
from support.storage import MIB, Storage, md5_of, pattern
from support.verbs import environment, on_terminal, started, verb
from support.wait import wait_until


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    with Daemon(tmp_path_factory.mktemp("verbs"), NO_ENGINE) as found:
        yield found


@pytest.fixture
def bucket(shelf):
    return Storage(shelf, shelf.new_id("verbs").replace("_", "-"))


def tree_of(top):
    return {str(path.relative_to(top)): path.read_bytes() for path in sorted(pathlib.Path(top).rglob("*")) if path.is_file()}


def piped(daemon, *words, data=b"", code=0):
    done = subprocess.run([program(), *words], input=data, capture_output=True, timeout=60, env=environment(daemon))
    assert done.returncode == code, done.stderr
    return done.stdout if not code else done.stderr.decode()


def test_storage_that_is_elsewhere_is_asked_there(shelf, bucket, tmp_path):
    """The daemon uses another emulator of Cloud Storage, and so do its jobs. Fails with: cp_main() with ask_open(): 404."""
    (tmp_path / "from").write_bytes(b"elsewhere")
    url = f"gs://{bucket.bucket}/dir/bytes"
    with Daemon(tmp_path / "other", NO_ENGINE, "--storage-endpoint", shelf.base) as other:
        verb(other, "cp", str(tmp_path / "from"), url)
        assert bucket.read("dir/bytes").data == b"elsewhere"
        assert verb(other, "ls", f"gs://{bucket.bucket}/dir/") == url + "\n" and verb(other, "cat", url) == "elsewhere"
        verb(other, "rm", url)
        assert bucket.names() == []
        package = tmp_path / "trainer"
        package.mkdir()
        (package / "task.py").write_text("print(1)")
        staged = f"gs://{bucket.bucket}/staged"
        piped(other, "run", "--package", str(package), "--module", "trainer.task", "--gs", staged, "--name", "packed", "--detach",
              "an-image:1")
        assert [name for name in bucket.names() if name.endswith("package.tar.gz")]


@pytest.mark.parametrize("size", [0, long(5), long(8 * MIB - 1), 8 * MIB, long(16 * MIB + 7)])
def test_bytes_go_both_ways(shelf, bucket, tmp_path, size):
    """Fails with: large_send() that ends with the last whole piece: 8 MiB never became an object."""
    data, url = pattern(size, size), f"gs://{bucket.bucket}/dir/bytes"
    (tmp_path / "from").write_bytes(data)
    assert verb(shelf, "cp", str(tmp_path / "from"), url) == ""
    assert bucket.read("dir/bytes").data == data and bucket.get("dir/bytes").json["md5Hash"] == md5_of(data)
    verb(shelf, "cp", url, str(tmp_path / "to"))
    assert (tmp_path / "to").read_bytes() == data
    assert piped(shelf, "cp", url, "-") == data == piped(shelf, "cat", url)
    piped(shelf, "cp", "-", url + "2", data=data)
    verb(shelf, "cp", url + "2", url + "3")
    assert bucket.read("dir/bytes3").data == data
    assert sorted(os.listdir(tmp_path)) == ["from", "to"]


def test_trees_go_both_ways(shelf, bucket, tmp_path):
    """If the target directory exists, the tree is copied into it under its name; otherwise it gets the target's name."""
    top, gs = tmp_path / "data", f"gs://{bucket.bucket}"
    for name in ("a.txt", "b.json", "deep/c.txt", "deep/er/d.json"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(name)
    os.symlink(top, top / "deep" / "loop")
    said = verb(shelf, "cp", "-r", str(top), f"{gs}/new", code=1)
    assert "link to a directory" in said
    os.unlink(top / "deep" / "loop")
    verb(shelf, "cp", "-r", str(top), gs)
    verb(shelf, "cp", "-r", str(top), f"{gs}/new")
    verb(shelf, "cp", "-r", str(top) + "/.", f"{gs}/dot")
    names = verb(shelf, "ls", "-r", gs).splitlines()
    expected = sorted(tree_of(top))
    for below in ("data", "new", "new/data", "dot"):
        assert {f"{gs}/{below}/{name}" for name in expected} <= set(names)
    assert len(names) == 4 * len(expected)
    verb(shelf, "rm", "-r", f"{gs}/new/data")
    for found in (tree_of(top), {**tree_of(top), **{f"new/{name}": data for name, data in tree_of(top).items()}}):
        verb(shelf, "cp", "-r", f"{gs}/new", str(tmp_path / "one"))
        assert tree_of(tmp_path / "one") == found
    verb(shelf, "cp", "-r", f"{gs}/dot", f"{gs}/copy/")
    assert verb(shelf, "ls", "-r", f"{gs}/copy").splitlines() == [f"{gs}/copy/dot/{name}" for name in expected]
    verb(shelf, "cp", "-r", gs, str(tmp_path / "whole"))
    assert len(tree_of(tmp_path / "whole")) == 4 * len(expected)
    verb(shelf, "cp", str(top / "a.txt"), f"{gs}/copy")
    assert f"{gs}/copy/a.txt" in verb(shelf, "ls", f"{gs}/copy").split()
    bucket.put("copy", b"an object of the same name")
    verb(shelf, "cp", str(top / "b.json"), f"{gs}/copy")
    assert bucket.read("copy").data == b"b.json"
    bucket.delete("copy")
    assert "is a directory: `cp -r`" in verb(shelf, "cp", f"{gs}/dot", str(tmp_path / "x"), code=1)
    assert "cannot all be" in verb(shelf, "cp", f"{gs}/dot/*", str(tmp_path / "x"), code=2)


def test_a_file_that_cannot_be_copied_is_named(shelf, bucket, tmp_path):
    """Fails with: item_fail() that is content with its letters in the message: "it is a directory" was all for d, as nothing for ""."""
    (tmp_path / "d").mkdir()
    (tmp_path / "a").write_bytes(b"bytes")

    def said(*words):
        done = subprocess.run([program(), "cp", *words], capture_output=True, text=True, timeout=60, cwd=tmp_path, env=environment(shelf))
        assert done.returncode == 1, done
        return done.stderr
    assert said("d", f"gs://{bucket.bucket}/x") == "trainyard: d: it is a directory: -r copies its contents\n"
    assert said("", f"gs://{bucket.bucket}/x") == 'trainyard: "": No such file or directory\n'
    assert said("a", "gs://A/x") == "trainyard: a: Invalid bucket name: 'A'\n"
    assert said(f"gs://{bucket.bucket}/nosuch", "x") == f"trainyard: there is no object gs://{bucket.bucket}/nosuch\n"


def test_wildcards_are_of_names(shelf, bucket, tmp_path):
    gs = f"gs://{bucket.bucket}"
    for name in ("a.txt", "b.txt", "d/c.txt", "d/e/f.txt", "odd[1].txt"):
        bucket.put(name, name.encode())
    assert verb(shelf, "ls", f"{gs}/*.txt").split() == [f"{gs}/{n}" for n in ("a.txt", "b.txt", "odd[1].txt")]
    assert verb(shelf, "ls", f"{gs}/**.txt").split() == [
        f"{gs}/{n}" for n in ("a.txt", "b.txt", "d/c.txt", "d/e/f.txt", "odd[1].txt")]
    assert verb(shelf, "ls", f"{gs}/d*").split() == [f"{gs}/d/"] and verb(shelf, "ls", f"{gs}/?/*").split() == [
        f"{gs}/d/c.txt", f"{gs}/d/e/"]
    assert verb(shelf, "cat", f"{gs}/odd[1].txt", f"{gs}/[ab].txt") == "odd[1].txta.txtb.txt"
    verb(shelf, "cp", f"{gs}/**.txt", str(tmp_path))
    assert sorted(tree_of(tmp_path)) == ["a.txt", "b.txt", "c.txt", "f.txt", "odd[1].txt"]
    verb(shelf, "cp", "-r", f"{gs}/d/*", str(tmp_path / "sub") + "/")
    assert sorted(tree_of(tmp_path / "sub")) == ["c.txt", "e/f.txt"]
    assert "there is no object" in verb(shelf, "cat", f"{gs}/*.json", code=1)


def test_ls_says_what_there_is(shelf, bucket):
    gs = f"gs://{bucket.bucket}"
    bucket.put("a/one", b"x" * 1536)
    bucket.put("two", b"x")
    assert gs + "/" in verb(shelf, "ls", "--project", shelf.project).split()
    assert verb(shelf, "ls", gs).split() == [f"{gs}/a/", f"{gs}/two"] and verb(shelf, "ls", f"{gs}/a").split() == [f"{gs}/a/one"]
    rows = verb(shelf, "ls", "-lr", gs).splitlines()
    assert re.fullmatch(r" +1\.5 KiB  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d  " + f"{gs}/a/one", rows[0])
    assert rows[1].split()[:2] == ["1", "B"] and rows[2].strip() == "1.5 KiB  2 objects"
    told = json.loads(verb(shelf, "ls", "-o", "json", gs))
    assert [i["name"] for i in told["items"]] == ["two"] and told["prefixes"] == ["a/"]
    assert "there is nothing at" in verb(shelf, "ls", f"{gs}/none", code=1)
    # Fails with: word_fail() without the word: which of the two does not exist was not told.
    assert "gs://no-such-bucket-here: The specified bucket does not exist." in verb(shelf, "ls", gs, "gs://no-such-bucket-here", code=1) + \
        verb(shelf, "ls", "gs://no-such-bucket-here", code=1)
    assert on_terminal(shelf, "ls", "--project", "empty-project") == ("Project empty-project has no buckets.\n", 0)
    assert verb(shelf, "ls", "--project", "empty-project") == ""
    said = verb(shelf, "cat", f"{gs}/a", code=1)
    assert said.count(f"{gs}/a") == 1 and "is a directory" in said
    assert "is not gs://" in verb(shelf, "ls", "/tmp", code=2)
    assert "no daemon answers" in verb(shelf, "ls", gs, "--endpoint", "http://127.0.0.1:1", code=3)


def test_rm_takes_no_more_than_was_named(shelf, bucket):
    """Fails with: cloud_select() that takes the bucket as a prefix without -r: it was empty."""
    gs = f"gs://{bucket.bucket}"
    for name in ("a", "ab", "a/b", "a/c/d", "other"):
        bucket.put(name, b"x")
    for word, said in [(gs, "whole bucket"), (gs + "/", "whole bucket"), (gs + "/**", "matches a whole bucket"), (gs + "/a/c", "is a directory")]:
        assert said in verb(shelf, "rm", word, code=1)
    assert len(verb(shelf, "ls", "-r", gs).split()) == 5
    verb(shelf, "rm", f"{gs}/a")
    assert verb(shelf, "ls", "-r", gs).split() == [f"{gs}/{n}" for n in ("a/b", "a/c/d", "ab", "other")]
    verb(shelf, "rm", "-r", f"{gs}/a")
    assert verb(shelf, "ls", "-r", gs).split() == [f"{gs}/ab", f"{gs}/other"]
    assert "there is no object" in verb(shelf, "rm", f"{gs}/none", f"{gs}/ab", code=1)
    assert verb(shelf, "ls", gs).split() == [f"{gs}/other"]
    verb(shelf, "rm", "-r", gs)
    assert "does not exist" in verb(shelf, "ls", gs, code=1)


def test_names_leave_no_directory_and_drive_no_terminal(shelf, bucket, tmp_path):
    """Fails with: name_is_safe() that takes "..": a file appeared beside the target."""
    gs, target = f"gs://{bucket.bucket}", tmp_path / "in" / "target"
    for name in ("x/../../escaped", "x//twice", "x/ok", "x/\x1b]0;owned\x07 \u009b31m"):
        bucket.put(name, b"bytes")
    said = verb(shelf, "cp", "-r", f"{gs}/x", str(target), code=1)
    assert said.count("a file cannot have this name") == 2 and "\x1b" not in said
    assert sorted(tree_of(tmp_path)) == ["in/target/\x1b]0;owned\x07 \u009b31m", "in/target/ok"]
    drawn, _ = on_terminal(shelf, "ls", "-r", gs)
    assert "\x1b]" not in drawn and "\x07" not in drawn and "\u009b" not in drawn and "0;owned" in drawn
    (tmp_path / os.fsdecode(b"\xff\xfe")).write_bytes(b"x")
    assert "not UTF-8" in verb(shelf, "cp", "-r", str(tmp_path), gs, code=1)
    assert "neither source nor target" in verb(shelf, "cp", "a", "b", code=2)
    assert "needs a name" in piped(shelf, "cp", "-", f"{gs}/dir/", code=1)


def test_a_file_keeps_what_it_was_until_the_other_is_whole(shelf, bucket, tmp_path):
    kept, gs = tmp_path / "kept", f"gs://{bucket.bucket}"
    kept.write_text("before")
    kept.chmod(0o640)
    os.symlink("kept", tmp_path / "link")
    assert "there is no object" in verb(shelf, "cp", f"{gs}/none", str(kept), code=1) and kept.read_text() == "before"
    bucket.put("some", b"after")
    verb(shelf, "cp", f"{gs}/some", str(tmp_path / "link"))
    assert kept.read_text() == "after" and kept.stat().st_mode & 0o777 == 0o640 and (tmp_path / "link").is_symlink()
    verb(shelf, "cp", f"{gs}/some", "/dev/null")


def test_gzip_is_unpacked(shelf, bucket, tmp_path):
    packed = gzip.compress(b"first ") + gzip.compress(b"second")
    bucket.put("packed", packed, contentEncoding="gzip")
    assert verb(shelf, "cat", f"gs://{bucket.bucket}/packed") == "first second"
    bucket.put("broken", packed[:-4], contentEncoding="gzip")
    assert "not gzip" in verb(shelf, "cp", f"gs://{bucket.bucket}/broken", str(tmp_path / "x"), code=1)
    assert os.listdir(tmp_path) == []


@pytest.fixture
def liar():
    """A server whose checksums are those of other bytes."""
    told = {"name": "o", "bucket": "b", "generation": "7", "size": "5", "md5Hash": md5_of(b"other"), "contentType": "x/y"}
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            seen.append(f"{self.command} {self.path}")
            data = b"bytes" if "alt=media" in self.path else json.dumps(told).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_DELETE = answer

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield types.SimpleNamespace(base=f"http://127.0.0.1:{server.server_port}", seen=seen)
    server.shutdown()
    server.server_close()


def test_what_has_another_checksum_is_not_kept(liar, tmp_path):
    """Fails with: sums_are() that compares the CRC32C alone: the file was kept."""
    assert "the checksum of gs://bkt/o" in verb(liar, "cp", "gs://bkt/o", str(tmp_path / "to"), code=1)
    assert os.listdir(tmp_path) == []
    assert "the checksum of" in piped(liar, "cp", "gs://bkt/o", "-", code=1)
    (tmp_path / "from").write_bytes(b"bytes")
    assert "it is removed" in verb(liar, "cp", str(tmp_path / "from"), "gs://bkt/o", code=1)
    assert liar.seen[-1] == "DELETE /storage/v1/b/bkt/o/o?ifGenerationMatch=7"


def test_an_upload_goes_on_after_the_daemon_was_restarted(tmp_path):
    """Fails with: piece_send() without session_resume(): the command failed with the connection."""
    data = pattern(1, 20 * MIB)
    with Daemon(tmp_path, NO_ENGINE) as daemon:
        daemon.listen = f"127.0.0.1:{daemon.port}"
        process = subprocess.Popen([program(), "cp", "-", "gs://bkt/large"], stdin=subprocess.PIPE, env=environment(daemon))
        process.stdin.write(data[:10 * MIB])
        process.stdin.flush()
        daemon.kill9()
        process.stdin.write(data[10 * MIB:16 * MIB])  # completes the second piece
        process.stdin.flush()
        time.sleep(0.5)  # the command may also wait with sending until more bytes arrive
        daemon.start()
        process.stdin.write(data[16 * MIB:])
        process.stdin.close()
        assert process.wait(60) == 0
        assert Storage(daemon, "bkt").get("large").json["md5Hash"] == md5_of(data)


def arrived_bytes(port):
    """How many bytes wait to be read by the server of that port."""
    lines = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(int(line[4].split(":")[1], 16) for line in lines if line[1].endswith(f":{port:04X}") and line[3] == "01")


def test_an_upload_that_breaks_is_told(tmp_path):
    """Fails with: exchange_end() that asks for no more than a status: "no daemon answers", and the advice to start one."""
    (tmp_path / "from").write_bytes(pattern(1, 7 * MIB))
    with Daemon(tmp_path, NO_ENGINE) as daemon:
        daemon.listen = f"127.0.0.1:{daemon.port}"
        os.kill(daemon.pid, signal.SIGSTOP)  # a part of the body waits in the socket
        with started(daemon, "cp", str(tmp_path / "from"), "gs://bkt/broken") as process:
            wait_until(lambda: arrived_bytes(daemon.port), 30, "a part of the body")
            daemon.kill9()
            assert process.wait(30) == 3
            said = process.stderr.read()
        assert f"the connection to {daemon.base} broke: " in said and "start one" not in said, said
        daemon.start()
        assert Storage(daemon, "bkt").get("broken").status == 404 and not list(daemon.state_dir.glob("uploads/*"))


def test_progress_is_drawn_on_a_terminal(shelf, bucket, tmp_path):
    for number in range(3):
        (tmp_path / f"{number}").write_bytes(pattern(number, 12 * MIB))
    drawn, code = on_terminal(shelf, "cp", "-r", str(tmp_path), f"gs://{bucket.bucket}/many")
    assert code == 0 and re.search(r"3 files, 36\.0 MiB in \d+s", drawn), drawn
    assert re.search(r"\r\033\[K\d of 3 files, [\d.]+ MiB of 36\.0 MiB \(\d+%\), [\d.]+ [KMG]iB/s", drawn), drawn
    assert verb(shelf, "cp", "-r", str(tmp_path), f"gs://{bucket.bucket}/quiet") == ""


def test_ctrl_c_leaves_no_part_of_a_file(shelf, bucket, tmp_path):
    """Fails with: cloud_file_guard() left out: .trainyard-PID stayed beside it."""
    stopped = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            if "alt=media" in self.path:
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.wfile.write(b"x" * 10)
                self.wfile.flush()
                stopped.wait(60)
            else:
                told = json.dumps({"name": "o", "generation": "1", "size": "1000",
                                   "crc32c": base64.b64encode(bytes(4)).decode()}).encode()
                self.send_header("Content-Length", str(len(told)))
                self.end_headers()
                self.wfile.write(told)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    slow = types.SimpleNamespace(base=f"http://127.0.0.1:{server.server_port}")
    with started(slow, "cp", "gs://bkt/o", str(tmp_path / "to")) as process:
        wait_until(lambda: os.listdir(tmp_path), 30, "the file that is being written")
        process.terminate()
        assert process.wait(30) == 143 and os.listdir(tmp_path) == []
    stopped.set()
    server.shutdown()
    server.server_close()
