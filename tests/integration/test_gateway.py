# SPDX-License-Identifier: Apache-2.0
"""What replicas reach of the emulator: storage and metadata through their own job's gateway, and nothing else."""
import base64
import http.server
import json
import os
import re
import struct
import subprocess
import threading

import pytest

from support.daemon import PRINT_ENVIRONMENT, UNTIL_RELEASED, UNTIL_RELEASED_AGAIN, distributed, program, script
from support.engine import IMAGE
from support.marks import long
from support.vertex import Vertex, custom_job

FLAVOR = "--header 'Metadata-Flavor: Google'"
METADATA = "http://$GCE_METADATA_HOST/computeMetadata/v1"
# Printed with a prefix: a line that is only JSON would become a structured log entry.
TOKEN = f"echo \"token $(wget -q -O - {FLAVOR} {METADATA}/instance/service-accounts/default/token)\""


def upload(bucket, name, data):
    return (f"wget -q -O /dev/null --header 'Content-Type: text/plain' --post-data '{data}' "
            f"\"$STORAGE_EMULATOR_HOST/upload/storage/v1/b/{bucket}/o?uploadType=media&name={name}\" && echo stored")


def download(bucket, name):
    return f"wget -q -O - \"$STORAGE_EMULATOR_HOST/storage/v1/b/{bucket}/o/{name}?alt=media\"; echo"


def token_of(line):
    word, token = line.split(" ", 1)
    assert word == "token"
    token = json.loads(token)
    assert token["token_type"] == "Bearer"
    return token["access_token"]


def gateway_of(daemon, job_id):
    """The address of storage in the environment of a job's master."""
    container = daemon.engine.inspect(daemon.container(job_id))
    environment = dict(word.split("=", 1) for word in container["Config"]["Env"])
    return environment["STORAGE_EMULATOR_HOST"]


# Fails with: variable_make() that tells the cloud's own address of metadata.
def test_a_replica_is_told_where_storage_and_metadata_are(yard):
    job = yard.run(script(f"{PRINT_ENVIRONMENT}; grep metadata /etc/hosts", image=IMAGE))
    environment = yard.environment(job["jobId"])
    address = re.fullmatch(r"http://(10\.213\.\d+\.\d+):(\d+)", environment["STORAGE_EMULATOR_HOST"]).group(1)
    assert environment["CLOUD_STORAGE_EMULATOR_ENDPOINT"] == environment["STORAGE_EMULATOR_HOST"]
    assert environment["GCE_METADATA_ROOT"] == environment["GCE_METADATA_HOST"]
    assert environment["GCE_METADATA_IP"].startswith(address)
    assert "NO_GCE_CHECK" not in environment
    names = [line.split() for line in yard.lines(job["jobId"]) if line.startswith(address)]
    assert names == [[address, "metadata.google.internal"], [address, "metadata.google.internal."], [address, "metadata"]]


