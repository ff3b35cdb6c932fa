# SPDX-License-Identifier: Apache-2.0
"""Injected faults in calls of Vertex AI over HTTP and gRPC: each method is matched by its name, and no other."""
import contextlib
import http.client
import os
import socket
import threading

import pytest

from support.custom_jobs import pool
from support.daemon import Daemon
from support.engine import NO_ENGINE
from support.grpc_peer import SERVICE, Peer, code, message, named, part
from support.vertex import Vertex, pipeline
from support.wait import wait_until

FAULTS = "/_trainyard/v1/faults"
PARENT = "projects/demo-project/locations/us-central1"
METHODS = "aiplatform.projects.locations."
PIPELINES = SERVICE.replace("JobService", "PipelineService")
MODELS = SERVICE.replace("JobService", "ModelService")
OPERATIONS = "/google.longrunning.Operations/"
LOCATIONS = "/google.cloud.location.Locations/"


@pytest.fixture(scope="module")
def front(tmp_path_factory):
    daemon = Daemon(tmp_path_factory.mktemp("front"), NO_ENGINE, "--offline", "--grpc", "127.0.0.1:0",
                    "--clock", "steppable").start()
    yield daemon
    daemon.stop()


@pytest.fixture(autouse=True)
def no_rules_are_left(front):
    yield
    assert front.request("DELETE", FAULTS).status == 200


def order(front, fault, **rule):
    answer = front.post(FAULTS, dict(fault=fault, **rule))
    assert answer.status == 200, answer
    return answer.json["id"]


def hits(front, number):
    return int(front.get(f"{FAULTS}/{number}").json["hits"])


def by_grpc(front, path, body):
    """Makes a call by gRPC; returns its headers and trailers."""
    with Peer(front.grpc_port) as peer:
        stream = peer.call(path, message(body))
        return peer.ends()[stream]


def is_status(answer, number):
    """Whether a call failed with this gRPC status. A status of two digits has another length on the wire."""
    return b"\x9a\xca\xc8\xb2\x124\xda\x8f" + code(number) in answer


ONE = f"{PARENT}/customJobs/1"
TUNING = f"{PARENT}/hyperparameterTuningJobs/1"
LINE = f"{PARENT}/trainingPipelines/1"
MODEL = f"{PARENT}/models/1"
OPERATION = f"{PARENT}/operations/1"
OF_JOB = f"{ONE}/operations/1"
# Rows: the method's name, the HTTP request, the gRPC name, and the resource that the call names.
CALLS = [
    ("customJobs.get", "GET", ONE, SERVICE + "GetCustomJob", ONE),
    ("customJobs.list", "GET", f"{PARENT}/customJobs", SERVICE + "ListCustomJobs", PARENT),
    ("customJobs.delete", "DELETE", ONE, SERVICE + "DeleteCustomJob", ONE),
    ("customJobs.cancel", "POST", ONE + ":cancel", SERVICE + "CancelCustomJob", ONE),
    ("hyperparameterTuningJobs.get", "GET", TUNING, SERVICE + "GetHyperparameterTuningJob", TUNING),
    ("hyperparameterTuningJobs.list", "GET", f"{PARENT}/hyperparameterTuningJobs", SERVICE + "ListHyperparameterTuningJobs",
     PARENT),
    ("hyperparameterTuningJobs.cancel", "POST", TUNING + ":cancel", SERVICE + "CancelHyperparameterTuningJob", TUNING),
    ("trainingPipelines.get", "GET", LINE, PIPELINES + "GetTrainingPipeline", LINE),
    ("trainingPipelines.list", "GET", f"{PARENT}/trainingPipelines", PIPELINES + "ListTrainingPipelines", PARENT),
    ("trainingPipelines.delete", "DELETE", LINE, PIPELINES + "DeleteTrainingPipeline", LINE),
    ("models.get", "GET", MODEL, MODELS + "GetModel", MODEL),
    ("models.list", "GET", f"{PARENT}/models", MODELS + "ListModels", PARENT),
    ("models.listVersions", "GET", MODEL + ":listVersions", MODELS + "ListModelVersions", MODEL),
    ("operations.get", "GET", OPERATION, OPERATIONS + "GetOperation", OPERATION),
    ("operations.list", "GET", f"{PARENT}/operations", OPERATIONS + "ListOperations", None),
    ("operations.wait", "POST", OPERATION + ":wait", OPERATIONS + "WaitOperation", OPERATION),
    ("customJobs.operations.get", "GET", OF_JOB, OPERATIONS + "GetOperation", OF_JOB),
    ("get", "GET", PARENT, LOCATIONS + "GetLocation", PARENT),
]


