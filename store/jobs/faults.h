/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/faults.h: the rules of faults that users order, and what they did to jobs.
 *
 * Choice: they are stored, so that a scenario goes on where it was when the daemon is restarted in its middle, which is
 * part of some scenarios. A hit on a job is stored in the same transaction as the line that tells it (job_change), and
 * what it causes follows from the stored hit: a crash only does it again. Thread: any. */
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
		draws; /* how often it hit, and how often its probability was asked until the last of them */
	int64_t last_injection_us; /* 0: never */
};

struct fault_list {
	struct stored_fault *faults; /* by id */
	size_t count;
};
void fault_list_deinit(struct fault_list *list);
#define AUTO_FAULT_LIST __attribute__((cleanup(fault_list_deinit)))

enum status fault_list_read(struct store *store, struct fault_list *ret_list, struct error *err);
enum status fault_insert(struct store *store, const char *rule, bool from_file, int64_t *ret_id,
			 struct error *err);
/* NOT_FOUND: there is no such rule. */
enum status fault_delete(struct store *store, int64_t id, struct error *err);
enum status fault_delete_all(struct store *store, struct error *err);
/* A hit that is on no job: counted alone. One of a rule that is gone is nothing. */
enum status fault_count(struct store *store, int64_t id, int64_t draws, struct error *err);

/* A container of a job that has not ended, and a rule that waited for a line which it has printed. */
struct fault_mark {
	struct replica_key key;
	int64_t fault;
};

/* Of a job that has ended, nothing is stored. */
enum status fault_mark_put(struct store *store, const struct fault_mark *mark, struct error *err);
/* Calls @take for each. */
enum status fault_marks_read(struct store *store,
			     enum status (*take)(void *arg, const struct fault_mark *mark, struct error *err),
			     void *arg, struct error *err);

/* One hit on a job. Numbers of stage and kind are scheduler/faults/fault.h's. */
struct fault_injection {
	struct replica_key key; /* which container; role, index and restart are 0 where it is the whole job */
	int stage;
	int64_t fault; /* the rule */
	int kind;
	int exit_code;
	int64_t until_us;    /* wall clock: when it is over; 0: it is not one that passes */
	int64_t ends_us;     /* the same in memory, by the monotonic clock; not stored */
	bool stands;         /* in memory: its rule was not taken back; not stored */
	char *line;          /* what the log says of it */
	int64_t bytes_per_s; /* of a slowed network; 0: of none */
};

struct fault_injection_list {
	struct fault_injection *injections;
	size_t count;
};
void fault_injection_list_deinit(struct fault_injection_list *list);
#define AUTO_FAULT_INJECTION_LIST __attribute__((cleanup(fault_injection_list_deinit)))

/* Those on @job, and on the jobs that run its trials. */
enum status fault_injections_of_job(struct store *store, int64_t job, struct fault_injection_list *ret_list,
				    struct error *err);
/* Those on jobs that have not ended, by job. */
enum status fault_injections_open(struct store *store, struct fault_injection_list *ret_list,
				  struct error *err);

/* Within the transaction of a job's change: whether the rules of all its hits are there still. One that was taken back hits
 * nobody any more, from the moment on at which that is answered. */
enum status fault_injections_stand(struct change_scope *scope, const struct fault_injection *injections,
				   size_t count, bool *ret_stand, struct error *err);
/* Likewise: stores hits and counts each for its rule. */
enum status fault_injections_add(struct change_scope *scope, const struct fault_injection *injections,
				 size_t count, struct error *err);
