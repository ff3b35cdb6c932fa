# SPDX-License-Identifier: Apache-2.0
"""Paths that lead elsewhere, files that other users can read, and contents of the log."""
import json
import os
import pathlib
import stat
import subprocess
import tempfile
import urllib.parse

import pytest

from support.attack import files_below, job_body, raw, request_bytes, settle, statuses, untouched
from support.daemon import Daemon
from support.gcs import Bucket, Mount, needs_fuse
from support.storage import passing_over
from support.wait import wait_until

NAMES = ["../escaped", "../../../../tmp/escaped", "/etc/passwd", "a/../../escaped", "..", ".", "a/./b", "a//b", "a\\..\\b",
         "%2e%2e/escaped", "gs/../../escaped", "\u202eescaped", "a\u0001b", "escaped\x1b[31m", "~root", "$(id)", "-rf",
         "con\u2024\u2024/escaped", "x" * 1024]


# Fails with: part_write() of file_name.c that writes ".." as it is.
def test_object_names_lead_nowhere_else(yard):
    root = yard.state_dir.parent
    outside = sorted(p for p in files_below(root) if not p.is_relative_to(yard.state_dir))
    made = []
    for name in NAMES:
        quoted = urllib.parse.quote(name, safe="")
        answer = yard.request("POST", f"/upload/storage/v1/b/attacked/o?uploadType=media&name={quoted}", b"data",
                              {"Content-Type": "text/plain"})
        assert answer.status in (200, 400), (name, answer)
        if answer.status == 200:
            made.append(name)
            assert yard.get(f"/storage/v1/b/attacked/o/{quoted}?alt=media").data == b"data"
    assert "../escaped" in made
    tree = yard.state_dir / "gs/attacked"
    wait_until(lambda: sum(p.is_file() for p in files_below(tree)) >= len(made), 10, "every object has its file")
    assert sorted(p for p in files_below(root) if not p.is_relative_to(yard.state_dir)) == outside
    assert not os.path.exists("/tmp/escaped") and not (root / "escaped").exists()
    for path in files_below(tree):
        assert path.resolve().is_relative_to(tree.resolve()) and not path.is_symlink(), path
        assert not any(ord(c) < 0x20 for c in path.name), path
    for name in made:
        assert yard.request("DELETE", f"/storage/v1/b/attacked/o/{urllib.parse.quote(name, safe='')}").status == 204
    settle(yard)


# Fails with: bucket_name_valid() that returns true.
@pytest.mark.parametrize("bucket", ["..", "../x", "a/b", ".", "", "a\x00b", "A_B", "gs/..", "x" * 300])
def test_bucket_names_lead_nowhere_else(yard, bucket):
    with untouched(yard):
        answer = yard.post("/storage/v1/b", dict(name=bucket), project="p")
        assert answer.status == 400, answer
        answer = yard.request("POST", f"/upload/storage/v1/b/{urllib.parse.quote(bucket, safe='')}/o?uploadType=media&name=o", b"x")
        assert answer.status >= 400, answer


# The daemon was started with umask 0. Fails with: serve_main() without its umask().
def test_the_state_is_its_owners_alone(yard):
    modes = {}
    for path in [yard.state_dir, *files_below(yard.state_dir)]:
        with passing_over():
            modes[path] = stat.S_IMODE(path.lstat().st_mode)
    for path, mode in modes.items():
        inside = path.is_relative_to(yard.state_dir / "gs") or path.is_relative_to(yard.state_dir / "blobs")
        assert mode & 0o022 == 0, f"{path}: {mode:o}"
        inside |= path.suffix == ".crt"  # certificates are public
        assert inside or mode & 0o077 == 0, f"{path}: {mode:o}"
    # one file in it is readable for other tools, so the directory must not be
    assert stat.S_IMODE(yard.state_dir.stat().st_mode) == 0o700


