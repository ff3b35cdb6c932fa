# SPDX-License-Identifier: Apache-2.0
"""Injected faults: their effects on jobs and calls, and that logs and reports mark them as injected."""
import http.client
import json
import subprocess
import time

import pytest

from support.custom_jobs import CustomJobs, pool
from support.daemon import UNTIL_RELEASED, distributed, script
from support.gcloud import needs_gcloud
from support.wait import wait_until

FAULTS = "/_trainyard/v1/faults"
WAIT = "while :; do sleep 0.1; done"
WHO_AM_I = ('echo "I am $(hostname) $(hostname -i) with $(ls /tmp | grep -c visited)"; touch /tmp/visited; ')


def order(yard, fault, **rule):
    answer = yard.post(FAULTS, dict(fault=fault, **rule))
    assert answer.status == 200, answer
    assert answer.json["hits"] == "0" and "lastHitTime" not in answer.json, answer
    return answer.json["id"]


def rule(yard, number):
    answer = yard.get(f"{FAULTS}/{number}")
    assert answer.status == 200, answer
    return answer.json


def told(yard, job_id, number):
    """The lines about a rule in the log and in the report, which must be equal."""
    lines = [text for severity, text in yard.service_lines(job_id)
             if severity == "WARNING" and text.startswith(f"Fault rule {number}: ")]
    report = yard.get(f"/_trainyard/v1/projects/{yard.project}/jobs/{job_id}/report").json
    reported = [d["text"] for d in report["differences"] if d["code"] == "fault-ordered"]
    assert sorted(lines) == sorted(text for text in reported if text.startswith(f"Fault rule {number}: ")), report
    return lines


@pytest.fixture(autouse=True)
def no_rules_are_left(yard):
    yield
    assert yard.request("DELETE", FAULTS).status == 200


# Fails with: faults_end() that takes a preemption for an exit.
def test_a_preempted_worker_begins_anew_under_its_name(yard):
    job_id = yard.new_id()
    number = order(yard, "preempt", job=job_id, role="worker", replica=1, logPattern="^I am .* with 0$")
    yard.create(distributed(UNTIL_RELEASED, WHO_AM_I + WAIT, workers=2), job_id=job_id)
    lines = yard.wait_lines(job_id, "worker-replica-1", 2)
    assert lines == [lines[0], lines[0]] and lines[0].endswith("with 0")
    assert yard.job(job_id)["state"] == "RUNNING"
    yard.release(job_id, after={"worker-replica-0": 1})
    yard.until(job_id, "SUCCEEDED")
    assert len(yard.lines(job_id, "worker-replica-0")) == 1
    assert told(yard, job_id, number) == [f"Fault rule {number}: the replica worker 1 is preempted. This fault is injected."]
    assert ("WARNING", "The replica worker 1 was lost and is restarted (1 of 5 times).") in yard.service_lines(job_id)
    found = rule(yard, number)
    assert found["hits"] == "1" and found["lastHitTime"] >= found["createTime"]


# Fails with: decide_kill() that gives no grace to what is stopped.
@pytest.mark.long
def test_a_stopped_master_alone_is_tried_again_as_a_whole(yard):
    job_id = yard.new_id()
    order(yard, "stop", job=job_id, logPattern="ready", attempt=1)
    yard.create(script('trap "sleep 0.3; echo told; exit 0" TERM; echo ready; ' + UNTIL_RELEASED), job_id=job_id)
    assert yard.wait_lines(job_id, count=3) == ["ready", "told", "ready"]
    yard.release(job_id)
    yard.until(job_id, "SUCCEEDED")


# Fails with: faults_end() with the exit code 1 for all; without out_of_memory.
@pytest.mark.parametrize("fault,words,more", [
    ("exit", "exited with a non-zero status of 42.", {"exitCode": 42}),
    ("oom", "ran out-of-memory and exited with a non-zero status of 9(SIGKILL)", {}),
])
def test_an_ordered_end_is_told_as_a_real_one(yard, fault, words, more):
    job_id = yard.new_id()
    number = order(yard, fault, job=job_id, afterSeconds=0.2, **more)
    job = yard.run(script(WAIT), job_id=job_id, expect="FAILED")
    assert job["errorMessage"].startswith(f"The replica master 0 {words}"), job
    assert len(told(yard, job_id, number)) == 1
    assert yard.containers(job_id) == []


