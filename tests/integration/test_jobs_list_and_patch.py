# SPDX-License-Identifier: Apache-2.0
"""Lists, their pages and filters; labels and etags."""
import base64

import pytest

from support.daemon import script

QUICK = script("true")


@pytest.fixture(scope="module")
def family(yard):
    """Seven ended jobs of known names, states and labels, oldest first."""
    jobs = [yard.create(QUICK, job_id=f"rnn_{i}", labels={"owner": "alice" if i % 2 else "bob", "n": str(i)})
            for i in range(5)]
    jobs += [yard.create(script("exit 1"), job_id="rnn_bad"), yard.create(QUICK, job_id="census_1")]
    for job_id in jobs:
        yard.until(job_id, "SUCCEEDED", "FAILED")
    return jobs


def listed(yard, **query):
    answer = yard.get(yard.jobs_path, **query)
    assert answer.status == 200, answer
    return [j["jobId"] for j in answer.json.get("jobs", [])]


def test_newest_come_first_with_all_their_fields(yard, family):
    jobs = yard.get(yard.jobs_path, pageSize=100).json["jobs"]
    assert [j["jobId"] for j in jobs if j["jobId"] in family] == family[::-1]
    assert jobs[0]["trainingInput"] and jobs[0]["etag"] and "trainingOutput" in jobs[0]


def test_pages_hold_each_job_once_while_jobs_are_added(yard, family):
    seen, added, token = [], [], None
    while True:
        query = dict(pageSize=2, filter="jobId:rnn* OR jobId:census*", **({"pageToken": token} if token else {}))
        page = yard.get(yard.jobs_path, **query).json
        assert len(page["jobs"]) <= 2
        seen += [j["jobId"] for j in page["jobs"]]
        added.append(yard.create(QUICK, job_id=yard.new_id("rnn_added")))
        token = page.get("nextPageToken")
        if not token:
            break
    assert seen == family[::-1]
    for job_id in added:
        yard.until(job_id, "SUCCEEDED")


def test_sizes_are_bounded_as_documented(yard, family):
    more = [yard.create(QUICK) for _ in range(21 - len(listed(yard, pageSize=100)))]
    assert len(listed(yard)) == 20 == len(listed(yard, pageSize=0))
    assert len(listed(yard, pageSize=1000)) >= 21
    for job_id in more:
        yard.until(job_id, "SUCCEEDED")


FILTERS = [
    ("jobId:census*", ["census_1"]),
    ("jobId=rnn_3", ["rnn_3"]),
    ("jobId:rnn_* AND state:FAILED", ["rnn_bad"]),
    ("jobId:rnn_* state=FAILED", ["rnn_bad"]),
    ("state=FAILED", ["rnn_bad"]),
    ("labels.owner=alice", ["rnn_3", "rnn_1"]),
    ("labels.owner=alice AND NOT jobId=rnn_1", ["rnn_3"]),
    ("labels.owner=alice -labels.n=1", ["rnn_3"]),
    ("jobId=rnn_1 OR jobId=rnn_2", ["rnn_2", "rnn_1"]),
    ('(jobId="rnn_1" OR jobId="census_1") AND state!=FAILED', ["census_1", "rnn_1"]),
    ("labels.owner=alice createTime<2001-01-01", []),
    ("jobId:rnn_bad createTime>2001-01-01T00:00", ["rnn_bad"]),
    ("jobId:rnn_bad endTime>=2001-01-01T00:00:00Z", ["rnn_bad"]),
    ("jobId:rnn_bad trainingInput.region=us-central1", ["rnn_bad"]),
    ("labels:n jobId:rnn_0", ["rnn_0"]),
]


@pytest.mark.parametrize("text,expected", FILTERS, ids=[f[0] for f in FILTERS])
def test_filters_find_what_they_say(yard, family, text, expected):
    assert [j for j in listed(yard, filter=text, pageSize=100) if "added" not in j] == expected


@pytest.mark.parametrize("text", ["nosuch=1", "jobId=", "AND", "(jobId=a", 'jobId="a', "createTime>yesterday"])
def test_a_filter_that_cannot_be_read_is_refused(yard, text):
    answer = yard.get(yard.jobs_path, filter=text)
    assert (answer.status, answer.error["status"]) == (400, "INVALID_ARGUMENT"), answer
    assert answer.error["details"][0]["fieldViolations"][0]["field"] == "filter"


def test_no_match_is_an_empty_answer(yard, family):
    assert yard.get(yard.jobs_path, filter="jobId=nothing").json == {}


def test_another_project_has_jobs_of_its_own(yard, family):
    assert yard.get("/v1/projects/another-project/jobs").json == {}


# ---- labels and etags ------------------------------------------------------------------------------------

def patch(yard, job_id, mask, body):
    return yard.request("PATCH", f"{yard.jobs_path}/{job_id}", body, updateMask=mask)


def test_labels_are_replaced_as_a_whole_and_nothing_else_changes(yard, family):
    before = yard.job("rnn_0")
    answer = patch(yard, "rnn_0", "labels", {"labels": {"new": "one"}, "jobId": "other", "errorMessage": "x"})
    assert answer.status == 200, answer
    after = yard.job("rnn_0")
    assert after == answer.json and after["labels"] == {"new": "one"}
    assert after["etag"] != before["etag"]
    assert {k: v for k, v in after.items() if k not in ("labels", "etag")} == \
        {k: v for k, v in before.items() if k not in ("labels", "etag")}
    assert "labels" not in patch(yard, "rnn_0", "labels", {}).json


def test_an_etag_is_eight_bytes_of_base64_and_guards_the_change(yard, family):
    first = yard.job("rnn_1")["etag"]
    assert len(base64.b64decode(first, validate=True)) == 8
    answer = patch(yard, "rnn_1", "labels,etag", {"labels": {"a": "1"}, "etag": first})
    assert answer.status == 200, answer
    stale = patch(yard, "rnn_1", "labels,etag", {"labels": {"a": "2"}, "etag": first})
    assert (stale.status, stale.error["status"]) == (409, "ABORTED"), stale
    assert yard.job("rnn_1")["labels"] == {"a": "1"}
    assert patch(yard, "rnn_1", "labels", {"labels": {"a": "3"}, "etag": first}).status == 200


@pytest.mark.parametrize("mask,body", [("", {"labels": {}}), ("state", {"state": "FAILED"}), ("*", {"labels": {}}),
                                       ("labels", {"labels": {"Upper": "x"}}), ("labels", {"labels": {"a": "B C"}}),
                                       ("labels", {"labels": {f"l{i}": "" for i in range(65)}}),
                                       ("labels", {"labels": [1]}), ("labels,etag", {"etag": "!!"})])
def test_a_patch_that_cannot_be_is_refused(yard, family, mask, body):
    answer = patch(yard, "rnn_2", mask, body)
    assert (answer.status, answer.error["status"]) == (400, "INVALID_ARGUMENT"), answer


def test_a_patch_of_nothing_is_not_found(yard):
    assert patch(yard, "never_was", "labels", {"labels": {}}).status == 404
