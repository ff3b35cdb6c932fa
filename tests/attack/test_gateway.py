# SPDX-License-Identifier: Apache-2.0
"""What a job gets at its gateway with what is another's, sent as bytes from inside a container of a real engine: metadata
and storage are there for a job with its own token or none, and for nobody else's."""
import pytest

from support.attack import job_body, published, request_bytes, statuses
from support.daemon import Daemon
from support.grpc_peer import Peer, code, message, named
from support.inside import OWN_TOKEN, Teller, from_inside, sh

from .conftest import TOKEN
from .test_token import ask
from .test_wire import cases, framed

FLAVOR = {"Metadata-Flavor": "Google"}
HOSTNAME = "/computeMetadata/v1/instance/hostname"
UPLOAD = "/upload/storage/v1/b/attacked/o?uploadType=media&name="


@pytest.fixture(scope="module")
def tracks(engine, tmp_path_factory):
    """A daemon behind a token on all addresses, with gRPC, that runs jobs; they end with it."""
    directory = tmp_path_factory.mktemp("tracks")
    path = directory / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    daemon = Daemon(directory, engine, "--offline", "--stop-grace", "1", "--log-level", "debug", "--token-file", str(path),
                    "--listen", "0.0.0.0:0", "--grpc", "0.0.0.0:0", "--stop-jobs", project="attack-tracks")
    daemon.token = TOKEN
    daemon.start()
    assert daemon.post("/storage/v1/b", dict(name="attacked"), project=daemon.project).status == 200
    assert daemon.request("POST", UPLOAD + "kept", b"kept", {"Content-Type": "text/plain"}).status == 200
    yield daemon
    daemon.stop()


@pytest.fixture(scope="module")
def elsewhere(engine, tmp_path_factory):
    with Daemon(tmp_path_factory.mktemp("elsewhere"), engine, "--offline", "--stop-grace", "1", "--stop-jobs",
                project="attack-elsewhere") as daemon:
        yield daemon


@pytest.fixture(scope="module")
def tellers(tracks, elsewhere):
    found = {"a running job's": Teller(tracks), "attacker": Teller(tracks), "another instance's": Teller(elsewhere),
             "an ended job's": Teller(tracks, ends=True), "another project's": Teller(tracks, "attack-other", ends=True)}
    return {whose: teller.listen() for whose, teller in found.items()}


@pytest.fixture(scope="module")
def victim(tellers):
    return tellers["a running job's"]


@pytest.fixture(scope="module")
def tokens(tellers, victim):
    """{whose: a token that is good somewhere else, or nowhere}"""
    flipped = victim.token[:40] + ("A" if victim.token[40] != "A" else "B") + victim.token[41:]
    return {**{whose: teller.token for whose, teller in tellers.items() if whose != "attacker"},
            "a forged one": flipped, "a short one": victim.token[:20], "the prefix": "ya29.ty-"}


@pytest.fixture(scope="module")
def attacker(tellers):
    return tellers["attacker"]


def with_token(method, path, token, body=b"", **more):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return request_bytes(method, path, body, Connection="close", **{**headers, **more})


def operations(token):
    inner = "DELETE /storage/v1/b/attacked/o/kept HTTP/1.1\r\n\r\n"
    batch = f"--b\r\nContent-Type: application/http\r\n\r\n{inner}\r\n--b--\r\n".encode()
    return {"read": with_token("GET", "/storage/v1/b/attacked/o/kept?alt=media", token),
            "list": with_token("GET", "/storage/v1/b/attacked/o", token),
            "write": with_token("POST", UPLOAD + "stolen", token, b"x", Content_Type="text/plain"),
            "begin": with_token("POST", "/upload/storage/v1/b/attacked/o?uploadType=resumable&name=stolen", token, b"{}"),
            "plain write": with_token("PUT", "/attacked/stolen", token, b"x", Content_Type="text/plain"),
            "plain read": with_token("GET", "/attacked/kept", token),
            "delete": with_token("DELETE", "/storage/v1/b/attacked/o/kept", token),
            "patch": with_token("PATCH", "/storage/v1/b/attacked/o/kept", token, b'{"metadata":{"x":"y"}}'),
            "new bucket": with_token("POST", "/storage/v1/b?project=p", token, b'{"name":"stolen-bucket"}'),
            "batch": with_token("POST", "/batch/storage/v1", token, batch, Content_Type="multipart/mixed; boundary=b")}


def stored(daemon):
    found = daemon.get("/storage/v1/b/attacked/o").json["items"]
    return (daemon.get("/storage/v1/b", project=daemon.project).json["items"],
            [(item["name"], item["generation"], item["metageneration"]) for item in found],
            daemon.query_state("SELECT count(*) FROM job")[0][0] if daemon.state_dir.exists() else 0)


# Broken: caller_admit() without its comparison of jobs: 200 with a running, an ended and another project's token; without
# refuse() of what cannot be read: with the forged ones, too.
def test_a_gateway_takes_no_other_jobs_token(tracks, attacker, tokens):
    requests = {(whose, what): data for whose, token in tokens.items() for what, data in operations(token).items()}
    before = stored(tracks)[:2]
    answers = from_inside(attacker, requests)
    for (whose, what), answer in answers.items():
        assert statuses(answer) == [401] and b"kept" not in answer, (whose, what, answer)
    assert stored(tracks)[:2] == before


def test_what_no_token_and_its_own_are_good_for(attacker):
    """The network is what admits a job: TensorFlow sends no token. So the attacks above would have worked."""
    requests = {token: operations(token)["read"] for token in (None, attacker.token)}
    for token, answer in from_inside(attacker, requests).items():
        assert statuses(answer) == [200] and answer.endswith(b"kept"), (token, answer)


