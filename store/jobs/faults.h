/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/faults.h: the rules of fault injection, and the faults that were injected into jobs.
 *
 * Choice: they are stored, so that a scenario continues after a restart of the daemon, which may be part of the
 * scenario. A fault in a job is stored in the same transaction as the line that reports it (job_change), and its effect
 * follows from the stored row, so a crash only repeats it. Thread: any. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "daemon/base/replica.h"

struct change_scope;
struct store;

struct stored_fault {
	int64_t id;
	char *rule;     /* canonical JSON */
	bool from_file; /* --faults gave it */
	int64_t created_us;
	int64_t injections,
		draws; /* how often it was applied, and how many random draws were made until the last time */
	int64_t last_injection_us; /* 0: never */
};

struct fault_list {
	struct stored_fault *faults; /* sorted by id */
	size_t count;
};
void fault_list_deinit(struct fault_list *list);
#define AUTO_FAULT_LIST __attribute__((cleanup(fault_list_deinit)))

enum status fault_list_read(struct store *store, struct fault_list *ret_list, struct error *err);
enum status fault_insert(struct store *store, const char *rule, bool from_file, int64_t *ret_id,
			 struct error *err);
/* Deletes a rule. NOT_FOUND: there is no such rule. */
enum status fault_delete(struct store *store, int64_t id, struct error *err);
enum status fault_delete_all(struct store *store, struct error *err);
/* Counts an application of a rule that concerns no job. Ignored if the rule was removed. */
enum status fault_count(struct store *store, int64_t id, int64_t draws, struct error *err);

/* A container of an unfinished job, and a rule with a log pattern that one of its lines has matched. */
struct fault_mark {
	struct replica_key key;
	int64_t fault;
};

/* Stores a mark, but not for a job that has ended. */
enum status fault_mark_put(struct store *store, const struct fault_mark *mark, struct error *err);
/* Calls @take for each stored mark. */
enum status fault_marks_read(struct store *store,
			     enum status (*take)(void *arg, const struct fault_mark *mark, struct error *err),
			     void *arg, struct error *err);

/* One fault injected into a job. The numbers of stage and kind are those of scheduler/faults/fault.h. */
struct fault_injection {
	struct replica_key key; /* which container; role, index and restart are 0 for the whole job */
	int stage;
	int64_t fault; /* the rule */
	int kind;
	int exit_code;
	int64_t until_us;    /* wall clock: when it ends; 0: it is not temporary */
	int64_t ends_us;     /* the same by the monotonic clock; only in memory */
	bool stands;         /* its rule still exists; only in memory */
	char *line;          /* the log line about it */
	int64_t bytes_per_s; /* for a slow network; else 0 */
};

struct fault_injection_list {
	struct fault_injection *injections;
	size_t count;
};
void fault_injection_list_deinit(struct fault_injection_list *list);
#define AUTO_FAULT_INJECTION_LIST __attribute__((cleanup(fault_injection_list_deinit)))

/* The faults injected into @job and into the jobs that run its trials. */
enum status fault_injections_of_job(struct store *store, int64_t job, struct fault_injection_list *ret_list,
				    struct error *err);
/* The faults injected into all unfinished jobs, in the order of the jobs. */
enum status fault_injections_open(struct store *store, struct fault_injection_list *ret_list,
				  struct error *err);

/* Within the transaction of a job's change: checks whether the rules of all its injections still exist. Once the
 * removal of a rule is answered, the rule is never applied again. */
enum status fault_injections_stand(struct change_scope *scope, const struct fault_injection *injections,
				   size_t count, bool *ret_stand, struct error *err);
/* Within the transaction of a job's change: stores injections and counts each for its rule. */
enum status fault_injections_add(struct change_scope *scope, const struct fault_injection *injections,
				 size_t count, struct error *err);
