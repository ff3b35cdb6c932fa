# SPDX-License-Identifier: Apache-2.0
"""Images that one node of a swarm has are copied to the nodes that run them: three engines, each reached by its agent."""
import os
import shutil
import time

import pytest

from support.daemon import UNTIL_RELEASED, distributed, script
from support.engine import IMAGE
from support.swarm import running_swarm
from support.verbs import verb
from support.wait import wait_until

pytestmark = pytest.mark.skipif(not shutil.which("ip") or not shutil.which("dockerd"), reason="no ip, or no dockerd, in PATH")

COPY = "trainyard-copy"  # as in scheduler/engine/docker_group.h


@pytest.fixture(scope="module")
def swarm(tmp_path_factory):
    with running_swarm((0, 0, 0), agents_in=tmp_path_factory.mktemp("sockets")) as found:
        yield found


@pytest.fixture
def daemon(swarm, new_daemon, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", swarm.manager.host)
    for node in swarm.nodes:
        swarm.availability_set(node.name, "active", place=node.name)
    found = new_daemon("--offline", "--stop-grace", "1", "--engine", "swarm", "--job-networks", "plain-overlays",
                       *(f"--place=n1-highmem-{2 ** (i + 1)}=place:{node.name}" for i, node in enumerate(swarm.nodes)),
                       engine=swarm.manager).start()
    wait_until(lambda: all(node["reachable"] for node in found.get("/healthz").json["nodes"]), 60, "all nodes answer")
    return found


def on(body, number):
    """The same job with its master on the node of that number."""
    return body | {"scaleTier": "CUSTOM", "masterType": f"n1-highmem-{2 ** (number + 1)}"}


def copies(node):
    return [tag for image in node.call("GET", "/images/json") for tag in image["RepoTags"] or [] if tag.startswith(COPY)]


def id_of(node, image):
    return node.call("GET", f"/images/{image}/json")["Id"] if node.has_image(image) else None


def ends_well(daemon, job):
    assert daemon.until(job, "SUCCEEDED", "FAILED", timeout=120)["state"] == "SUCCEEDED", (daemon.service_lines(job), daemon.log())


def release(swarm, job):
    for node in swarm.nodes:
        for container in node.containers(f"trainyard.job_id={job}"):
            node.put_file(container["Id"], "/released")


def copies_told(daemon, job):
    return [text for _, text in daemon.service_lines(job) if text.startswith("Copying ")]


def test_an_image_is_copied_to_the_nodes_without_it(swarm, daemon, tmp_path):
    """Fails with: without the search in the group the job failed: the image was not present."""
    two, three = swarm.nodes[1:]
    image = "only-there:1"
    two.import_image(image, {"image": b"first\n"}, ['CMD ["cat", "/image"]'])
    wide = {"masterType": "n1-standard-64", "workerType": "n1-standard-64"}  # each takes a whole node
    job = daemon.create(distributed(f"cat /image; {UNTIL_RELEASED}", f"cat /image; {UNTIL_RELEASED}", workers=2, image=image) | wide)
    for task in ("master-replica-0", "worker-replica-0", "worker-replica-1"):
        assert daemon.wait_lines(job, task, count=1) == ["first"], (daemon.service_lines(job), daemon.log())
    release(swarm, job)
    ends_well(daemon, job)
    told = copies_told(daemon, job)
    assert told and all(text.startswith(f"Copying {image} from the node {two.name}") for text in told), told
    assert len({id_of(node, image) for node in swarm.nodes}) == 1
    assert [len(copies(node)) for node in swarm.nodes] == [1, 0, 1]
    # A newer image of the name replaces the copies, and a copy is no source of a newer one.
    old = copies(three)
    two.import_image(image, {"image": b"second\n"}, ['CMD ["cat", "/image"]'])
    for number in (2, 1):
        job = daemon.create(on(script("cat /image", image=image), number))
        ends_well(daemon, job)
        assert daemon.lines(job) == ["second"]
    assert copies(three) != old and len(copies(three)) == 1
    again = daemon.create(on(script("cat /image", image=image), 2))
    ends_well(daemon, again)
    assert copies_told(daemon, again) == []
    # An image that is no copy stays as it is.
    three.import_image("on-both:1", {"image": b"of three\n"})
    two.import_image("on-both:1", {"image": b"of two\n"})
    job = daemon.create(on(script("cat /image", image="on-both:1"), 2))
    ends_well(daemon, job)
    assert daemon.lines(job) == ["of three"]
    (tmp_path / "Dockerfile").write_text(f"FROM {IMAGE}\nCMD echo built\n")
    assert "built" in verb(daemon, "run", "--image-build", str(tmp_path), "--machine", "n1-highmem-8", "built:1").splitlines()
    assert three.has_image("built:1")
    nowhere = daemon.create(on(script("true", image="nowhere:1"), 2))
    assert "nowhere:1 is not present" in daemon.until(nowhere, "FAILED")["errorMessage"]


@pytest.mark.long
def test_a_large_copy_is_told_and_holds_up_nothing(swarm, daemon):
    """Two jobs share one copy; one of them is cancelled meanwhile."""
    two, three = swarm.nodes[1:]
    two.import_image("large:1", {"data": os.urandom(400 << 20)})
    jobs = [daemon.create(on(script(UNTIL_RELEASED, image="large:1"), 2)) for _ in range(2)]
    wait_until(lambda: copies_told(daemon, jobs[1]), 30, "the copy has begun")
    daemon.post(f"{daemon.jobs_path}/{jobs[1]}:cancel", {})
    daemon.until(jobs[1], "CANCELLED", timeout=10)
    assert not three.has_image("large:1")
    other = daemon.create(on(script("echo done"), 2))
    ends_well(daemon, other)
    daemon.until(jobs[0], "RUNNING", "FAILED", timeout=240)
    told = copies_told(daemon, jobs[0])
    assert len(told) > 1 and " MB of 4" in told[-1], told
    assert len(copies(three)) >= 1 and id_of(three, "large:1") == id_of(two, "large:1")
    release(swarm, jobs[0])
    ends_well(daemon, jobs[0])


def forget(node, image):
    node.remove_image(image)
    for tag in copies(node):
        node.remove_image(tag)


@pytest.mark.long
def test_a_copy_ends_with_the_daemon_or_the_node(swarm, daemon):
    """Fails with: without group_answers() a copy from a node that was cut waited for as long as TCP repeats a request."""
    two, three = swarm.nodes[1:]
    two.import_image("endless:1", {"data": os.urandom(400 << 20)})
    job = daemon.create(on(script("true", image="endless:1"), 2))
    wait_until(lambda: copies_told(daemon, job), 30, "the copy has begun")
    begun = time.monotonic()
    daemon.stop()
    assert time.monotonic() - begun < 30
    daemon.start()
    ends_well(daemon, job)
    forget(three, "endless:1")
    job = daemon.create(on(script("true", image="endless:1"), 2))
    wait_until(lambda: copies_told(daemon, job), 30, "the copy has begun")
    swarm.plug(two, "down")
    try:
        failed = daemon.until(job, "FAILED", timeout=150)["errorMessage"]
        assert "endless:1 cannot be copied from the node node-2" in failed, failed
    finally:
        swarm.plug(two, "up")
    assert not three.has_image("endless:1")
