# SPDX-License-Identifier: Apache-2.0
"""Log lines of replicas and of the service, and queries for them."""
import json
import re

import pytest

from support.daemon import UNTIL_RELEASED, distributed, script, task_of, text_of
from support.wait import wait_until

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z")


def quoted(text):
    """Quotes a word for the shell."""
    return "'" + text.replace("'", "'\\''") + "'"


@pytest.fixture(scope="module")
def counted(yard):
    """A job whose three replicas print 300 numbered lines each."""
    count = "i=0; while [ $i -lt 300 ]; do echo line $i; i=$((i+1)); done"
    job_id = yard.create(distributed(count + "; " + UNTIL_RELEASED, count, workers=2))
    yard.release(job_id, after={"worker-replica-0": 300, "worker-replica-1": 300})
    yard.until(job_id, "SUCCEEDED")
    return job_id


def test_every_line_is_there_once_and_in_order(yard, counted):
    for task in ("master-replica-0", "worker-replica-0", "worker-replica-1"):
        assert yard.lines(counted, task) == [f"line {i}" for i in range(300)], task


def test_positions_compare_as_text_and_never_go_back(yard, counted):
    positions = [(e["timestamp"], e["insertId"]) for e in yard.entries(counted)]
    assert positions == sorted(positions)
    assert len(set(positions)) == len(positions)
    assert all(TIMESTAMP.fullmatch(timestamp) for timestamp, _ in positions)
    assert len({len(insert_id) for _, insert_id in positions}) == 1


def test_an_entry_has_the_names_that_clients_filter_by(yard, counted):
    entry = next(e for e in yard.entries(counted) if task_of(e) == "worker-replica-1")
    assert entry["logName"] == f"projects/{yard.project}/logs/worker-replica-1"
    assert entry["resource"]["type"] == "ml_job"
    labels = entry["resource"]["labels"]
    assert labels["job_id"] == counted and labels["project_id"] == yard.project
    assert TIMESTAMP.fullmatch(entry["receiveTimestamp"])


def test_pages_of_every_size_hold_the_same_entries(yard, counted):
    whole = [e["insertId"] for e in yard.entries(counted, page_size=1000)]
    assert [e["insertId"] for e in yard.entries(counted, page_size=7)] == whole
    newest_first = [e["insertId"] for e in yard.entries(counted, order="timestamp desc", page_size=100)]
    assert newest_first == whole[::-1]


def test_a_position_continues_where_gcloud_left_off(yard, counted):
    whole = yard.entries(counted)
    at = whole[400]
    after = yard.entries(counted, f'timestamp>"{at["timestamp"]}" OR '
                                  f'(timestamp="{at["timestamp"]}" AND insertId>"{at["insertId"]}")')
    assert [e["insertId"] for e in after] == [e["insertId"] for e in whole[401:]]


STREAMS = [
    # what the program prints, and the entry it becomes: severity, and text or, with members besides message, payload
    ("echo out", "INFO", "out"),
    ("echo err >&2", "ERROR", "err"),
    ("printf 'no newline'", "INFO", "no newline"),
    ("printf '\\303\\244\\n'", "INFO", "ä"),
    ('echo {"severity":"WARNING","message":"careful","step":3}', "WARNING", {"message": "careful", "step": 3}),
    ('echo {"severity":"warn","message":"m"}', "WARNING", "m"),
    ('echo {"severity":"FATAL","message":"m"}', "CRITICAL", "m"),
    ('echo {"severity":"fine","message":"m"}', "DEBUG", "m"),
    ('echo {"severity":350,"message":"m"}', "NOTICE", "m"),
    ('echo {"loss":0.5} >&2', "ERROR", {"loss": 0.5}),
    ("echo {not json", "INFO", "{not json"),
    ("echo [1,2]", "INFO", "[1,2]"),
]


@pytest.fixture(scope="module")
def spoken(yard):
    """One job that prints all of STREAMS, with a pause after each so that stdout and stderr keep their order."""
    steps = []
    for action, _, _ in STREAMS:
        if action.startswith("echo {") or action.startswith("echo ["):
            word = action[5:].removesuffix(" >&2")
            action = "echo " + quoted(word) + action[5 + len(word):]
        steps.append(action)
    steps.remove("printf 'no newline'")
    steps.append("printf 'no newline'")
    job_id = yard.create(script("; sleep 0.05; ".join(steps)))
    yard.until(job_id, "SUCCEEDED")
    return {i: e for i, e in enumerate(e for e in yard.entries(job_id) if task_of(e) == "master-replica-0")}


