/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/dialect.h: the words of each API family: the names of a job's replicas, the variables by which their programs
 * learn their own role and their peers, and the sentences of logs and errors. One row for each family of the API;
 * nothing outside of dialect*.c asks which one it is.
 *
 * Pure. Thread: any.
 * Source of "ml": https://cloud.google.com/ai-platform/training/docs/distributed-training-containers,
 *         https://cloud.google.com/ai-platform/training/docs/distributed-training-details
 * Source of "aiplatform": https://cloud.google.com/vertex-ai/docs/training/distributed-training,
 *         https://cloud.google.com/vertex-ai/docs/training/code-requirements */
#include <jansson.h>

#include "daemon/base/error.h"
#include "scheduler/plan/plan.h"

enum {
	CLUSTER_PORT = 2222,      /* suggested to every replica; nothing listens there by itself */
	REPLICA_NAME_MAX = 64,    /* a host name's limit in the kernel, NUL included */
	ENVIRONMENT_MAX = 131071, /* execve() takes no longer single string; NUL included */
	PROGRAM_MAX = 2 << 20,    /* nor more of all strings together, with the usual stack of 8 MiB */
};

enum { POOLS_TEXT_SIZE = 192 };

struct dialect {
	const char *name;

	/* What replicas are called. */
	const char *pools[ROLE_COUNT]; /* in all names */
	const char *nouns[ROLE_COUNT]; /* one of them, behind "The" */
	const char *task_infix;        /* before the index, in log entries: "worker-replica-0" */
	const char *sentence_infix;    /* the same in sentences: "worker 0" */
	bool names_alone;              /* one that is alone has its address by name as well, not 127.0.0.1 */

	/* What programs are told. */
	enum status (*environment)(const struct plan *plan, enum role role, unsigned index,
				   json_t *environment, struct error *err);
	/* The value of CLUSTER_SPEC, and of TF_CONFIG; the caller frees. */
	char *(*cluster_spec)(const struct plan *plan, enum role role, unsigned index);
	char *(*tf_config)(const struct plan *plan, enum role role, unsigned index);
	const char *const *reserved;       /* variables that a client's own do not replace; ends with NULL */
	const char *const *launcher_words; /* options that the launcher is given; ends with NULL */
	const char *job_dir_flag;  /* tells trials their directory in their arguments; NULL: none does */
	const char *trial_dir_end; /* what their directory's name ends with, behind the trial's number */
	bool expands;              /* $(NAME) in command, arguments and the client's variables */

	/* Lines of the log, in their order; each list ends with NULL. */
	const char *const *admitted, *const *starting, *const *ending, *const *ended;

	bool wraps_lines; /* what programs print plainly is a jsonPayload's message, see log_line_wrap() */

	/* Errors. */
	bool names_signals;         /* "9(SIGKILL)", else "137" */
	const char *out_of_memory;  /* between the replica and "exited with" */
	const char *internal_error; /* the first sentence of what the job is not to blame for; "": none */
	unsigned internal_attempts; /* how often it is tried in all when the engine breaks inside */
	const char *running_limit, *wait_limit; /* fields that limit how long it runs, and waits */

	const char *service_agent; /* the account of programs by default, behind "service-NUMBER@" */
};

/* That of the plan; "ml" for a plan that could not be read. Never NULL. */
const struct dialect *dialect_of(const struct plan *plan);

/* The name that peers resolve: "cmle-training-worker-ab12cd34ef-0". */
void replica_address_name(const struct plan *plan, enum role role, unsigned index,
			  char ret_name[REPLICA_NAME_MAX]);
/* The container's own host name: the address name and a suffix that stays the same over restarts. */
void replica_host_name(const struct plan *plan, enum role role, unsigned index,
		       char ret_name[REPLICA_NAME_MAX]);
/* What log entries and shells call it: "worker-replica-0", "workerpool1-0". */
void replica_task_name(const struct plan *plan, enum role role, unsigned index,
		       char ret_name[REPLICA_NAME_MAX]);
/* What sentences call it, behind "The replica": "worker 0", "workerpool1-0". */
void replica_sentence_name(const struct plan *plan, enum role role, unsigned index,
			   char ret_name[REPLICA_NAME_MAX]);
/* Whether its replicas are addressed by their names. */
bool replicas_have_names(const struct plan *plan);

/* The service's own part of the environment as an array of "NAME=value".
 * INVALID_ARGUMENT: some value is too long to be passed to a program at all. */
enum status replica_environment(const struct plan *plan, enum role role, unsigned index,
				json_t **ret_environment, struct error *err);
/* Adds the client's own variables to @environment, which holds all others. INVALID_ARGUMENT: some value, or all of
 * them, are too long. */
enum status replica_environment_extend(const struct plan *plan, enum role role, json_t *environment,
				       struct error *err);
/* What the pool's images are given to run, now that their environment is known: new references; NULL: what the
 * image has. INVALID_ARGUMENT: some word, or all of them, are too long: a short job may say a long variable often. */
enum status replica_command(const struct plan *plan, enum role role, const json_t *environment,
			    json_t **ret_command, json_t **ret_args, struct error *err);

/* Options that the launcher is given in each replica. */
json_t *launcher_options(const struct plan *plan);

/* "The master, each worker and each parameter server": what of @roles, a bit each, begins a sentence. */
const char *pools_text(const struct plan *plan, unsigned roles, char ret_text[POOLS_TEXT_SIZE]);
/* The e-mail address of the service agent that programs go by when their job names no account, of the dialect of that
 * name. The caller frees.
 * Source: https://cloud.google.com/ai-platform/training/docs/custom-service-account (read 2026-11-22) */
char *service_agent_email(const char *dialect, const char *project_number);
