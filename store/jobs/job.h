/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/job.h: a job as a row of the store holds it. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"
#include "store/jobs/job_state.h"

/* The kinds of jobs that clients distinguish. The numbers are stored in the database. */
enum job_kind {
	KIND_TRAINING = 0, /* AI Platform Training's Job; its id begins with a letter */
	KIND_CUSTOM = 1,   /* Vertex AI's CustomJob; its id is a number, as are those below */
	KIND_TUNING = 2,   /* Vertex AI's HyperparameterTuningJob */
};

/* Properties of a job that are needed without reading its documents. Bits; the numbers are stored in the database. */
enum job_trait {
	JOB_TRAIT_SEARCH = 1,     /* a tuning job of either family: trials run for it */
	JOB_TRAIT_FLEX_START = 2, /* it asked to wait for capacity */
	JOB_TRAIT_BUILT_IN = 4,   /* runs a built-in algorithm: its output gets a model when it succeeds */
};

struct job {
	int64_t id; /* the store's number; containers carry it as a label */
	enum job_kind kind;
	char *project;
	char *location;     /* NULL: a KIND_TRAINING, which has its region in its input */
	char *job_id;       /* unique in the project */
	char *display_name; /* NULL: a KIND_TRAINING */
	enum job_state state;
	int priority;
	int64_t version; /* grows with every change of the row; the etag is derived from it */
	int64_t created_us;
	int64_t started_us;       /* left QUEUED; 0: never */
	int64_t running_us;       /* when it first became RUNNING; 0: never */
	int64_t ended_us;         /* when it reached its final state; 0: not yet */
	int64_t updated_us;       /* the row's last change */
	char *error_message;      /* NULL: none */
	size_t reason_bytes;      /* how much of it is the reason: after that comes the pointer to the logs */
	int error_code;           /* of google.rpc.Code, with the message; 0: none */
	char *labels;             /* JSON object text, NULL: none */
	char *input;              /* canonical trainingInput, JSON text */
	char *output;             /* canonical trainingOutput, JSON text; "{}" at first */
	char *plan;               /* plan_to_text() */
	char *assignment;         /* the resources it was given, JSON text of the scheduler; NULL: none yet */
	double ml_units_per_hour; /* while it runs */
	bool web_access;          /* its replicas have interactive shells while they run */
	unsigned traits;          /* enum job_trait */
	unsigned replica_count, gpu_count; /* of the plan's pools; used by inserts only */
	int64_t max_wait_us;               /* of the plan; used by inserts only */

	/* For the scheduler: the state to go to once all containers of this attempt are stopped and removed (PREPARING:
	 * retry), UNSPECIFIED until it is decided; the reason, for errorMessage; the attempt of the whole job, from 1;
	 * and whether the last service lines are written. */
	enum job_state outcome;
	char *outcome_message;
	int outcome_code; /* the error_code of the outcome */
	unsigned attempt;
	bool torn_down;
	unsigned announced; /* the last attempt with a line in the log about its start; 0: none */

	/* For a job that runs a trial: the tuning job; 0: a client's job. Clients see jobs of trials if they are
	 * KIND_CUSTOM. */
	int64_t parent;
	unsigned trial; /* its number in the study, from 1 */

	int64_t position; /* while QUEUED: position in the queue, from 1; else 0. Set by reads only */

	unsigned sharers; /* how many others hold this struct; see job_share() */
};

void job_deinit(struct job *job);
/* Releases one hold; the last one frees it. */
void job_free(struct job *job);
/* Adds a hold to a job on the heap, which must not be changed from now on. Returns @job. Thread: any. */
struct job *job_share(struct job *job);
DEFINE_AUTO(job, struct job *, job_free)

/* base64 of 8 bytes that change with every change of the row; @ret_etag has room for 13 bytes. */
void job_etag(const struct job *job, char ret_etag[16]);
/* Checks an etag. ABORTED: @etag is not the job's present one; NULL: any. */
enum status job_etag_check(const struct job *job, const char *etag, struct error *err);

struct job_list {
	struct job *jobs;
	size_t count;
	char *next_page_token; /* NULL on the last page */
};
void job_list_deinit(struct job_list *list);
#define AUTO_JOB_LIST __attribute__((cleanup(job_list_deinit)))
