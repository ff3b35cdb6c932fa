/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/steps.h: the steps themselves, one file each under step/.
 *
 * A step asks the engine for something (safe to repeat), or adds one change of the job's row to the
 * pass, which commits all changes together and then looks at each changed job again. What the engine
 * is asked for follows from the stored row alone, so that a crash at any point only asks again.
 * Thread: the scheduler's. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/clock.h"
#include "daemon/base/error.h"
#include "scheduler/gateway.h"
#include "scheduler/gcs.h"
#include "scheduler/job_run.h"
#include "scheduler/reconcile.h"

struct objects;
struct store;
struct fault_book;
struct log_pump;
struct spare_networks;

/* Those that are not among @told, where they are put: a list of its own. NULL when memory ran out: none is put there.
 * told_differences.c */
json_t *differences_untold(json_t *told, json_t *differences);
/* Takes those of such a list away again: they were not told after all. NULL: there is none. told_differences.c */
void differences_untell(json_t *told, const json_t *fresh);

struct reconciler {
	struct store *store;
	struct engine *engine;
	const struct clock *clock;
	struct log_pump *pump;
	const char *project_number; /* for the link in errorMessage */
	unsigned stop_grace_s;      /* SIGTERM to SIGKILL when a job is cancelled */
	unsigned retry_pause_ms;
	struct gateway_ops gateway;
	struct gcs_ops gcs;
	const char *trials_dir; /* of this machine: where trials' metrics are reported to; made when needed */
	struct objects *objects;  /* NULL: storage is not ours */
	const char *adc, *wheels; /* on this machine, absolute; NULL: none */
	bool cut_off;             /* job networks have no way to the outside */
	struct spare_networks *spares;
	struct fault_book *faults; /* ordered ones; NULL: none are taken */
	struct pass *pass;
};

/* The changes of one pass. */
struct planned_change {
	struct job_run *run;
	struct job_change change;
	struct service_line *lines; /* the run's notes and the step's own */
	size_t note_mark;           /* how many notes the run had before the step */
	char *error_message, *verdict_message, *assignment;
	struct lease *leases;
	size_t lease_count;
	json_t *told; /* by a trial, for its siblings too: differences_untold(); NULL: nothing */
};

struct pass {
	struct planned_change *planned;
	size_t count, size;
};

/* Adds a change of @run's row, from its present state to @to; the run's notes go with it.
 * The caller fills the rest of the returned change before it returns; NULL when memory ran out. */
struct planned_change *pass_add(struct pass *pass, struct job_run *run, enum job_state to);
void pass_clear(struct pass *pass);

typedef void (*step_function)(struct reconciler *reconciler, struct job_run *run);

void step_admit(struct reconciler *reconciler, struct job_run *run);
void step_fetch(struct reconciler *reconciler, struct job_run *run);
void step_create(struct reconciler *reconciler, struct job_run *run);
void step_start(struct reconciler *reconciler, struct job_run *run);
void step_declare_running(struct reconciler *reconciler, struct job_run *run);
void step_restart(struct reconciler *reconciler, struct job_run *run);
void step_judge(struct reconciler *reconciler, struct job_run *run);
void step_expire(struct reconciler *reconciler, struct job_run *run);
void step_stop(struct reconciler *reconciler, struct job_run *run);
void step_remove(struct reconciler *reconciler, struct job_run *run);
void step_explain(struct reconciler *reconciler, struct job_run *run);
void step_retry(struct reconciler *reconciler, struct job_run *run);
void step_close(struct reconciler *reconciler, struct job_run *run);
void step_leave(struct reconciler *reconciler, struct job_run *run);
void step_finish(struct reconciler *reconciler, struct job_run *run);

/* Opens the job's gateway when its network is there and somebody is to use it; again after a restart, where the
 * containers expect it. One that cannot be opened does not hold the job up for long: the log tells. gateway_keep.c */
void gateway_keep(struct reconciler *reconciler, struct job_run *run);
/* Whether it may yet be opened: no container is made before. */
bool gateway_is_awaited(const struct reconciler *reconciler, const struct job_run *run);
void gateway_leave(struct reconciler *reconciler, struct job_run *run);

/* The directory that the job's replicas are to have at /gcs, there when this returns; NULL: none. One that asks for it and
 * cannot have it is told in the log and among its differences, and finds GCS_PLACE empty and read-only. gcs_keep.c */
const char *gcs_keep(struct reconciler *reconciler, struct job_run *run);

/* A change to @to which tells the log, once in an attempt, that the program is about to start. NULL when there
 * is nothing to change. */
struct planned_change *start_announce(struct reconciler *reconciler, struct job_run *run, enum job_state to);
/* The change to RUNNING, told in the log; NULL when there is none to be made. */
struct planned_change *running_declare(struct reconciler *reconciler, struct job_run *run);
/* What the replica was started with, command_line_text(). NULL: the launcher was, which tells its commands itself; or memory
 * ran out. The caller frees. */
char *replica_command_line(const struct reconciler *reconciler, const struct job_run *run,
			   const struct replica_key *key);
/* Whether a replica runs, or is about to, and was not told to stop. */
bool replica_is_stoppable(const struct replica_run *replica);
/* Whether a replica may be removed: nothing of it is still to be read. */
bool replica_is_removable(const struct replica_run *replica);
/* Whether nothing is left of it, neither container nor output to be stored. */
bool replica_is_replaceable(const struct replica_run *replica);
/* The instant (monotonic) at which a limit of the job passes; INT64_MAX: none. It stays, once it is reckoned from the
 * stored times, though the wall clock jumps.
 * Choice: time in which the machine was suspended does not count, but when the daemon was started anew since. */
int64_t job_deadline_us(struct job_run *run, int64_t wall_us, int64_t mono_us);