# Fails with: is_used_up() that lets every rule hit once.
@pytest.mark.long
def test_a_crash_is_tried_again_as_often_as_was_ordered(yard):
    job_id = yard.new_id()
    number = order(yard, "crash", job=job_id, exitCode=134, count=2, logPattern="attempt")
    yard.create(script("echo attempt; " + UNTIL_RELEASED), job_id=job_id)
    yard.release(job_id, after={"master-replica-0": 3})
    yard.until(job_id, "SUCCEEDED")
    assert yard.lines(job_id) == ["attempt"] * 3
    assert len(told(yard, job_id, number)) == 2 and rule(yard, number)["hits"] == "2"


def test_a_stockout_holds_each_job_that_it_hits(yard):
    """Fails with: decision_on_commit() that keeps the row: the walk along the queue admitted 35 of 40, before the fault had its
    effect."""
    held = [yard.new_id() for _ in range(10)]
    for job_id in held:
        order(yard, "stockout", job=job_id, seconds=600)
        yard.create(script("true"), job_id=job_id)
        wait_until(lambda job_id=job_id: any(text.startswith("Fault rule") for _, text in yard.service_lines(job_id)), 10, "it is told")
        assert yard.job(job_id)["state"] == "QUEUED"
    for job_id in held:
        yard.cancel(job_id)
        yard.until(job_id, "CANCELLED")


# Fails with: faults_hold() that returns false.
def test_a_stockout_holds_a_job_back_for_its_time(yard):
    job_id = yard.new_id()
    order(yard, "stockout", job=job_id, seconds=5)
    started = time.monotonic()
    yard.create(script("true"), job_id=job_id)
    wait_until(lambda: any(text.startswith("Fault rule") for _, text in yard.service_lines(job_id)), 10, "it is told")
    assert yard.job(job_id)["state"] == "QUEUED"
    yard.until(job_id, "SUCCEEDED")
    assert time.monotonic() - started >= 5


# Fails with: queued_apply() that does nothing.
def test_a_stockout_for_good_fails_a_custom_job_in_the_services_words(yard):
    jobs = CustomJobs(yard)
    answer = yard.post(FAULTS, {"fault": "stockout", "job": "te?t"})
    assert answer.status == 200, answer
    _, job = jobs.run(pool("true"), expect="JOB_STATE_FAILED")
    assert job["error"]["code"] == 8, job
    assert job["error"]["message"].startswith("Resources are insufficient in region: us-central1."), job


def test_a_cut_network_comes_back_and_the_job_goes_on(new_daemon):
    watch = ("master=$(grep -m 1 training-master /etc/hosts | cut -f 1); was=; while :; do "
             # nc's -w limits only the connecting: a connection that is cut off later would wait for ever.
             'if timeout 2 nc -w 1 $master 2222 </dev/null >/dev/null 2>&1; then is=up; else is=down; fi; '
             '[ "$is" = "$was" ] || echo $is; was=$is; sleep 0.1; done')
    with new_daemon("--offline", "--clock", "steppable") as daemon:
        job_id = daemon.new_id()
        number = order(daemon, "cutNetwork", job=job_id, role="worker", replica=0, logPattern="^up$", seconds=3600)
        daemon.create(distributed("httpd -p 2222 -h /tmp; " + UNTIL_RELEASED, watch, workers=2), job_id=job_id)

        def says(words, worker=0):
            wait_until(lambda: words in " ".join(daemon.lines(job_id, f"worker-replica-{worker}")), 60, words)
        says("up", worker=1)
        # Fails with: decide_link() asks for nothing.
        says("up down")
        hit, = daemon.get(f"/_trainyard/v1/jobs/{job_id}:timeline").json["faults"]
        assert (hit["rule"], hit["fault"], hit["replica"], hit["attempt"], hit["lasts"]) == (str(number), "cutNetwork", "worker-replica-0", 1, True)
        assert daemon.post("/_trainyard/v1/clock", {"advance": "3600s"}).status == 200
        says("up down up")
        # Fails with: fault_write() by the real clock.
        hit, = daemon.get(f"/_trainyard/v1/jobs/{job_id}:timeline").json["faults"]
        assert "lasts" not in hit and hit["endTime"]
        assert daemon.job(job_id)["state"] == "RUNNING"
        other = daemon.lines(job_id, "worker-replica-1")
        assert other[other.index("up"):] == ["up"], other
        daemon.release(job_id)
        daemon.until(job_id, "SUCCEEDED")
        assert told(daemon, job_id, number) == [
            f"Fault rule {number}: the replica worker 0 is cut off from its network for 3600 s. This fault is injected."]


