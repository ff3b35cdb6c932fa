# SPDX-License-Identifier: Apache-2.0
"""What the service says of a job at each of its transitions: the stories that there are, by what it is and how it ends."""
from .daemon import task_of, text_of

TRIAL_ID = "ml.googleapis.com/trial_id"
UNLIKE, FAULT, LOST = "Unlike in the cloud", "Fault rule", "was lost and is restarted"
VALIDATED = ["Validating job requirements...", "Job creation request has been successfully validated.", "Job JOB is queued."]
PROVISIONED = ["Waiting for job to be provisioned.", "Job is preparing."]
STARTED, RUNNING = ["Waiting for training program to start."], ["Job is running."]
TORN_DOWN = ["Tearing down training program.", "Finished tearing down training program."]
# What is said when it is created, admitted, started, and seen to run. A tuning job is in none of these states by itself.
STAGES = {
    "job": (VALIDATED, [UNLIKE, *PROVISIONED], STARTED, RUNNING),
    # Trials of a job tell a difference once: whichever is let in first.
    "first trial": ([], [UNLIKE, *PROVISIONED], STARTED, RUNNING),
    "trial": ([], PROVISIONED, STARTED, RUNNING),
    "search": (VALIDATED, [UNLIKE]),
    "custom job": (["Waiting for job to be provisioned.",
                    "Vertex AI is provisioning job running framework. First time usage might take couple of minutes, "
                    "and subsequent runs can be much faster."],
                   [UNLIKE, "Vertex AI is setting up this job."], [*STARTED, "Job is preparing."], RUNNING),
}
LAST_WORDS = {"SUCCEEDED": "Job completed successfully.", "FAILED": "Job failed.", "CANCELLED": "Job cancelled."}


def stories(what, end, reason=None, alone=True):
    """All that may be told of one that ended so; who cancels it may do so in any of its states. A job of several replicas
    may fail before all of them run."""
    stages, torn_down = STAGES[what], [] if what == "custom job" else TORN_DOWN
    whole = [sum(stages, [])]
    if end == "CANCELLED":
        whole = [sum(stages[:count], []) for count in range(2, len(stages) + 1)]
    elif end == "FAILED" and not alone:
        whole.append(sum(stages[:-1], []))
    said = [reason] if end == "FAILED" else []
    # Of nothing that was never admitted there is anything to tear down.
    return ([[*stages[0], LAST_WORDS[end]]] if end == "CANCELLED" else []) + [
        [*one, *said, *torn_down, LAST_WORDS[end]] for one in whole]


def _plain(text, job_id):
    for start in (UNLIKE, FAULT):
        if text.startswith(start):
            return start
    return LOST if LOST in text else text.replace(job_id, "JOB")


def told(entries, job_id, trial=None):
    """The story of a job, or of one of its trials. What holds a job up is no transition: each daemon that finds it so says
    it, and says why."""
    return [_plain(text_of(e), job_id) for e in entries
            if task_of(e) == "service" and e.get("labels", {}).get(TRIAL_ID) == trial
            and not text_of(e).startswith(("The replicas cannot reach trainyard", "The job is queued: it waits for"))]


def is_whole(story, *allowed, faults=False):
    """Whether it is one of the allowed ones: but for one replica that was ordered to be lost, if `faults`."""
    extra = [line for line in story if line in (FAULT, LOST)]
    if extra != [FAULT, LOST][:len(extra) if faults else 0]:
        return False
    first = story.index(FAULT) if extra else 0
    return [line for line in story if line not in extra] in allowed and (not extra or STARTED[0] in story[:first])
