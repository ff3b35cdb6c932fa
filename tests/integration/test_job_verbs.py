# SPDX-License-Identifier: Apache-2.0
"""The list of the jobs of all families, and the commands about jobs."""
import datetime
import json
import os
import re
import shutil
import subprocess
import time
import types
import unicodedata

import pytest

from support.daemon import UNTIL_RELEASED, distributed, program, script
from support.engine import IMAGE, NO_ENGINE
from support.marks import long
from support.storage import Storage
from support.verbs import environment, on_terminal, started, verb
from support.vertex import RUNS_ON, Vertex, custom_job, pipeline, tuning_job
from support.wait import wait_until

JOBS = "/_trainyard/v1/jobs"
PARAMETER = {"parameterId": "x", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}


def last_part(name):
    return name.rsplit("/", 1)[1]


@pytest.fixture(scope="module")
def crowd(narrow_yard):
    """One running job, and one job of each family that waits behind it: {family: job}."""
    daemon, made = narrow_yard, {}
    made["runs"] = daemon.create(script(RUNS_ON), job_id=daemon.new_id("crowd_runs"), labels={"team": "red"})
    daemon.until(made["runs"], "RUNNING")
    made["jobs"] = daemon.create(script("exit 0"), job_id=daemon.new_id("crowd_waits"))
    for collection, job in [("customJobs", custom_job("exit 0", name="crowd-custom", labels={"team": "blue"})),
                            ("hyperparameterTuningJobs", tuning_job("exit 0", PARAMETER, name="crowd-tuning")),
                            ("trainingPipelines", pipeline("exit 0", name="crowd-line"))]:
        made[collection] = last_part(Vertex(daemon, collection=collection).create(job)["name"])
    yield made
    for id in reversed(list(made.values())):
        found = daemon.get(f"{JOBS}/{id}").json
        daemon.post(f"/v1/{found['name']}:cancel", {})
    wait_until(lambda: not daemon.get(JOBS, filter="state=RUNNING OR state=QUEUED OR state=CANCELLING").json, 60,
               "all of the crowd has ended")


def test_all_families_are_one_list(narrow_yard, crowd):
    listed = narrow_yard.get(JOBS, project=narrow_yard.project).json["jobs"]
    assert [(j["family"], j["id"]) for j in listed[:5]] == [
        (family, crowd[family]) for family in ("trainingPipelines", "hyperparameterTuningJobs", "customJobs", "jobs")
    ] + [("jobs", crowd["runs"])]
    line, search, custom, waits, runs = listed[:5]
    assert line["displayName"] == "crowd-line" and line["job"] != line["id"]
    assert custom["location"] == "us-central1" and custom["labels"] == {"team": "blue"} and custom["replicaCount"] == 1
    assert runs["state"] == "RUNNING" and "startTime" in runs and "reason" not in runs
    wait_until(lambda: "waits for" in narrow_yard.get(f"{JOBS}/{waits['id']}").json.get("reason", ""), 30, "a reason")
    for job in listed[:3]:
        assert narrow_yard.get(f"/v1/{job['name']}").status == 200, job
    pages, token = [], ""
    while not pages or token:
        page = narrow_yard.get(JOBS, pageSize=2, pageToken=token, filter='displayName:"crowd*" OR id:"crowd*"').json
        pages, token = pages + page["jobs"], page.get("nextPageToken")
    assert [j["id"] for j in pages] == [j["id"] for j in listed[:5]]
    assert [j["id"] for j in narrow_yard.get(JOBS, filter="labels.team=red").json["jobs"]] == [crowd["runs"]]
    assert narrow_yard.get(JOBS, filter="nosuch=1").status == 400


def test_a_job_is_found_by_what_it_is_called(narrow_yard, crowd):
    for said, family in [("crowd-custom", "customJobs"), ("crowd-l", "trainingPipelines"), (crowd["runs"], "runs"),
                         ("@last", "trainingPipelines"), (crowd["customJobs"][:12], "customJobs"),
                         ("projects%2Fp%2Flocations%2Fl%2FcustomJobs%2F" + crowd["customJobs"], "customJobs")]:
        assert narrow_yard.get(f"{JOBS}/{said}").json["id"] == crowd[family], said
    several = narrow_yard.get(f"{JOBS}/crowd")
    assert several.status == 400 and '"crowd" fits 5 jobs' in several.error["message"]
    assert crowd["customJobs"] in several.error["message"]
    assert narrow_yard.get(f"{JOBS}/nosuch").status == 404
    # Fails with: summary_find() that looks for "": it fits every job, and the only one would be taken.
    assert narrow_yard.get(f"{JOBS}/{crowd['runs']}%2F").status == 404


def test_the_methods_are_described(narrow_yard):
    document = narrow_yard.get("/discovery/v1/apis/trainyard/v1/rest").json
    assert {"list", "get"} <= set(document["resources"]["jobs"]["methods"])
    assert "reason" in document["schemas"]["Job"]["properties"]


def test_jobs_prints_what_there_is(narrow_yard, crowd):
    said = verb(narrow_yard, "jobs")
    head, *rows = said.splitlines()
    assert head.split()[:4] == ["NAME", "ID", "KIND", "STATE"]
    assert [row.split()[0] for row in rows[:3]] == ["crowd-line", "crowd-tuning", "crowd-custom"]
    assert crowd["customJobs"][:10] in said and crowd["customJobs"] not in said
    assert [r for r in rows if r.startswith(crowd["runs"])][0].split()[3] == "RUNNING"
    names = verb(narrow_yard, "jobs", "-o", "name", "--state", "QUEUED", "--label", "team=blue").splitlines()
    assert [last_part(name) for name in names] == [crowd["customJobs"]]
    assert verb(narrow_yard, "jobs", "-o", "json", "--project", "nosuch") == '{"jobs":[]}\n'
    assert "KEY=VALUE" in verb(narrow_yard, "jobs", "--label", "team", code=2)
    assert "is not one of QUEUED" in verb(narrow_yard, "jobs", "--state", "WAITING", code=2)
    assert "no daemon answers" in verb(narrow_yard, "jobs", "--endpoint", "http://127.0.0.1:1", code=3)