WHOLE = 20 << 20
# Transfers the same amount from and to the master: before the network is slowed, during that, and afterwards.
SLOWED = f"""
master=$(grep -m 1 training-master /etc/hosts | cut -f 1)
sent() {{ cat /sys/class/net/eth0/statistics/tx_bytes; }}
is_slow() {{ ip link show dev eth0 | grep -q 'qdisc tbf' && [ -e /sys/class/net/ty-slow ]; }}
is_fast() {{ ip link show dev eth0 | grep -q 'qdisc noqueue' && [ ! -e /sys/class/net/ty-slow ]; }}
look() {{
  got=$(wc -c </tmp/got) through=$(cat /sys/class/net/ty-slow/statistics/tx_bytes) sent=$(($(sent) - before))
}}
until wget -q -O /tmp/got http://$master:2222/whole 2>/dev/null; do sleep 0.1; done
echo "fetched $(wc -c </tmp/got)"
rm /tmp/got
until is_slow; do sleep 0.1; done
before=$(sent)
wget -q -O /tmp/got http://$master:2222/whole & fetch=$!
nc $master 3333 </whole & send=$!
until [ -s /tmp/got ] && [ $(sent) -gt $((before + 4096)) ]; do sleep 0.1; done
look
while is_slow; do
  seen="$got $through $sent"
  [ "$told" ] || echo "slow $seen"
  told=1
  sleep 0.1
  look 2>/dev/null
done
echo "meanwhile $seen"
until is_fast; do sleep 0.1; done
wait $fetch $send
echo "fetched $(wc -c </tmp/got) sent $(($(sent) - before > {WHOLE}))"
"""
SERVES = f"httpd -p 2222 -h /; tail -f /dev/null | nc -l -p 3333 >/dev/null & {UNTIL_RELEASED}"


def slow_lines(daemon, job_id, count):
    """The lines of the slowed worker; skips if the machine's kernel cannot limit a network."""
    def said():
        for _, text in daemon.service_lines(job_id):
            if "cannot be slowed by the injected fault: the kernel has no" in text:
                pytest.skip(text)
        lines = daemon.lines(job_id, "worker-replica-0")
        return lines if len(lines) >= count else None
    return wait_until(said, 60, f"{count} lines of the slowed worker")