# Fails with: gcs_mount.c makes its GCS_ABOVE with 0755, and leaves the mode of one that is there: the object is read, written over
# and removed. Fails with: private_key_load() keeps its key with 0644, and serve_main() has no umask.
@needs_fuse
def test_in_a_state_directory_that_others_may_read_there_is_nothing_to_read(idle_engine, tmp_path):
    with tempfile.TemporaryDirectory(dir="/tmp") as place:  # a directory that every user can enter
        state = pathlib.Path(place) / "state"
        state.mkdir()
        for path in (state.parent, state):
            path.chmod(0o755)
        (state / "mount").mkdir()  # as an earlier release without such care would have left it
        with Daemon(tmp_path, idle_engine, "--offline", state_dir=state) as daemon:
            daemon.post("/token", {})
            Bucket(daemon, "private").put("a.txt", b"mine")
            with Mount(daemon) as mount:
                assert (mount.files / "private/a.txt").read_bytes() == b"mine"
                find = ["find", str(state), "(", "-type", "f", "-readable", "-o", "-writable", ")", "-print"]
                said = subprocess.run(find, user=65534, group=65534, extra_groups=[], capture_output=True, text=True)
                assert all(line.endswith(".crt") for line in said.stdout.splitlines()), said.stdout
                assert "/mount’: Permission denied" in said.stderr or "/mount': Permission denied" in said.stderr, said.stderr
                for words in (["cat"], ["tee"], ["rm", "-f"]):
                    tried = subprocess.run([*words, str(mount.files / "private/a.txt")], user=65534, group=65534,
                                           extra_groups=[], capture_output=True, text=True, stdin=subprocess.DEVNULL)
                    assert tried.returncode == 1 and "Permission denied" in tried.stderr, tried
            assert Bucket(daemon, "private").get("a.txt") == b"mine"


# Its mode does not depend on the umask: see test_path_socket.c. Fails with: fd_bind() with the mode 0666 and serve_main() without
# its umask(); path_socket_close() that removes nothing.
def test_a_socket_is_its_owners_alone_and_goes_with_the_daemon(idle_engine, tmp_path):
    path = tmp_path / "s"
    before = os.umask(0)
    command = [Daemon(tmp_path / "d", idle_engine).binary, "serve", "--listen", f"unix:{path}", "--state-dir",
               str(tmp_path / "state"), "--engine", idle_engine.host]
    with open(tmp_path / "log", "wb") as log:
        daemon = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    os.umask(before)
    try:
        assert daemon.stdout.readline() == f"trainyard: listening on unix:{path}\n"
        assert stat.S_IMODE(path.lstat().st_mode) == 0o600
        ask = ["curl", "-s", "--unix-socket", str(path), "http://localhost/healthz"]
        assert '"status": "degraded"' in subprocess.run(ask, capture_output=True, text=True, check=True).stdout
        other = subprocess.run(command[:5] + [str(tmp_path / "other")] + command[6:], capture_output=True, text=True, timeout=30)
        assert other.returncode == 125 and str(path) in other.stderr, other
        assert path.exists()
    finally:
        daemon.terminate()
        assert daemon.wait(30) == 0
        daemon.stdout.close()
    assert not path.exists()
    assert subprocess.run(["curl", "-s", "--unix-socket", str(path), "http://localhost/"]).returncode != 0


