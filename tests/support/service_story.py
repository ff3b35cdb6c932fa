# SPDX-License-Identifier: Apache-2.0
"""The lines that the service writes to a job's log at its transitions, for each kind of job and each end."""
from .daemon import task_of, text_of

TRIAL_ID = "ml.googleapis.com/trial_id"
UNLIKE, FAULT, LOST = "Unlike in the cloud", "Fault rule", "was lost and is restarted"
VALIDATED = ["Validating job requirements...", "Job creation request has been successfully validated.", "Job JOB is queued."]
PROVISIONED = ["Waiting for job to be provisioned.", "Job is preparing."]
STARTED, RUNNING = ["Waiting for training program to start."], ["Job is running."]
TORN_DOWN = ["Tearing down training program.", "Finished tearing down training program."]
# The lines when a job is created, admitted, started, and seen running. A tuning job itself is in none of these states.
STAGES = {
    "job": (VALIDATED, [UNLIKE, *PROVISIONED], STARTED, RUNNING),
    # A deviation is reported once for all trials: by the first one that is admitted.
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
    """All lists of lines that a job may have that ended so. It may be cancelled in any state, and a job of several replicas
    may fail before all of them run."""
    stages, torn_down = STAGES[what], [] if what == "custom job" else TORN_DOWN
    whole = [sum(stages, [])]
    if end == "CANCELLED":
        whole = [sum(stages[:count], []) for count in range(2, len(stages) + 1)]
    elif end == "FAILED" and not alone:
        whole.append(sum(stages[:-1], []))
    said = [reason] if end == "FAILED" else []
    # A job that was never admitted has nothing to remove.
    return ([[*stages[0], LAST_WORDS[end]]] if end == "CANCELLED" else []) + [
        [*one, *said, *torn_down, LAST_WORDS[end]] for one in whole]


def _plain(text, job_id):
    for start in (UNLIKE, FAULT):
        if text.startswith(start):
            return start
    return LOST if LOST in text else text.replace(job_id, "JOB")


def told(entries, job_id, trial=None):
    """The lines of a job, or of one of its trials, about transitions. Lines about what delays a job are left out: each
    daemon that finds a delay writes one."""
    return [_plain(text_of(e), job_id) for e in entries
            if task_of(e) == "service" and e.get("labels", {}).get(TRIAL_ID) == trial
            and not text_of(e).startswith(("The replicas cannot reach trainyard", "The job is queued: it waits for"))]


def is_whole(story, *allowed, faults=False):
    """Whether it is one of the allowed stories. With `faults`, one replica may have been lost by an injected fault."""
    extra = [line for line in story if line in (FAULT, LOST)]
    if extra != [FAULT, LOST][:len(extra) if faults else 0]:
        return False
    first = story.index(FAULT) if extra else 0
    return [line for line in story if line not in extra] in allowed and (not extra or STARTED[0] in story[:first])
