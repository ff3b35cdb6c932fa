# SPDX-License-Identifier: Apache-2.0
"""What applies to each request: routes, methods, parameters, limits."""
import http.client
import json
import re
import socket

import pytest

from support.attack import rows
from support.daemon import script
from support.marks import long

ROUTES = [
    # method, path, status: each answer has an error in the service's form
    ("GET", "/v1/nothing", 404),
    ("GET", "/v1/projects/{p}/jobs/never_was", 404),
    ("POST", "/v1/projects/{p}/jobs/never_was:cancel", 404),
    ("POST", "/v1/projects/{p}/jobs/never_was:frobnicate", (404, 405)),
    ("GET", "/v1/projects/{p}/jobs/never%3Awas", 404),
    ("GET", "/v1/projects/{p}/models", 404),
    ("POST", "/v1/projects/{p}/models/m:predict", 404),
    ("GET", "/v1/projects/{p}/jobs/", 404),
    ("DELETE", "/v1/projects/{p}/jobs/never_was", (404, 405)),
    ("PUT", "/v1/projects/{p}/jobs", (404, 405)),
    ("GET", "/v2/entries:list", (404, 405)),
]


@pytest.mark.parametrize("method,path,status", ROUTES, ids=[f"{m} {p}" for m, p, _ in ROUTES])
def test_what_is_not_there_is_told_in_the_services_envelope(yard, method, path, status):
    answer = yard.request(method, path.format(p=yard.project), {} if method == "POST" else None)
    assert answer.status in (status if isinstance(status, tuple) else (status,)), answer
    assert answer.error["code"] == answer.status and answer.error["message"] and answer.error["status"]
    assert "Retry-After" not in answer.headers


def test_a_route_that_is_not_emulated_says_so(yard):
    error = yard.get(f"/v1/projects/{yard.project}/models").error
    assert "models" in error["message"] and "not" in error["message"], error


def test_health_is_told(yard):
    assert yard.get("/healthz").status == 200


def test_a_body_too_large_is_refused_and_the_daemon_goes_on(yard):
    answer = yard.post(yard.jobs_path, b'{"jobId": "' + b"x" * (11 << 20) + b'"}')
    assert answer.status == 413 and answer.error["code"] == 413, answer
    assert yard.get("/healthz").status == 200


def test_a_body_of_another_type_is_refused(yard):
    answer = yard.request("POST", yard.jobs_path, b"<job/>", {"Content-Type": "application/xml"})
    assert answer.status in (400, 415) and answer.error["code"] == answer.status, answer


SYSTEM = ["alt=json", "%24alt=json", "key=abc", "quotaUser=me", "access_token=t", "oauth_token=t", "uploadType=media",
          "upload_protocol=raw", "%24.xgafv=2", "trace=x", "prettyPrint=true", "%24prettyPrint=false", "fields=jobs"]


@pytest.mark.parametrize("parameter", SYSTEM)
def test_system_parameters_are_taken_by_every_method(yard, parameter):
    assert yard.get(f"{yard.jobs_path}?{parameter}").status == 200


def rows_of_the_front_end(yard):
    """Each method of each service but storage, with paths of resources that do not exist."""
    for method, path, _, _ in rows():
        if re.match("/(v1|v1beta1|v2|ui|_trainyard/v1)/", path):
            yield method, re.sub(r"{(\w+)}", lambda name: {"project": yard.project, "location": "us-central1"}.get(name[1], "1"), path)


@pytest.mark.parametrize("parameter", ["alt=json&nosuch", *map(long, ["nosuch=1", "orderBy.nosuch=x", "Nosuch=&%24key=k"])])
def test_every_method_refuses_parameters_that_it_does_not_have(yard, parameter):
    """The check comes before the resource is looked up. Fails with: .lenient_query in vertex_add()."""
    name = re.search("[^&]*osuch", parameter)[0]
    for method, path in rows_of_the_front_end(yard):
        answer = yard.request(method, f"{path}?{parameter}", {} if method in ("POST", "PATCH", "PUT") else None)
        assert (answer.status, answer.error["message"]) == (
            400, f'Invalid JSON payload received. Unknown name "{name}": Cannot bind query parameter. '
                 f"Field '{name}' could not be found in request message."), (method, path, answer)
    assert len(list(rows_of_the_front_end(yard))) > 100