# Fails with: apis[] without "aiplatform-other", so that operations by gRPC are never hit; without "aiplatform-beta".
@pytest.mark.parametrize("method,verb,path,call,name", CALLS, ids=[row[0] for row in CALLS])
def test_each_method_is_hit_by_its_name_alone(front, method, verb, path, call, name):
    others = [row[0] for row in CALLS if row[0] != method]
    wrong = [order(front, "httpStatus", method=METHODS + other, httpStatus=500, count=9) for other in others]
    number = order(front, "httpStatus", method=METHODS + method, httpStatus=503, count=3)
    for version in ("v1", "v1beta1"):
        answer = front.request(verb, f"/{version}/{path}", {} if verb == "POST" else None)
        assert answer.status == 503 and answer.error["status"] == "UNAVAILABLE", answer
        assert answer.error["message"] == f"Fault rule {number}: this error is injected.", answer
    # ListOperations has the parent's name in field 4.
    answer = by_grpc(front, call, named(name) if name else part(4, PARENT.encode()))
    assert is_status(answer, 14), answer
    assert hits(front, number) == 3 and not any(hits(front, other) for other in wrong)
    assert front.request(verb, f"/v1/{path}", {} if verb == "POST" else None).status in (200, 404)


# Fails with: httpStatus is ignored: all are 500; statuses[] without 504.
@pytest.mark.parametrize("status,word,number", [
    (429, "RESOURCE_EXHAUSTED", 8), (500, "INTERNAL", 13), (503, "UNAVAILABLE", 14), (504, "DEADLINE_EXCEEDED", 4)])
def test_each_status_is_that_of_grpc(front, status, word, number):
    order(front, "httpStatus", method="aiplatform.*.customJobs.get", httpStatus=status, count=2)
    answer = front.get("/v1/" + ONE)
    assert (answer.status, answer.error["code"], answer.error["status"]) == (status, status, word), answer
    # The service does not say when to retry, and neither does the emulator.
    assert "Retry-After" not in answer.headers and "details" not in answer.error
    assert is_status(by_grpc(front, SERVICE + "GetCustomJob", named(ONE)), number)
    assert is_status(by_grpc(front, SERVICE + "GetCustomJob", named(ONE)), 5)


STORAGE_ANSWERS = {429: ("rateLimitExceeded", "SlowDown"), 500: ("internalError", "InternalError"),
                   503: ("backendError", "ServiceUnavailable"), 504: ("backendError", "InternalError")}
PART = "--b\r\nContent-Type: application/http\r\n\r\nGET /storage/v1/b/no-bucket/o/o HTTP/1.1\r\n\r\n"
BATCH = {"body": (PART * 2 + "--b--\r\n").encode(), "headers": {"Content-Type": "multipart/mixed; boundary=b"}}


# Fails with: answer.c asks storage_error_status() of the gate's errors, too: 507 for 429; codes[] without 429.
@pytest.mark.parametrize("status", STORAGE_ANSWERS)
def test_storage_is_hit_with_each_status_in_each_of_its_forms(front, status):
    reason, xml = STORAGE_ANSWERS[status]
    order(front, "httpStatus", method="storage.objects.*", httpStatus=status, count=7)
    for answer in (front.get("/storage/v1/b/no-bucket/o/o"), front.get("/storage/v1/b/no-bucket/o/o", alt="media"),
                   front.post("/upload/storage/v1/b/no-bucket/o?uploadType=media&name=a", b"x"),
                   front.post("/upload/storage/v1/b/no-bucket/o?uploadType=resumable&name=a", {})):
        assert (answer.status, answer.error["errors"][0]["reason"]) == (status, reason), answer
    answer = front.get("/no-bucket/o")
    assert answer.status == status and f"<Code>{xml}</Code>".encode() in answer.data, answer
    answer = front.request("POST", "/batch/storage/v1", **BATCH)
    assert answer.status == 200 and answer.data.count(f"HTTP/1.1 {status} ".encode()) == 2, answer
    order(front, "httpStatus", method="storage.batch", httpStatus=status)
    assert front.request("POST", "/batch/storage/v1", **BATCH).status == status
    assert front.get("/no-bucket/o").status == 404