def test_a_slow_network_is_slow_both_ways_until_its_time_is_over(new_daemon):
    with new_daemon("--offline", "--clock", "steppable") as daemon:
        job_id = daemon.new_id()
        number = order(daemon, "slowNetwork", job=job_id, role="worker", replica=0, logPattern="^fetched", seconds=3600,
                       bytesPerSecond=20000)
        make = f"head -c {WHOLE} /dev/zero >/whole; "
        daemon.create(distributed(make + SERVES, make + SLOWED, workers=1), job_id=job_id)
        fetched, slow = slow_lines(daemon, job_id, 2)
        _, got, through, _ = slow.split()
        # Fails with: throttle.c takes the redirection away again: nothing goes through its device.
        assert fetched == f"fetched {WHOLE}" and 0 < int(got) <= int(through), slow
        # The helper that slows the network is removed; only a daemon that is killed meanwhile leaves one.
        label = "trainyard.instance=" + daemon.read_instance()
        wait_until(lambda: len(daemon.engine.containers(label)) == 2, 30, "the replicas are alone")
        daemon.kill9()
        name = f"ty-{daemon.read_instance()}-left-throttle"
        daemon.engine.call("POST", f"/containers/create?name={name}", {"Image": "trainyard-test:1", "Labels": {
            "trainyard.instance": daemon.read_instance(), "trainyard.throttle": name}})
        daemon.start()
        # Fails with: throttle_sweep() removes nothing.
        wait_until(lambda: "/" + name not in daemon.engine.leftovers(daemon.read_instance()), 30, "it is removed")
        assert daemon.post("/_trainyard/v1/clock", {"advance": "3600s"}).status == 200
        lines = slow_lines(daemon, job_id, 4)
        _, got, _, sent = lines[2].split()
        assert 0 < int(got) < WHOLE and 0 < int(sent) < WHOLE, lines
        assert lines[3] == f"fetched {WHOLE} sent 1"
        daemon.release(job_id)
        daemon.until(job_id, "SUCCEEDED")
        assert told(daemon, job_id, number) == [
            f"Fault rule {number}: the replica worker 0 sends and gets at most 20000 bytes a second for 3600 s. "
            "This fault is injected."]
        assert not [text for _, text in daemon.service_lines(job_id) if "cannot be slowed" in text]


# Fails with: image_apply() that does nothing.
def test_an_image_that_is_ordered_away_fails_the_job(yard):
    job_id = yard.new_id()
    number = order(yard, "imagePull", job=job_id)
    job = yard.run(script("true"), job_id=job_id, expect="FAILED")
    assert "the image trainyard-test:1 cannot be pulled" in job["errorMessage"], job
    assert len(told(yard, job_id, number)) == 1


# Fails with: quota_answer() that returns STATUS_OK.
def test_a_quota_refuses_the_creating_call(yard):
    job_id = yard.new_id()
    order(yard, "quota", job=job_id, project=yard.project)
    body = {"jobId": job_id, "trainingInput": script("true")}
    answer = yard.post(yard.jobs_path, body)
    assert answer.status == 429 and answer.error["status"] == "RESOURCE_EXHAUSTED", answer
    assert answer.error["message"].startswith("Quota exceeded for quota metric 'Job submission requests'"), answer
    assert any(detail["@type"].endswith("QuotaFailure") for detail in answer.error["details"]), answer
    assert yard.post(yard.jobs_path, body).status == 200
    yard.until(job_id, "SUCCEEDED")


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_a_quota_refuses_a_custom_job_in_the_services_words(yard, version):
    """Fails with: the row's sentence NULL: that of ml, of too many calls."""
    jobs = CustomJobs(yard)
    number = order(yard, "quota", project=yard.project)
    body = {"displayName": "q", "jobSpec": {"workerPoolSpecs": [pool("true")]}}
    answer = yard.post(jobs.path.replace("/v1/", f"/{version}/"), body)
    assert answer.status == 429 and answer.error["status"] == "RESOURCE_EXHAUSTED", answer
    assert answer.error["message"] == ("The following quota metrics exceed quota limits: "
                                       "aiplatform.googleapis.com/custom_model_training_cpus"), answer
    assert rule(yard, number)["hits"] == "1"


# Fails with: error_answer() that does not look at its table; is_used_up() as above.
@pytest.mark.parametrize("status,words", [(429, "RESOURCE_EXHAUSTED"), (500, "INTERNAL"), (503, "UNAVAILABLE")])
def test_calls_are_answered_with_errors_as_often_as_was_ordered(yard, status, words):
    number = order(yard, "httpStatus", method="ml.projects.jobs.list", httpStatus=status, count=2)
    seen = [yard.get(yard.jobs_path) for _ in range(3)]
    assert [answer.status for answer in seen] == [status, status, 200]
    assert seen[0].error["status"] == words
    assert rule(yard, number)["hits"] == "2"