def test_every_method_refuses_a_mask_of_a_field_that_its_answer_does_not_have(yard):
    """Fails with: fields_check() without a message to hold the mask against."""
    for method, path in rows_of_the_front_end(yard):
        if path.startswith(("/ui", "/_trainyard")):
            continue
        for given, header in (("fields=nosuch", {}), ("$fields=nosuch", {}), ("", {"X-Goog-FieldMask": "nosuch"})):
            body = {} if method in ("POST", "PATCH", "PUT") else None
            answer = yard.request(method, f"{path}?{given}", body, {"Content-Type": "application/json", **header})
            assert (answer.status, answer.error["message"]) == (400, "Request contains an invalid argument."), answer
            assert answer.error["status"] == "INVALID_ARGUMENT"
            assert answer.error["details"] == [{
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations": [{"field": "nosuch", "description": "Error expanding 'fields' parameter. Cannot find "
                                     "matching fields for path 'nosuch'."}]}], (method, path, answer)


# Fails with: discovery_routes without their answers: 200, and {}.
@pytest.mark.parametrize("path", ["/discovery/v1/apis", "/$discovery/rest?version=v1", "/discovery/v1/apis/storage/v1/rest"])
def test_a_mask_of_a_discovery_document_names_its_members(yard, path):
    mark = "&" if "?" in path else "?"
    whole = yard.get(path).json
    assert yard.get(f"{path}{mark}fields=nosuch").status == 400
    assert yard.get(f"{path}{mark}fields={','.join(whole)}").json == whole
    for item in whole.get("items", []):
        assert yard.get(f"{path}{mark}fields=items({','.join(item)})").json == {"items": whole["items"]}


@pytest.mark.parametrize("mask, nowhere", [
    ("jobs(nosuch)", "jobs.nosuch"), ("jobs/nosuch", "jobs.nosuch"), ("jobs.job_id,jobs.nosuch", "jobs.nosuch"),
    ("jobs(trainingInput(*/nosuch))", "jobs.trainingInput.*.nosuch"), ("jobs(state/x)", "jobs.state.x"), ("kind", "kind"),
    ("jobs(", None), ("jobs,,", None)])
def test_a_mask_names_the_first_path_that_is_none(yard, mask, nowhere):
    answer = yard.get(yard.jobs_path, fields=mask)
    assert answer.status == 400 and answer.error["message"] == "Request contains an invalid argument."
    violation, = answer.error["details"][0]["fieldViolations"]
    assert violation["field"] == mask
    assert nowhere is None or violation["description"].endswith(f"Cannot find matching fields for path '{nowhere}'.")


@pytest.mark.parametrize("mask", ["*", "jobs/*", "jobs(*/region)", "jobs(training_input(scaleTier),labels/any),next_page_token",
                                  "jobs(trainingOutput(trials(final_metric),consumed_ml_units),predictionInput/uri)"])
def test_a_mask_may_name_what_no_answer_has_yet(yard, mask):
    assert yard.get(yard.jobs_path, fields=mask).status == 200


def test_nothing_is_made_where_the_mask_of_the_answer_is_refused(yard):
    job_id = "masked_" + "x" * 8
    assert yard.post(yard.jobs_path + "?fields=nosuch", {"jobId": job_id, "trainingInput": script("true")}).status == 400
    assert yard.get(f"{yard.jobs_path}/{job_id}").status == 404


def test_storage_says_it_in_its_own_words(yard):
    for path, mask, name in (("/storage/v1/b", "items(nosuch)", "nosuch"), ("/storage/v1/b/none-such/o", "nosuch", "nosuch"),
                             ("/storage/v1/b/none-such/o/o", "name,metadata/any,acl/entity,nosuch", "nosuch"),
                             ("/storage/v1/b", "items(", "items(")):
        answer = yard.get(path, fields=mask)
        assert answer.status == 400 and answer.json["error"] == {
            "code": 400, "message": f"Invalid field selection {name}",
            "errors": [{"message": f"Invalid field selection {name}", "domain": "global", "reason": "invalidParameter",
                        "locationType": "parameter", "location": "fields"}]}, answer
    answer = yard.request("POST", "/upload/storage/v1/b/none-such/o?uploadType=media&name=o&fields=nosuch", b"x")
    assert answer.status == 400 and "nosuch" in answer.json["error"]["message"], answer


def test_an_unknown_parameter_is_refused(yard):
    answer = yard.get(yard.jobs_path, nonsense="1")
    assert answer.status == 400
    assert answer.error["message"] == ('Invalid JSON payload received. Unknown name "nonsense": Cannot bind query '
                                       "parameter. Field 'nonsense' could not be found in request message."), answer


