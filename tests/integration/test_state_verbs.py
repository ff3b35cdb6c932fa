# SPDX-License-Identifier: Apache-2.0
"""`trainyard export` and `import`: copies a whole state to a folder and back, while the daemon runs."""
import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tarfile
import threading
import types

import pytest

from support.daemon import UNTIL_RELEASED, Daemon, program, script
from support.engine import NO_ENGINE
from support.storage import Storage, pattern, tree_contents
from support.tuning import tuning_input
from support.verbs import on_terminal, verb
from support.wait import wait_until

API = "/_trainyard/v1"


def crc32c(data):
    """A CRC-32C by table, slow in Python."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def _row(value):
    for _ in range(8):
        value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value


TABLE = [_row(value) for value in range(256)]


def changed(folder, copy):
    """Copies an exported folder, for the test to change."""
    shutil.copytree(folder, copy, copy_function=shutil.copyfile)
    return copy


def manifest_renew(folder, **members):
    """Writes a new manifest for the changed files, so that the checksums agree."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    for file in manifest["files"]:
        data = (folder / file["name"]).read_bytes()
        file.update(bytes=len(data), crc32c=crc32c(data))
    blobs = [blob for blob in folder.glob("blobs/*/*") if blob.is_file()]
    manifest.update(blobCount=len(blobs), blobBytes=sum(blob.stat().st_size for blob in blobs), **members)
    path.write_text(json.dumps(manifest))


def run_of(daemon):
    return daemon.get(f"{API}/status").json["run"]


def all_jobs(daemon):
    return daemon.get(f"{API}/jobs", pageSize=1000).json.get("jobs", [])


def faults_of(daemon):
    return daemon.get(f"{API}/faults").json.get("faults", [])


def objects_of(daemon, bucket):
    items = daemon.get(f"/storage/v1/b/{bucket}/o").json.get("items", [])
    return [{key: item.get(key) for key in ("name", "generation", "metageneration", "contentType", "size", "md5Hash", "crc32c",
                                            "timeCreated", "updated")} for item in items]


def test_an_empty_directory_is_replaced_by_an_export_that_succeeds(target, tmp_path):
    """Fails with: export_main() that removes it first: it was gone where no daemon answered."""
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "no daemon answers" in verb(target, "export", str(empty), "--endpoint", "http://127.0.0.1:1", code=3)
    assert list(tmp_path.iterdir()) == [empty]
    verb(target, "export", str(empty))
    assert (empty / "manifest.json").exists()
    assert "is there already" in verb(target, "export", str(empty), code=1)
    assert "is there already" in verb(target, "export", str(empty / "manifest.json"), code=1)


