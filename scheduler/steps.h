/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/steps.h: the steps of a job, but for step_create().
 *
 * A step asks the engine for something (safe to repeat), or adds one change of the job's row to the
 * pass, which commits all changes together and then looks at each changed job again. What the engine
 * is asked for follows from the stored row alone, so that a crash at any point only asks again.
 * Thread: the scheduler's. */
#include <stdbool.h>
#include <stdint.h>

struct job_run;
struct reconciler;
struct replica_run;

/* Lets a queued job in, with what was assigned to it: from here on the engine may hold something of it. */
void step_admit(struct reconciler *reconciler, struct job_run *run);
/* Asks for what replicas need before they can be made: their images and their network. */
void step_fetch(struct reconciler *reconciler, struct job_run *run);
/* Starts every created replica, side by side; the engine starts a few at a time. */
void step_start(struct reconciler *reconciler, struct job_run *run);
/* All replicas are up: the job is RUNNING. */
void step_declare_running(struct reconciler *reconciler, struct job_run *run);
/* Starts replicas that were lost anew, under the same names, while the others go on: what the service does when it moves a
 * machine. Their containers and all they wrote must be gone first; nothing is made before the restart is stored and told
 * (restarts.h). */
void step_restart(struct reconciler *reconciler, struct job_run *run);
/* Writes down what the exits of the replicas decided, before anything is torn down for it. */
void step_judge(struct reconciler *reconciler, struct job_run *run);
/* Cancels a job whose time is up: to wait before it ran, or to run since it did. */
void step_expire(struct reconciler *reconciler, struct job_run *run);
/* Stops what still runs of a job whose end is decided. */
void step_stop(struct reconciler *reconciler, struct job_run *run);
/* Removes containers from which nothing more is wanted. */
void step_remove(struct reconciler *reconciler, struct job_run *run);
/* Stores why a job failed or was cancelled, once all it wrote can be read, and says it in the log. */
void step_explain(struct reconciler *reconciler, struct job_run *run);
/* Nothing of the last attempt is left: the whole job begins again, under the same names. */
void step_retry(struct reconciler *reconciler, struct job_run *run);
/* The last service lines of a job, written before its final state, so that they can be read once the end is seen. */
void step_close(struct reconciler *reconciler, struct job_run *run);
/* No program of the job runs any more: its network is for the next one, or goes. The end does not wait for that. */
void step_leave(struct reconciler *reconciler, struct job_run *run);
/* Nothing of the job is left in the engine and all of its log can be read: its final state. */
void step_finish(struct reconciler *reconciler, struct job_run *run);

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
