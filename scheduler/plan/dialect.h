/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/dialect.h: the vocabulary of each API family: the names of a job's replicas, the variables by which
 * their programs learn their role and their peers, and the sentences of logs and errors. There is one row per API family;
 * only dialect*.c distinguishes them.
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
	/* the port for communication between replicas; trainyard itself does not listen on it */
	CLUSTER_PORT = 2222,
	REPLICA_NAME_MAX = 64,    /* the kernel's limit for a host name, with NUL */
	ENVIRONMENT_MAX = 131071, /* the longest single string that execve() takes, with NUL */
	PROGRAM_MAX = 2 << 20,    /* the limit for all strings together, with the usual stack of 8 MiB */
};

enum { POOLS_TEXT_SIZE = 192 };

struct dialect {
	const char *name;

	/* The names of replicas. */
	const char *pools[ROLE_COUNT]; /* the words for roles in all of these names */
	const char *nouns[ROLE_COUNT]; /* one replica in a sentence, after "The" */
	const char *task_infix;        /* before the index, in log entries: "worker-replica-0" */
	const char *sentence_infix;    /* the same in sentences: "worker 0" */
	bool names_alone; /* a job with a single replica also names it by host name instead of 127.0.0.1 */

	/* The variables for programs. */
	enum status (*environment)(const struct plan *plan, enum role role, unsigned index,
				   json_t *environment, struct error *err);
	/* The value of CLUSTER_SPEC, and of TF_CONFIG; the caller frees. */
	char *(*cluster_spec)(const struct plan *plan, enum role role, unsigned index);
	char *(*tf_config)(const struct plan *plan, enum role role, unsigned index);
	const char *const
		*reserved; /* variables that a client's own variables do not replace; ends with NULL */
	const char *const *launcher_words; /* options for the launcher; ends with NULL */
	const char *job_dir_flag;  /* the argument that names a trial's directory; NULL: there is none */
	const char *trial_dir_end; /* suffix of the name of a trial's directory, after the trial's number */
	bool expands;              /* replaces $(NAME) in command, arguments and the client's variables */

	/* Log lines, in order; each list ends with NULL. */
	const char *const *admitted, *const *starting, *const *ending, *const *ended;

	bool wraps_lines; /* plain output becomes the message of a jsonPayload, see log_line_wrap() */

	/* Errors. */
	bool names_signals;         /* "9(SIGKILL)", else "137" */
	const char *out_of_memory;  /* between the replica's name and "exited with" */
	const char *
		internal_error; /* the first sentence about a failure that is not the job's fault; "": none */
	unsigned internal_attempts; /* how many attempts a job gets when the engine fails internally */
	const char *running_limit,
		*wait_limit; /* the fields that limit its running time and its waiting time */

	const char *service_agent; /* the default account of programs, after "service-NUMBER@" */
};

/* The dialect of the plan; "ml" for a plan that could not be read. Never NULL. */
const struct dialect *dialect_of(const struct plan *plan);

/* The name that peers resolve: "cmle-training-worker-ab12cd34ef-0". */
void replica_address_name(const struct plan *plan, enum role role, unsigned index,
			  char ret_name[REPLICA_NAME_MAX]);
/* The container's own host name: the address name and a suffix that stays the same over restarts. */
void replica_host_name(const struct plan *plan, enum role role, unsigned index,
		       char ret_name[REPLICA_NAME_MAX]);
/* The replica's name in log entries and shells: "worker-replica-0", "workerpool1-0". */
void replica_task_name(const struct plan *plan, enum role role, unsigned index,
		       char ret_name[REPLICA_NAME_MAX]);
/* The replica's name in sentences, after "The replica": "worker 0", "workerpool1-0". */
void replica_sentence_name(const struct plan *plan, enum role role, unsigned index,
			   char ret_name[REPLICA_NAME_MAX]);
/* Whether the job's replicas are addressed by their names. */
bool replicas_have_names(const struct plan *plan);

/* The variables that the service sets, as an array of "NAME=value". INVALID_ARGUMENT: a value is too long for a
 * program's environment. */
enum status replica_environment(const struct plan *plan, enum role role, unsigned index,
				json_t **ret_environment, struct error *err);
/* Adds the client's own variables to @environment, which must be complete otherwise. INVALID_ARGUMENT: a value, or all
 * together, are too long. */
enum status replica_environment_extend(const struct plan *plan, enum role role, json_t *environment,
				       struct error *err);
/* The command and arguments for the pool's containers, with the variables of @environment filled in: new references;
 * NULL: those of the image. INVALID_ARGUMENT: a word, or all together, are too long, for example because a long
 * variable is repeated often. */
enum status replica_command(const struct plan *plan, enum role role, const json_t *environment,
			    json_t **ret_command, json_t **ret_args, struct error *err);

/* The launcher's options in each replica. */
json_t *launcher_options(const struct plan *plan);

/* Writes "The master, each worker and each parameter server": those pools of @roles (one bit each) that the job has, as
 * the beginning of a sentence. */
const char *pools_text(const struct plan *plan, unsigned roles, char ret_text[POOLS_TEXT_SIZE]);
/* The e-mail address of the service agent, which is the account of programs if their job names none, for the dialect of
 * this name. The caller frees.
 * Source: https://cloud.google.com/ai-platform/training/docs/custom-service-account (read 2026-11-22) */
char *service_agent_email(const char *dialect, const char *project_number);
