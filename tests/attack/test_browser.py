# SPDX-License-Identifier: Apache-2.0
"""Requests that a web page in a browser of this machine can send.

"Fails with:" names a change of the code with which the test was seen to fail."""
import gzip
import json

import pytest

from support.grpc_peer import MISSING, SERVICE, Peer, code, message, named
from support.attack import (CLOCK, EVIL, FAULTS, JSON, job_body, mutating, order_body, published, raw, request_bytes, routes, settle,
                            statuses, untouched)

HOSTS = ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:8090", "evillocalhost",
         "10.0.0.1", "[::2]", "0.0.0.0", "127.1", "2130706433", "localhost@evil.example", "localhost:80:80", "",
         "evil.example@localhost", "localhost..", "localhost%00.evil.example", "localhost,evil.example", "localhost#.evil.example",
         "localhost/.evil.example", "localhost\\.evil.example", "127.0.0.1.nip.io", "0x7f.1", "0177.0.0.1", "[::ffff:10.0.0.1]",
         "[::1%25lo]", "[::1]evil.example", "[::1", "::1", "[127.0.0.1]", ".localhost", "localhost:-1"]


# Fails with: guard_host_allowed() that always returns true; a suffix "localhost" without its dot in name_allowed(); place_take()
# that does not look at what follows.
@pytest.mark.parametrize("host", HOSTS)
def test_a_rebound_name_gets_nothing(yard, host):
    with untouched(yard):
        answer = raw(yard, request_bytes("POST", yard.jobs_path, job_body("rebound"), Host=host, Connection="close"))
    assert statuses(answer) in ([403], [400]), answer
    assert b"rebound" not in answer


# DNS rebinding: a page can make its own host name resolve to this machine, for any protocol. Fails with: call_go() of front.c that
# says "Host: localhost" for all.
@pytest.mark.parametrize("authority", ["evil.example", "localhost.evil.example:443", "10.0.0.1"])
def test_grpc_knows_its_own_names_alone(yard, authority):
    body = message(named("projects/p/locations/us-central1"))
    with untouched(yard), Peer(yard.grpc_port) as peer:
        for name, sent in (("CreateCustomJob", body), ("ListCustomJobs", body), ("DeleteCustomJob", MISSING)):
            stream = peer.call(SERVICE + name, sent, **{":authority": authority})
            assert code(7) in peer.ends()[stream], name


# Fails with: request_guard_origin() without its look at target.authority.
def test_the_host_of_an_absolute_target_counts_as_well(yard):
    with untouched(yard):
        for place in ("http://evil.example", "https://evil.example:443", "http://localhost@evil.example",
                      "http://evil.example@localhost", "HTTP://EVIL.EXAMPLE", "http://"):
            answer = raw(yard, request_bytes("POST", place + yard.jobs_path, job_body("absolute"), Connection="close"))
            assert statuses(answer) == [403], (place, answer)