# Fails with: unpublished_name() that knows none.
def test_storage_and_logging_are_hit_by_their_own_names(yard):
    order(yard, "httpStatus", method="storage.objects.insert", httpStatus=503)
    order(yard, "httpStatus", method="storage.objects.get", httpStatus=503, count=2)
    order(yard, "httpStatus", method="logging.*", httpStatus=503)
    where = "/upload/storage/v1/b/faults-bucket/o?uploadType=media&name=a"
    assert [yard.post(where, b"x").status for _ in range(2)] == [503, 200]
    assert yard.get("/storage/v1/b/faults-bucket/o/a", alt="media").status == 503
    assert yard.get("/faults-bucket/a").status == 503
    assert yard.get("/faults-bucket/a").data == b"x"
    assert [yard.post("/v2/entries:list", {"resourceNames": [f"projects/{yard.project}"]}).status
            for _ in range(2)] == [503, 200]


# Fails with: a gateway that is opened without its gate.
def test_storage_calls_of_replicas_are_hit_too(yard):
    order(yard, "httpStatus", method="storage.buckets.*", httpStatus=503)
    job_id = yard.create(script('for _ in 1 2; do wget -q -O /dev/null "$STORAGE_EMULATOR_HOST/storage/v1/b?project=p" '
                                '&& echo good || echo bad; done'))
    yard.until(job_id, "SUCCEEDED")
    assert [line for line in yard.lines(job_id) if line in ("good", "bad")] == ["bad", "good"]


# Fails with: call_delay() that does not wait; order_carry_out() that cuts no replica off.
def test_an_answer_is_late_or_never_comes(yard):
    late = order(yard, "timeout", method="ml.projects.jobs.list", seconds=0.3)
    started = time.monotonic()
    assert yard.get(yard.jobs_path).status == 200 and time.monotonic() - started >= 0.3
    assert rule(yard, late)["hits"] == "1"
    order(yard, "timeout", method="ml.projects.jobs.*")
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        yard.get(yard.jobs_path)
    assert yard.get(yard.jobs_path).status == 200


# Fails with: is_used_up() that lets every rule hit once.
@pytest.mark.long
@needs_gcloud
def test_gcloud_tries_again_when_it_is_told_503(yard, gcloud):
    job_id = yard.create(script("true"))
    yard.until(job_id, "SUCCEEDED")
    number = order(yard, "httpStatus", method="ml.projects.jobs.get", httpStatus=503, count=2)
    assert json.loads(gcloud("describe", job_id, "--format", "json").stdout)["jobId"] == job_id
    assert rule(yard, number)["hits"] == "2"


# Fails with: fault_drawn() that draws without the seed; by another key each time.
def test_luck_is_the_same_each_time(new_daemon):
    def draws(*options):
        with new_daemon("--offline", *options) as daemon:
            order(daemon, "httpStatus", method="ml.projects.jobs.list", httpStatus=503, probability=0.5)
            return [daemon.get(daemon.jobs_path).status for _ in range(30)]
    first = draws("--seed", "7")
    assert first == draws("--seed", "7") and {200, 503} == set(first)
    assert first != draws("--seed", "8")


# Fails with: fault_registry_remove() that leaves the rule in the store.
def test_rules_are_listed_and_taken_back(yard):
    first = order(yard, "preempt", job="no-such-job", role="ps")
    second = order(yard, "oom", job="no-such-job")
    listed = yard.get(FAULTS).json["faults"]
    assert [found["id"] for found in listed] == [first, second]
    assert listed[0]["fault"] == "preempt" and listed[0]["role"] == "ps"
    assert yard.request("DELETE", f"{FAULTS}/{first}").status == 200
    assert yard.request("DELETE", f"{FAULTS}/{first}").status == 404
    assert yard.get(f"{FAULTS}/{first}").status == 404
    assert yard.get(FAULTS).json["faults"] == [rule(yard, second)]