def test_a_state_goes_to_a_folder_and_to_another_daemon(new_daemon, tmp_path):
    """Jobs with logs, a search with its trials, faults and objects are there as they were; a job that ran begins again. The
    first daemon goes on as if nothing had been.
    Fails with: copy_strip() that leaves the instance: the second daemon took over the first one's containers, and ended its job.
    storage_ready without the rows of post_commit: no file below gs/. file_begin() that takes links."""
    first = new_daemon("--offline", "--stop-grace", "1").start()
    done = first.create(script("echo one; echo two"))
    failed = first.create(script("echo bad; exit 3"))
    search = first.create(tuning_input())
    first.post(f"{API}/faults", {"fault": "preempt", "job": "never_*"})
    storage = Storage(first, bucket="kept-bucket")
    storage.put("a/one", pattern(1, 3000), {"Content-Type": "text/x-own"})
    storage.put("a/two", b"")
    storage.put("gone", b"bytes that go")
    storage.delete("gone")
    first.post("/storage/v1/b/kept-bucket/o/a%2Fone/copyTo/b/kept-bucket/o/copy", {})
    storage.begin_session("under-way")
    for job in (done, search):
        first.until(job, "SUCCEEDED")
    first.until(failed, "FAILED")
    runs = first.create(script(f"{UNTIL_RELEASED}; echo over"))
    first.until(runs, "RUNNING")
    kept, objects, faults = {job: first.job(job) for job in (done, failed, search)}, objects_of(first, "kept-bucket"), faults_of(first)

    out = tmp_path / "out"
    assert re.fullmatch(rf"[\d.]+ \wi?B of state are in {out}\n", verb(first, "export", str(out)))
    assert sorted(path.name for path in out.iterdir()) == ["blobs", "logs.db", "manifest.json", "state.db", "storage.db"]
    assert all(path.stat().st_mode & 0o77 == 0 for path in (out, *out.iterdir()))
    assert len(list(out.glob("blobs/*/*"))) == 2
    assert "already" in verb(first, "export", str(out), code=1)
    assert not list(first.state_dir.glob("export*"))

    first.release(runs)
    first.until(runs, "SUCCEEDED")
    second = new_daemon("--offline", "--stop-grace", "1", project=first.project).start()
    port, run = second.port, run_of(second)
    said = verb(second, "import", str(out))
    assert said == "imported: 4 jobs, 3 objects\n1 of the jobs had not ended and begins again\n"
    assert second.port == port and run_of(second) != run
    assert {job: second.job(job) for job in kept} == kept
    assert second.lines(done) == first.lines(done) == ["one", "two"]
    assert objects_of(second, "kept-bucket") == objects and len(objects) == 3
    assert Storage(second, bucket="kept-bucket").read("copy").data == pattern(1, 3000)
    wait_until(lambda: tree_contents(second.state_dir / "gs") == tree_contents(first.state_dir / "gs"), 20, "the tree of files")
    assert faults_of(second) == faults
    assert second.read_instance() != first.read_instance()
    second.release(runs)  # the first daemon's container is gone
    for daemon in (first, second):
        daemon.until(runs, "SUCCEEDED")
        assert daemon.lines(runs) == ["over"]
    assert "tried again (attempt 2)" in verb(second, "logs", runs) + json.dumps(second.entries(runs))
    assert "attempt 2" not in json.dumps(first.entries(runs))
    again = second.create(script("echo new"))
    second.until(again, "SUCCEEDED")
    second.restart()
    assert second.job(again)["state"] == "SUCCEEDED" and {job: second.job(job) for job in kept} == kept
    assert not [path for path in second.state_dir.iterdir() if path.name.startswith(("import", "export"))]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A folder exported by a daemon without an engine: one queued job, one object."""
    top = tmp_path_factory.mktemp("small")
    with Daemon(top / "daemon", NO_ENGINE) as daemon:
        daemon.create(script("true"), job_id="waits")
        Storage(daemon, bucket="small").put("one", b"some bytes of one")
        verb(daemon, "export", str(top / "out"))
    return top / "out"


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    """A daemon that must refuse each import of the tests below, and whose state must not change."""
    with Daemon(tmp_path_factory.mktemp("target"), NO_ENGINE) as daemon:
        Storage(daemon, bucket="own").put("mine", b"mine")
        yield daemon


def stays_as_it_is(daemon, run):
    assert run_of(daemon) == run and all_jobs(daemon) == []
    assert Storage(daemon, bucket="own").read("mine").data == b"mine"
    assert not [path.name for path in daemon.state_dir.iterdir() if path.name.startswith(("import", "export"))]


def byte_flip(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(data)


def sql(folder, name, statement):
    with contextlib.closing(sqlite3.connect(folder / name)) as database:
        database.executescript(statement)


def blob_of(folder):
    return next(folder.glob("blobs/*/*"))


def blob_double(folder):
    blob = blob_of(folder)
    shutil.copy(blob, blob.with_name(blob.name[:-3] + ("0" if blob.name[-3] != "0" else "1") + blob.name[-2:]))


def link_make(folder):
    shutil.move(folder / "logs.db", folder.parent / "elsewhere.db")
    os.symlink(folder.parent / "elsewhere.db", folder / "logs.db")


# Rows: the change to the folder, whether the manifest is written anew, and the error message.
DAMAGES = {
    "a byte": (lambda f: byte_flip(f / "state.db", -100), False, "state.db is damaged: its checksum"),
    "a page": (lambda f: byte_flip(f / "state.db", 4096 * 2 + 1), True, "state.db is damaged"),
    "no database": (lambda f: (f / "logs.db").write_bytes(b"x" * 4096), True, "logs.db is damaged"),
    "missing": (lambda f: (f / "logs.db").unlink(), False, "logs.db is missing"),
    "shorter": (lambda f: os.truncate(f / "storage.db", 4096), False, "another size than the manifest"),
    "blob damaged": (lambda f: byte_flip(blob_of(f), 0), True, "content of an object is damaged"),
    "blob missing": (lambda f: blob_of(f).unlink(), True, "content of an object is missing"),
    "blob too many": (blob_double, True, "belongs to no object"),
    "blob untold": (lambda f: blob_of(f).unlink(), False, "The content of objects is missing"),
    "format": (lambda f: manifest_renew(f, format=9), False, "of another release"),
    "no manifest": (lambda f: (f / "manifest.json").write_text("[1]"), False, "of another release, or none"),
    "schema of later": (lambda f: sql(f, "state.db", "PRAGMA user_version = 99"), True, "schema 99"),
    "trigger": (lambda f: sql(f, "state.db", "CREATE TRIGGER own AFTER UPDATE ON job BEGIN DELETE FROM journal; END"), True,
                "another schema"),
    "view": (lambda f: sql(f, "logs.db", "CREATE VIEW own AS SELECT 1"), True, "another schema"),
    "orphan": (lambda f: sql(f, "state.db", "INSERT INTO curve (run, points) VALUES (999, '[]')"), True, "belongs to one"),
    "object's name": (lambda f: sql(f, "storage.db", "UPDATE object SET name = '..'"), True, "that no object can have"),
    "bucket's name": (lambda f: sql(f, "storage.db", "UPDATE bucket SET name = '../..'"), True, "no bucket has"),
    "link": (link_make, False, "logs.db"),
    "clock": (lambda f: (f / "clock").write_text("soon\n"), "clock", "clock is damaged"),
    "clock ahead": (lambda f: (f / "clock").write_text("1000000000000\n"), "clock", "--clock steppable"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_refused_and_changes_nothing(target, small, tmp_path, damage):
    """Fails with: each check of import_check() left out, for the row of its name; state_unpacker_close() that leaves the folder."""
    change, renew, words = DAMAGES[damage]
    folder, run = changed(small, tmp_path / "folder"), run_of(target)
    change(folder)
    if renew == "clock":
        manifest = json.loads((folder / "manifest.json").read_text())
        data = (folder / "clock").read_bytes()
        manifest["files"].append({"name": "clock", "bytes": len(data), "crc32c": crc32c(data)})
        (folder / "manifest.json").write_text(json.dumps(manifest))
    elif renew:
        manifest_renew(folder)
    assert words in verb(target, "import", "--yes", str(folder), code=1)
    stays_as_it_is(target, run)


def archive_of(folder, *more, only=None, order=None):
    """The bytes of an archive; `more`: entries at its end, as (name, type, data)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        names = order or ["manifest.json", "state.db", "logs.db", "storage.db", *(str(p.relative_to(folder)) for p in folder.glob("blobs/*/*"))]
        for name in names if only is None else names[:only]:
            archive.add(folder / name, name)
        for name, kind, data in more:
            info = tarfile.TarInfo(name)
            info.type, info.size = kind, len(data) if kind == tarfile.REGTYPE else 0
            info.linkname = "/etc/passwd" if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE) else ""
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def file(name, data=b"x"):
    return name, tarfile.REGTYPE, data


