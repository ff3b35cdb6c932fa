# SPDX-License-Identifier: Apache-2.0
"""Properties of a job that would keep its containers from starting in the cloud: the plan and the report name them."""
import hashlib
import io
import json
import tarfile

import pytest

from support.custom_jobs import pool
from support.daemon import distributed
from support.engine import IMAGE, busybox_root
from support.storage import Storage
from support.verbs import verb
from support.vertex import Vertex, custom_job
from test_report import plan_of, report_of

ARM, UNPUSHED = "trainyard-test-arm:1", "gcr.io/some-project/trainyard-test-unpushed:1"


def saved(name, architecture):
    """An archive as `docker save` writes it: `docker import` would set the architecture of this machine."""
    layer = busybox_root({})
    config = json.dumps({"architecture": architecture, "os": "linux", "config": {},
                         "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]}}).encode()
    manifest = json.dumps([{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]).encode()
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as archive:
        for member, data in (("config.json", config), ("layer.tar", layer), ("manifest.json", manifest)):
            info = tarfile.TarInfo(member)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return whole.getvalue()


@pytest.fixture(scope="module")
def images(engine):
    engine.call("POST", "/images/load", saved(ARM, "arm64"), "application/x-tar")
    engine.import_image(UNPUSHED, {})
    yield
    for name in (ARM, UNPUSHED):
        engine.remove_image(name)


def told(answer, *codes):
    return {(d["code"], d["kind"], d["text"]) for d in answer["differences"] if d["code"] in codes}


def job(image, command=None, **more):
    config = {"imageUri": image, **({"containerCommand": command} if command else {})}
    return {"region": "us-central1", "scaleTier": "CUSTOM", "masterType": "n1-standard-4", "masterConfig": config, **more}


# Fails with: facts_report() that compares the system alone: arm64 ran in the plan and failed in the cloud.
def test_an_image_for_another_machine_is_told(yard, images, engine):
    arm = {("image-platform", "REFUSED_BY_CLOUD",
            f"The image {ARM} is for linux/arm64, and the cloud runs images for linux/amd64: build it with --platform linux/amd64.")}
    assert told(plan_of(yard, job(ARM, ["sh"])), "image-platform", "program-missing") == arm
    assert not told(plan_of(yard, job(IMAGE, ["sh"])), "image-platform", "program-missing", "image-unpushed")
    # Only the image's label names the other architecture: its busybox runs here, and the report warns about the cloud.
    job_id = yard.create(job(ARM, ["sh", "-c", "exit 0"]))
    yard.until(job_id, "SUCCEEDED")
    assert told(report_of(yard, job_id), "image-platform") == arm
    assert engine.containers(f"trainyard.instance={yard.read_instance()}") == []


def test_an_image_that_was_never_pushed_is_told(yard, images):
    assert told(plan_of(yard, job(UNPUSHED, ["sh"])), "image-unpushed") == {
        ("image-unpushed", "IN_DOUBT_IN_CLOUD",
         f"The image {UNPUSHED} was built on this machine: the cloud can pull it only after docker push.")}


# Fails with: images_look() that asks for the first pool only; runs_the_same() that compares images alone.
def test_a_program_that_the_image_does_not_have_is_told(yard):
    cluster = distributed("exit 0", "exit 0", workers=1)
    cluster["workerConfig"]["containerCommand"] = ["/app/train.sh"]
    missing = {("program-missing", "REFUSED_BY_CLOUD", f"The image {cluster['workerConfig'].get('imageUri', IMAGE)} has no file "
                "/app/train.sh, with which its replicas begin: they would end with exit code 127.")}
    assert told(plan_of(yard, cluster), "program-missing") == missing
    body = custom_job("exit 0")
    body["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["command"] = ["train"]
    answer = yard.post(f"/_trainyard{Vertex(yard).parent}/customJobs:plan", body)
    assert "has no file train," in str(told(answer.json, "program-missing"))
    assert not told(plan_of(yard, job("no/such/image:1", ["/x"])), "program-missing", "image-platform", "image-unpushed")


def test_a_package_that_is_not_there_is_told(yard):
    packaged = {"region": "us-central1", "runtimeVersion": "2.11", "pythonVersion": "3.7", "pythonModule": "trainer.task",
                "packageUris": ["gs://packages-bucket/trainer.tar.gz"]}
    missing = {("package-missing", "REFUSED_BY_CLOUD",
                "The package gs://packages-bucket/trainer.tar.gz is not there: replicas cannot fetch it.")}
    assert told(plan_of(yard, packaged), "package-missing") == missing
    Storage(yard, "packages-bucket").put("trainer.tar.gz", b"x")
    assert not told(plan_of(yard, packaged), "package-missing")


def test_the_terminal_shows_them(yard, images, tmp_path):
    (tmp_path / "job.yaml").write_text(f"workerPoolSpecs:\n- machineSpec: {{machineType: n1-standard-4}}\n  replicaCount: 1\n"
                                       f"  containerSpec: {{imageUri: '{ARM}', command: [/no/such]}}\n")
    said = verb(yard, "submit", "--plan", "-f", str(tmp_path / "job.yaml"))
    assert "is for linux/arm64" in said and "has no file /no/such" in said
