# SPDX-License-Identifier: Apache-2.0
"""What a daemon tells its operators: whether it is ready, its metrics, and the last requests."""
import json
import re
import subprocess

import pytest

from support.daemon import program, script
from support.engine import PrivateEngine
from support.storage import Storage
from support.verbs import on_terminal, started, verb
from support.vertex import Vertex, custom_job, pipeline, tuning_job
from support.wait import wait_until

NAME, LABEL = r"[a-zA-Z_:][a-zA-Z0-9_:]*", r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? ([-+]?[0-9.]+(?:e[-+]?[0-9]+)?)")


def samples(text):
    """Parses Prometheus' text format 0.0.4 strictly into {(name, labels): value}: HELP and TYPE once before a name's
    samples, a name's samples together and without duplicates, a line end at the end."""
    assert text.endswith("\n") and "\n\n" not in text
    found, types, current = {}, {}, None
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            current = re.fullmatch(rf"# HELP ({NAME}) .+", line)[1]
            assert current not in types, line
            types[current] = None
        elif line.startswith("# TYPE "):
            name, kind = re.fullmatch(rf"# TYPE ({NAME}) (counter|gauge)", line).groups()
            assert name == current and types[name] is None, line
            types[name] = kind
        else:
            name, labels, value = SAMPLE.fullmatch(line).groups()
            assert name == current and types[name] and (name, labels) not in found, line
            assert (types[name] == "counter") == name.endswith("_total"), line
            found[name, labels] = float(value)
    return found


def metrics(daemon):
    answer = daemon.get("/metrics")
    assert answer.status == 200 and answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    return samples(answer.data.decode())


def test_metrics_tell_what_was_done(yard):
    """Fails with: ledger_add() left out of exchange_end(); JOB_QUEUED_COUNT without its condition; tally_add() left out of
    blob_writer_write()."""
    before = metrics(yard)
    job_id = yard.create(script("echo one; echo two"))
    name = Vertex(yard).create(custom_job("exit 0", name="counted"))["name"]
    yard.until(job_id, "SUCCEEDED")
    Vertex(yard).until(name, "JOB_STATE_SUCCEEDED")
    storage = Storage(yard, bucket="counted")
    storage.put("o", b"x" * 1000)
    assert storage.read("o").data == b"x" * 1000
    assert yard.get("/v1/nothing").status == 404
    after = metrics(yard)

    def grown(name, labels=None):
        return after.get((name, labels), 0) - before.get((name, labels), 0)
    assert grown("trainyard_jobs", 'family="jobs",state="SUCCEEDED"') == 1
    assert grown("trainyard_jobs", 'family="customJobs",state="SUCCEEDED"') == 1
    assert grown("trainyard_jobs", 'family="trainingPipelines",state="SUCCEEDED"') == 0
    assert grown("trainyard_engine_calls_total", 'outcome="ok"') > 10
    assert grown("trainyard_http_requests_total", 'method="GET",code="404"') == 1
    assert grown("trainyard_http_requests_total", 'method="POST",code="200"') >= 2
    assert grown("trainyard_log_lines_total") >= 4
    assert grown("trainyard_storage_received_bytes_total") >= 1000
    assert grown("trainyard_storage_sent_bytes_total") >= 1000
    assert after["trainyard_ready", None] == after["trainyard_engine_reachable", None] == 1
    assert after["process_resident_memory_bytes", None] > 1 << 20
    assert [labels for name, labels in after if name == "trainyard_build_info"] == [f'version="{yard.get("/healthz").json["version"]}"']