def test_streams_and_structured_lines_get_their_severity_and_payload(spoken):
    rows = [r for r in STREAMS if r[0] != "printf 'no newline'"] + [r for r in STREAMS if r[0] == "printf 'no newline'"]
    seen = [(e.get("severity", "DEFAULT"), e.get("jsonPayload", e.get("textPayload"))) for e in spoken.values()]
    said = [(severity, payload) for _, severity, payload in rows]
    # The engine reads a container's two streams independently, so lines of different streams may change their order.
    for of_stream in (lambda line: line[0] == "ERROR", lambda line: line[0] != "ERROR"):
        assert list(filter(of_stream, seen)) == list(filter(of_stream, said))


def test_a_line_says_its_own_time_and_id(yard):
    """Fails with: log_pump.c that drops the id; log_batch.c that raises the time: it was in neither timestamp nor payload."""
    old, id_key = "2020-01-01T00:00:00.5Z", "logging.googleapis.com/insertId"
    lines = ["now", json.dumps({"message": "old", "time": old, id_key: "own", "n": 18446744073709551615}),
             json.dumps({"message": "far", "time": "2200-01-01T00:00:00Z"}), "later"]
    job_id = yard.create(script("; ".join("echo " + quoted(line) for line in lines)))
    yard.until(job_id, "SUCCEEDED")
    entries = [e for e in yard.entries(job_id) if task_of(e) == "master-replica-0"]
    assert [e.get("textPayload") or e["jsonPayload"]["message"] for e in entries] == ["old", "now", "far", "later"]
    first, far = entries[0], entries[2]
    assert (first["timestamp"], first["insertId"]) == ("2020-01-01T00:00:00.500000000Z", "own")
    assert first["jsonPayload"] == {"message": "old", "n": 2.0 ** 64}
    assert far["jsonPayload"]["time"] == "2200-01-01T00:00:00Z" and far["timestamp"] < "2200"


@pytest.mark.long
def test_a_long_line_loses_nothing(yard):
    size = 700_000
    job_id = yard.create(script(f"head -c {size} /dev/zero | tr '\\0' x; echo; echo after"))
    yard.until(job_id, "SUCCEEDED")
    lines = yard.lines(job_id)
    assert lines[-1] == "after"
    assert sum(map(len, lines[:-1])) == size and set("".join(lines[:-1])) == {"x"}


def test_the_service_tells_the_life_of_a_job(yard):
    job_id = yard.create(script("true"))
    yard.until(job_id, "SUCCEEDED")
    expected = ["Validating job requirements...", "Job creation request has been successfully validated.",
                f"Job {job_id} is queued.", "Waiting for job to be provisioned.",
                "Waiting for training program to start.", "Tearing down training program.",
                "Finished tearing down training program.", "Job completed successfully."]
    said = yard.service_lines(job_id)
    # Notices about deviations from the cloud depend on the host; there is at most one line.
    notices = [text for severity, text in said if severity == "NOTICE"]
    assert len(notices) <= 1 and all(text.startswith("Unlike in the cloud: ") for text in notices), notices
    assert {severity for severity, _ in said} <= {"INFO", "NOTICE"}
    texts = [text for _, text in said]
    assert [t for t in texts if t in expected] == expected, texts


def test_the_last_line_is_readable_when_the_end_is(yard):
    for _ in range(5):
        job_id = yard.create(script("echo the last line"))
        yard.until(job_id, "SUCCEEDED")
        entries = yard.entries(job_id)
        assert text_of(entries[-1]) == "Job completed successfully."
        assert "the last line" in map(text_of, entries)


FILTERS = [
    # filter, added to the job's own -> which of the lines 0..299 of which tasks match
    ('resource.labels.task_name="worker-replica-0"', {"worker-replica-0": range(300)}),
    ('resource.labels.task_name=("worker-replica-0" OR "worker-replica-1") AND textPayload:"line 29"',
     {"worker-replica-0": [29, *range(290, 300)], "worker-replica-1": [29, *range(290, 300)]}),
    ('textPayload="line 7"', {t: [7] for t in ("master-replica-0", "worker-replica-0", "worker-replica-1")}),
    ('textPayload=~"^line 1[0-2]$" resource.labels.task_name:master', {"master-replica-0": [10, 11, 12]}),
    ('textPayload="LINE 3" AND NOT resource.labels.task_name:"worker"', {"master-replica-0": [3]}),
    ('"line 42" -resource.labels.task_name="master-replica-0"', {"worker-replica-0": [42], "worker-replica-1": [42]}),
    ('severity>=WARNING AND textPayload:line', {}),
    ('jsonPayload.message:* AND textPayload:line', {}),
    ('logName:"logs/worker-replica-1" textPayload="line 0"', {"worker-replica-1": [0]}),
    ('SEARCH(textPayload, "LINE 42") AND NOT SEARCH(logName, "master")', {"worker-replica-0": [42], "worker-replica-1": [42]}),
    ('CAST(REGEXP_EXTRACT(textPayload, "line ([0-9]+)"), INT64) > 298 AND log_id("worker-replica-0")',
     {"worker-replica-0": [299]}),
    ('timestamp>="2001-01-01" AND timestamp<"2002-01-01T00:00:00+01:00"', {}),
]


