# SPDX-License-Identifier: Apache-2.0
"""Missing images, and pulled images."""
import os
import re

import pytest

from support.daemon import UNTIL_RELEASED, distributed, one_replica
from support.engine import IMAGE
from support.registry import Registry, image_that_comes_slowly
from support.verbs import verb
from support.wait import wait_until


# Fails with: missing() of docker_image.c that asks for credentials, then pulls, with --offline, too.
def test_offline_a_missing_image_fails_the_job_in_clear_words(yard):
    job = yard.run(one_replica(image="no-such-image:7"), expect="FAILED")
    assert "no-such-image:7" in job["errorMessage"], job
    assert "offline" in job["errorMessage"], job
    assert yard.containers(job["jobId"]) == []


# Fails with: pull_fail() that tells neither the image nor the engine's words.
def test_a_registry_that_cannot_be_reached_fails_the_job_in_the_engines_words(new_daemon):
    daemon = new_daemon().start()
    job = daemon.run(one_replica(image="127.0.0.1:9/some/image:1"), expect="FAILED")
    assert "127.0.0.1:9/some/image:1" in job["errorMessage"], job


# Fails with: pull_fail() and missing() that look for no near names; is_near() that is never true.
@pytest.mark.parametrize("option", [[], ["--offline"]], ids=["", "offline"])
def test_a_missing_image_is_told_with_those_of_nearly_its_name(new_daemon, engine, option):
    """The command that the message recommends works."""
    repo = f"hint{os.getpid()}"
    missing = f"127.0.0.1:9/team/{repo}s:2"
    engine.call("POST", f"/images/{IMAGE}/tag?repo={repo}&tag=1")
    try:
        job = new_daemon(*option).start().run(one_replica("true", image=missing), expect="FAILED")
        advice = f"--image-map {missing}={repo}:1"
        assert f"; did you mean {repo}:1? ({advice} runs that one in its place)" in job["errorMessage"], job
        new_daemon(*option, *advice.split()).start().run(one_replica("true", image=missing))
        job = new_daemon(*option).start().run(one_replica("true", image="127.0.0.1:9/qqqqqqqqqq:2"), expect="FAILED")
        assert "did you mean" not in job["errorMessage"] and "docker build -t 127.0.0.1:9/qqqqqqqqqq:2" in job["errorMessage"], job
    finally:
        engine.remove_image(f"{repo}:1")


# Fails with: image_ensure_run() that looks for no task of the same image.
def test_a_missing_image_is_pulled_once_for_all_that_need_it(new_daemon, engine):
    daemon = new_daemon().start()
    with Registry() as registry:
        registry.push(engine, IMAGE, "team/trainer", "1")
        image = f"127.0.0.1:{registry.port}/team/trainer:1"
        jobs = [daemon.create(distributed("echo pulled; " + UNTIL_RELEASED, "echo too", workers=1, image=image)) for _ in range(3)]
        try:
            for job_id in jobs:
                daemon.release(job_id, after={"worker-replica-0": 1})
                daemon.until(job_id, "SUCCEEDED")
                assert daemon.lines(job_id) == ["pulled"] and daemon.lines(job_id, "worker-replica-0") == ["too"]
        finally:
            engine.remove_image(image)
        assert registry.blobs_served == len(set(registry.blobs_asked)), registry.blobs_asked
    said = [text for _, text in daemon.service_lines(jobs[0])]
    assert f"Pulling {image}" in said and len(said) == len(set(said)), said


# Fails with: pull_report() that tells no bytes; on_image() that leaves the board as it is; pull_append() that draws nothing.
@pytest.mark.long
def test_how_far_an_image_is_pulled_is_told(new_daemon, engine):
    daemon = new_daemon().start()
    with image_that_comes_slowly(engine) as (image, let_go):
        job_id = daemon.create(one_replica("true", image=image))

        def pulled():
            pull = daemon.get(f"/_trainyard/v1/jobs/{job_id}").json.get("progress", {}).get("imagePull")
            return pull if pull and 0 < int(pull["bytesDone"]) < int(pull.get("bytesTotal", 0)) else None
        pull = wait_until(pulled, 60, "some of it is pulled")
        assert pull["image"] == image and int(pull["bytesTotal"]) >= 16 << 20
        queue, described = verb(daemon, "queue"), verb(daemon, "describe", job_id)
        for said in (queue, described):
            assert re.search(r"\[#*-+\] \d+ % of [\d.]+ MiB", said), said
        assert job_id in queue
        let_go()
        daemon.until(job_id, "SUCCEEDED")
    assert "progress" not in daemon.get(f"/_trainyard/v1/jobs/{job_id}").json


# Fails with: missing() that looks for no credentials.
def test_a_registry_is_shown_the_users_credentials(new_daemon, engine, tmp_path):
    with Registry(user="me", password="secret") as registry:
        registry.push(engine, IMAGE, "private/trainer", "1")
        host = f"127.0.0.1:{registry.port}"
        image = f"{host}/private/trainer:1"
        config = tmp_path / "docker"
        config.mkdir()
        (config / "config.json").write_text('{"auths": {"%s": {"auth": "bWU6c2VjcmV0"}}}' % host)
        (tmp_path / "none").mkdir()
        stranger, friend = new_daemon("--docker-config", str(tmp_path / "none")), new_daemon("--docker-config", str(config))
        try:
            job = stranger.start().run(one_replica("true", image=image), expect="FAILED")
            assert image in job["errorMessage"], job
            friend.start().run(one_replica("true", image=image))
        finally:
            engine.remove_image(image)


# Fails with: replica_create() of step/create.c that names the image, not what was found by that name: the worker
# was never there again.
@pytest.mark.long
def test_a_job_keeps_its_image_when_the_tag_goes(yard, engine):
    """A container that is made later uses the same image."""
    moving = f"trainyard-test-moving:{os.getpid()}"
    repo, tag = moving.split(":")
    engine.call("POST", f"/images/{IMAGE}/tag?repo={repo}&tag={tag}")
    job_id = yard.create(distributed("echo up; " + UNTIL_RELEASED + "; echo still here", "echo up; while :; do sleep 0.1; done",
                                     workers=1, image=moving))
    yard.until(job_id, "RUNNING")
    worker = yard.container(job_id, "worker-0")
    yard.wait_lines(job_id, "worker-replica-0")
    engine.remove_image(moving)
    engine.remove(worker)
    wait_until(lambda: yard.lines(job_id, "worker-replica-0").count("up") == 2, 60, "the worker is there again")
    yard.release(job_id)
    yard.until(job_id, "SUCCEEDED")
    assert yard.lines(job_id) == ["up", "still here"]