def test_a_filter_is_told_by_the_columns_that_were_typed(narrow_yard, crowd):
    """Fails with: filter_check() left out: the column was that of the filter with our own part before it."""
    for words in [], ["--all"], ["--state", "RUNNING", "--label", "a=b"]:
        assert "at line 1, column 19\n" in verb(narrow_yard, "jobs", *words, "--filter", "state=RUNNING AND bogus", code=1)
    listed = verb(narrow_yard, "jobs", "-o", "name", "--filter", "family=customJobs AND labels.team=blue").splitlines()
    assert [last_part(name) for name in listed] == [crowd["customJobs"]]
    assert verb(narrow_yard, "jobs", "-o", "name", "--all", "--label", "team=red").endswith(f"/{crowd['runs']}\n")


def test_a_filter_does_not_escape_the_other_options(narrow_yard, crowd):
    """Fails with: filter_check() left out: the filter closed the parentheses around it, and jobs of any state were listed."""
    for own in "family=jobs) OR (family=customJobs", "family=jobs) OR (NOT family=jobs", "family=jobs) -- ":
        for words in (["--state", "RUNNING"], ["--label", "team=red"], ["--all", "--state", "RUNNING"], []):
            assert "column 12" in verb(narrow_yard, "jobs", "-o", "name", *words, "--filter", own, code=1), words
    listed = verb(narrow_yard, "jobs", "-o", "name", "--label", "team=red", "--filter", "family=customJobs OR family=jobs").splitlines()
    assert [last_part(name) for name in listed] == [crowd["runs"]]
    assert verb(narrow_yard, "jobs", "-o", "name", "--state", "QUEUED", "--filter", " ") == verb(narrow_yard, "jobs", "-o", "name", "--state", "QUEUED")


def test_a_trial_that_there_is_not_is_told(narrow_yard, crowd):
    """Fails with: trial_check() left out: nothing was printed, and the exit code was 0."""
    assert "is not a tuning job and has no trials" in verb(narrow_yard, "logs", crowd["customJobs"], "--trial", "1", code=2)
    assert "is not a hyperparameter tuning job" in verb(narrow_yard, "logs", "-f", crowd["runs"], "--trial", "1", code=2)
    assert re.search(r"the job has no trial 99; it has \d+ ", verb(narrow_yard, "logs", crowd["hyperparameterTuningJobs"], "--trial", "99", code=2))
    assert '"x" is not a whole number' in verb(narrow_yard, "logs", crowd["hyperparameterTuningJobs"], "--trial", "x", code=2)
    assert not verb(narrow_yard, "logs", crowd["hyperparameterTuningJobs"], "--trial", "1")


def test_a_replica_that_there_is_not_is_told(narrow_yard, crowd):
    """Fails with: replicas_check() that takes the job's own timeline alone: for a search nothing was printed, and the code was
    0."""
    for job, has in [("runs", "master-replica-0"), ("customJobs", "workerpool0-0"), ("hyperparameterTuningJobs", "workerpool0-0")]:
        for words in ([], ["-f"]):
            said = verb(narrow_yard, "logs", *words, crowd[job], "--replica", "x", code=2)
            assert f"--replica: the job has no replica x; it has {has} " in said, said
    assert not verb(narrow_yard, "logs", crowd["hyperparameterTuningJobs"], "--replica", "workerpool0-0")


def test_an_empty_word_is_told(narrow_yard):
    """Fails with: words_check() that takes empty words: "Method not found: GET /_trainyard/v1/jobs/."."""
    for words in (["logs", ""], ["why", ""], ["describe", ""], ["wait", "@last", ""], ["shell", ""], ["shell", "/worker-1"], ["rerun", ""],
                  ["cancel", ""], ["delete", ""], ["study", ""], ["ui", ""]):
        assert "trainyard: JOB is empty" in verb(narrow_yard, *words, code=2), words
    for word, name in [("export", "DIR"), ("import", "DIR"), ("submit", "FILE"), ("run", "IMAGE")]:
        assert f"trainyard: {name} is empty" in verb(narrow_yard, word, "", code=2)
    assert '"" is not one of bash' in verb(narrow_yard, "completion", "", code=2)


def test_a_wait_without_time_only_looks(narrow_yard, crowd):
    """Fails with: a limit of 0 that is none: the wait did not end."""
    assert "the time is up, and crowd-custom" in verb(narrow_yard, "wait", "crowd-custom", "--timeout", "0", code=124)
    assert " RUNNING" in verb(narrow_yard, "wait", crowd["runs"], "--timeout", "0", "--for", "RUNNING")


def test_a_dead_daemon_that_the_environment_names_is_told(narrow_yard):
    """Fails with: the advice of other endpoints: a daemon that `start` starts is not the one that TRAINYARD_ENDPOINT names."""
    dead = types.SimpleNamespace(base="http://127.0.0.1:1")
    for words in (["jobs"], ["why", "@last"], ["logs", "-f", "@last"], ["wait", "@last"], ["ls"], ["queue"], ["fault", "ls"]):
        said = verb(dead, *words, code=3)
        assert dead.base in said and "unset that" in said and "trainyard start" not in said, said
    assert "trainyard start" in verb(dead, "jobs", "--endpoint", "http://127.0.0.1:2", code=3)
    assert verb(dead, "jobs", "-o", "name", "--endpoint", narrow_yard.base) == verb(narrow_yard, "jobs", "-o", "name")


def test_output_that_is_lost_is_told(narrow_yard, crowd):
    """Fails with: fflush() alone at the end of commands: status, plan and csv ended with 1 and no word, logs and requests with 0."""
    def full(*words):
        with open("/dev/full", "w") as out:
            return subprocess.run([program(), *words], stdout=out, stderr=subprocess.PIPE, text=True, timeout=60, env=environment(narrow_yard))
    for words in (["jobs"], ["status"], ["requests", "--tail", "3"], ["logs", crowd["runs"], "--replica", "service"],
                  ["study", crowd["hyperparameterTuningJobs"], "--csv"], ["wait", crowd["runs"], "--for", "RUNNING"],
                  ["fault", "add", "exit", "exitCode=3", "job=none"]):
        done = full(*words)
        assert "the output could not be written" in done.stderr and done.returncode == 1, (words, done)
    verb(narrow_yard, "fault", "rm", "all")