@pytest.mark.parametrize("text,expected", FILTERS, ids=[f[0] for f in FILTERS])
def test_filters_find_what_they_say(yard, counted, text, expected):
    found = {}
    for entry in yard.entries(counted, text):
        found.setdefault(task_of(entry), []).append(int(text_of(entry).split()[1]))
    assert found == {task: list(numbers) for task, numbers in expected.items()}


BAD_LISTS = [
    (dict(filter='resource.type="ml_job'), "filter"),
    (dict(filter="AND"), "filter"),
    (dict(filter="severity>=NONSENSE("), "filter"),
    (dict(orderBy="severity"), "orderBy"),
    (dict(pageSize=-1), "pageSize"),
    (dict(pageToken="garbage"), "pageToken"),
    (dict(resourceNames=[]), "resourceNames"),
]


@pytest.mark.parametrize("change,_field", BAD_LISTS, ids=[json.dumps(c) for c, _ in BAD_LISTS])
def test_a_list_that_cannot_be_is_refused_at_once(yard, change, _field):
    answer = yard.post("/v2/entries:list", dict(resourceNames=[f"projects/{yard.project}"]) | change)
    assert (answer.status, answer.error["status"]) == (400, "INVALID_ARGUMENT"), answer


def test_no_entries_are_an_empty_answer(yard):
    answer = yard.post("/v2/entries:list", dict(resourceNames=[f"projects/{yard.project}"],
                                                filter='resource.labels.job_id="never_was"'))
    assert (answer.status, answer.json) == (200, {})


def test_written_entries_are_read_back(yard):
    log = f"projects/{yard.project}/logs/my-log"
    written = dict(logName=log, resource={"type": "global"}, labels={"a": "b"},
                   entries=[dict(textPayload="first", severity="NOTICE"),
                            dict(jsonPayload={"message": "second", "n": 2}, labels={"c": "d"})])
    answer = yard.post("/v2/entries:write", written)
    assert (answer.status, answer.json) == (200, {})

    def both():
        found = yard.post("/v2/entries:list", dict(resourceNames=[f"projects/{yard.project}"],
                                                   filter=f'logName="{log}"', orderBy="timestamp asc")).json
        return found if len(found.get("entries", [])) == 2 else None
    entries = wait_until(both, 10)["entries"]
    assert sorted(map(text_of, entries)) == ["first", "second"]
    first, second = sorted(entries, key=text_of)
    assert first["severity"] == "NOTICE" and first["labels"] == {"a": "b"}
    assert second["labels"] == {"a": "b", "c": "d"} and second["jsonPayload"]["n"] == 2
    names = yard.get(f"/v2/projects/{yard.project}/logs").json["logNames"]
    assert log in names


def test_a_deleted_log_is_gone_from_all_jobs_and_comes_again(yard):
    """The name of the log has a slash, which clients percent-encode."""
    project = f"projects/{yard.project}"

    def write(log, text):
        answer = yard.post("/v2/entries:write", {"logName": f"{project}/logs/{log}", "resource": {"type": "global"},
                                                 "entries": [{"textPayload": text}]})
        assert answer.status == 200, answer

    def read():
        found = yard.post("/v2/entries:list", {"resourceNames": [project], "filter": f'logName:"{project}/logs/gone"'}).json
        return [text_of(entry) for entry in found.get("entries", [])]

    write("gone%2Fsoon", "first")
    write("gone-not", "stays")
    assert sorted(wait_until(lambda: len(read()) == 2 and read(), 10)) == ["first", "stays"]
    path = f"/v2/{project}/logs/gone%2Fsoon"
    answer = yard.request("DELETE", path)
    assert (answer.status, answer.json) == (200, {})
    assert read() == ["stays"]
    assert f"{project}/logs/gone%2Fsoon" not in yard.get(f"/v2/{project}/logs").json["logNames"]
    answer = yard.request("DELETE", path)
    assert (answer.status, answer.error["status"], answer.error["message"]) == (404, "NOT_FOUND", "Requested entity was not found.")
    write("gone%2Fsoon", "again")
    assert sorted(wait_until(lambda: len(read()) == 2 and read(), 10)) == ["again", "stays"]


def test_log_names_list_the_tasks(yard, counted):
    names = yard.get(f"/v2/projects/{yard.project}/logs").json["logNames"]
    for task in ("master-replica-0", "worker-replica-0", "worker-replica-1"):
        assert f"projects/{yard.project}/logs/{task}" in names


@pytest.mark.long
def test_lines_can_be_read_while_the_job_runs(yard):
    job_id = yard.create(script("echo early; while :; do sleep 0.1; done"))
    try:
        wait_until(lambda: "early" in yard.lines(job_id), 30, "the first line is readable")
        assert "endTime" not in yard.job(job_id)
    finally:
        yard.cancel(job_id)
        yard.until(job_id, "CANCELLED")