# Such texts are not logged here; other texts are escaped: see test_log.c. Fails with: request_log() that tells the target, with a
# log_event() that makes nothing harmless.
def test_the_log_drives_no_terminal_and_has_no_lines_of_others(yard):
    evil = "\x1b]0;owned\x07\x1b[31m\r\n2026-01-01T00:00:00Z error   forged event\x9b31m"
    before = len(yard.log().splitlines())
    raw(yard, b"GET /\x1b[31m\x07 HTTP/1.1\r\nHost: \x1b[31m\r\nX-\x1b: y\r\n\r\n")
    raw(yard, b"\x1b[31mGET / HTTP/1.1\r\n\r\n")
    raw(yard, b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: \x1b[31m\r\n\r\n")
    yard.post(yard.jobs_path, dict(jobId=evil))
    yard.post("/v2/entries:list", dict(resourceNames=[evil], filter=evil))
    yard.get("/storage/v1/b/" + urllib.parse.quote(evil, safe=""))
    yard.request("POST", "/upload/storage/v1/b/attacked/o?uploadType=media&name=" + urllib.parse.quote(evil, safe=""), b"x")
    lines = yard.log_path.read_bytes().decode(errors="surrogateescape").split("\n")[before:]
    for line in lines:
        assert not any(ord(c) < 0x20 or ord(c) == 0x7f for c in line), line
        assert not line.startswith("2026-01-01"), line


# Fails with: value_valid() of call.c that returns true: no answer comes at all.
@pytest.mark.parametrize("field", ["contentType", "contentDisposition", "cacheControl", "contentLanguage", "contentEncoding"])
def test_what_is_stored_splits_no_answer(yard, field):
    evil = "a\r\nX-Split: yes\r\n\r\n<script>"
    location = yard.post("/upload/storage/v1/b/attacked/o?uploadType=resumable&name=split", {field: evil}).headers["Location"]
    answer = yard.request("PUT", location[location.index("/upload"):], b"data", {"Content-Type": "text/plain"})
    assert answer.status == 200, answer
    answer = yard.request("PATCH", "/storage/v1/b/attacked/o/split", {field: evil})
    assert answer.status == 200 and answer.json[field] == evil, answer  # an accepted value is only in the answer's body, escaped
    for path in ("/storage/v1/b/attacked/o/split?alt=media", "/attacked/split",
                 "/attacked/split?response-content-disposition=a%0d%0aX-Split:%20yes"):
        seen = raw(yard, request_bytes("GET", path, Connection="close"))
        assert statuses(seen) == [200] and b"X-Split" not in seen and seen.endswith(b"\r\n\r\ndata"), seen
    yard.request("DELETE", "/storage/v1/b/attacked/o/split")
    settle(yard)


# Fails with: headers_add() of response.c without nosniff.
def test_a_name_is_text_in_what_is_shown_to_browsers(yard):
    answer = raw(yard, request_bytes("GET", "/v1/<script>alert(1)</script>", Connection="close"))
    assert b"text/html" not in answer and b"nosniff" in answer, answer
    answer = yard.request("PUT", "/attacked/page.html", b"<script>alert(1)</script>", {"Content-Type": "text/html"})
    assert answer.status == 200 and answer.headers["X-Content-Type-Options"] == "nosniff"
    yard.request("DELETE", "/attacked/page.html")
    settle(yard)


# Fails with: reader_refuse_name() that refuses nothing; check_label() that takes any key.
@pytest.mark.parametrize("key", ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"])
def test_keys_with_a_meaning_elsewhere_have_none_here(yard, key):
    good, evil = json.loads(job_body("proto")), {key: {"polluted": True}}
    bodies = [{**good, **evil}, {**good, "trainingInput": {**good["trainingInput"], **evil}}]
    if key not in ("constructor", "prototype"):  # these keys are not allowed as labels in this form
        bodies.append({**good, "labels": {key: "x"}})
    with untouched(yard):
        for body in bodies:
            answer = yard.post(yard.jobs_path, body)
            assert answer.status == 400 and key in answer.data.decode(), answer
    assert yard.request("PUT", "/attacked/proto", b"data").status == 200
    answer = yard.request("PATCH", "/storage/v1/b/attacked/o/proto", {"metadata": {key: "x"}, **evil})
    assert answer.status == 200 and answer.json["metadata"] == {key: "x"} and key not in answer.json, answer
    yard.request("DELETE", "/attacked/proto")
    settle(yard)


# Fails with: session_id_make() that counts; a session that is looked for by GLOB, or by the beginning of its id.
def test_an_uploads_id_is_not_guessed(yard):
    """Neither from another one nor by a part of it; and its own is good for its own object alone."""
    where = "/upload/storage/v1/b/attacked/o?uploadType=resumable&name="
    ids = []
    for name in ("mine", "his"):
        location = yard.post(where + name, {}).headers["Location"]
        ids.append(urllib.parse.parse_qs(urllib.parse.urlsplit(location).query)["upload_id"][0])
    mine, his = ids
    assert len(his) >= 32 and os.path.commonprefix(ids) in ("", his[:len(os.path.commonprefix(ids))]) and mine != his
    assert len(os.path.commonprefix(ids)) < 8
    last = "0" if his[-1] != "0" else "1"
    guesses = [his[:-1] + last, his[:-1], his[:8], his + "0", his.upper() if his.upper() != his else "x", "", "*", "%",
               "_" * len(his), "' OR '1'='1", "0" * len(his), "../" + his, his[::-1]]
    with untouched(yard):
        for guess in guesses:
            quoted = urllib.parse.quote(guess, safe="")
            for method, body, span in (("PUT", b"evil", "bytes 0-3/4"), ("PUT", b"", "bytes */*"), ("DELETE", None, "")):
                answer = yard.request(method, f"{where}his&upload_id={quoted}", body, {"Content-Range": span} if span else {})
                assert answer.status in (400, 404, 405, 410), (guess, method, answer)
    assert yard.get("/storage/v1/b/attacked/o/his").status == 404
    answer = yard.request("PUT", f"{where}his&upload_id={mine}", b"mine", {"Content-Range": "bytes 0-3/4"})
    assert answer.status == 200 and answer.json["name"] == "mine", answer
    assert yard.get("/storage/v1/b/attacked/o/his").status == 404
    yard.request("DELETE", f"{where}his&upload_id={his}")
    yard.request("DELETE", "/attacked/mine")
    settle(yard)
