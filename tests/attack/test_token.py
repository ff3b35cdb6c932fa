# SPDX-License-Identifier: Apache-2.0
"""A daemon behind --token-file. Fails with: caller_check() of daemon/token.c that returns STATUS_OK."""
import base64
import contextlib
import json
import os
import subprocess
import tempfile
import time
import urllib.parse

import pytest

from support.attack import job_body, order_body, published, untouched
from support.daemon import Daemon, program
from support.gcloud import GCLOUD, needs_gcloud
from support.grpc_peer import GET_JOB, MISSING, SERVICE, Peer, code, message
from support.storage import is_root
from support.wait import wait_until

from .conftest import TOKEN, listen_at

BAD = [{}, {"Authorization": "Bearer wrong-token-0123456"}, {"Authorization": f"Bearer {TOKEN[:-1]}"},
       {"Authorization": f"Bearer {TOKEN}x"}, {"Authorization": f"Basic {TOKEN}"}, {"Authorization": TOKEN},
       {"Authorization": "Bearer "}, {"X-Goog-Api-Key": "wrong"}, {"Cookie": f"token={TOKEN}"}]


def ask(daemon, method, path, body=None, headers=None):
    """Sends a request without the token that the daemon's client would add."""
    token, daemon.token = daemon.token, None
    try:
        return daemon.request(method, path, body, headers)
    finally:
        daemon.token = token


@pytest.mark.parametrize("headers", BAD, ids=str)
def test_every_method_wants_the_token(locked, headers):
    with untouched(locked):
        for method, path in [*published(), ("GET", "/v1/nothing"), ("DELETE", "/"), ("DELETE", "/healthz")]:
            answer = ask(locked, method, path, order_body(path, "locked") if method != "GET" else None, headers)
            assert answer.status == 401, (method, path, answer)
            assert answer.headers["WWW-Authenticate"].startswith("Bearer realm="), (method, path)
    answer = ask(locked, "GET", locked.jobs_path, headers=headers)
    assert answer.error["status"] == "UNAUTHENTICATED" and "authentication credential" in answer.error["message"]


@pytest.mark.parametrize("parameter", ["access_token", "key", "oauth_token", "token"])
def test_a_token_in_a_link_is_none(locked, parameter):
    assert ask(locked, "GET", f"{locked.jobs_path}?{parameter}={TOKEN}").status == 401


def test_the_token_lets_in(locked):
    for headers in ({"Authorization": f"Bearer {TOKEN}"}, {"X-Goog-Api-Key": TOKEN}):
        assert ask(locked, "GET", locked.jobs_path, headers=headers).status == 200


# Fails with: request_guard_caller() that never sets call.anonymous: /healthz showed its details without a token.
def test_what_is_open_tells_nothing_of_anybody(locked):
    assert ask(locked, "GET", "/healthz").json == {"status": "ok"}
    assert "engine" in locked.get("/healthz").json
    for path in ("/oauth2/v3/certs", "/discovery/v1/apis", "/$discovery/rest?version=v1", "/_trainyard/console/app.js"):
        assert ask(locked, "GET", path).status == 200
    assert ask(locked, "GET", "/tokeninfo?access_token=x").status == 400
    assert ask(locked, "POST", "/token", "grant_type=x").status == 400
    assert ask(locked, "GET", "/_trainyard/shell/1-master-0-00112233445566778899aabbccddeeff/").status == 404


# Fails with: is_awaited() that asks for the phase alone: each place was held for as long as its body trickled.
def test_who_did_not_say_who_he_is_keeps_nobody_out(locked):
    head = f"POST {locked.jobs_path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 70000000\r\n\r\n".encode()
    with contextlib.ExitStack() as stack:
        for _ in range(700):
            stack.enter_context(locked.connect()).sendall(head + b"x" * 3000)
        for _ in range(20):
            assert locked.get("/healthz").status == 200


# Fails with: body_limit() that is everybody's.
def test_little_is_kept_of_who_did_not_say_who_he_is(locked):
    for path in ("/token", "/_trainyard/shell/1-master-0-00112233445566778899aabbccddeeff/input?session=x"):
        answer = ask(locked, "POST", path, "x" * 70000)
        assert answer.status == 413 and "65536 bytes" in answer.error["message"], (path, answer)
    assert locked.request("POST", "/token", "x" * 70000).status == 400


def credentials(daemon):
    with open(daemon.client_environment()["GOOGLE_APPLICATION_CREDENTIALS"]) as file:
        return json.load(file)