# Fails with: replica_find() that finds the first, whoever asks.
def test_each_replica_has_a_token_and_a_name_of_its_own(yard):
    ask = f"wget -q -O - {FLAVOR} {METADATA}/instance/hostname; echo; hostname; {TOKEN}"
    job_id = yard.create(distributed(f"{ask}; {UNTIL_RELEASED}", ask, workers=2))
    yard.release(job_id, after={"worker-replica-0": 3, "worker-replica-1": 3})
    assert yard.until(job_id, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED"
    tokens = set()
    for task in ("master-replica-0", "worker-replica-0", "worker-replica-1"):
        told, own, token = yard.lines(job_id, task)[:3]
        assert told.split(".")[0] == own
        tokens.add(token_of(token))
    assert len(tokens) == 3


# Fails with: gateway_close() that closes nothing.
@pytest.mark.long
def test_who_takes_over_a_network_has_a_gateway_of_its_own_on_it(new_daemon):
    daemon = new_daemon("--offline").start()
    seen, networks = set(), set()
    ask = f"wget -q -O - {FLAVOR} http://metadata.google.internal/computeMetadata/v1/instance/hostname; echo; hostname; {TOKEN}"
    for _ in range(3):
        job = daemon.run(script(ask, image=IMAGE))
        networks |= {n["Id"] for n in daemon.engine.networks(f"trainyard.instance={daemon.read_instance()}")}
        told, own, token = daemon.lines(job["jobId"])
        assert told.split(".")[0] == own
        seen.add(token_of(token))
    assert len(seen) == 3 and len(networks) < 3
    daemon.stop()
    assert daemon.engine.leftovers(daemon.read_instance()) == []


# Fails with: metadata_names without the one with a dot; address_take() that takes nothing.
@pytest.mark.skipif(os.geteuid() != 0, reason="port 80 takes root")
@pytest.mark.parametrize("host", ["metadata.google.internal.", long("metadata"), long("169.254.169.254")])
def test_metadata_answers_by_every_name_it_has(yard, host):
    ask = f"timeout 20 wget -q -O - {FLAVOR} http://{host}/computeMetadata/v1/instance/hostname; echo; hostname"
    job = yard.run(distributed(ask, ask, workers=1))
    for task in ("master-replica-0", "worker-replica-0"):
        told, own = yard.lines(job["jobId"], task)[:2]
        assert told.split(".")[0] == own


# Fails with: asker_check() of metadata.c without flavor_given().
def test_metadata_refuses_who_does_not_ask_as_it_wants(yard):
    job = yard.run(script(f"wget -S -O - {METADATA}/project/project-id 2>&1 | grep -m 1 HTTP/; "
                          f"wget -q -O - {FLAVOR} {METADATA}/project/project-id; echo", image=IMAGE))
    refused, project = yard.lines(job["jobId"])
    assert "403" in refused and project == yard.project


# Fails with: listener_start() with all families at the cloud's address: 200, and a bucket "latest" (as it was).
@pytest.mark.skipif(os.geteuid() != 0, reason="a gateway has the cloud's address only as root")
def test_no_upload_is_at_the_clouds_address(yard):
    """AWS libraries send a PUT to this address even if they do not run on AWS."""
    ask = "printf 'PUT /latest/api/token HTTP/1.1\\r\\nHost: 169.254.169.254\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n'"
    job = yard.run(script(f"{ask} | nc 169.254.169.254 80 | head -n 1", image=IMAGE))
    assert [line.strip() for line in yard.lines(job["jobId"])] == ["HTTP/1.1 404 Not Found"]
    assert yard.get("/storage/v1/b/latest").status == 404


# Fails with: gateway->tenant never set; set for both services.
@pytest.mark.long
def test_a_tenant_project_is_told_to_vertex_ais_jobs_alone(new_daemon):
    daemon = new_daemon("--offline", "--stop-jobs", "--stop-grace", "1", "--tenant-project", "t123-tp").start()

    def is_told(project):
        return f'test "$(wget -q -O - {FLAVOR} {METADATA}/project/project-id)" = {project}'
    vertex = Vertex(daemon)
    job = vertex.create(custom_job(is_told("t123-tp") + ' && test "$CLOUD_ML_PROJECT_ID" != t123-tp'))
    daemon.run(script(is_told(daemon.project), image=IMAGE))
    vertex.until(job["name"], "JOB_STATE_SUCCEEDED")


# Fails with: families_fill() without storage; without job_project: "Required parameter: project".
def test_what_a_replica_writes_is_there_for_others_and_outside(yard):
    bucket, named = f"gateway-{yard.pid}", f"gateway-named-{yard.pid}"
    make = (f"wget -q -O /dev/null --header 'Content-Type: application/json' --post-data '{{\"name\":\"{named}\"}}' "
            "$STORAGE_EMULATOR_HOST/storage/v1/b")
    yard.run(script(f"{make} && {upload(bucket, 'out/model', 'trained')}", image=IMAGE))
    assert named in [item["name"] for item in yard.get("/storage/v1/b", project=yard.project).json["items"]]
    assert yard.get(f"/storage/v1/b/{bucket}/o/out%2Fmodel", alt="media").data == b"trained"
    job = yard.run(script(download(bucket, "out%2Fmodel"), image=IMAGE))
    assert yard.lines(job["jobId"]) == ["trained"]


# Fails with: guard_peer_check() that returns STATUS_OK.
@pytest.mark.long
def test_the_jobs_api_is_not_there_for_jobs(new_daemon, tmp_path):
    token = tmp_path / "token"
    token.write_text("jobs-api-not-for-jobs\n")
    daemon = new_daemon("--offline", "--stop-jobs", "--stop-grace", "1", "--listen", "0.0.0.0:0",
                        "--token-file", str(token))
    daemon.token = token.read_text().strip()
    daemon.start()
    address = "${STORAGE_EMULATOR_HOST%:*}"
    ask = (f"wget -S -O - $STORAGE_EMULATOR_HOST{daemon.jobs_path} 2>&1 | grep -m 1 HTTP/; "
           f"wget -S -O - {address}:{daemon.port}{daemon.jobs_path} 2>&1 | grep -m 1 HTTP/; echo")
    job = daemon.run(script(ask, image=IMAGE))
    inside, public = [line for line in daemon.lines(job["jobId"]) if line]
    assert "404" in inside or "401" in inside or "403" in inside, inside
    assert "403" in public
    assert daemon.get(daemon.jobs_path).status == 200


# Fails with: listener_start() without its device and its peers.
def test_another_jobs_gateway_is_out_of_reach(yard):
    """Connections get no answer at all, not even a refusal."""
    job_id = yard.create(script(UNTIL_RELEASED, image=IMAGE))
    yard.until(job_id, "RUNNING")
    bucket = f"reached-{yard.pid}"
    yard.run(script(upload(bucket, "a", "here"), image=IMAGE))
    # Storage needs no token, so a program that reached another job's gateway would be served.
    ask = f"timeout 5 wget -q -O - {{}}/storage/v1/b/{bucket}/o/a?alt=media 2>/dev/null || echo -n out of reach; echo"
    other = yard.run(script(f"{ask.format('$STORAGE_EMULATOR_HOST')}; {ask.format(gateway_of(yard, job_id))}", image=IMAGE))
    assert yard.lines(other["jobId"]) == ["here", "out of reach"]
    yard.release(job_id)
    yard.until(job_id, "SUCCEEDED")


# Fails with: servers_start() that takes any port, whatever the containers were told.
@pytest.mark.parametrize("end", [long("restart"), "kill"])
def test_a_daemon_that_begins_anew_is_at_the_same_place(new_daemon, end):
    daemon = new_daemon("--offline", "--stop-grace", "1").start()
    ask = f"{TOKEN}; {UNTIL_RELEASED}; {TOKEN}; {UNTIL_RELEASED_AGAIN}"
    job_id = daemon.create(distributed(ask, ask, workers=1))
    daemon.wait_lines(job_id, "master-replica-0", 1)
    daemon.wait_lines(job_id, "worker-replica-0", 1)
    if end == "kill":
        daemon.kill9()
        daemon.start()
    else:
        daemon.restart()
    daemon.until(job_id, "RUNNING")
    # The daemon adopts its jobs when the engine has answered; only then does it accept new ones.
    daemon.run(script("true", image=IMAGE))
    daemon.release(job_id, "master-0", "worker-0")
    daemon.release(job_id, "master-0", "worker-0", again=True, after={"master-replica-0": 2, "worker-replica-0": 2})
    assert daemon.until(job_id, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED"
    for task in ("master-replica-0", "worker-replica-0"):
        assert len([token_of(line) for line in daemon.lines(job_id, task)]) == 2


def client_hello(host):
    def vector(size, data):
        return len(data).to_bytes(size, "big") + data
    name = vector(2, b"\0" + vector(2, host.encode()))
    body = b"\3\3" + bytes(32) + vector(1, b"") + vector(2, b"\x13\1") + vector(1, b"\0")
    body += vector(2, struct.pack(">H", 0) + vector(2, name))
    return b"\x16\3\1" + vector(2, b"\1" + vector(3, body))


# Fails with: tls_filter_start() without on_tried().
def test_without_egress_the_cloud_is_out_of_reach_and_who_tries_is_told_of(new_daemon):
    daemon = new_daemon("--offline", "--stop-jobs", "--stop-grace", "1", "--egress", "none").start()
    call = f"echo {base64.b64encode(client_hello('ml.googleapis.com')).decode()} | base64 -d | nc -w 5 ml.googleapis.com 443"
    text = (f"{upload('cut-off', 'a', 'here')}; {TOKEN}; {call} | od -An -tx1; {call} >/dev/null; "
            "nc -w 2 192.0.2.1 80 </dev/null 2>/dev/null || echo nothing outside")
    if os.geteuid() == 0:
        text += f"; echo \"at $(wget -q -O - {FLAVOR} http://169.254.169.254/computeMetadata/v1/project/project-id)\""
    job = daemon.run(script(text, image=IMAGE))
    stored, token, alert, outside, *by_address = daemon.lines(job["jobId"])
    assert by_address == ([f"at {daemon.project}"] if os.geteuid() == 0 else [])
    assert stored == "stored" and token_of(token)
    assert alert.split() == "15 03 03 00 02 02 31".split()
    assert outside == "nothing outside"
    told = [text for severity, text in daemon.service_lines(job["jobId"]) if "ml.googleapis.com" in text]
    assert told == ["The program tried to reach ml.googleapis.com, which is cut off (--egress none). "
                    "In the cloud this works."]
    report = daemon.get(f"/_trainyard{daemon.jobs_path}/{job['jobId']}/report").json
    assert [d["code"] for d in report["differences"] if d["code"] in ("cloud-tried", "cut-off")] == ["cut-off", "cloud-tried"]


# Fails with: hosts_append() without the names of storage.
@pytest.mark.skipif(os.geteuid() != 0, reason="port 80 takes root")
def test_plain_calls_of_storage_by_its_own_name_arrive_here(new_daemon):
    daemon = new_daemon("--offline", "--stop-jobs", "--stop-grace", "1", "--egress", "none").start()
    daemon.run(script(upload("by-name", "a", "here"), image=IMAGE))
    job = daemon.run(script("wget -q -O - http://storage.googleapis.com/by-name/a; echo", image=IMAGE))
    assert daemon.lines(job["jobId"])[0] == "here"


class OtherEmulator(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"another emulator at " + self.path.encode())

    def log_message(self, *_):
        pass


# Fails with: gateway_open() that does not tell the relay's port.
@pytest.mark.long
def test_storage_may_be_another_emulator_on_this_machine(new_daemon):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), OtherEmulator)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        daemon = new_daemon("--offline", "--stop-jobs", "--stop-grace", "1",
                            "--storage-endpoint", f"http://127.0.0.1:{server.server_port}").start()
        job = daemon.run(script(f"{download('b', 'o')}; {TOKEN}", image=IMAGE))
        said, token = daemon.lines(job["jobId"])
        assert said == "another emulator at /storage/v1/b/b/o/o?alt=media"
        assert token_of(token)
    finally:
        server.shutdown()
        server.server_close()


