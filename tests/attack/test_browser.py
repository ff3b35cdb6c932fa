# SPDX-License-Identifier: Apache-2.0
"""What a web page in a browser of this machine can send.

"Broken" tells how the code was changed to see a test fail."""
import pytest

from support.grpc_peer import MISSING, SERVICE, Peer, code, message, named
from support.attack import EVIL, job_body, mutating, published, raw, request_bytes, statuses, untouched

HOSTS = ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:8090", "evillocalhost",
         "10.0.0.1", "[::2]", "0.0.0.0", "127.1", "2130706433", "localhost@evil.example", "localhost:80:80", "",
         "evil.example@localhost", "localhost..", "localhost%00.evil.example", "localhost,evil.example", "localhost#.evil.example",
         "localhost/.evil.example", "localhost\\.evil.example", "127.0.0.1.nip.io", "0x7f.1", "0177.0.0.1", "[::ffff:10.0.0.1]",
         "[::1%25lo]", "[::1]evil.example", "[::1", "::1", "[127.0.0.1]", ".localhost", "localhost:-1"]


# Broken: guard_host_allowed() that always returns true; a suffix "localhost" without its dot in name_allowed(); name_take()
# that does not look at what follows.
@pytest.mark.parametrize("host", HOSTS)
def test_a_rebound_name_gets_nothing(yard, host):
    with untouched(yard):
        answer = raw(yard, request_bytes("POST", yard.jobs_path, job_body("rebound"), Host=host, Connection="close"))
    assert statuses(answer) in ([403], [400]), answer
    assert b"rebound" not in answer


# A page can make its own name lead here for any protocol. Broken: call_go() of front.c that says "Host: localhost" for all.
@pytest.mark.parametrize("authority", ["evil.example", "localhost.evil.example:443", "10.0.0.1"])
def test_grpc_knows_its_own_names_alone(yard, authority):
    body = message(named("projects/p/locations/us-central1"))
    with untouched(yard), Peer(yard.grpc_port) as peer:
        for name, sent in (("CreateCustomJob", body), ("ListCustomJobs", body), ("DeleteCustomJob", MISSING)):
            stream = peer.call(SERVICE + name, sent, **{":authority": authority})
            assert code(7) in peer.ends()[stream], name


# Broken: guards_check() without its look at target.authority.
def test_the_host_of_an_absolute_target_counts_as_well(yard):
    with untouched(yard):
        for place in ("http://evil.example", "https://evil.example:443", "http://localhost@evil.example",
                      "http://evil.example@localhost", "HTTP://EVIL.EXAMPLE", "http://"):
            answer = raw(yard, request_bytes("POST", place + yard.jobs_path, job_body("absolute"), Connection="close"))
            assert statuses(answer) == [403], (place, answer)


SITES = [{"Origin": EVIL}, {"Origin": "null"}, {"Origin": "https://localhost.evil.example"}, {"Origin": "file://"},
         {"Origin": "http://localhost@evil.example"}, {"Origin": "http://evil.example://localhost"}, {"Origin": ""},
         {"Sec-Fetch-Site": "cross-site"}, {"Origin": EVIL, "Sec-Fetch-Site": "same-origin"}]


# Broken: guard_check() without origin_allowed(); without the comparison with "cross-site"; origin_allowed() that
# takes what has no "://" for allowed.
@pytest.mark.parametrize("headers", SITES, ids=str)
def test_another_sites_page_changes_nothing_by_any_method(yard, headers):
    methods = mutating(yard)
    assert len(methods) > 40
    with untouched(yard):
        for method, path in methods:
            for content in ("text/plain", "application/json"):
                answer = yard.request(method, path, job_body("csrf"), {**headers, "Content-Type": content})
                assert answer.status == 403, (method, path, content, answer)


TWICE = [b"Host: localhost\r\nHost: localhost\r\n", b"Host: localhost\r\nhost: evil.example\r\n", b"Host : localhost\r\n", b"",
         b"Host:\r\n", b"Host: localhost\r\nOrigin: http://localhost\r\nOrigin: http://evil.example\r\n",
         b"Host: localhost\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n"]


# Broken: check_single() that returns STATUS_OK; head_check_framing() that wants no Host.
@pytest.mark.parametrize("lines", TWICE, ids=str)
def test_a_page_is_not_named_twice_or_not_at_all(yard, lines):
    body = job_body("twice")
    with untouched(yard):
        answer = raw(yard, b"POST %s HTTP/1.1\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" %
                     (yard.jobs_path.encode(), lines, len(body), body))
    assert statuses(answer) in ([400], [403]), answer


# Browsers of before 2020 send no Origin with forms. Broken: body_type_check() that returns STATUS_OK.
@pytest.mark.parametrize("content", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b",
                                     "text/plain; x=application/json"])
def test_a_form_creates_no_job_even_without_an_origin(yard, content):
    with untouched(yard):
        for path in (yard.jobs_path, "/v1/projects/p/locations/us-central1/customJobs", "/storage/v1/b?project=p"):
            answer = yard.request("POST", path, job_body("form"), {"Content-Type": content})
            assert answer.status in (400, 415), (path, answer)


# Broken: response.c with an Access-Control-Allow-Origin in its headers.
def test_preflights_and_answers_allow_no_other_site(yard):
    for method, path in published(yard):
        for headers in ({"Origin": EVIL, "Access-Control-Request-Method": method}, {"Origin": "http://localhost:1"}):
            answer = yard.request("OPTIONS", path, headers=headers)
            assert answer.status >= 400, (path, answer)
            assert not [name for name in answer.headers if name.lower().startswith("access-control")], path
    answer = yard.request("GET", "/healthz", headers={"Origin": "http://localhost:1"})
    assert answer.status == 200 and answer.headers["X-Content-Type-Options"] == "nosniff"
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


# Broken: method_choose() that overrides any method, not POST alone.
def test_an_overridden_method_is_judged_as_what_it_is(yard):
    with untouched(yard):
        for override in ("DELETE", "PATCH", "PUT"):
            answer = yard.request("POST", "/storage/v1/b/attacked", b"{}", {"X-HTTP-Method-Override": override, "Origin": EVIL})
            assert answer.status == 403, answer
        answer = yard.request("GET", "/storage/v1/b/attacked", headers={"X-HTTP-Method-Override": "DELETE"})
        assert answer.status == 200, answer