def signed(key, claims):
    def part(value):
        return base64.urlsafe_b64encode(value).rstrip(b"=")
    text = b".".join(part(json.dumps(each).encode()) for each in ({"alg": "RS256", "typ": "JWT", "kid": key["private_key_id"]}, claims))
    with tempfile.NamedTemporaryFile("w") as pem:
        pem.write(key["private_key"])
        pem.flush()
        done = subprocess.run(["openssl", "dgst", "-sha256", "-sign", pem.name], input=text, capture_output=True, check=True)
    return (text + b"." + part(done.stdout)).decode()


# Fails with: signature_fits() that returns true.
def test_the_credentials_file_lets_in_for_an_hour(locked):
    environment = locked.client_environment()
    assert environment["CLOUDSDK_AUTH_DISABLE_CREDENTIALS"] == "false"
    with open(environment["CLOUDSDK_AUTH_ACCESS_TOKEN_FILE"]) as file:
        assert file.read().strip() == TOKEN
    key, now = credentials(locked), int(time.time())
    jwt = signed(key, {"iss": key["client_email"], "aud": key["token_uri"], "iat": now, "exp": now + 3600,
                       "scope": "https://www.googleapis.com/auth/cloud-platform"})
    form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Host": urllib.parse.urlparse(key["token_uri"]).netloc}
    answer = ask(locked, "POST", "/token", form + jwt, headers)
    assert answer.status == 200, answer
    own = answer.json["access_token"]
    assert ask(locked, "GET", locked.jobs_path, headers={"Authorization": f"Bearer {own}"}).status == 200
    assert ask(locked, "GET", "/storage/v1/b?project=p", headers={"Authorization": f"Bearer {own}"}).status == 200
    broken = own[:-2] + ("AA" if own[-2:] != "AA" else "BB")
    assert ask(locked, "GET", locked.jobs_path, headers={"Authorization": f"Bearer {broken}"}).status == 401
    answer = ask(locked, "POST", "/token", form + jwt[:-6] + "AAAAAA", headers)
    assert answer.status == 400, answer
    assert own not in locked.log()


# Fails with: is_an_accounts() that does not compare issuer and subject; that does not look at the times.
@pytest.mark.parametrize("change,status", [({}, 200), ({"sub": "other@x"}, 401), ({"sub": None}, 401), ({"exp": 1}, 401),
                                           ({"iss": "https://accounts.google.com", "sub": "https://accounts.google.com"}, 401),
                                           ({"exp": 99999999999}, 401), ({"iat": 99999999999, "exp": 99999999999}, 401)], ids=str)
def test_libraries_may_sign_for_themselves(locked, change, status):
    key = credentials(locked)
    now = int(time.time())
    claims = {"iss": key["client_email"], "sub": key["client_email"], "aud": "https://aiplatform.googleapis.com/",
              "iat": now, "exp": now + 3600, **change}
    jwt = signed(key, {name: value for name, value in claims.items() if value is not None})
    for token, expected in ((jwt, status), (jwt[:-6] + "AAAAAA", 401), (jwt.rpartition(".")[0] + ".", 401)):
        assert ask(locked, "GET", locked.jobs_path, headers={"Authorization": f"Bearer {token}"}).status == expected


def grpc_call(locked, port, *headers):
    name = b"projects/p/locations/us-central1"
    message = b"\x0a" + bytes([len(name)]) + name
    frame = b"\0" + len(message).to_bytes(4, "big") + message
    words = ["curl", "-s", "-D", "-", "-o", os.devnull, "--http2-prior-knowledge", "--data-binary", "@-", "-H",
             "Content-Type: application/grpc", "-H", "TE: trailers"]
    for header in headers:
        words += ["-H", header]
    words.append(f"http://127.0.0.1:{port}/google.cloud.aiplatform.v1.JobService/ListCustomJobs")
    return subprocess.run(words, input=frame, capture_output=True, timeout=30).stdout.decode()


# Fails with: parts_open() of front.c without its caller.
def test_grpc_wants_the_token_too(locked):
    port = locked.get("/healthz").json["grpc"]["port"]
    with untouched(locked):
        for headers in ((), ("authorization: Bearer wrong",), ("x-goog-api-key: wrong",)):
            assert "grpc-status: 16" in grpc_call(locked, port, *headers), headers
    for header in (f"authorization: Bearer {TOKEN}", f"x-goog-api-key: {TOKEN}"):
        said = grpc_call(locked, port, header)
        assert "HTTP/2 200" in said and "grpc-status: 16" not in said, said