def test_metrics_tell_of_the_queue(narrow_yard):
    """Fails with: an age that is taken of the newest job."""
    runs = narrow_yard.create(script("sleep 60"))
    narrow_yard.until(runs, "RUNNING")
    assert metrics(narrow_yard)["trainyard_queue_jobs", None] == 0 == metrics(narrow_yard)["trainyard_queue_oldest_seconds", None]
    waits = narrow_yard.create(script("exit 0"))
    wait_until(lambda: metrics(narrow_yard)["trainyard_queue_oldest_seconds", None] > 1, 20)
    newest = narrow_yard.create(script("exit 0"))
    told = metrics(narrow_yard)
    assert told["trainyard_queue_jobs", None] == 2 and told["trainyard_queue_oldest_seconds", None] > 1
    for job_id in (runs, waits, newest):
        narrow_yard.cancel(job_id)
    for job_id in (runs, waits, newest):
        narrow_yard.until(job_id, "CANCELLED", "SUCCEEDED")


def test_a_daemon_is_ready_once_its_engine_is(new_daemon):
    """Fails with: a ready_get() that is always 200; any_is_ready() that stays true when the engine goes."""
    engine = PrivateEngine()
    daemon = new_daemon("--offline", engine=engine).start()
    try:
        unready = daemon.get("/readyz")
        assert unready.status == 503 and unready.json["status"] == "unready" and unready.json["reason"]
        assert daemon.get("/healthz").status == 200 and metrics(daemon)["trainyard_ready", None] == 0
        engine.start()
        wait_until(lambda: daemon.get("/readyz").status == 200, 30)
        assert daemon.get("/readyz").json == {"status": "ready"}
        engine.kill9()
        wait_until(lambda: daemon.get("/readyz").status == 503, 30)
        daemon.stop()
    finally:
        engine.delete()


@pytest.fixture
def guarded(new_daemon, tmp_path):
    token = tmp_path / "token"
    token.write_text("sixteen-letters-and-more\n")
    token.chmod(0o600)
    return new_daemon("--offline", "--token-file", str(token)).start()


def test_probes_need_no_token_and_metrics_do(guarded):
    """Fails with: a row /metrics that is open; a reason that is told to anyone."""
    assert guarded.get("/metrics").status == 401
    wait_until(lambda: guarded.get("/readyz").status == 200, 30)
    assert guarded.get("/readyz").json == {"status": "ready"}
    guarded.token = "sixteen-letters-and-more"
    assert metrics(guarded)["trainyard_http_requests_total", 'method="GET",code="401"'] == 1


REQUESTS = "/_trainyard/v1/requests"


def requests(daemon, **query):
    answer = daemon.get(REQUESTS, **query)
    assert answer.status == 200 and answer.headers["Content-Type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.data.decode().splitlines()]


def test_the_last_requests_are_told(yard):
    """Fails with: a path that is kept with its query; a refusal without its reason; an address with its bytes reversed."""
    yard.request("GET", "/v1/projects/p/jobs/nothing", headers={"User-Agent": "a-test/1 \x9b"}, access_token="secret-of-mine")
    yard.post("/v1/projects/p/jobs", {"jobId": "secret body", "nonsense": 1})
    missing, refused = requests(yard, tail=2)
    assert missing["status"] == 404 and missing["path"] == "/v1/projects/p/jobs/nothing" and missing["method"] == "GET"
    assert missing["api"] == "projects.jobs.get" and missing["client"] == "127.0.0.1" and missing["userAgent"].startswith("a-test/1")
    assert "nothing" in missing["reason"] and re.fullmatch(r"0\.[0-9]{6}s", missing["duration"])
    assert refused["api"] == "projects.jobs.create" and refused["status"] == 400 and "nonsense" in refused["reason"]
    told = yard.get(REQUESTS).data.decode()
    assert "secret" not in told
    assert requests(yard, failed="true", tail=1)[0]["status"] == 400
    assert yard.get(REQUESTS, tail=-1).status == 400
    document = yard.get("/discovery/v1/apis/trainyard/v1/rest").json
    assert "list" in document["resources"]["requests"]["methods"]


def test_health_tells_the_project(yard):
    assert yard.get("/healthz").json["project"] == yard.project


def test_requests_prints_them(yard):
    yard.get("/v1/projects/p/jobs/nothing")
    said = verb(yard, "requests", "--failed", "-n", "1").splitlines()
    assert re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3}  404 +\d+ ms  GET     /v1/projects/p/jobs/nothing.*", said[0]), said
    assert said[1].startswith("     ") and "nothing" in said[1] and len(said) == 2
    assert json.loads(verb(yard, "requests", "--failed", "-n", "1", "-o", "json"))["status"] == 404
    assert verb(yard, "requests", "--failed", "-n", "1", "-o", "name") == "projects.jobs.get\n"
    with started(yard, "requests", "-f", "-n", "0") as process:
        assert REQUESTS in process.stdout.readline()  # the request for this page itself
        yard.get("/v1/projects/p/jobs/later")
        assert "/v1/projects/p/jobs/later" in process.stdout.readline()


