# SPDX-License-Identifier: Apache-2.0
"""Programs inside a job reach Cloud Storage by its real host names, because not all of them can be given another address."""
import os
import pathlib
import stat
import subprocess

import pytest

from support.daemon import one_replica, script
from support.engine import IMAGE, RUNTIME, ensure_runtime_images
from support.marks import long

REPLAY = (pathlib.Path(__file__).parent / "tensorflow_replay.py").read_text()
BASIC = ["--offline", "--stop-jobs", "--stop-grace", "1"]
needs_port_443 = pytest.mark.skipif(os.geteuid() != 0, reason="a gateway has port 443 only as root")
NAMES = "grep -cE '[[:space:]](www|storage)[.]googleapis[.]com' /etc/hosts; env | grep -c '^[A-Z0-9_]*=/trainyard/ca[.]crt' || true"


@pytest.fixture(scope="module")
def python_image(engine):
    ensure_runtime_images(engine)
    return RUNTIME


def python(program, *args, image):
    return one_replica("python3", "-c", program, *args, image=image)


@needs_port_443
@pytest.mark.parametrize("egress", ["all", long("none")])
def test_tensorflows_requests_are_answered(new_daemon, python_image, egress):
    daemon = new_daemon(*BASIC, "--egress", egress).start()
    job = daemon.run(python(REPLAY, "flow", image=python_image))
    assert daemon.lines(job["jobId"]) == [
        "write 200 8", "write again 200 14", "write nothing 200 0", "stat 200 ['generation', 'size', 'updated']",
        "read 206 b'one\\ntwo\\nthree\\n'", "read on 416", "list 200 ['a/empty', 'a/one.txt']", "copy 200 True", "delete 204",
        "gone 404", "bucket 200", "another API 404 application/json", "metadata 404"]
    assert daemon.get("/storage/v1/b/flow/o/b%2Fone.txt", alt="media").data == b"one\ntwo\nthree\n"
    report = daemon.get(f"/_trainyard{daemon.jobs_path}/{job['jobId']}/report").json
    assert "cloud-tried" not in [d["code"] for d in report["differences"]]


@needs_port_443
def test_what_is_in_no_bucket_here_leads_on_to_the_cloud(new_daemon, python_image):
    ask = ("import http.client, ssl; c = http.client.HTTPSConnection('storage.googleapis.com'); "
           "c.request('GET', '/tensorflow/tf-keras-datasets/mnist.npz'); r = c.getresponse(); "
           "print(r.status, r.getheader('Location'))")
    daemon = new_daemon(*BASIC).start()
    job = daemon.run(python(ask, image=python_image))
    assert daemon.lines(job["jobId"]) == [
        "307 https://commondatastorage.googleapis.com/tensorflow/tf-keras-datasets%2Fmnist.npz"]
    daemon = new_daemon(*BASIC, "--egress", "none").start()
    job = daemon.run(python(ask, image=python_image))
    assert daemon.lines(job["jobId"]) == ["404 None"]


@needs_port_443
def test_the_authority_is_kept_and_signs_for_nobody_else(new_daemon):
    daemon = new_daemon(*BASIC).start()
    daemon.run(script("true", image=IMAGE))
    key, certificate, bundle = (daemon.state_dir / name for name in ("ca.key", "ca.crt", "ca/bundle.crt"))
    assert stat.S_IMODE(key.stat().st_mode) == 0o600 and stat.S_IMODE(bundle.stat().st_mode) == 0o644
    before = key.read_bytes(), certificate.read_bytes()
    assert bundle.read_bytes().endswith(before[1])
    text = subprocess.run(["openssl", "x509", "-in", certificate, "-noout", "-text"], capture_output=True, text=True).stdout
    assert "Name Constraints: critical" in text and "DNS:googleapis.com" in text
    daemon.restart()
    daemon.run(script("true", image=IMAGE))
    assert (key.read_bytes(), certificate.read_bytes()) == before


# Another emulator serves Cloud Storage, but Cloud Logging is still the job's own; programs must know its certificate.
@pytest.mark.long
@pytest.mark.parametrize("option, variables", [long("--adc", "0"), ("--storage-endpoint", "6")])
def test_the_names_are_left_alone_where_the_cloud_or_another_emulator_is_wanted(new_daemon, tmp_path, option, variables):
    credentials = tmp_path / "adc.json"
    credentials.write_text("{}")
    value = {"--adc": str(credentials), "--storage-endpoint": "http://127.0.0.1:9"}[option]
    daemon = new_daemon(*BASIC, option, value).start()
    job = daemon.run(script(NAMES, image=IMAGE))
    assert daemon.lines(job["jobId"]) == ["0", variables]


@needs_port_443
def test_a_job_finds_names_and_certificates(new_daemon):
    daemon = new_daemon(*BASIC).start()
    job = daemon.run(script(f"{NAMES}; grep -c BEGIN $SSL_CERT_FILE; (echo x >>$SSL_CERT_FILE) 2>/dev/null || echo refused",
                            image=IMAGE))
    names, variables, certificates, write = daemon.lines(job["jobId"])
    assert (names, variables, write) == ("2", "6", "refused") and int(certificates) > 1