@pytest.mark.parametrize("entry", [
    file("../outside"), file("/tmp/trainyard-outside"), file("blobs/../../outside"), file("state.db"), file("key"), file("lock"),
    file("blobs/00/0000000000000001"), file("blobs/00/0000000000000000" * 2), file("state.db-wal"), file("uploads/0000000000000000"),
    ("clock", tarfile.SYMTYPE, b""), ("clock", tarfile.LNKTYPE, b""), ("clock", tarfile.FIFOTYPE, b""), ("clock", tarfile.CHRTYPE, b""),
    file("blobs/00/0000000000000000", b"y" * 100000)], ids=lambda entry: f"{entry[0]}-{entry[1].decode()}-{len(entry[2])}")
def test_hostile_archives_are_refused(target, small, tmp_path, entry):
    """Fails with: part_begin() that makes any name; an archive without plain_files; bytes_left without the manifest's sum."""
    run = run_of(target)
    answer = target.request("POST", f"{API}/state:import?replace=true", archive_of(small, entry), {"Content-Type": "application/x-tar"})
    assert answer.status in (400, 429) and answer.error["status"] in ("INVALID_ARGUMENT", "RESOURCE_EXHAUSTED"), answer
    assert not (target.state_dir / "outside").exists() and not os.path.exists("/tmp/trainyard-outside")
    assert not (target.state_dir.parent / "outside").exists()
    stays_as_it_is(target, run)