OUTPUT = {"baseOutputDirectory": {"outputUriPrefix": "gs://lines/out"}}


def test_jobs_are_removed_after_their_time(new_daemon):
    """Fails with: a job_purge_next() that takes the newest, or jobs with models; rows_delete() without TRIAL_PURGE: a search was
    never removed; logs_purge() left out: its lines were still listed."""
    daemon = new_daemon("--offline", "--clock", "steppable", "--keep", "30d", "--stop-grace", "1").start()
    search, lines = Vertex(daemon, collection="hyperparameterTuningJobs"), Vertex(daemon, collection="trainingPipelines")
    name = search.create(tuning_job("exit 0", {"parameterId": "x", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}))["name"]
    old = daemon.create(script("echo a line of the old"))
    plain = lines.create(pipeline("exit 0", "plain", OUTPUT))["name"]
    model = lines.create(pipeline("exit 0", "with-model", OUTPUT, modelToUpload={"displayName": "kept"}))["name"]
    runs = daemon.create(script("sleep 600"))
    daemon.until(runs, "RUNNING")
    daemon.until(old, "SUCCEEDED")
    for line in (plain, model):
        lines.until(line, "PIPELINE_STATE_SUCCEEDED")
    search.until(name, "JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED")
    daemon.post("/_trainyard/v1/clock", {"advance": "1728000s"})
    young = daemon.create(script("echo young"))
    daemon.until(young, "SUCCEEDED")
    assert daemon.job(old)["state"] == "SUCCEEDED" and daemon.lines(old) == ["a line of the old"]
    daemon.post("/_trainyard/v1/clock", {"advance": "1000000s"})
    wait_until(lambda: daemon.get(f"/v1/projects/{daemon.project}/jobs/{old}").status == 404, 30)
    wait_until(lambda: daemon.get(f"/v1/{name}").status == daemon.get(f"/v1/{plain}").status == 404, 30)
    assert lines.get(model)["modelToUpload"]["displayName"] == "kept"
    assert daemon.lines(old) == [] and daemon.lines(young) == ["young"]
    assert daemon.job(young)["state"] == "SUCCEEDED"
    told = daemon.get("/healthz").json["retention"]
    assert told["keep"] == "30d" and told["removedJobs"] == 3 and told["usedBytes"] > 0
    assert "jobs for 30d after their end" in verb(daemon, "status")
    looked = subprocess.run([program(), "doctor", "-o", "json", "--engine", daemon.engine.host, "--state-dir", str(daemon.state_dir)],
                            capture_output=True, text=True, timeout=60)
    row = next(found for found in json.loads(looked.stdout) if found["check"] == "daemon")
    assert " and keeps jobs for 30d after their end (" in row["text"] and "3 removed)" in row["text"]
    assert daemon.log().count(" job-removed ") == 3
    again = daemon.create(script("echo anew"), job_id=old)
    daemon.until(again, "SUCCEEDED")
    assert daemon.lines(old) == ["anew"]
    assert daemon.until(runs, "FAILED", "CANCELLED", "SUCCEEDED")  # the deadline of seven days has passed
    left = daemon.query_state("SELECT count(*) FROM job WHERE parent IS NOT NULL UNION ALL SELECT count(*) FROM trial")
    assert left == [(0,), (0,)]
    daemon.restart()
    assert daemon.job(young)["state"] == "SUCCEEDED"