# Fails with: fault_rule_read() that forgets what it found; trial, attempt, count or seconds without FIELD_PRESENCE.
@pytest.mark.parametrize("body,words", [
    ({}, "Field: fault Error: The field is required."),
    ({"fault": "explode"}, "explode"),
    ({"fault": "preempt", "httpStatus": 503}, "Field: http_status Error: The field has no meaning for the fault preempt."),
    ({"fault": "exit"}, "Field: exit_code"),
    ({"fault": "crash", "exitCode": 1}, "Field: exit_code"),
    ({"fault": "httpStatus", "method": "*", "httpStatus": 418}, "Field: http_status"),
    ({"fault": "timeout"}, "Field: method"),
    ({"fault": "oom", "logPattern": "("}, "Field: log_pattern"),
    ({"fault": "oom", "probability": 2}, "Field: probability"),
    ({"fault": "oom", "role": "boss"}, "Field: role"),
    ({"fault": "oom", "afterSeconds": 1, "logPattern": "x"}, "when"),
    ({"fault": "oom", "trial": 0}, "Field: trial"),
    ({"fault": "oom", "attempt": 0}, "Field: attempt"),
    ({"fault": "oom", "count": 0}, "Field: count"),
    ({"fault": "stockout", "seconds": 0}, "Field: seconds"),
    ({"fault": "stockout", "attempt": 2}, "Field: attempt"),
    ({"fault": "httpStatus", "httpStatus": 503, "method": "storage.*", "project": "p"}, "belong to no project and no job"),
    ({"fault": "timeout", "method": "logging.entries.list", "job": "j"}, "belong to no project and no job"),
    ({"fault": "slowNetwork"}, "Field: bytes_per_second"),
    ({"fault": "slowNetwork", "bytesPerSecond": 1999}, "Field: bytes_per_second"),
    ({"fault": "cutNetwork", "bytesPerSecond": 20000}, "The field has no meaning for the fault cutNetwork."),
])
def test_rules_that_cannot_be_are_refused(yard, body, words):
    answer = yard.post(FAULTS, body)
    assert answer.status == 400 and answer.error["status"] == "INVALID_ARGUMENT" and words in answer.error["message"], answer
    assert yard.get(FAULTS).json == {"faults": []}


# Fails with: stored_take() that begins with no hits; faults_file_take() that leaves the rules of the last start.
def test_a_scenario_goes_on_after_a_crash_of_the_daemon(new_daemon, tmp_path):
    file = tmp_path / "faults.json"
    file.write_text(json.dumps([{"fault": "exit", "exitCode": 9, "logPattern": "now", "job": "survivor*"},
                                {"fault": "httpStatus", "httpStatus": 503, "method": "ml.projects.jobs.list", "count": 2}]))
    daemon = new_daemon("--offline", "--faults", str(file)).start()
    job_id = daemon.create(script(UNTIL_RELEASED + "; echo now; " + WAIT), job_id="survivor_1")
    daemon.until(job_id, "RUNNING")
    assert daemon.get(daemon.jobs_path).status == 503
    daemon.kill9()
    daemon.start()
    assert [found["hits"] for found in daemon.get(FAULTS).json["faults"]] == ["0", "1"]
    daemon.release(job_id)
    job = daemon.until(job_id, "FAILED")
    assert job["errorMessage"].startswith("The replica master 0 exited with a non-zero status of 9."), job
    assert [daemon.get(daemon.jobs_path).status for _ in range(2)] == [503, 200]
    daemon.stop()
    file.write_text(json.dumps({"faults": [{"fault": "oom", "job": "other"}]}))
    daemon.start()
    assert [found["fault"] for found in daemon.get(FAULTS).json["faults"]] == ["oom"]


# Fails with: rules_read() and rule_read() that return STATUS_OK for what they cannot read.
@pytest.mark.parametrize("text,words", [
    (None, "unable to open"),
    ("[{]", "line 1: "),
    ("{}", "a list of rules is expected"),
    ('[{"fault": "oom"}, {"fault": "exit"}]', "rule 2: Field: exit_code Error: "),
    ('[{"fault": "timeout", "method": "ml.jobs"}]', "rule 1: Field: method Error: trainyard has no method with the name"),
])
def test_a_file_of_rules_that_is_wrong_is_told_in_one_line(new_daemon, tmp_path, text, words):
    file = tmp_path / "faults.json"
    if text is not None:
        file.write_text(text)
    done = subprocess.run([*new_daemon().command(), "--faults", str(file)], capture_output=True, text=True, timeout=30)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done
    assert done.stderr.startswith("trainyard: --faults: ") and words in done.stderr, done