# Broken: asker_check() without its look at X-Forwarded-For.
def test_metadata_tells_nobody_of_another(attacker, victim):
    address = victim.gateway.removeprefix("http://").rpartition(":")[0]
    tricks = {"his token": {"Authorization": f"Bearer {victim.token}"}, "his gateway": {"Host": address},
              "his name": {"Host": victim.name}, "forwarded": {"X-Forwarded-For": address},
              "forwarded emptily": {"x-forwarded-for": ""}, "real ip": {"X-Real-IP": address},
              "forwarded, new": {"Forwarded": f"for={address}"}}
    paths = (HOSTNAME, OWN_TOKEN, "/computeMetadata/v1/?recursive=true")
    requests = {(trick, path): request_bytes("GET", path, Connection="close", **{**FLAVOR, **headers})
                for trick, headers in tricks.items() for path in paths}
    requests |= {("no flavor", path): request_bytes("GET", path, Connection="close") for path in paths}
    requests |= {("his path", path): request_bytes("GET", f"http://{address}{path}", Connection="close", **FLAVOR) for path in paths}
    for (trick, path), answer in from_inside(attacker, requests).items():
        assert victim.name.encode() not in answer and victim.token.encode() not in answer, (trick, path, answer)
        refused = trick.startswith("forwarded") and trick != "forwarded, new" or trick == "no flavor"
        assert statuses(answer) == ([403] if refused else [200]), (trick, path, answer)
        assert not refused or b"access_token" not in answer


# Broken: a container that is made with NET_ADMIN, or NET_RAW.
def test_a_job_cannot_take_another_address_or_reach_another_network(tracks, attacker, victim):
    gateway, _, port = victim.gateway.removeprefix("http://").rpartition(":")
    own = tracks.engine.inspect(victim.container)
    address = next(iter(own["NetworkSettings"]["Networks"].values()))["IPAddress"]
    tries = {"a second address": f"ip addr add {address}/32 dev eth0", "an alias": f"ifconfig eth0:1 {address}",
             "a route": f"ip route add {gateway}/32 dev eth0",
             "raw packets": "G=${STORAGE_EMULATOR_HOST#http://}; arping -c 1 -w 2 -I eth0 ${G%:*}",
             "a device": "mknod /tmp/d c 1 1", "the engine": "ls /var/run/docker.sock /run/docker.sock",
             "his gateway": f"echo | nc -w 1 {gateway} {port}", "his container": f"nc -w 1 {address} 1 </dev/null",
             "a mount": "mount -t tmpfs none /mnt", "the clock": "date -s 2000-01-01; date | grep 2000"}
    text = "; ".join(f"({command}) >/dev/null 2>&1 && echo '{name}'" for name, command in tries.items()) + "; echo done"
    assert sh(attacker, text) == "done\n"


# Broken: is_a_users() that does not ask for job 0.
def test_a_jobs_token_opens_no_api(tracks, tokens):
    before = stored(tracks)
    methods = published(tracks)
    for whose, token in tokens.items():
        for method, path in methods if whose == "a running job's" else methods[::20]:
            body = job_body("stolen") if method != "GET" else None
            for headers in ({"Authorization": f"Bearer {token}"}, {"X-Goog-Api-Key": token}):
                answer = ask(tracks, method, path, body, headers)
                assert answer.status == 401, (whose, method, path, answer)
        with Peer(tracks.grpc_port) as peer:
            stream = peer.call("/google.cloud.aiplatform.v1.JobService/ListCustomJobs",
                               message(named("projects/p/locations/us-central1")), authorization=f"Bearer {token}")
            assert code(16) in peer.ends()[stream], whose
    assert stored(tracks) == before


# Broken: guard_peer_check() that returns STATUS_OK.
def test_nothing_of_the_api_is_at_a_gateway_or_open_to_a_job(tracks, attacker):
    """Not with the daemon's own token either."""
    before = stored(tracks)
    paths = {path for method, path in published(tracks) if method == "POST" and "storage" not in path and "attacked" not in path}
    requests = {path: with_token("POST", path, TOKEN, job_body("stolen")) for path in sorted(paths)}
    assert len(requests) > 20
    for path, answer in from_inside(attacker, requests).items():
        assert len(statuses(answer)) == 1 and statuses(answer)[0] >= 400, (path, answer)
    for path, answer in from_inside(attacker, dict(list(requests.items())[:10]), tracks.port).items():
        assert statuses(answer) == [403], (path, answer)
    assert stored(tracks)[1] == before[1]
    assert tracks.get(f"{tracks.jobs_path}/stolen").status == 404


# Broken: head_check_framing() that returns STATUS_OK at once.
def test_nothing_is_smuggled_into_a_gateway(tracks, attacker):
    before = stored(tracks)[:2]
    inner = request_bytes("POST", UPLOAD + "smuggled", b"x", Content_Type="text/plain")
    places = (UPLOAD + "outer", HOSTNAME, "/attacked/outer")
    requests = {(place, name): framed(place, lines, body) for place in places for name, lines, body in cases(inner)}
    for (place, name), answer in from_inside(attacker, requests, wait=1).items():
        assert all(status >= 400 for status in statuses(answer)) and len(set(statuses(answer))) <= 1, (place, name, answer)
    assert stored(tracks)[:2] == before
    control = from_inside(attacker, {"control": inner.replace(b"smuggled", b"controls")})["control"]
    assert statuses(control) == [200]
    assert tracks.request("DELETE", "/storage/v1/b/attacked/o/controls").status == 204