@pytest.mark.long
def test_the_oldest_jobs_go_while_the_state_is_too_large(new_daemon):
    """Fails with: a size that counts the pages that removals left free: all jobs went."""
    # A line of 1000 bytes takes a page of 4 KiB and more in the database, so the job stores 7 MiB.
    daemon = new_daemon("--offline", "--max-state", "20M").start()
    line = "x" * 1000
    jobs = []
    for number in range(4):
        jobs.append(daemon.create(script(f"i=0; while [ $i -lt 1500 ]; do echo {line}; i=$((i+1)); done")))
        daemon.until(jobs[-1], "SUCCEEDED")

    def missing():
        return [daemon.get(f"/v1/projects/{daemon.project}/jobs/{job_id}").status == 404 for job_id in jobs]
    wait_until(lambda: missing()[0] and daemon.get("/healthz").json["retention"]["usedBytes"] < 20 << 20, 60)
    gone = missing()
    assert gone[0] and not gone[3] and gone == sorted(gone, reverse=True)
    assert len(daemon.lines(jobs[3])) == 1500


def test_limits_that_are_none_are_refused(tmp_path):
    for option, value in (("--keep", "soon"), ("--keep", "0"), ("--max-state", "20"), ("--max-state", "20Q"), ("--max-state", "-1G")):
        done = subprocess.run([program(), "serve", option, value, "--state-dir", str(tmp_path)], capture_output=True, text=True, timeout=20)
        assert done.returncode == 2 and option[2:] in done.stderr, done


def test_reset_leaves_nothing(new_daemon):
    """Fails with: a reset_step() without jobs_stop(); job_purge_any() that leaves jobs with models; objects_clear() that keeps
    buckets."""
    daemon = new_daemon("--offline", "--stop-grace", "1").start()
    done = daemon.create(script("echo a line"))
    daemon.until(done, "SUCCEEDED")
    lines = Vertex(daemon, collection="trainingPipelines")
    lines.until(lines.create(pipeline("exit 0", "with-model", OUTPUT, modelToUpload={"displayName": "m"}))["name"], "PIPELINE_STATE_SUCCEEDED")
    runs = daemon.create(script("sleep 600"))
    daemon.until(runs, "RUNNING")
    storage = Storage(daemon, bucket="to-be-cleared")
    for number in range(3):
        storage.put(f"o{number}", b"bytes")
    daemon.post("/_trainyard/v1/faults", {"fault": "preempt", "job": "never"})
    daemon.post("/v2/entries:write", {"entries": [{"logName": f"projects/{daemon.project}/logs/own", "textPayload": "own line",
                                                   "resource": {"type": "global"}}]})
    assert "--yes" in verb(daemon, "reset", code=2)
    said, code = on_terminal(daemon, "reset", until="[y/N]")
    assert code != 0 and daemon.job(done)["state"] == "SUCCEEDED"
    assert re.search(r"^removed: [34] jobs, \d+ objects?$", verb(daemon, "reset", "--yes"))
    assert daemon.get("/_trainyard/v1/jobs").json.get("jobs", []) == []
    assert daemon.get(f"/storage/v1/b?project={daemon.project}").json.get("items", []) == []
    assert daemon.get("/_trainyard/v1/faults").json.get("faults", []) == []
    assert Vertex(daemon, collection="models").list() in ([], {}) or not Vertex(daemon, collection="models").names()
    entries = daemon.post("/v2/entries:list", {"resourceNames": [f"projects/{daemon.project}"]}).json
    assert not entries.get("entries"), entries
    assert not daemon.engine.containers(f"trainyard.instance={daemon.read_instance()}")
    again = daemon.create(script("echo anew"), job_id=done)
    daemon.until(again, "SUCCEEDED")
    assert daemon.lines(done) == ["anew"]
    daemon.restart()
    assert daemon.job(done)["state"] == "SUCCEEDED"