SITES = [{"Origin": EVIL}, {"Origin": "null"}, {"Origin": "https://localhost.evil.example"}, {"Origin": "file://"},
         {"Origin": "http://localhost@evil.example"}, {"Origin": "http://evil.example://localhost"}, {"Origin": ""},
         {"Sec-Fetch-Site": "cross-site"}, {"Origin": EVIL, "Sec-Fetch-Site": "same-origin"},
         # Pages of another port of this machine are another site's: another user may run a server there.
         {"Origin": "http://localhost:3000"}, {"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site"},
         {"Origin": "http://127.0.0.1"}, {"Origin": "https://[::1]:3000"}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": ""}]


# Fails with: guard_check() that lets in any Origin; any Sec-Fetch-Site but "cross-site"; origin_is_host() that does not compare
# ports.
@pytest.mark.parametrize("headers", SITES, ids=str)
def test_another_sites_page_changes_nothing_by_any_method(yard, headers):
    with untouched(yard):
        for method, path in mutating():
            answer = yard.request(method, path, order_body(path, "csrf"), {**headers, "Content-Type": JSON})
            assert answer.status == 403, (method, path, answer)


TWICE = [b"Host: localhost\r\nHost: localhost\r\n", b"Host: localhost\r\nhost: evil.example\r\n", b"Host : localhost\r\n", b"",
         b"Host:\r\n", b"Host: localhost\r\nOrigin: http://localhost\r\nOrigin: http://evil.example\r\n",
         b"Host: localhost\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n"]


# Fails with: check_single() that returns STATUS_OK; head_check_framing() that wants no Host.
@pytest.mark.parametrize("lines", TWICE, ids=str)
def test_a_page_is_not_named_twice_or_not_at_all(yard, lines):
    body = job_body("twice")
    with untouched(yard):
        answer = raw(yard, b"POST %s HTTP/1.1\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" %
                     (yard.jobs_path.encode(), lines, len(body), body))
    assert statuses(answer) in ([400], [403]), answer


def own_host(yard):
    return f"localhost:{yard.port}" if yard.port else "localhost"


# Fails with: response.c with an Access-Control-Allow-Origin in its headers.
def test_preflights_and_answers_allow_no_other_site(yard):
    for method, path in published():
        for headers in ({"Origin": EVIL, "Access-Control-Request-Method": method}, {"Origin": "http://localhost:1"}):
            answer = yard.request("OPTIONS", path, headers=headers)
            assert answer.status >= 400, (path, answer)
            assert not [name for name in answer.headers if name.lower().startswith("access-control")], path
    answer = yard.request("GET", "/healthz", headers={"Host": own_host(yard), "Origin": f"http://{own_host(yard)}"})
    assert answer.status == 200 and answer.headers["X-Content-Type-Options"] == "nosniff"
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


# Fails with: method_choose() that overrides any method, not POST alone.
def test_an_overridden_method_is_judged_as_what_it_is(yard):
    with untouched(yard):
        for override in ("DELETE", "PATCH", "PUT"):
            answer = yard.request("POST", "/storage/v1/b/attacked", b"{}", {"X-HTTP-Method-Override": override, "Origin": EVIL})
            assert answer.status == 403, answer
        answer = yard.request("GET", "/storage/v1/b/attacked", headers={"X-HTTP-Method-Override": "DELETE"})
        assert answer.status == 200, answer


def test_a_page_of_this_very_address_may_ask(yard):
    host = own_host(yard)
    for origin in (f"http://{host}", f"https://{host}", f"HTTP://{host.upper()}", None):
        headers = {"Host": host, "Sec-Fetch-Site": "same-origin", "Content-Type": JSON, **({"Origin": origin} if origin else {})}
        assert yard.request("GET", yard.jobs_path, headers=headers).status == 200, origin
        # 400: the body was read and refused, so the origin was accepted
        assert yard.request("POST", yard.jobs_path, "{}", headers).status == 400, origin
    assert yard.request("GET", yard.jobs_path, headers={"Host": host, "Sec-Fetch-Site": "none"}).status == 200


def near_origins(yard):
    """Origins that nearly match the daemon's: its name with another port, another name with its port."""
    port = yard.port or 80
    return [f"http://localhost:{port + 1}", f"http://localhost:{port}0", f"http://127.0.0.1:{port}", f"http://[::1]:{port}",
            f"http://a.localhost:{port}", f"http://localhost:{port}@evil.example", f"http://localhost:{port}/", f"ws://localhost:{port}",
            f"localhost:{port}", f"//localhost:{port}", f"http://localhost:{port} http://evil.example", "http://", "null"]


# Fails with: origin_is_host() that does not compare ports; that takes any name of this machine for the same.
def test_what_is_nearly_this_address_is_not_it(yard):
    with untouched(yard):
        for origin in near_origins(yard):
            for method, path, body in (("GET", yard.jobs_path, None), ("POST", yard.jobs_path, job_body("near")),
                                       ("POST", "/upload/storage/v1/b/attacked/o?uploadType=media&name=near", b"near")):
                answer = yard.request(method, path, body, {"Host": own_host(yard), "Origin": origin, "Content-Type": JSON})
                assert answer.status == 403, (origin, method, path, answer)


# Fails with: guard_check() that lets in any Origin; any Sec-Fetch-Site but "cross-site".
def test_grpc_takes_no_call_of_a_page_of_another_port(yard):
    body = message(named("projects/p/locations/us-central1"))
    with untouched(yard), Peer(yard.grpc_port) as peer:
        for fields in ({"origin": f"http://localhost:{yard.grpc_port + 1}"}, {"sec-fetch-site": "same-site"}, {"origin": "null"}):
            stream = peer.call(SERVICE + "ListCustomJobs", body, **{":authority": f"localhost:{yard.grpc_port}", **fields})
            assert code(7) in peer.ends()[stream], fields
        own = {":authority": f"localhost:{yard.grpc_port}", "origin": f"http://localhost:{yard.grpc_port}"}
        stream = peer.call(SERVICE + "ListCustomJobs", body, **own)
        assert code(0) in peer.ends()[stream]


# ---- what a page sends without an Origin: forms of browsers of before 2020, links with a ping, reports ----

FORMS = ["application/x-www-form-urlencoded", "multipart/form-data; boundary=b", "Application/X-WWW-Form-Urlencoded ;charset=x",
         "\tmultipart/form-data"]
TEXTS = ["text/plain", "text/plain; charset=ISO-8859-1", "text/plain; x=application/json"]
REPORTS = ["text/ping", "application/csp-report"]
VERTEX_JOBS = "/v1/projects/p/locations/us-central1/customJobs"
VERTEX_JOB = dict(displayName="d", jobSpec=dict(workerPoolSpecs=[dict(machineSpec=dict(machineType="n1-standard-4"), replicaCount=1,
                                                                      containerSpec=dict(imageUri="i:1"))]))
OBJECTS = "/storage/v1/b/attacked/o"


@pytest.fixture(scope="module")
def targets(yard):
    """Resources that could be changed: two queued jobs, an object, a fault rule."""
    job = yard.new_id("form")
    assert yard.request("POST", yard.jobs_path, job_body(job)).status == 200
    custom = yard.post(VERTEX_JOBS, VERTEX_JOB)
    assert custom.status == 200, custom
    stored = yard.request("POST", "/upload/storage/v1/b/attacked/o?uploadType=media&name=here", b"here", {"Content-Type": "text/plain"})
    assert stored.status == 200, stored
    fault = yard.post(FAULTS, dict(job="none", fault="preempt"))
    assert fault.status == 200, fault
    settle(yard)
    return dict(job=f"{yard.jobs_path}/{job}", custom="/v1/" + custom.json["name"], fault=f"{FAULTS}/{fault.json['id']}")


# The body of a form with a file field.
BATCH = (b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\nContent-Type: application/http\r\n\r\n'
         b"DELETE /storage/v1/b/attacked/o/here HTTP/1.1\r\n\r\n\r\n--b--\r\n")


def orders(targets):
    """(method, path, body) of requests that would succeed with another content type."""
    compose = dict(sourceObjects=[dict(name="here")], destination=dict(contentType="text/plain"))
    return [("POST", f"{targets['job']}:cancel", b"{}"), ("POST", f"{targets['custom']}:cancel", b"{}"),
            ("DELETE", targets["custom"], b""), ("PATCH", f"{targets['job']}?updateMask=labels", b'{"labels": {"a": "b"}}'),
            ("POST", FAULTS, b'{"job": "none", "fault": "preempt"}'), ("DELETE", targets["fault"], b""), ("DELETE", FAULTS, b""),
            ("POST", CLOCK, b'{"advance": "3600s"}'), ("POST", VERTEX_JOBS, json.dumps(VERTEX_JOB).encode()),
            ("POST", f"{OBJECTS}/made/compose", json.dumps(compose).encode()),
            ("POST", f"{OBJECTS}/here/copyTo/b/attacked/o/made", b""), ("POST", f"{OBJECTS}/here/rewriteTo/b/attacked/o/made", b""),
            ("POST", f"{OBJECTS}/here/moveTo/o/made", b""), ("PATCH", f"{OBJECTS}/here", b'{"metadata": {"a": "b"}}'),
            ("DELETE", f"{OBJECTS}/here", b""), ("POST", "/storage/v1/b?project=p", b'{"name": "made"}'), ("DELETE", "/attacked/here", b""),
            ("POST", "/batch/storage/v1", BATCH), ("POST", "/batch", BATCH)]


UPLOADS = [("POST", "/upload/storage/v1/b/attacked/o?uploadType=media&name=made", b"made"),
           ("POST", "/upload/storage/v1/b/attacked/o?uploadType=media&name=made", b""),
           ("POST", "/upload/storage/v1/b/attacked/o?uploadType=resumable&name=made", b""),
           ("POST", "/resumable/upload/storage/v1/b/attacked/o?uploadType=resumable&name=made", b"{}"),
           ("POST", "/upload/storage/v1/b/attacked/o?uploadType=multipart&name=made",
            b'--b\r\nContent-Type: application/json\r\n\r\n{"name": "made"}\r\n--b\r\nContent-Type: text/x\r\n\r\nmade\r\n--b--\r\n'),
           ("POST", "/attacked/made?uploads", b""), ("PUT", "/attacked/made", b"made")]


def refused(yard, method, path, body, content, **headers):
    """Sends a request that must be refused because of its content type, with an error in the API's form."""
    answer = yard.request(method, path, body, {"Content-Type": content, **headers})
    assert answer.status == 415, (method, path, body, content, answer)
    return answer


# Fails with: row_find() without request_guard_type(), seen by the status as by what had happened.
@pytest.mark.parametrize("content", [*FORMS, *TEXTS, *REPORTS])
def test_a_form_orders_nothing_even_without_an_origin(yard, targets, content):
    with untouched(yard):
        for method, path, body in orders(targets):
            for sent in {body, b"", b"a=b"}:
                answer = refused(yard, method, path, sent, content)
                assert path.startswith("/attacked") or answer.error["code"] == 415, answer
    assert yard.get(targets["job"]).json["state"] in ("QUEUED", "PREPARING")
    assert yard.get(targets["custom"]).json["state"] in ("JOB_STATE_PENDING", "JOB_STATE_QUEUED")


# Fails with: row_find() without request_guard_type(); guard_type_refused() that looks at rows of PAGE_TYPES_NONE alone.
@pytest.mark.parametrize("content", [*FORMS, *REPORTS])
def test_a_form_uploads_nothing_even_without_an_origin(yard, targets, content):
    with untouched(yard):
        for method, path, body in UPLOADS:
            assert b"-type" in refused(yard, method, path, body, content).data.lower()
    assert yard.get(f"{OBJECTS}/made").status == 404
    assert [item["name"] for item in yard.get(OBJECTS).json["items"]] == ["here"]


# Fails with: the rows of uploads that take any type; the row of POST /_trainyard/v1/clock that does.
@pytest.mark.parametrize("content", [FORMS[0], FORMS[1], TEXTS[0]])
def test_no_row_takes_a_form_but_those_for_it(yard, content):
    with untouched(yard):
        for method, path, _, types in routes():
            takes = types == "ANY" or types == "OBJECT" and content in TEXTS
            if method not in ("GET", "HEAD") and not takes:
                refused(yard, method, path, order_body(path, "form"), content)
                refused(yard, method, path, None, content)


# Google's library for Java does so. A page cannot send that header to another site without a preflight. Fails with: is_librarys()
# that does not look for a body; that wants one.
def test_a_library_may_send_an_empty_form(yard, targets):
    client = {"X-Goog-Api-Client": "gl-java/17 gdcl/2.0"}
    with untouched(yard):
        for method, path, body in (("POST", f"{targets['job']}:cancel", b"{}"), ("POST", f"{OBJECTS}/here/rewriteTo/b/attacked/o/made", b"a=b")):
            refused(yard, method, path, body, FORMS[0], **client)
            assert yard.request(method, path, b"", {"Content-Type": FORMS[0], "Origin": EVIL, **client}).status == 403
    answer = yard.request("POST", f"{OBJECTS}/here/rewriteTo/b/attacked/o/there", b"", {"Content-Type": FORMS[0], **client})
    assert answer.status == 200, answer
    assert yard.request("DELETE", f"{OBJECTS}/there").status == 204


# A stored object that a browser shows as a page has the daemon's own origin, and could do what the console may. Fails with:
# headers_say() of media_answer.c without its policy; with one for text/html alone.
@pytest.mark.parametrize("content,encoding", [("text/html", None), ("image/svg+xml", None), ("text/html", "gzip"), ("text/plain", None)])
def test_an_object_is_no_page_of_this_address(yard, targets, content, encoding):
    page = b"<script>fetch('/v1/projects/p/jobs', {method: 'POST', body: '{}'})</script>"
    query = f"&contentEncoding={encoding}" if encoding else ""
    stored = yard.request("POST", f"/upload/storage/v1/b/attacked/o?uploadType=media&name=page{query}",
                          gzip.compress(page) if encoding else page, {"Content-Type": content})
    assert stored.status == 200, stored
    places = [f"{OBJECTS}/page?alt=media", "/download/storage/v1/b/attacked/o/page?alt=media", "/attacked/page", "/b/attacked/o/page?alt=media",
              "/attacked/page?response-content-type=text/html"]
    for place in places:
        for more in ({}, {"Accept-Encoding": "gzip"}, {"Range": "bytes=0-9"}):
            for method in ("GET", "HEAD"):
                answer = yard.request(method, place, headers=more)
                assert answer.status in (200, 206) and (method == "HEAD" or answer.data), (place, answer)
                assert answer.headers["Content-Security-Policy"] == "sandbox allow-scripts", (place, more)
                assert answer.headers["X-Content-Type-Options"] == "nosniff", (place, more)
    # The Origin of such a page is "null"; the other headers are those of a browser.
    with untouched(yard):
        for headers in ({"Origin": "null"}, {"Origin": "null", "Sec-Fetch-Site": "cross-site"}):
            assert yard.request("POST", yard.jobs_path, job_body("page"), {"Content-Type": JSON, **headers}).status == 403
    assert yard.request("DELETE", f"{OBJECTS}/page").status == 204
    settle(yard)


# A page can read from other sites only what it can run as a script. Fails with: take_callback() that returns STATUS_OK.
@pytest.mark.parametrize("parameter", ["callback=f", "$callback=f", "alt=jsonp"])
def test_no_answer_is_a_script(tcp_yard, parameter):
    for method, path, _, _ in routes():
        if method == "GET":
            answer = tcp_yard.request("GET", f"{path}{'&' if '?' in path else '?'}{parameter}")
            assert answer.status >= 400 and answer.headers["X-Content-Type-Options"] == "nosniff", (path, answer)
            assert "script" not in answer.headers["Content-Type"] and not answer.data.startswith(b"f"), (path, answer)


# Fails with: guard_check() that lets in any Origin.
def test_no_other_site_opens_a_web_socket(tcp_yard):
    for origin, status in ((EVIL, 403), ("http://localhost:3000", 403), (f"http://{own_host(tcp_yard)}", 200)):
        answer = raw(tcp_yard, request_bytes("GET", tcp_yard.jobs_path, Host=own_host(tcp_yard), Origin=origin, Upgrade="websocket",
                                             Connection="Upgrade", Sec_WebSocket_Version="13", Sec_WebSocket_Key="AAAAAAAAAAAAAAAAAAAAAA=="))
        assert statuses(answer) == [status], (origin, answer)