@pytest.mark.parametrize("parameter", ["pageSize=many", "alt=proto", "pageToken=garbage", "pageSize=-1"])
def test_a_parameter_with_a_bad_value_is_refused(yard, parameter):
    answer = yard.get(f"{yard.jobs_path}?{parameter}")
    assert (answer.status, answer.error["status"]) == (400, "INVALID_ARGUMENT"), answer


def test_answers_are_pretty_unless_told_otherwise(yard):
    job_id = yard.create(script("true"))
    path = f"{yard.jobs_path}/{job_id}"
    pretty = yard.get(path).data.decode()
    assert pretty.startswith('{\n  "jobId": ')
    assert "\n" not in yard.get(path, prettyPrint="false").data.decode().strip()
    yard.until(job_id, "SUCCEEDED")


def test_a_field_mask_picks_parts_of_the_answer(yard):
    job_id = yard.create(script("true"))
    yard.until(job_id, "SUCCEEDED")
    job = yard.get(f"{yard.jobs_path}/{job_id}", fields="jobId,trainingInput/masterConfig(imageUri)").json
    assert job == {"jobId": job_id, "trainingInput": {"masterConfig": {"imageUri": "trainyard-test:1"}}}
    listed = yard.get(yard.jobs_path, fields="jobs(jobId,state),nextPageToken").json
    assert all(set(j) == {"jobId", "state"} for j in listed["jobs"])
    answer = yard.request("GET", f"{yard.jobs_path}/{job_id}", headers={"X-Goog-FieldMask": "state"})
    assert answer.json == {"state": "SUCCEEDED"}, answer


def test_a_long_query_may_come_as_a_form(yard):
    form = {"Content-Type": "application/x-www-form-urlencoded", "X-HTTP-Method-Override": "GET"}
    answer = yard.request("POST", yard.jobs_path, "pageSize=1&filter=" + "%20OR%20".join(["jobId%3Anone*"] * 400), form)
    assert (answer.status, answer.json) == (200, {}), answer


def test_requests_of_other_hosts_and_sites_are_refused(yard):
    for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"},
                    {"Host": "localhost:1", "Origin": "http://localhost:3000"}):
        answer = yard.request("GET", yard.jobs_path, headers=headers)
        assert (answer.status, answer.error["status"]) == (403, "PERMISSION_DENIED"), (headers, answer)
    assert yard.request("GET", yard.jobs_path, headers={"Host": "localhost:1", "Origin": "http://localhost:1"}).status == 200


def test_one_connection_carries_many_requests(yard):
    connection = http.client.HTTPConnection("127.0.0.1", yard.port, timeout=30)
    ports = set()
    for path in (yard.jobs_path, "/v1/nothing", yard.jobs_path + "?pageSize=x", yard.jobs_path):
        connection.request("GET", path)
        ports.add(connection.sock.getsockname())
        response = connection.getresponse()
        json.loads(response.read())
    connection.close()
    assert len(ports) == 1


def test_chunked_bodies_and_expect_continue_are_taken(yard):
    body = json.dumps(dict(jobId="x-y", trainingInput={})).encode()
    with socket.create_connection(("127.0.0.1", yard.port)) as raw:
        raw.settimeout(30)
        raw.sendall(f"POST {yard.jobs_path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n".encode())
        assert raw.recv(4096).startswith(b"HTTP/1.1 100")
        raw.sendall(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
        assert raw.recv(4096).startswith(b"HTTP/1.1 400")


def test_answers_may_be_compressed(yard):
    answer = yard.request("GET", yard.jobs_path, headers={"Accept-Encoding": "gzip"})
    if answer.headers.get("Content-Encoding") == "gzip":
        import gzip
        answer.data = gzip.decompress(answer.data)
    assert isinstance(answer.json, dict)


@pytest.mark.parametrize("junk", [b"\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01", b"GET / HTTP/9.9\r\n\r\n",
                                  b"POST /v1/projects/p/jobs HTTP/1.1\r\nHost: a\r\nContent-Length: -4\r\n\r\n",
                                  b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"])
def test_junk_does_not_hurt(yard, junk):
    with socket.create_connection(("127.0.0.1", yard.port)) as raw:
        raw.settimeout(2)
        try:
            raw.sendall(junk)
            raw.shutdown(socket.SHUT_WR)
            while raw.recv(4096):
                pass
        except OSError:
            pass
    assert yard.get("/healthz").status == 200