# Fails with: mounts_make() that lets programs write to it; option_deviations_add() that does not tell of it.
def test_the_developers_credentials_are_given_where_that_is_wished(new_daemon, tmp_path):
    credentials = tmp_path / "adc.json"
    credentials.write_text('{"type": "authorized_user"}')
    daemon = new_daemon("--offline", "--stop-jobs", "--stop-grace", "1", "--adc", str(credentials)).start()
    job = daemon.run(script('echo "has $(cat $GOOGLE_APPLICATION_CREDENTIALS)"; '
                            "(echo x >>$GOOGLE_APPLICATION_CREDENTIALS) 2>/dev/null || echo refused", image=IMAGE))
    assert daemon.lines(job["jobId"]) == ['has {"type": "authorized_user"}', "refused"]
    report = daemon.get(f"/_trainyard{daemon.jobs_path}/{job['jobId']}/report").json
    assert "adc-given" in [d["code"] for d in report["differences"]]


# Fails with: given_file_find() that takes what is not there; what is of another kind.
@pytest.mark.parametrize("option, value, reason", [("--adc", "/no/such/file", "No such file"), ("--adc", "/etc", "is not a file"),
                                                   ("--wheels", "/etc/hostname", "is not a directory")])
def test_what_cannot_be_given_is_refused_at_the_start(tmp_path, option, value, reason):
    ended = subprocess.run([program(), "serve", "--state-dir", tmp_path / "state", "--listen", "127.0.0.1:0", option, value],
                           capture_output=True, text=True, timeout=30)
    assert ended.returncode == 2 and reason in ended.stderr and len(ended.stderr.splitlines()) == 1, ended.stderr