# method -> fields of the request, and the error.
REFUSED_BY_GRPC = {
    "nothing that is there": ({}, code(16)), "another's page": (dict(origin="http://evil.example"), code(7)),
    "another site": (dict(sec_fetch_site="cross-site"), code(7)), "a rebound name": ({":authority": "evil.example"}, code(7)),
    "a wrong token": (dict(authorization="Bearer wrong-token-0123456"), code(16)),
    "a page with a wrong token": (dict(authorization="Bearer wrong", origin="null"), code(7))}


# Fails with: on_admit() that returns true: 12 of what is not there, 3 and 13 of what is no message.
@pytest.mark.parametrize("name", REFUSED_BY_GRPC)
def test_grpc_tells_nothing_and_keeps_nothing_without_the_token(locked, name):
    more, refusal = REFUSED_BY_GRPC[name]
    paths = (GET_JOB, SERVICE + "FlyCustomJob", "/a.B/C", "/")
    with untouched(locked), Peer(locked.grpc_port) as peer:
        peer.socket.settimeout(5)
        for path in paths:
            for body in (b"", MISSING, MISSING[:-1], message(b"\xff\xff"), message(b"x", 1), b"\xff" * 99):
                stream = peer.call(path, body, **more)
                assert refusal in peer.ends()[stream], (path, body)


def memory_kib(daemon):
    with open(f"/proc/{daemon.pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))


# Fails with: on_data() that does not look at is_refused.
def test_bodies_are_kept_of_nobody_without_the_token(locked):
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(Peer(locked.grpc_port)) for _ in range(16)]
        assert all(peer.lasts() for peer in peers)
        before = memory_kib(locked)
        for peer in peers:
            peer.socket.settimeout(5)
            with contextlib.suppress(OSError):
                for _ in range(4):
                    peer.pour(peer.begin(GET_JOB), 1 << 20, insists=True)
        assert memory_kib(locked) - before < 8 << 10


# Fails with: a log_event() of exchange.c that tells the whole target.
def test_no_log_line_holds_a_token(locked):
    ask(locked, "GET", f"/v1/nothing?access_token={TOKEN}")
    ask(locked, "GET", locked.jobs_path, headers={"Authorization": f"Bearer {TOKEN}", "X-Goog-Api-Key": TOKEN})
    wait_until(lambda: "request " in locked.log(), 10, "requests are logged at all")
    log = locked.log()
    assert TOKEN not in log and "BEGIN" not in log and "ya29.ty-" not in log
    with open(f"/proc/{locked.pid}/cmdline", "rb") as file:
        assert TOKEN.encode() not in file.read()


# Fails with: the check of addresses in wiring.c that does not look for a token file.
@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "169.254.169.254:80"])
@pytest.mark.parametrize("option", ["--listen", "--grpc"])
def test_no_open_address_without_a_token(tmp_path, option, address):
    done = subprocess.run([program(), "serve", option, address, "--state-dir", str(tmp_path / "state")],
                          capture_output=True, text=True, timeout=30)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "--token-file" in done.stderr, done
    assert not (tmp_path / "state").exists()


# Fails with: is_token() that returns true, and token_open() that takes tokens of the daemon's own kind.
@pytest.mark.parametrize("content", ["", "short", "a b" * 20, "ya29.ty-0123456789abcdef", "x" * 2000])
def test_a_poor_token_is_refused_and_not_shown(tmp_path, content):
    path = tmp_path / "token"
    path.write_text(content)
    done = subprocess.run([program(), "serve", "--token-file", str(path), "--state-dir", str(tmp_path / "state")],
                          capture_output=True, text=True, timeout=30)
    assert done.returncode == 2 and "--token-file" in done.stderr
    assert not content or content not in done.stderr


# Fails with: addresses_check() of wiring.c without its log_event(); that goes on to it for loopback; one hint for both.
def test_an_address_that_others_reach_is_warned_of(locked, tcp_yard):
    def warned(daemon):
        return [line for line in daemon.log().splitlines() if " reachable " in line]
    said = [f"option={option} address=0.0.0.0:0" for option in (["listen"] if locked.port else []) + ["grpc"]]
    lines = warned(locked)
    assert len(lines) == len(said), lines
    for line, what in zip(lines, said):
        assert " warning " in line and what in line and "without encryption" in line, line
        assert ("clients that use no TLS" in line) == ("option=grpc" in line), line
    assert warned(tcp_yard) == []