def test_the_table_fits_the_terminal(narrow_yard, crowd):
    """Fails with: widths_fit() that returns at once: lines had 130 characters."""
    for columns in (60, 80, 120):
        said, code = on_terminal(narrow_yard, "jobs", columns=columns, env={"NO_COLOR": "1"})
        assert code == 0 and "crowd-line" in said and "\033" not in said
        assert all(len(line) <= columns for line in said.splitlines()), said
        assert "waits for" in said
    said, _ = on_terminal(narrow_yard, "jobs")
    assert "\033[33mRUNNING" in said
    said, code = on_terminal(narrow_yard, "jobs", "--watch", until="crowd-line")
    assert code < 0 and said.count("\033[H\033[J") >= 1


def columns_of(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def test_wide_letters_fit_the_terminal(narrow_yard, crowd):
    """Fails with: text_columns() that counts characters: rows had 15 columns more than the terminal, and the next column was elsewhere."""
    names = [last_part(Vertex(narrow_yard).create(custom_job("exit 0", name=name))["name"])
             for name in ("日本語の名前がとても長いジョブ", "cafe\u0301 👍 日本")]
    for columns in (40, 60, 80, 120):
        said, code = on_terminal(narrow_yard, "jobs", columns=columns, env={"NO_COLOR": "1"})
        rows = said.splitlines()
        wide = [row for row in rows if "日本" in row]
        assert code == 0 and len(wide) == 2 and all(columns_of(row) <= columns for row in rows), said
        assert {columns_of(row[:row.index("custom")]) for row in wide} == {rows[0].index("KIND")}, said
    said, _ = on_terminal(narrow_yard, "wait", "日本語", "--timeout", "0", columns=40)
    assert all(columns_of(line) <= 40 for line in re.split(r"[\r\n]|\033\[K", said)), said
    verb(narrow_yard, "cancel", *names)


def test_a_name_drives_no_terminal(narrow_yard, crowd):
    """Fails with: text_one_line() without text_make_harmless(): the terminal's title changed."""
    name = last_part(Vertex(narrow_yard).create(custom_job("exit 0", name="\033]0;owned\007\u009b31m\nrow"))["name"])
    said, _ = on_terminal(narrow_yard, "jobs", columns=120)
    assert "\033]" not in said and "\x07" not in said and "\u009b" not in said and "0;owned" in said
    assert "\u009b" not in verb(narrow_yard, "jobs", "-o", "json")
    assert "\x1b" not in verb(narrow_yard, "cancel", name)


def test_wait_tells_how_jobs_ended(yard):
    """Fails with: state_exit() that knows no cancellation: a cancelled job was a failed one.
    Fails with: the second half of jobs_ask() left out: no job that ended was shown."""
    good, bad = yard.create(script("exit 0")), yard.create(script("echo the reason >&2; exit 3"))
    gone = yard.create(script(RUNS_ON))
    assert verb(yard, "wait", good).startswith(f"{good} SUCCEEDED after ")
    said = verb(yard, "wait", good, bad, code=1)
    assert "SUCCEEDED" in said and "FAILED" in said and "the reason" in said
    assert f"{gone} RUNNING" in verb(yard, "wait", gone, "--for", "RUNNING")
    assert f"{gone} is RUNNING" in verb(yard, "wait", gone, "--timeout", "0.3s", code=124)
    assert "is being cancelled" in verb(yard, "cancel", gone)
    assert f"{gone} CANCELLED" in verb(yard, "wait", gone, code=4)
    assert all(job in verb(yard, "jobs") for job in (good, bad, gone))
    assert "had ended before" in verb(yard, "cancel", gone)
    assert "SUCCEEDED" in verb(yard, "wait", good, "--for", "FAILED", code=1)
    assert "SUCCEEDED" in verb(yard, "wait", good, "--for", "RUNNING")
    assert "No job has" in verb(yard, "wait", "nosuch", code=1)
    assert "JOB... is missing" in verb(yard, "wait", code=2)


@pytest.mark.long
def test_a_daemon_that_restarts_is_waited_for(new_daemon):
    """Fails with: client_call() without its loop: both commands ended with 3. time_out() left out of jobs_await(): 3 in place of
    124."""
    daemon = new_daemon(engine=NO_ENGINE).start()
    daemon.listen = f"127.0.0.1:{daemon.port}"
    job = daemon.create(script("true"))
    with started(daemon, "wait", job) as waits, started(daemon, "jobs", "--watch", "-o", "name") as watches:
        assert watches.stdout.readline().endswith(f"/{job}\n")
        wait_until(lambda: f"/jobs/{job}" in verb(daemon, "requests"), 20, "wait has asked")
        daemon.stop()
        said, code = on_terminal(daemon, "wait", job, "--timeout", "0.5s")
        assert code == 3 and "no daemon answers" in said  # the daemon never answered this call
        assert waits.poll() is None and watches.poll() is None
        daemon.start()
        other = daemon.create(script("true"))
        assert watches.stdout.readline().endswith(f"/{other}\n")
        daemon.cancel(job)
        assert waits.wait(60) == 4 and "CANCELLED" in waits.stdout.read()
        assert waits.stderr.read() == f"trainyard: {daemon.base} does not answer: waiting 60 s for it to come back\n"
        with started(daemon, "wait", other, "--timeout", "4s") as late:
            wait_until(lambda: f"/jobs/{other}" in verb(daemon, "requests"), 20, "wait has asked")
            daemon.stop()
            assert late.wait(60) == 124 and "the time is up, and" in late.stderr.read()
        daemon.start()


@pytest.mark.long
def test_a_daemon_that_does_not_come_back_is_given_up(new_daemon):
    """Fails with: end_us that begins anew with each look: they waited for ever."""
    daemon = new_daemon("--offline").start()
    job = daemon.create(script("echo line; " + RUNS_ON))
    daemon.wait_lines(job)
    with started(daemon, "wait", job) as waits, started(daemon, "logs", "-f", job) as follows:
        assert follows.stdout.readline() == "line\n"
        wait_until(lambda: f"/jobs/{job}" in verb(daemon, "requests"), 20, "wait has asked")
        daemon.kill9()
        began = time.monotonic()
        for process in (waits, follows):
            said = process.communicate(timeout=120)[1]
            assert process.returncode == 3 and 50 < time.monotonic() - began < 90, (process.returncode, said)
            assert f"{daemon.base} does not answer: waiting 60 s for it to come back\n" in said
            assert "no daemon answers" in said or "has not answered for a minute" in said
    daemon.start()
    daemon.cancel(job)
    daemon.until(job, "CANCELLED")
    daemon.stop()


@pytest.mark.long
def test_wait_and_watch_follow_the_changes(new_daemon):
    """Fails with: changes_follow() left out of jobs_await(): wait asked for the job again and again. filter_write() with terms
    that the job does not fit: the same, each 0.2 s."""
    daemon = new_daemon(engine=NO_ENGINE).start()
    job = daemon.create(script("true"))
    with started(daemon, "wait", *[job] * 60) as many, started(daemon, "wait", job, "--for", "CANCELLED") as waits, \
            started(daemon, "jobs", "--watch", "-o", "name") as watches:
        assert watches.stdout.readline().endswith(f"/{job}\n")
        wait_until(lambda: verb(daemon, "requests").count("jobs:watch") >= 4, 30, "all follow the changes")
        for _ in range(20):
            other = daemon.create(script("true"))
            assert watches.stdout.readline().endswith(f"/{other}\n")
            while not watches.stdout.readline().endswith(f"/{job}\n"):
                pass
        daemon.cancel(job)
        assert waits.wait(60) == 0 and many.wait(60) == 4
        assert many.stdout.read().count("CANCELLED") == 60
    asked = [line for line in verb(daemon, "requests", "--tail", "1000", "-o", "json").splitlines()]
    looks = [line for line in asked if f"/jobs/{job}" in line and '"GET"' in line]
    assert len(looks) == 61, looks


def test_wait_shows_where_a_job_stands(narrow_yard, crowd):
    """Fails with: stand_show() with the whole name and the id: a narrow terminal cut the state."""
    said, code = on_terminal(narrow_yard, "wait", "crowd-custom", "--timeout", "1s")
    assert code == 124 and "\r\033[Kcrowd-custom is QUEUED: " in said and "the time is up, and crowd-custom (" in said
    assert all(len(line) < 80 for line in said.split("\r\033[K")[1:-1])
    job = last_part(Vertex(narrow_yard).create(custom_job("exit 0", name="long-" * 20))["name"])
    said, _ = on_terminal(narrow_yard, "wait", job, "--timeout", "1s", columns=60)
    assert "… is QUEUED" in said
    verb(narrow_yard, "cancel", job)
    verb(narrow_yard, "wait", job, code=4)


def test_delete_takes_away_what_vertex_deletes(yard):
    """Fails with: a family "jobs" that is let through: the daemon's 404 was all that was said."""
    made = last_part(Vertex(yard).create(custom_job("exit 0", name="to-go"))["name"])
    verb(yard, "wait", made)
    kept = yard.run(script("exit 0"))["jobId"]
    assert "never deletes a job" in verb(yard, "delete", kept, code=1)
    assert "to-go" in verb(yard, "delete", kept, "to-go", code=1)
    assert yard.get(f"{JOBS}/{made}").status == 404
    running = last_part(Vertex(yard).create(custom_job(RUNS_ON))["name"])
    assert running in verb(yard, "delete", running, code=1)
    verb(yard, "cancel", running)
    verb(yard, "wait", running, code=4)


def test_delete_takes_a_job_that_is_named_twice_once(yard):
    """Fails with: jobs_do() that finds a job after the one before is deleted: its name was the beginning of the other's."""
    first, other = (last_part(Vertex(yard).create(custom_job("exit 0", name=name))["name"]) for name in ("twice", "twice-more"))
    verb(yard, "wait", first, other)
    said = verb(yard, "delete", "twice", "twice", first)
    assert said == f"twice ({first}) is deleted\n"
    assert yard.get(f"{JOBS}/{first}").status == 404 and yard.get(f"{JOBS}/{other}").status == 200
    verb(yard, "delete", "@last", "@last")


COUNTS = "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); [ $((i % 300)) -ne 0 ] || sleep 0.05; done"


@pytest.mark.long
def test_a_followed_log_lacks_nothing_and_doubles_nothing(yard):
    job = yard.create(script(COUNTS))
    yard.wait_lines(job)
    expected = [f"line {i}" for i in range(3000)]
    with started(yard, "logs", "-f", job) as one, started(yard, "logs", "-f", job, "--tail", "5") as two:
        said, service = one.communicate(timeout=60)
        late, _ = two.communicate(timeout=60)
    assert said.splitlines() == expected and "Job completed successfully." in service
    assert late.splitlines() == expected[-len(late.splitlines()):] and late
    assert verb(yard, "logs", job).splitlines() == expected
    assert verb(yard, "logs", job, "--grep", "^line 29..$").splitlines() == expected[2900:]
    assert verb(yard, "logs", job, "-r", "master-0", "-n", "2").splitlines() == expected[-2:]
    assert "Job is running." in verb(yard, "logs", job, "-r", "service")
    assert "is not a regular expression" in verb(yard, "logs", job, "--grep", "(", code=2)
    assert "is not one of DEFAULT" in verb(yard, "logs", job, "--severity", "LOUD", code=2)


SLOW_COUNTS = "i=0; while [ $i -lt 240 ]; do echo line $i; i=$((i+1)); sleep 0.02; done"
SLOW_DATED = ("i=0; while [ $i -lt 240 ]; do echo '{\"time\":\"2026-01-0'$((i % 9 + 1))'T00:00:00Z\",\"message\":\"line '$i'\"}';"
              " i=$((i+1)); sleep 0.02; done")


@pytest.mark.parametrize("program_text", [SLOW_COUNTS, long(SLOW_DATED)], ids=["plain", "dated"])
def test_a_followed_log_goes_on_after_the_daemon_was_restarted(new_daemon, program_text):
    """Fails with: stream_read() without the cursor: all lines came again after each start.
    Fails with: stream_read() without skip: lines behind the cursor came twice.
    Fails with: log_follow() that takes the end of a stream for the end of the job: lines after a clean stop were missing."""
    daemon = new_daemon("--offline").start()
    daemon.listen = f"127.0.0.1:{daemon.port}"
    job = daemon.create(script(program_text))
    with started(daemon, "logs", "-f", job) as follower, started(daemon, "logs", "-f", job, "--tail", "1") as late:
        for end in (daemon.kill9, daemon.stop, daemon.kill9):
            seen = len(daemon.lines(job))
            wait_until(lambda seen=seen: len(daemon.lines(job)) > seen + 40, 30, "more lines")
            end()
            daemon.start()
        said, service = follower.communicate(timeout=60)
        tail, _ = late.communicate(timeout=60)
        assert follower.returncode == 0, service
    assert said.splitlines() == [f"line {i}" for i in range(240)]
    rows = tail.splitlines()
    assert len(set(rows)) == len(rows) and (rows == said.splitlines()[-len(rows):] or program_text is SLOW_DATED)
    assert service.count("Job completed successfully.") == 1
    daemon.stop()


@pytest.mark.long
def test_a_cursor_goes_on_where_it_was_given(new_daemon):
    """Fails with: cursor_read() that takes any text: the answer was 200."""
    daemon = new_daemon("--offline").start()
    job = daemon.create(script("echo one; sleep 0.2"))
    daemon.until(job, "SUCCEEDED")
    for cursor in ("x", "1.2.3", "1.2.1.3.4.", "1.2.1.3.4.x", "1.2.1.3.4.n5x"):
        assert daemon.get(f"{JOBS}/{job}:log", cursor=cursor).status == 400, cursor
    assert daemon.get(f"{JOBS}/{job}:log", skip=-1).status == 400
    lines = [json.loads(row) for row in daemon.get(f"{JOBS}/{job}:log", cursors="true", follow="true").data.splitlines()]
    assert "cursor" in lines[0] and lines[-1] == {"end": True}
    again = daemon.get(f"{JOBS}/{job}:log", cursor=lines[0]["cursor"], skip=1).data.splitlines()
    assert [json.loads(row) for row in again] == [line for line in lines if "time" in line][1:]
    daemon.stop()


@pytest.mark.long
def test_lines_that_a_program_dates_come_as_they_are_written(yard):
    """Fails with: view_give() that takes LOOK_NEW of a dated job: a line of yesterday never came."""
    dated = '{"time":"2026-01-0%dT00:00:00Z","message":"dated %d"}'
    words = "; sleep 0.2; ".join(["echo plain 1", f"echo '{dated % (2, 2)}'", f"echo '{dated % (1, 1)}'", "echo plain 2"])
    job = yard.create(script(words))
    with started(yard, "logs", "-f", job) as follower:
        said, _ = follower.communicate(timeout=60)
    assert said.splitlines() == ["plain 1", "dated 2", "dated 1", "plain 2"]
    assert verb(yard, "logs", job).splitlines() == ["dated 1", "dated 2", "plain 1", "plain 2"]


def test_replicas_are_told_apart_and_drive_no_terminal(yard):
    """Fails with: message_print() without the terminal's case: the title of the terminal changed."""
    job = yard.create(distributed(r"printf 'a\tb\033]0;owned\007\n'; " + UNTIL_RELEASED, r"printf 'from worker\n'", workers=1))
    yard.release(job, after={"worker-replica-0": 1, "master-replica-0": 1})
    verb(yard, "wait", job)
    said, code = on_terminal(yard, "logs", job, "-t", env={"TZ": "UTC"})
    assert code == 0 and "\033]" not in said and "\x07" not in said and "a       b ]0;owned" in said
    colours = {line.split("m", 1)[0] for line in said.replace("\033", "\n\033").splitlines() if "-replica-0" in line}
    assert len(colours) == 2, said
    assert "worker-replica-0  from worker" in verb(yard, "logs", job, "--replica", "worker-0")
    # Fails with: replicas_check() left out: nothing was printed, and with -f of a job that runs nothing ever came.
    assert "--replica: the job has no replica worker-7; it has " in verb(yard, "logs", job, "-r", "worker-0", "-r", "worker-7", code=2)
    assert "from worker" in verb(yard, "logs", job, "-r", "worker-replica-0") and verb(yard, "logs", job, "-r", "service") is not None


def test_a_log_is_json_where_that_is_asked_for(yard):
    """Fails with: a line as text for programs that read; the service's lines left out."""
    job = yard.create(script("echo one; echo two >&2"))
    verb(yard, "wait", job)
    lines = [json.loads(row) for row in verb(yard, "logs", job, "-o", "json").splitlines()]
    # The engine reads two pipes, so the order of lines from different streams is not defined.
    assert {line["message"]: line["severity"] for line in lines if line["replica"] == "master-replica-0"} == {"one": "INFO", "two": "ERROR"}
    assert lines[-1]["replica"] == "service" and {"time", "severity"} <= set(lines[-1])
    assert [json.loads(row)["message"] for row in verb(yard, "logs", "-f", job, "-o", "json", "--grep", "^tw").splitlines()] == ["two"]


@pytest.mark.long
def test_lines_of_both_streams_keep_their_order_in_one_pipe(yard):
    """Both streams go to one pipe, as CI systems capture them. Fails with: stdout without fflush(): all lines of the service
    came first."""
    job = yard.create(script("echo the program"))
    verb(yard, "wait", job)
    done = subprocess.run([program(), "logs", job], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                          env=environment(yard))
    rows = [row.split("  ")[-1] for row in done.stdout.splitlines()]
    assert rows.index("the program") < rows.index("Job completed successfully."), done.stdout


@pytest.mark.parametrize("columns", [40, long(80), long(120)])
def test_what_is_printed_fits_the_terminal(yard, columns):
    """Names and addresses are never shortened. Fails with: a reason that job_take() prints as one line; a style where NO_COLOR
    is set; version_run() without text_wrap(); columns that are not optional and stay in widths_fit(); requests without
    target_write(); error_line_print() without words_wrap(); message_print() that wraps no line of the service."""
    job = yard.create(script("echo the last words; exit 3"))
    verb(yard, "wait", job, code=1)
    assert Storage(yard, "printed").put("a/b.txt", b"x").status == 200
    for words in (["jobs"], ["describe", job], ["why", job], ["wait", job], ["queue"], ["gpus"], ["status"], ["clock"], ["version"],
                  ["requests"], ["requests", "--failed"], ["fault", "ls"], ["jobs", "--all"], ["ls", "-l", "gs://printed"],
                  ["why", "nosuch"], ["logs", job], ["logs", "-t", job], ["cancel", job], ["delete", job], ["jobs", "--wheels"], ["jobs", "--endpoint", "http://127.0.0.1:1"], ["reset"],
                  *([["help"], ["run", "--help"], ["serve", "--help"]] if columns >= 80 else []), ["doctor"]):
        said, _ = on_terminal(yard, *words, columns=columns, until="[y/N]", env={"NO_COLOR": "1"})
        assert not re.search(r"\033\[[0-9;]*m", said), (words, said)
        rows = re.split(r"[\r\n]+", re.sub(r"\033\[[0-9;?]*[A-Za-z]", "", said))
        wide = [row for row in rows if len(row) > columns and " " in row.split("  ")[-1].strip()]
        assert not wide, (words, wide)


def test_the_progress_of_a_wait_is_a_line_of_its_own(yard):
    """Fails with: error_line_print() that clears no progress: "job_1 is RUNNINGtrainyard: No job ...". job_take() that shows none
    again: after the end of one job nothing told of the other."""
    runs, ends = yard.create(script(RUNS_ON)), yard.create(script("exit 0"))
    yard.until(runs, "RUNNING")
    said, code = on_terminal(yard, "wait", runs, "nosuch")
    assert code == 1 and f"{runs} is RUNNING" in said and "\033[Ktrainyard: No job has" in said, repr(said)
    yard.until(ends, "SUCCEEDED")
    said, code = on_terminal(yard, "wait", runs, ends, "--timeout", "0.5s")
    assert code == 124 and f"\033[K{runs} is RUNNING" in said.split(f"{ends} SUCCEEDED")[1], repr(said)
    assert verb(yard, "cancel", runs) and verb(yard, "wait", runs, code=4)


COMPLETED = {
    "bash": """source <("$PROGRAM" completion bash); COMP_WORDS=("$PROGRAM" "$@"); COMP_CWORD=$#; _trainyard; printf '%s\\n' "${COMPREPLY[@]}" """,
    "fish": """"$PROGRAM" completion fish | source; complete -C "$PROGRAM $argv" | cut -f1""",
}


@pytest.mark.parametrize("shell", sorted(COMPLETED))
def test_names_of_jobs_are_completed(yard, shell, tmp_path):
    """Leaves out names with characters that a shell interprets; of jobs with the same name, completes the ids. Fails with:
    names_jobs left out of a row: files. name_is_plain() that takes all: the shell ran touch. word_of() without the counts: a
    name that the command refuses as that of two jobs."""
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not there")
    jobs = Vertex(yard, collection="customJobs")
    whole = f"whole-{shell}"
    names = [whole, f"twice-{shell}", f"twice-{shell}", f"$(touch {tmp_path}/ran)"]
    ids = [last_part(jobs.create(custom_job("exit 0", name=name))["name"]) for name in names]
    environ = {**environment(yard), "PROGRAM": program()}

    def words(*typed, **more):
        code, options = COMPLETED[shell], {"bash": ["--norc"], "fish": ["--no-config"]}[shell]
        done = subprocess.run([shell, *options, "-c", code, *(["sh"] if shell == "bash" else []), *typed],
                              capture_output=True, text=True, timeout=60, cwd=tmp_path, env={**environ, **more})
        return done.stdout.split()

    for verb_name in ("why", "logs", "wait", "cancel", "shell", "rerun", "ui"):
        assert {whole, ids[1], ids[2], ids[3]} <= set(words(verb_name, "")), verb_name
    assert words("describe", whole[:-1]) == [whole] and names[1] not in words("why", "")
    assert "--follow" in words("logs", "--fo") and whole not in words("logs", "--fo") + words("logs", "--severity", "")
    assert not list(tmp_path.iterdir())
    assert whole not in words("why", "", TRAINYARD_ENDPOINT="http://127.0.0.1:1")
    for id in ids:
        verb(yard, "wait", id)


@pytest.mark.long
def test_ctrl_c_leaves_the_job(yard):
    """Fails with: interrupt_expect() left out: nothing told how to cancel it."""
    job = yard.create(script("echo is up; " + RUNS_ON))
    said, code = on_terminal(yard, "logs", "-f", job, until="is up")
    assert code == 130 and f"\nTo end it:   trainyard cancel {job}\n" in said
    assert yard.job(job)["state"] == "RUNNING"
    verb(yard, "cancel", job)
    verb(yard, "wait", job, code=4)


def test_ctrl_c_leaves_a_job_that_run_and_rerun_have_submitted(yard):
    for words in (["run", IMAGE, "--name", "left_alone", "--api", "ml", "--project", yard.project, "--", "sh", "-c",
                   "echo it is up; " + RUNS_ON], ["rerun", "left_alone"]):
        said, code = on_terminal(yard, *words, until="is up")
        assert code == 130 and "The job goes on." in said, said
        job = re.search(r"trainyard cancel (\S+)", said).group(1)
        yard.until(job, "RUNNING")
        assert verb(yard, "cancel", job) and verb(yard, "wait", job, code=4)


def test_a_plan_fits_the_terminal(yard, tmp_path):
    """Fails with: plan_print() without text_wrap(): a deviation was a row of 110 characters."""
    (tmp_path / "job.yaml").write_text("workerPoolSpecs:\n- machineSpec: {machineType: n1-standard-4}\n  replicaCount: 1\n"
                                       f"  containerSpec: {{imageUri: '{IMAGE}'}}\n")
    for columns in (40, 80):
        said, code = on_terminal(yard, "submit", "--plan", "-f", str(tmp_path / "job.yaml"), columns=columns, env={"NO_COLOR": "1"})
        assert code == 0 and all(len(row) <= columns for row in said.splitlines()), said


@pytest.mark.long
def test_a_line_appears_soon(yard):
    """Fails with: logs_writer_await() that is never woken: a line came half a second late."""
    job = yard.create(script("until [ -e /released ]; do echo line; sleep 0.1; done"))
    yard.wait_lines(job)
    delays = []
    with started(yard, "logs", "-f", "-t", "--tail", "0", job) as follower:
        for line in follower.stdout:
            written = datetime.datetime.fromisoformat(line.rsplit(" ", 1)[0])
            delays.append((datetime.datetime.now() - written).total_seconds())
            if len(delays) == 20:
                yard.release(job)
    assert len(delays) >= 20
    print("delays of lines in ms:", sorted(round(d * 1000) for d in delays))
    assert sorted(delays)[len(delays) // 2] < 0.3


SAY = ("sh", "-c", "echo $1 $COLOUR; exit $2", "say")


@pytest.mark.parametrize("api", ["vertex", long("ml")])
def test_run_is_a_job_with_its_log_and_its_end(yard, api):
    """Fails with: job_attend() that ends as the log did: a job that failed was 0."""
    words = ["run", "--api", api, "--project", yard.project, IMAGE, "--"]
    with started(yard, *words, *SAY, "hello", "0") as good, started(yard, *words, *SAY, "bye", "3") as bad:
        said, service = good.communicate(timeout=60)
        assert good.returncode == 0 and said.strip() == "hello", service
        assert "is submitted" in service and "SUCCEEDED after" in service
        said, service = bad.communicate(timeout=60)
        assert bad.returncode == 1 and said.strip() == "bye" and "FAILED after" in service
    job = verb(yard, "run", "--api", api, "--project", yard.project, "--detach", "--name", f"named_{api}", IMAGE, "--", *SAY, "x", "0")
    assert yard.get(f"{JOBS}/named_{api}").json["id"] == job.strip()
    verb(yard, "wait", f"named_{api}")


@pytest.mark.long
def test_run_has_pools_and_variables(yard):
    """Fails with: vertex_body() without the empty pool: parameter servers were workers."""
    settings = ["--project", yard.project, "--ps", "2", "--gs", "gs://out/x", "-e", "COLOUR=red", "--region", "europe-west4"]
    verb(yard, "run", *settings, "--name", "many", IMAGE, "--", "sh", "-c", "echo $COLOUR $AIP_MODEL_DIR")
    said = verb(yard, "logs", "many")
    assert [line.split() for line in sorted(said.splitlines())] == [
        [replica, "red", "gs://out/x/model/"] for replica in ("workerpool0-0", "workerpool2-0", "workerpool2-1")]
    assert yard.get(f"{JOBS}/many").json["location"] == "europe-west4"


def test_run_says_why_it_does_not_start(yard):
    assert 'Machine type "nosuch" is not supported' in verb(yard, "run", "--machine", "nosuch", IMAGE, code=125)
    assert "take none" in verb(yard, "run", "--api", "ml", "-e", "A=1", IMAGE, code=2)
    assert "is not TYPE:COUNT" in verb(yard, "run", "--gpu", "T4:x", IMAGE, code=2)
    assert "IMAGE" in verb(yard, "run", code=2)


def test_run_asks_for_gpus_by_their_short_names(narrow_yard, crowd):
    job = verb(narrow_yard, "run", "--project", narrow_yard.project, "--gpu", "T4:2", "--workers", "1", "-d", IMAGE).strip()
    pools = narrow_yard.get("/v1/" + narrow_yard.get(f"{JOBS}/{job}").json["name"]).json["jobSpec"]["workerPoolSpecs"]
    assert [pool["machineSpec"] for pool in pools] == 2 * [
        {"machineType": "n1-standard-8", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 2}]
    verb(narrow_yard, "cancel", job)


POOL = """workerPoolSpecs:
- machineSpec:
    machineType: n1-standard-4
  replicaCount: 1
  containerSpec:
    imageUri: %s
    command: [sh, -c, "echo from the file"]
""" % IMAGE
AS_GCLOUD_TAKES_IT = {
    "customJobs": POOL,
    "jobs": f"trainingInput:\n  scaleTier: BASIC\n  masterConfig:\n    imageUri: {IMAGE}\n    containerCommand: [echo, from the file]\n",
    "hyperparameterTuningJobs": "studySpec:\n  metrics: [{metricId: m, goal: MAXIMIZE}]\n  parameters:\n"
                                "  - parameterId: x\n    doubleValueSpec: {minValue: 0, maxValue: 1}\ntrialJobSpec:\n  "
                                + POOL.replace("\n", "\n  ").replace("from the file", '{\\"m\\": 1}').rstrip() + "\n",
}


@pytest.mark.parametrize("family", ["customJobs", long("jobs"), long("hyperparameterTuningJobs")])
def test_submit_takes_what_gcloud_takes(yard, tmp_path, family):
    """Fails with: forms[] of job_text.c without workerPoolSpecs: the --config of a custom job was no job."""
    file = tmp_path / "my job.yaml"
    file.write_text(AS_GCLOUD_TAKES_IT[family])
    job = verb(yard, "submit", "-f", str(file), "--project", yard.project, "--detach").strip()
    told = yard.get(f"{JOBS}/{job}").json
    assert told["family"] == family and (told.get("displayName") or told["id"]).startswith("my_job_2")
    verb(yard, "cancel", job)
    if family != "hyperparameterTuningJobs":
        said = verb(yard, "submit", "-f", str(file), "--project", yard.project, "--name", f"filed_{family}")
        assert said == "from the file\n"
    planned = verb(yard, "submit", str(file), "--project", yard.project, "--plan")  # the file alone defines the job, too
    assert f" {IMAGE} on n1-standard-4: " in planned and "Unlike in the cloud" in planned and "n1-standard-4 has 4" in planned


def test_a_page_has_the_same_text_read(yard):
    """The daemon accepts YAML as `submit` does, so that a script need not parse it."""
    for family, text in AS_GCLOUD_TAKES_IT.items():
        told = yard.post(f"{JOBS}:read", {"text": text, "name": "from_a_page"}).json
        assert told["collection"] == family and told["body"][told["nameField"]] == "from_a_page"
        place = f"projects/{yard.project}" + ("" if family == "jobs" else "/locations/us-central1")
        assert yard.post(f"/_trainyard/v1/{place}/{family}:plan", told["body"]).json["replicas"][0]["image"] == IMAGE
    for body, message in (({"text": "a: 1\n b: 2"}, "The text: line 2: "), ({"text": "{"}, "The text: line 1: "),
                          ({"text": "a: 1"}, "this does not describe a job: it has none of"),
                          ({}, "There is no text"), ({"text": 1}, "Invalid value at 'text'"), ({"yaml": ""}, "Unknown name \"yaml\"")):
        answer = yard.post(f"{JOBS}:read", body)
        assert (answer.status, answer.error["status"]) == (400, "INVALID_ARGUMENT") and message in answer.error["message"], answer


@pytest.mark.long
def test_submit_takes_whole_jobs_as_json(yard, tmp_path):
    for body in (custom_job("echo whole"), pipeline("echo whole")):
        file = tmp_path / "job.json"
        file.write_text(json.dumps(body))
        assert verb(yard, "submit", "-f", str(file), "--project", yard.project) == "whole\n"
        assert f" {IMAGE} on n1-standard-4: " in verb(yard, "submit", "-f", str(file), "--project", yard.project, "--plan")


@pytest.mark.parametrize("text,code,said", [
    ("a: 1\n b: 2", 2, "line 2: "), ("{\"a\": }", 2, "line 1: "), ("a: 1", 2, "does not describe a job: it has none of"),
    ("workerPoolSpecs: []", 125, "worker_pool_specs"), ("", 2, "it is empty")])
def test_submit_says_what_is_wrong_with_a_file(yard, tmp_path, text, code, said):
    (tmp_path / "job").write_text(text)
    assert said in verb(yard, "submit", "-f", str(tmp_path / "job"), code=code)
    assert "No such file" in verb(yard, "submit", "-f", str(tmp_path / "nosuch"), code=2)
    assert "which file?" in verb(yard, "submit", code=2)
    assert "two files" in verb(yard, "submit", "a", "-f", "b", code=2)


def test_why_tells_what_a_job_waits_for(narrow_yard, crowd):
    said = verb(narrow_yard, "why", "crowd-custom")
    assert "has been QUEUED for" in said and "waits for" in said and f"cancel {crowd['customJobs']}" in said
    assert "has been RUNNING" in verb(narrow_yard, "why", crowd["runs"]) and "up" in verb(narrow_yard, "why", crowd["runs"])
    for family in ("trainingPipelines", "hyperparameterTuningJobs"):
        assert "Unlike in the cloud" in verb(narrow_yard, "describe", crowd[family]), family


def test_faults_are_ordered_listed_and_taken_back(yard):
    """Fails with: rule_read() that ends after the first member: every exit had the code 1."""
    rule = verb(yard, "fault", "add", "exit", "job=struck_*", "exitCode=77").strip()
    assert "job=struck_*, exitCode=77" in verb(yard, "fault", "ls")
    verb(yard, "run", "--api", "ml", "--project", yard.project, "--name", "struck_1", IMAGE, "--", "sleep", "30", code=1)
    assert "status of 77" in verb(yard, "why", "struck_1")
    assert json.loads(verb(yard, "fault", "-o", "json"))["faults"][0]["hits"] == "1"
    assert verb(yard, "fault", "ls", "-o", "name") == f"{rule}\n"  # Fails with: faults_print() that knows no names: the table
    assert verb(yard, "fault", "rm", rule) == "" and verb(yard, "fault", "ls") == ""
    assert on_terminal(yard, "fault", "ls") == ("There are no rules.\n", 0)
    assert "exits" in verb(yard, "fault", "add", "exits", code=1)
    assert "is not MEMBER=VALUE" in verb(yard, "fault", "add", "exit", "job", code=2)
    assert "is not one of add, ls, rm" in verb(yard, "fault", "remove", code=2)


@pytest.mark.long
def test_the_clock_is_put_forward(new_daemon):
    with new_daemon("--clock", "steppable") as daemon:
        verb(daemon, "clock", "advance", "2d")
        now = verb(daemon, "clock")
        local = datetime.datetime.fromisoformat(now.split(",")[0])
        assert now.endswith(", 2d ahead\n") and local > datetime.datetime.now() + datetime.timedelta(days=1.9)
        assert ", 2d ahead (steppable)" in verb(daemon, "status")
        assert json.loads(verb(daemon, "clock", "-o", "json"))["offset"].startswith("172800")
        assert datetime.datetime.fromisoformat(verb(daemon, "clock", "-o", "name").strip().replace("Z", "+00:00"))
        assert "is not a duration" in verb(daemon, "clock", "advance", "soon", code=2)
    with new_daemon() as daemon:
        assert "not steppable" in verb(daemon, "clock")
        assert "--clock steppable" in verb(daemon, "clock", "advance", "1s", code=1)