def test_a_call_without_an_answer_is_cut_off(front):
    order(front, "timeout", method="aiplatform.*.get", count=2)
    # Fails with: order_carry_out() that does not set *ret_cut.
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        front.get("/v1/" + ONE)
    assert is_status(by_grpc(front, SERVICE + "GetCustomJob", named(ONE)), 14)
    assert front.get("/v1/" + ONE).status == 404


# Fails with: exchange_run() that does not look at the part's cut: the batch is answered, with a 503 in it.
def test_a_part_without_an_answer_is_the_end_of_its_batch(front):
    number = order(front, "timeout", method="storage.objects.get")
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        front.request("POST", "/batch/storage/v1", **BATCH)
    assert hits(front, number) == 1
    assert front.request("POST", "/batch/storage/v1", **BATCH).data.count(b"HTTP/1.1 404 ") == 2


@pytest.mark.parametrize("way", ["http", "grpc"])
def test_a_late_answer_comes_when_its_time_is_over(front, way):
    number = order(front, "timeout", method="aiplatform.*.customJobs.get", seconds=3600)
    answers = []
    call = {"http": lambda: front.get("/v1/" + ONE), "grpc": lambda: by_grpc(front, SERVICE + "GetCustomJob", named(ONE))}[way]
    thread = threading.Thread(target=lambda: answers.append(call()))
    thread.start()
    wait_until(lambda: hits(front, number) == 1, 30, "the call is there")
    assert not answers
    # Fails with: due_await() by the system's clock.
    assert front.post("/_trainyard/v1/clock", {"advance": "3600s"}).status == 200
    thread.join(30)
    assert not thread.is_alive()
    assert answers[0].status == 404 if way == "http" else is_status(answers[0], 5)


def sockets(front):
    """The number of the daemon's sockets."""
    folder = f"/proc/{front.process.pid}/fd"
    found = 0
    for name in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):
            found += os.readlink(f"{folder}/{name}").startswith("socket:")
    return found


# Fails with: due_await() that does not ask call_client_gone(); listener.c or front.c that tells no client_fd.
@pytest.mark.parametrize("way", ["http", "grpc"])
def test_who_gives_up_leaves_no_connection_behind(front, way):
    number = order(front, "timeout", method="aiplatform.*.customJobs.get", seconds=3600, count=5)
    port = front.port if way == "http" else front.grpc_port
    before = sockets(front)
    for given_up in range(1, 6):
        if way == "http":
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(f"GET /v1/{ONE} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                wait_until(lambda: hits(front, number) == given_up, 30, "the call is there")
        else:
            with Peer(port) as peer:
                peer.call(SERVICE + "GetCustomJob", message(named(ONE)))
                wait_until(lambda: hits(front, number) == given_up, 30, "the call is there")
    wait_until(lambda: sockets(front) <= before, 30, "the connections are closed")


# Fails with: due_await() that does not ask fault_registry_has().
def test_a_rule_that_is_taken_back_keeps_nobody_waiting(front):
    number = order(front, "timeout", method="aiplatform.*.customJobs.get", seconds=3600)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(front.get("/v1/" + ONE)))
    thread.start()
    wait_until(lambda: hits(front, number) == 1, 30, "the call is there")
    assert front.request("DELETE", f"{FAULTS}/{number}").status == 200
    thread.join(30)
    assert answers and answers[0].status == 404


# Fails with: inner_endpoint_end() that does nothing: the end takes the hour.
def test_the_daemon_ends_before_an_answer_that_is_late(tmp_path):
    daemon = Daemon(tmp_path, NO_ENGINE, "--offline", "--grpc", "127.0.0.1:0").start()
    number = order(daemon, "timeout", method="aiplatform.*.customJobs.get", seconds=3600)
    with Peer(daemon.grpc_port) as peer:
        stream = peer.call(SERVICE + "GetCustomJob", message(named(ONE)))
        wait_until(lambda: hits(daemon, number) == 1, 30, "the call is there")
        daemon.stop()
        assert is_status(peer.ends()[stream], 5)


def custom_job(name):
    """The body of a CreateCustomJobRequest."""
    container = part(6, part(1, b"trainyard-test:1"))
    spec = part(1, part(1, part(1, b"n1-standard-4")) + b"\x10\x01" + container)
    return part(2, name.encode()) + part(4, spec)