# Fails with: line_read() without its log_event(); that looks at 007 alone.
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o600], ids=oct)
def test_a_token_file_that_others_may_read_is_warned_of(idle_engine, tmp_path, mode):
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(mode)
    daemon = Daemon(tmp_path, idle_engine, "--offline", "--token-file", str(path), listen=listen_at("unix", tmp_path, ""))
    daemon.token = TOKEN
    with daemon:
        lines = [line for line in daemon.log().splitlines() if "token-file-open" in line]
        assert len(lines) == (mode & 0o077 != 0), daemon.log()
        for line in lines:
            assert " warning " in line and f" mode={mode:o} " in line and str(path) in line and TOKEN not in line, line
        assert daemon.get(daemon.jobs_path).status == 200


OTHER_USER = 65534


# Fails with: state_dir_find() that looks at nothing; state_dir_check_owner() without the owner; without the mode.
@pytest.mark.parametrize("mode, owner", [(0o777, 0), (0o720, 0), (0o702, 0), (0o700, OTHER_USER), (0o755, 0), (0o700, 0)])
def test_a_state_directory_that_others_can_change_serves_no_token(idle_engine, tmp_path, mode, owner):
    if owner and not is_root():
        pytest.skip("only root can give a directory away")
    token = tmp_path / "token"
    token.write_text(TOKEN + "\n")
    token.chmod(0o600)
    state = tmp_path / "state"
    state.mkdir()
    state.chmod(mode)
    if owner:
        os.chown(state, owner, owner)
    theirs = owner != 0 or mode & 0o022 != 0

    def daemon(*options):
        return Daemon(tmp_path, idle_engine, "--offline", *options, state_dir=state, listen=listen_at("unix", tmp_path, ""))
    locked = daemon("--token-file", str(token))
    locked.token = TOKEN
    if theirs:
        with pytest.raises(AssertionError), locked:
            pass
        assert f"the state directory {state}" in locked.log() and "keys in it" in locked.log(), locked.log()
    else:
        with locked:
            assert locked.get(locked.jobs_path).status == 200
    with daemon() as open_one:
        assert open_one.get(open_one.jobs_path).status == 200
        assert open_one.log().count(" warning state-dir-open ") == theirs, open_one.log()


def with_a_token(engine, tmp_path, state):
    token = tmp_path / "token"
    token.write_text(TOKEN + "\n")
    token.chmod(0o600)
    daemon = Daemon(tmp_path, engine, "--offline", "--token-file", str(token), state_dir=state,
                    listen=listen_at("unix", tmp_path, ""))
    daemon.token = TOKEN
    return daemon


def refused_with_a_token(engine, tmp_path, state):
    """The log of a daemon that refuses to start."""
    daemon = with_a_token(engine, tmp_path, state)
    with pytest.raises(AssertionError), daemon:
        pass
    return daemon.log()


# Fails with: state_dir_check_owner() without files_check(): the key signs a token that is taken; without the mode of files.
@pytest.mark.parametrize("name, mode, owner", [("identity.key", 0o600, OTHER_USER), ("state.db-wal", 0o600, OTHER_USER),
                                               ("ca/ca.key", 0o600, OTHER_USER), ("state.db", 0o666, 0), ("blobs/", 0o700, OTHER_USER)])
@pytest.mark.skipif(not is_root(), reason="only root can give a file away")
def test_a_file_that_others_left_in_the_state_directory_serves_no_token(idle_engine, tmp_path, name, mode, owner):
    path = tmp_path / "state" / name
    path.parent.mkdir(parents=True)
    if name.endswith("/"):
        path.mkdir()
    else:
        path.touch()
    path.chmod(mode)
    os.chown(path, owner, owner)
    for directory in (path.parent, tmp_path / "state"):
        directory.chmod(0o700)
    log = refused_with_a_token(idle_engine, tmp_path, tmp_path / "state")
    assert str(path) in log and ("belongs to user 65534" if owner else "has mode 666") in log, log


# Fails with: state_dir_check_owner() without above_check(); above_check() without the mode; above_find() that finds nothing.
@pytest.mark.parametrize("mode, owner, made", [(0o755, OTHER_USER, True), (0o777, 0, True), (0o755, OTHER_USER, False),
                                               (0o777, 0, False)])
