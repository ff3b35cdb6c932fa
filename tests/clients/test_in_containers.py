# SPDX-License-Identifier: Apache-2.0
"""Google's libraries inside replicas: identity from the metadata server, storage by gs:// addresses, a trainer that is
interrupted and continues. The text of the programs beside this file is passed to the interpreter."""
import base64
import json
import pathlib

import pytest

from support.daemon import one_replica
from support.marks import long
from support.python_image import ensure_python_image
from support.storage import Storage
from support.wait import wait_until

HERE = pathlib.Path(__file__).parent
NUMBER = "123456789012"
ACCOUNT = "trainer@demo-project.iam.gserviceaccount.com"


@pytest.fixture(scope="module")
def image(engine):
    return ensure_python_image(engine)


def program(name, image, *args, **more):
    """A job whose master runs a program of this directory."""
    return one_replica("python3", "-c", (HERE / name).read_text(), *args, image=image, **more)


def claims(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


@pytest.fixture(scope="module")
def inside(yard, image):
    """What google-auth finds in a job, and in a job with a service account of its own."""
    jobs = {account: yard.create(program("inside_identity.py", image, **({"serviceAccount": account} if account else {})))
            for account in (None, ACCOUNT)}
    return {account: report(yard, job_id) for account, job_id in jobs.items()}


def report(yard, job_id):
    yard.until(job_id, "SUCCEEDED")
    payloads = [entry["jsonPayload"] for entry in yard.entries(job_id) if "kind" in entry.get("jsonPayload", {})]
    if payloads:
        return payloads[-1]
    return json.loads(next(line for line in yard.lines(job_id) if line and line.startswith("{")))


def test_google_auth_finds_the_metadata_server(yard, inside):
    said = inside[None]
    assert said["kind"] == "google.auth.compute_engine.credentials"
    assert said["is_gce"] and said["valid"] and said["token"].startswith("ya29.")
    assert said["project"] == yard.project
    assert said["email"] == f"service-{NUMBER}@cloud-ml.google.com.iam.gserviceaccount.com"
    assert said["account"]["scopes"] and said["account"]["aliases"] == ["default"]
    assert str(said["number"]) == NUMBER
    assert said["zone"].startswith(f"projects/{NUMBER}/zones/us-central1-"), said["zone"]
    assert said["universe"] == "googleapis.com"


def test_a_job_goes_by_the_account_it_names(inside):
    said = inside[ACCOUNT]
    assert said["email"] == ACCOUNT
    assert claims(said["id_token"])["email"] == said["email"]


def test_identity_tokens_are_for_their_audience(inside):
    said = inside[None]
    for token, audience in ((said["id_token"], "https://service.example.com"),
                            (said["fetched_id_token"], "https://other.example.com")):
        assert claims(token)["aud"] == audience
        assert claims(token)["iss"] == "https://accounts.google.com"
        assert claims(token)["exp"] - claims(token)["iat"] == 3600


def test_the_metadata_server_refuses_what_google_s_refuses(inside):
    said = inside[None]
    assert said["without_flavor"][:2] == [403, "Google"], said["without_flavor"]
    assert said["forwarded"][0] == 403, said["forwarded"]


def test_the_metadata_server_has_its_name(yard, inside):
    assert inside[None]["by_name"] == [200, "Google", yard.project]


def test_the_jobs_api_is_not_reached_from_a_job(inside):
    said = inside[None]
    for asked in ("jobs_here", "create_here"):
        assert said[asked][0] in (403, 404), said[asked]
        assert "jobs" not in said[asked][2] or said[asked][0] == 404, said[asked]


def trainer(image, *args, job_dir, steps=20):
    return program("inside_trainer.py", image, "--data", "gs://training-data/numbers.txt", "--steps", str(steps), *args,
                   jobDir=job_dir)


@pytest.fixture
def data(yard):
    assert Storage(yard, "training-data").put("numbers.txt", "".join(f"{n}\n" for n in range(7))).status == 200
    return sum(n % 7 for n in range(20))


def test_a_trainer_for_the_cloud_trains_from_gs_to_gs(yard, image, data):
    job_id = yard.create(trainer(image, job_dir="gs://first-outputs/run"))
    yard.until(job_id, "SUCCEEDED")
    assert yard.lines(job_id) == ["begins at step 0", f"trained to {data}"]
    outputs = Storage(yard, "first-outputs")
    assert outputs.names() == [f"run/checkpoints/{n:04}" for n in range(1, 21)] + ["run/model.json"]
    assert outputs.read("run/model.json").json == {"step": 20, "sum": data}
    file = yard.state_dir / "gs/first-outputs/run/model.json"
    wait_until(lambda: file.exists() and json.loads(file.read_text()) == {"step": 20, "sum": data}, 20)


@pytest.mark.long
def test_a_trainer_whose_container_is_lost_goes_on_from_its_checkpoint(yard, image, data):
    job_id = yard.create(trainer(image, "--wait-at", "7", job_dir="gs://lost-outputs/run"))
    yard.wait_lines(job_id, count=2)
    yard.engine.remove(yard.container(job_id))
    yard.until(job_id, "SUCCEEDED")
    assert yard.lines(job_id) == ["begins at step 0", "waits", "begins at step 7", f"trained to {data}"]
    assert Storage(yard, "lost-outputs").read("run/model.json").json == {"step": 20, "sum": data}


@pytest.mark.long
def test_a_trainer_reaches_its_storage_again_after_a_restart_of_the_daemon(new_daemon, image):
    daemon = new_daemon("--offline", "--stop-grace", "2").start()
    outputs = Storage(daemon, "kept-outputs")
    job_id = daemon.create(one_replica("python3", "-c", f"""
import os, pathlib, time
from google.cloud import storage
bucket = storage.Client().bucket("{outputs.bucket}")
bucket.blob("before").upload_from_string("1")
print("before", flush=True)
while not pathlib.Path("/released").exists():
    time.sleep(0.05)
bucket.blob("after").upload_from_string(bucket.blob("before").download_as_bytes() + b"2")
""", image=image))
    daemon.wait_lines(job_id)
    daemon.kill9()
    daemon.start()
    daemon.release(job_id)
    daemon.until(job_id, "SUCCEEDED")
    assert outputs.read("after").data == b"12"


def test_what_a_job_reads_and_writes_by_gcsfs(yard, image):
    job_id = yard.create(one_replica("python3", "-c", """
import fsspec
with fsspec.open("gs://gcsfs-inside/a.txt", "w") as file:
    file.write("written inside")
print(fsspec.open("gs://gcsfs-inside/a.txt", "r").open().read(), flush=True)
""", image=image))
    yard.until(job_id, "SUCCEEDED")
    assert yard.lines(job_id) == ["written inside"]
    assert Storage(yard, "gcsfs-inside").read("a.txt").data == b"written inside"


def test_a_bucket_made_in_a_job_is_its_project_s(yard, image):
    """In a job the library sends the project "<none>". Fails with: project_read() that takes no_project for a name."""
    job_id = yard.create(one_replica("python3", "-c", """
from google.cloud import storage
client = storage.Client()
client.create_bucket("made-inside")
print(*(bucket.name for bucket in client.list_buckets(prefix="made-")), flush=True)
""", image=image))
    yard.until(job_id, "SUCCEEDED")
    assert yard.lines(job_id) == ["made-inside"]
    assert [bucket["name"] for bucket in yard.get("/storage/v1/b", project=yard.project, prefix="made-").json["items"]] == ["made-inside"]


def test_the_token_of_one_job_is_none_in_another(yard, image, inside):
    foreign = inside[None]["token"]
    job_id = yard.create(one_replica("python3", "-c", """
import os, sys, urllib.error, urllib.request
ask = urllib.request.Request(os.environ["STORAGE_EMULATOR_HOST"] + "/storage/v1/b/training-data/o",
                             headers={"Authorization": "Bearer " + sys.argv[1]})
try:
    print(urllib.request.urlopen(ask).status)
except urllib.error.HTTPError as error:
    print(error.code)
""", foreign, image=image))
    yard.until(job_id, "SUCCEEDED")
    assert yard.lines(job_id) == ["401"]


LOGGED = {"first": "INFO", "careful": "WARNING", "broken": "ERROR"}


@pytest.mark.parametrize("by", ["gRPC", long("REST")])
def test_what_google_cloud_logging_is_given_is_in_the_job_s_log(yard, image, by):
    """Set up as in Google's own samples; lines arrive within seconds."""
    job_id = yard.create(one_replica("python3", "-c", """
import logging, sys, google.cloud.logging
client = google.cloud.logging.Client(_use_grpc=sys.argv[1] == "gRPC")
client.setup_logging(labels={"run": "7"})
logging.info("first")
logging.warning("careful")
logging.getLogger("trainer").error("broken", extra={"json_fields": {"step": 3}})
client.flush_handlers()
""", by, image=image))
    yard.until(job_id, "SUCCEEDED", timeout=40)
    entries = [e for e in yard.entries(job_id) if e["logName"] == f"projects/{yard.project}/logs/python"]
    said = {e.get("textPayload") or e["jsonPayload"]["message"]: e for e in entries}
    assert {text: entry["severity"] for text, entry in said.items()} == LOGGED
    broken = said["broken"]
    assert broken["jsonPayload"]["step"] == 3 and broken["sourceLocation"]["file"] == "<string>"
    assert broken["labels"]["run"] == "7" and broken["labels"]["python_logger"] == "trainer"
    assert broken["resource"]["type"] == "ml_job"
    assert broken["resource"]["labels"]["task_name"] == "master-replica-0"