# Fails with: quota_answer() that returns STATUS_OK.
def test_a_quota_refuses_by_grpc_as_well(front):
    number = order(front, "quota", method="aiplatform.*", job="refused")
    body = named(PARENT) + part(2, custom_job("refused"))
    answer = by_grpc(front, SERVICE + "CreateCustomJob", body)
    assert is_status(answer, 8) and hits(front, number) == 1, answer
    assert is_status(by_grpc(front, SERVICE + "CreateCustomJob", body), 0)


# Fails with: job_params[] without "customJob"; called_find() that looks no name up; project_of() that takes the number as it
# is.
def test_calls_are_hit_by_the_names_of_their_jobs(front):
    spec = {"workerPoolSpecs": [pool("true")]}
    search = {"displayName": "a search", "maxTrialCount": 1, "parallelTrialCount": 1, "trialJobSpec": spec,
              "studySpec": {"metrics": [{"metricId": "m", "goal": "MAXIMIZE"}], "parameters": [
                  {"parameterId": "x", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}]}}
    jobs = [Vertex(front, collection=collection).create(body)["name"] for collection, body in (
        ("customJobs", {"displayName": "a job", "jobSpec": spec}), ("customJobs", {"displayName": "spare", "jobSpec": spec}),
        ("hyperparameterTuningJobs", search), ("trainingPipelines", pipeline("true", name="a line")))]
    assert all(name.startswith("projects/123456789012/") for name in jobs), jobs
    for name, pattern in zip(jobs, ("a ?ob", "spa*", "a search", "a l*")):
        for who in ({"job": pattern}, {"job": name.rpartition("/")[2]}):
            order(front, "httpStatus", method="aiplatform.*.get", httpStatus=503, project="demo-*", **who)
            assert [front.get("/v1/" + other).status for other in jobs if other != name] == [200] * 3
            assert [front.get("/v1/" + name).status for _ in range(2)] == [503, 200]
        number = order(front, "httpStatus", method="aiplatform.*.get", httpStatus=503, job=pattern, project="other")
        assert front.get("/v1/" + name).status == 200 and hits(front, number) == 0


# Fails with: fault_method_write() that does not look for "/_trainyard/".
def test_the_emulators_own_calls_are_hit_by_nothing(front):
    job = Vertex(front).create({"displayName": "own", "jobSpec": {"workerPoolSpecs": [pool("true")]}})
    number = order(front, "httpStatus", method="*", httpStatus=503, count=99)
    own = job["name"].replace("123456789012", "demo-project")
    for path in (FAULTS, "/_trainyard/v1/clock", "/healthz", f"/_trainyard/v1/{own}/report"):
        assert front.get(path).status == 200, path
    assert hits(front, number) == 0
    assert front.get("/v1/" + own).status == 503


# Fails with: fault_method_check() that returns STATUS_OK; that looks at no is_answered_before(); that does not ask creation_of().
@pytest.mark.parametrize("rule", [
    {"fault": "httpStatus", "httpStatus": 503, "method": "ml.projects.jobs.craete"},
    {"fault": "timeout", "method": "aiplatform.projects.locations.datasets.*"},
    {"fault": "timeout", "method": "ml.projects.locations.list"},
    {"fault": "timeout", "method": "_trainyard.*"},
    {"fault": "quota", "method": "ml.projects.jobs.get"},
])
def test_a_method_that_is_none_is_refused(front, tmp_path, rule):
    answer = front.post(FAULTS, rule)
    assert answer.status == 400 and answer.error["message"].startswith("Field: method Error: trainyard has no method "), answer
    assert [field["field"] for field in answer.error["details"][0]["fieldViolations"]] == ["method"]
    assert front.get(FAULTS).json == {"faults": []}


# Fails with: project, job or method without FIELD_PRESENCE; text_read() that takes any value.
@pytest.mark.parametrize("field", ["project", "job", "method", "role", "pool", "logPattern"])
def test_an_empty_name_is_not_everybody(front, field):
    answer = front.post(FAULTS, {"fault": "quota" if field == "method" else "preempt", field: ""})
    assert answer.status == 400 and answer.error["status"] == "INVALID_ARGUMENT", answer
    words = {"method": 'with the name ""', "role": "Expected one of", "pool": "Expected one of"}.get(field, "must not be empty")
    assert words in answer.error["message"], answer
    assert front.get(FAULTS).json == {"faults": []}