@pytest.mark.skipif(not is_root(), reason="only root can give a directory away")
def test_a_state_directory_that_others_can_rename_serves_no_token(idle_engine, tmp_path, mode, owner, made):
    above = tmp_path / "above"
    state = above / "between" / "state"
    above.mkdir()
    if made:
        state.mkdir(parents=True, mode=0o700)
    os.chown(above, owner, owner)
    above.chmod(mode)
    log = refused_with_a_token(idle_engine, tmp_path, state)
    assert f"the state directory {state} is below {above} of " in log and state.exists() == made, log
    above.chmod(0o1777)  # like /tmp: only the owner of a file can remove it
    os.chown(above, 0, 0)
    with with_a_token(idle_engine, tmp_path, state) as daemon:
        assert daemon.get(daemon.jobs_path).status == 200


# Fails with: state_dir_find() that gives back what it was given: keys, address and objects are at the other place.
def test_a_link_that_leads_elsewhere_later_is_not_followed(idle_engine, tmp_path):
    state, other, open_to_all = tmp_path / "state", tmp_path / "other", tmp_path / "open"
    for directory in (state, other, open_to_all):
        directory.mkdir(mode=0o700)
    open_to_all.chmod(0o777)
    link = open_to_all / "link"
    link.symlink_to(state)
    with with_a_token(idle_engine, tmp_path, link) as daemon:
        link.unlink()
        link.symlink_to(other)
        assert daemon.get("/oauth2/v3/certs").status == 200
        assert daemon.request("POST", "/storage/v1/b?project=p", {"name": "kept"}).status == 200
        assert daemon.request("POST", "/upload/storage/v1/b/kept/o?uploadType=media&name=o", b"bytes").status == 200
        assert (state / "address").exists()
        shown = state / "gs" / "kept" / "o"
        wait_until(shown.exists, 20, "the object is a file")
        assert shown.read_bytes() == b"bytes"
    assert list(other.iterdir()) == [] and not (state / "address").exists()


# Fails with: keys_find() after clock_open(), and no O_NOFOLLOW: the other file is emptied, a number in it; files_keep_private() by
# stat(): its mode is 600.
@pytest.mark.parametrize("name", ["lock", "state.db-wal"])
@pytest.mark.skipif(not is_root(), reason="only root can give a directory away")
def test_links_in_the_state_directory_of_others_lead_nowhere(idle_engine, tmp_path, name):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    victim.chmod(0o644)
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (state / name).symlink_to(victim)
    os.chown(state, OTHER_USER, OTHER_USER)
    assert f"the state directory {state} belongs to user 65534" in refused_with_a_token(idle_engine, tmp_path, state)
    assert [entry.name for entry in state.iterdir()] == [name]
    try:
        with Daemon(tmp_path, idle_engine, "--offline", state_dir=state, listen=listen_at("unix", tmp_path, "")):
            pass
    except AssertionError:
        pass  # the lock was a link, so it could not be taken
    assert victim.read_text() == "mine" and victim.stat().st_mode & 0o777 == 0o644


# Fails with: is_the_token() that returns true.
@pytest.mark.long
@needs_gcloud
def test_the_real_gcloud_sends_the_token(locked_yards, tmp_path):
    daemon = locked_yards["tcp"]
    environment = {**os.environ, **daemon.client_environment(), "CLOUDSDK_CONFIG": str(tmp_path / "gcloud"),
                   "CLOUDSDK_CORE_DISABLE_PROMPTS": "1"}
    wrong = tmp_path / "wrong"
    wrong.write_text("wrong-token-0123456")

    def gcloud(*words, **more):
        return subprocess.run([GCLOUD, *words], env={**environment, **more}, capture_output=True, text=True, timeout=180,
                              stdin=subprocess.DEVNULL)
    assert daemon.request("POST", daemon.jobs_path, job_body("of_gcloud")).status == 200
    done = gcloud("ai-platform", "jobs", "list", "--format=value(jobId)")
    assert (done.returncode, done.stdout) == (0, "of_gcloud\n"), done
    for more in (dict(CLOUDSDK_AUTH_ACCESS_TOKEN_FILE=str(wrong)), dict(CLOUDSDK_AUTH_DISABLE_CREDENTIALS="true")):
        done = gcloud("ai-platform", "jobs", "list", "--format=value(jobId)", **more)
        assert done.returncode == 1 and done.stdout == "", (more, done)
        assert "UNAUTHENTICATED" in done.stderr or "authentication credential" in done.stderr, (more, done)