def test_archives_that_end_early_or_begin_elsewhere_are_refused(target, small):
    run, whole = run_of(target), archive_of(small)
    for data in (b"", b"no archive at all", whole[:1000], whole[:len(whole) // 2], archive_of(small, only=2),
                 archive_of(small, order=["state.db", "manifest.json"]), b"\x1f\x8b" + whole):
        answer = target.request("POST", f"{API}/state:import?replace=true", data, {"Content-Type": "application/x-tar"})
        assert answer.status == 400, (answer, data[:20])
    answer = target.request("POST", f"{API}/state:import", whole, {"Content-Type": "application/x-tar"})
    assert answer.status == 400 and "replace=true" in answer.error["message"]
    huge = json.dumps({"format": 1, "files": [{"name": n, "bytes": 1 << 50, "crc32c": 0} for n in ("state.db", "logs.db")],
                       "blobCount": 0, "blobBytes": 0}).encode()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo("manifest.json")
        info.size = len(huge)
        archive.addfile(info, io.BytesIO(huge))
    answer = target.request("POST", f"{API}/state:import?replace=true", out.getvalue(), {"Content-Type": "application/x-tar"})
    assert answer.error["status"] == "RESOURCE_EXHAUSTED" and "has room for" in answer.error["message"]
    stays_as_it_is(target, run)


def test_a_state_that_cannot_be_opened_gives_way_to_the_one_before(new_daemon, small, tmp_path):
    """The database is intact, but it has an invalid fault rule. Fails with: wiring_open() without the second try: the daemon
    ended. items_place() without @keep: nothing was there again."""
    daemon = new_daemon(engine=NO_ENGINE).start()
    Storage(daemon, bucket="own").put("mine", b"mine")
    folder = changed(small, tmp_path / "folder")
    sql(folder, "state.db", "INSERT INTO fault (rule, created_us) VALUES ('{\"fault\": \"nonsense\"', 1)")
    manifest_renew(folder)
    run = run_of(daemon)
    assert "the one before is there again" in verb(daemon, "import", "--yes", str(folder), code=1)
    assert daemon.get(f"{API}/status").json["importProblem"] and run_of(daemon) != run
    stays_as_it_is(daemon, run_of(daemon))
    assert "imported: 1 job, 1 object" in verb(daemon, "import", "--yes", str(small))
    assert "importProblem" not in daemon.get(f"{API}/status").json
    assert [job["id"] for job in all_jobs(daemon)] == ["waits"]
    assert Storage(daemon, bucket="small").read("one").data == b"some bytes of one"
    assert Storage(daemon, bucket="own").get("mine").status == 404


def test_an_object_without_its_bytes_is_named(new_daemon, tmp_path):
    """Fails with: storage_copy_to() without loss_look(): it said that objects are replaced faster than they can be copied."""
    daemon = new_daemon(engine=NO_ENGINE).start()
    storage = Storage(daemon, bucket="lossy")
    for name in ("kept", "lost"):
        assert storage.put(name, name.encode() * 100).status == 200
    blob, = [path for path in daemon.state_dir.glob("blobs/*/*") if path.read_bytes().startswith(b"lost")]
    blob.unlink()
    assert "The content of gs://lossy/lost is lost" in verb(daemon, "export", str(tmp_path / "out"), code=1)
    assert not (tmp_path / "out").exists() and not list(daemon.state_dir.glob("export*"))
    assert storage.delete("lost").status == 204
    verb(daemon, "export", str(tmp_path / "out"))
    assert len(list((tmp_path / "out").glob("blobs/*/*"))) == 1


def test_an_import_that_breaks_is_told(small):
    """A server agrees to take the archive, and is gone. Fails with: exchange_end() that takes 100 for the answer's status."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        def answer():
            with server.accept()[0] as client:
                client.recv(65536)
                client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
                client.recv(1)
        thread = threading.Thread(target=answer)
        thread.start()
        base = f"http://127.0.0.1:{server.getsockname()[1]}"
        said = verb(types.SimpleNamespace(base=base), "import", "--yes", str(small), code=1)
        thread.join()
    assert f"the connection to {base} broke: " in said, said


def test_jobs_that_have_not_ended_keep_an_import_away(new_daemon, small):
    daemon = new_daemon(engine=NO_ENGINE).start()
    daemon.create(script("true"), job_id="own")
    assert "1 job of this daemon has not ended: cancel and wait" in verb(daemon, "import", "--yes", str(small), code=1)
    daemon.cancel("own")
    daemon.until("own", "CANCELLED")
    assert "import --yes" in verb(daemon, "import", str(small), code=1)
    said, code = on_terminal(daemon, "import", str(small), until="[y/N]")
    assert code != 0 and [job["id"] for job in all_jobs(daemon)] == ["own"]
    assert "No such file" in verb(daemon, "import", "--yes", "/nonexistent/", code=1)
    assert "trainyard export did not make this folder" in verb(daemon, "import", "--yes", str(daemon.directory), code=1)


def test_a_large_state_that_is_refused_is_told_of(new_daemon, small):
    """The body is longer than what a daemon reads after a refusal. Fails with: client_send() that waits for no 100 Continue: "no
    daemon answers", with exit code 3. receive_limit() without drops_rest: the daemon closed the connection of an import that it
    refused in the middle."""
    daemon = new_daemon(engine=NO_ENGINE).start()
    daemon.create(script("true"), job_id="own")
    large = changed(small, daemon.directory / "large")
    blob_of(large).write_bytes(bytes(80 << 20))
    assert "1 job of this daemon has not ended" in verb(daemon, "import", "--yes", str(large), code=1)
    assert [job["id"] for job in all_jobs(daemon)] == ["own"]
    daemon.cancel("own")
    daemon.until("own", "CANCELLED")
    assert "there is more data than is accepted" in verb(daemon, "import", "--yes", str(large), code=1)


def test_a_question_that_is_not_answered_means_no(target):
    """Fails with: terminal_agrees() without the line's end: the shell's prompt followed the question."""
    said, code = on_terminal(target, "reset", until="[y/N]", key=b"\x04")
    assert code == 1 and said.endswith("[y/N] \n"), said
    for answer, expected in ((b"n\n", 1), (b"\n", 1)):
        said, code = on_terminal(target, "reset", until="[y/N]", key=answer)
        assert code == expected and "removed" not in said
    assert objects_of(target, "own")


def test_exec_begins_with_a_state_and_leaves_one(engine, small, tmp_path):
    """Fails with: daemon_main() that exports after clean_quietly(): the directory was gone."""
    out = tmp_path / "left"
    places = tmp_path / "places"
    places.mkdir()
    look = "import os, urllib.request as u; print(u.urlopen(os.environ['TRAINYARD_ENDPOINT'] + '/_trainyard/v1/jobs').read().decode())"

    def executed(*options, code=0):
        done = subprocess.run([program(), "exec", "--offline", "--engine", engine.host, *map(str, options), "--", sys.executable, "-c", look],
                              capture_output=True, text=True, timeout=60, env={**os.environ, "TMPDIR": str(places)})
        assert done.returncode == code and "Sanitizer" not in done.stderr, done
        assert list(places.iterdir()) == []
        return json.loads(done.stdout)["jobs"] if not code else done.stderr
    assert [job["id"] for job in executed("--import", small, "--export", out)] == ["waits"]
    assert (out / "manifest.json").exists()
    found = executed("--import", out, "--export", tmp_path / "more")
    assert found[0]["state"] in ("SUCCEEDED", "CANCELLED"), found
    assert blob_of(tmp_path / "more").read_bytes() == b"some bytes of one"
    assert "is there already" in executed("--export", out, code=2)
    assert "has no manifest.json" in executed("--import", places, code=125)
    assert "has a state already" in executed("--import", out, "--state-dir", target_of(out, tmp_path / "full"), code=125)


def target_of(folder, directory):
    directory.mkdir()
    (directory / "state.db").write_bytes((folder / "state.db").read_bytes())
    return directory
