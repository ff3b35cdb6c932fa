/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_replica.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_core.h"
#include "scheduler/engine/docker_emit.h"
#include "scheduler/engine/docker_exit.h"
#include "scheduler/engine/docker_given.h"

enum {
	RETRY_US = 300 * MILLISECOND_US,
	START_TRIES = 2,
	REMOVE_TRIES = 30,
	MADE_MAX = 1024, /* the most containers in docker.made: made, but not started yet */
	STOP_MARGIN_S = 30,
};

enum task_kind { TASK_START, TASK_STOP, TASK_REMOVE };

struct replica_task {
	struct replica_task *next;
	struct docker *docker;
	enum task_kind kind;
	struct replica_key key;
	unsigned tries;
	struct timer again;
	struct http_exchange *call; /* START: queued or under way */
	bool stop_wanted;           /* START: the replica has to be stopped after its start, with this time to end: */
	unsigned stop_grace_s;
	bool announced;   /* REMOVE: the event of the removal arrived before the call's answer */
	bool died;        /* START: it has already exited */
	uint64_t signals;   /* START: the signals that the engine sent to the container before its end */
	bool out_of_memory; /* START: the engine has reported that memory ran out */
};

static struct replica_task *task_new(struct docker *docker, enum task_kind kind,
				     const struct replica_key *key)
{
	struct replica_task *task = memory_calloc(1, sizeof(*task));

	task->docker = docker;
	task->kind = kind;
	task->key = *key;
	task->next = docker->replicas;
	docker->replicas = task;
	return task;
}

static struct replica_task *task_find(const struct docker *docker, enum task_kind kind,
				      const struct replica_key *key)
{
	struct replica_task *task = docker->replicas;

	while (task && (task->kind != kind || !docker_key_equal(&task->key, key)))
		task = task->next;
	return task;
}

static void task_end(struct replica_task *task)
{
	struct replica_task **at = &task->docker->replicas;

	while (*at != task)
		at = &(*at)->next;
	*at = task->next;
	free(task);
}

/* The status of a refused request. Engines answer 500 also to errors that repeating cannot repair, because the image
 * or the request causes them; their texts are listed here. Source: answers of Docker 20.10 */
static enum status refusal_status(const struct outcome *outcome)
{
	static const char *const lasting[] = {
		"unable to find user",
		"unable to find group",
		"uids and gids must be in range",
		"error reopening /dev/null inside container",
		"could not select device driver",
		"unknown device",
		"unresolvable CDI devices",
		"cannot mount volume over existing file",
		"Cannot mkdir: ",
		"error while creating mount source path",
		"error mounting \"",
		"sethostname: invalid argument",
	};

	for (size_t i = 0; outcome->status == STATUS_INTERNAL && i < sizeof(lasting) / sizeof(lasting[0]);
	     i++)
		if (strstr(outcome->text, lasting[i]))
			return STATUS_FAILED_PRECONDITION;
	return outcome->status;
}

void replica_refused(struct docker *docker, const struct replica_key *key, const struct outcome *outcome)
{
	emit_replica_failed(docker, ENGINE_REPLICA_FAILED, key, refusal_status(outcome), outcome->text);
}

static void task_fail(struct replica_task *task, const struct outcome *outcome)
{
	if (task->kind == TASK_STOP || task->kind == TASK_REMOVE)
		emit_replica_failed(task->docker, ENGINE_FAILED, &task->key, outcome->status, outcome->text);
	else
		replica_refused(task->docker, &task->key, outcome);
	task_end(task);
}

/* A new task for a command, or NULL after its failure was reported. */
static struct replica_task *task_begin(struct docker *docker, enum task_kind kind,
				       const struct command *command)
{
	bool repeats = kind == TASK_STOP || kind == TASK_REMOVE;
	enum engine_event_kind failed = repeats ? ENGINE_FAILED : ENGINE_REPLICA_FAILED;

	if (!link_is_up(docker)) {
		emit_replica_failed(docker, failed, &command->key, STATUS_UNAVAILABLE, docker->link.reason);
		return NULL;
	}
	return task_new(docker, kind, &command->key);
}

static void task_call(struct replica_task *task, const char *suffix, struct http_request request)
{
	request.arg = task;
	docker_container_call(task->docker, &task->key, suffix, request);
}

static void task_inspect(struct replica_task *task, void (*done)(void *arg, const struct http_answer *answer))
{
	task_call(task, "/json",
		  (struct http_request){ .method = "GET", .timeout_s = CALL_TIMEOUT_S, .done = done });
}

/* ---- start ---- */

static void stop_send(struct docker *docker, const struct replica_key *key, unsigned grace_s);

static void start_succeed(struct replica_task *task)
{
	struct docker *docker = task->docker;
	struct replica_task over = *task;

	emit_key(docker, ENGINE_REPLICA_STARTED, &over.key);
	task_end(task);
	if (over.died)
		exit_look(docker, &over.key, over.signals, over.out_of_memory);
	else if (over.stop_wanted)
		stop_send(docker, &over.key, over.stop_grace_s);
}

/* Ends a start that was not executed: the container is still only created, which is reported. */
static void start_drop(struct replica_task *task)
{
	if (task->call)
		http_cancel(task->call);
	emit_key(task->docker, ENGINE_REPLICA_CREATED, &task->key);
	task_end(task);
}

static void start_send(void *arg);

/* Whether repeating the start may help: another container is just being removed, which still holds the network or
 * the address. */
static bool start_may_go_better(const struct http_answer *answer, const struct outcome *outcome)
{
	return (answer->code == 404 && strstr(outcome->text, "network")) ||
	       (answer->code == 403 && strstr(outcome->text, "ddress already in use"));
}

/* Whether the start failed because the container was removed before it, which is not the job's fault. The event of
 * the removal may arrive later. */
static bool start_came_too_late(const struct http_answer *answer, const struct outcome *outcome)
{
	return (answer->code == 404 && strcasestr(outcome->text, "no such container")) ||
	       (answer->code == 409 && strstr(outcome->text, "removal"));
}

static void start_lost(struct replica_task *task)
{
	emit_key(task->docker, ENGINE_REPLICA_REMOVED, &task->key);
	task_end(task);
}

static void start_done(void *arg, const struct http_answer *answer)
{
	struct replica_task *task = arg;
	struct outcome outcome;

	docker_outcome(task->docker, answer, &outcome);
	if (start_came_too_late(answer, &outcome))
		start_lost(task);
	else if (start_may_go_better(answer, &outcome) && ++task->tries < START_TRIES)
		docker_after(task->docker, &task->again, RETRY_US, start_send, task);
	else if (outcome.status)
		task_fail(task, &outcome);
	else
		start_succeed(task);
}

/* Sends the start, unless a stop was ordered while the container was inspected or the task waited for its second
 * attempt. */
static void start_send(void *arg)
{
	struct replica_task *task = arg;

	if (task->stop_wanted) {
		start_drop(task);
		return;
	}
	task_call(task, "/start",
		  (struct http_request){ .method = "POST",
					 .lane = LANE_START,
					 .timeout_s = START_TIMEOUT_S,
					 .slot = &task->call,
					 .done = start_done });
}

bool replica_is_starting(const struct docker *docker, const struct replica_key *key)
{
	return task_find(docker, TASK_START, key) != NULL;
}

static void start_unmade(void *arg, const struct http_answer *answer)
{
	struct replica_task *task = arg;
	struct outcome outcome;

	docker_outcome(task->docker, answer, &outcome);
	if (outcome.status && answer->code != 404)
		task_fail(task, &outcome);
	else
		start_lost(task);
}

/* If the copies' mark is missing, a daemon was killed between the create and the copies: the container is then made
 * again. */
static void start_mark_looked(void *arg, const struct http_answer *answer)
{
	struct replica_task *task = arg;
	struct outcome outcome;

	docker_outcome(task->docker, answer, &outcome);
	if (answer->code == 404)
		task_call(task, "?v=1&force=1",
			  (struct http_request){
				  .method = "DELETE", .timeout_s = START_TIMEOUT_S, .done = start_unmade });
	else if (outcome.status)
		task_fail(task, &outcome);
	else
		start_send(task);
}

static void start_created(struct replica_task *task, const struct http_answer *answer)
{
	AUTO(json) json_t *container = docker_parse(answer->body, answer->body_length, JSON_OBJECT);

	if (given_is_put(container))
		task_call(task, "/archive?path=" GIVEN_MARK,
			  (struct http_request){
				  .method = "GET", .timeout_s = CALL_TIMEOUT_S, .done = start_mark_looked });
	else
		start_send(task);
}

/* Starts the container only if it has never run: a second start would run an exited container again. */
static void start_looked(void *arg, const struct http_answer *answer)
{
	struct replica_task *task = arg;
	struct replica_status status;
	struct outcome outcome;

	if (!docker_inspection_read(task->docker, answer, &status, &outcome)) {
		if (start_came_too_late(answer, &outcome))
			start_lost(task);
		else
			task_fail(task, &outcome);
	} else if (status.observed == REPLICA_CREATED) {
		start_created(task, answer);
	} else if (status.observed == REPLICA_RUNNING) {
		start_succeed(task);
	} else {
		emit_key(task->docker, ENGINE_REPLICA_STARTED, &task->key);
		exit_report(task->docker, &status);
		task_end(task);
	}
}

void replica_note_made(struct docker *docker, const struct replica_key *key)
{
	char name[DOCKER_NAME_SIZE];

	if (!docker->made)
		docker->made = json_object();
	if (json_object_size(docker->made) >= MADE_MAX)
		json_object_clear(docker->made);
	docker_container_name(docker->instance, key, name);
	json_object_set_new(docker->made, name, json_true());
}

void replica_forget_made(struct docker *docker)
{
	json_decref(docker->made);
	docker->made = NULL;
}

/* Whether the replica's container was noted, and drops the note. */
static bool made_take(struct docker *docker, const struct replica_key *key)
{
	char name[DOCKER_NAME_SIZE];

	docker_container_name(docker->instance, key, name);
	return docker->made && json_object_del(docker->made, name) == 0;
}

void replica_start_run(struct docker *docker, struct command *command)
{
	struct replica_task *task;

	/* The same start may be ordered again after a loss of the engine. Two starts at a time could run a short
	 * program twice. */
	if (replica_is_starting(docker, &command->key))
		return;
	task = task_begin(docker, TASK_START, command);
	if (task && made_take(docker, &command->key))
		start_send(task);
	else if (task)
		task_inspect(task, start_looked);
}

/* ---- stop, remove ---- */

static void stop_looked(void *arg, const struct http_answer *answer)
{
	struct replica_task *task = arg;
	struct replica_status status;
	struct outcome outcome;
	const bool known = docker_inspection_read(task->docker, answer, &status, &outcome);

	if (answer->code == 404) {
		emit_key(task->docker, ENGINE_REPLICA_REMOVED, &task->key);
	} else if (!known || status.observed == REPLICA_RUNNING) { /* a failure makes the caller order the stop again */
		if (known)
			snprintf(outcome.text, sizeof(outcome.text),
				 "the engine does not know yet that it has ended");
		outcome.status = STATUS_UNAVAILABLE;
		task_fail(task, &outcome);
		return;
	} else if (status.observed == REPLICA_EXITED) {
		exit_report(task->docker, &status);
	}
	task_end(task);
}

static void stop_done(void *arg, const struct http_answer *answer)
{
	struct replica_task *task = arg;
	struct outcome outcome;

	docker_outcome(task->docker, answer, &outcome);
	if (outcome.status && answer->code != 404) {
		task_fail(task, &outcome);
		return;
	}
	/* 304: the container had already ended. The inspection below reports this exit, because no other report may
	 * come: the last listing may be older than the exit, and the event may be older than the events stream. */
	if (answer->code == 304) {
		task_inspect(task, stop_looked);
		return;
	}
	if (answer->code == 404)
		emit_key(task->docker, ENGINE_REPLICA_REMOVED, &task->key);
	task_end(task);
}

static void stop_call(struct replica_task *task, unsigned grace_s)
{
	char suffix[32];

	snprintf(suffix, sizeof(suffix), "/stop?t=%u", grace_s);
	task_call(task, suffix,
		  (struct http_request){ .method = "POST",
					 .lane = LANE_STOP,
					 .timeout_s = grace_s + STOP_MARGIN_S,
					 .done = stop_done });
}

static void stop_send(struct docker *docker, const struct replica_key *key, unsigned grace_s)
{
	stop_call(task_new(docker, TASK_STOP, key), grace_s);
}

/* Handles a stop while a start is under way. A start that is still queued in its lane is dropped. A running one is
 * stopped after its answer, because the engine answers "not running" to an earlier stop. False: no start is under
 * way. */
static bool start_revoke(struct docker *docker, const struct command *command)
{
	struct replica_task *start = task_find(docker, TASK_START, &command->key);

	if (!start)
		return false;
	start->stop_wanted = true;
	start->stop_grace_s = command->number;
	if (start->call && http_is_queued(start->call))
		start_drop(start);
	return true;
}

void replica_stop_run(struct docker *docker, struct command *command)
{
	struct replica_task *task;

	if (start_revoke(docker, command))
		return;
	task = task_begin(docker, TASK_STOP, command);
	if (task)
		stop_call(task, command->number);
}

static void remove_send(void *arg);

static void remove_done(void *arg, const struct http_answer *answer)
{
	struct replica_task *task = arg;
	struct outcome outcome;

	docker_outcome(task->docker, answer, &outcome);
	/* 409: another client removes it, 500: a resource of it is busy. Both are temporary. */
	if ((answer->code == 409 || answer->code == 500) && ++task->tries < REMOVE_TRIES) {
		docker_after(task->docker, &task->again, RETRY_US, remove_send, task);
		return;
	}
	if (outcome.status && answer->code != 404) {
		task_fail(task, &outcome);
		return;
	}
	if (!task->announced)
		emit_key(task->docker, ENGINE_REPLICA_REMOVED, &task->key);
	task_end(task);
}

static void remove_send(void *arg)
{
	task_call(arg, "?v=1&force=1",
		  (struct http_request){
			  .method = "DELETE", .timeout_s = START_TIMEOUT_S, .done = remove_done });
}

void replica_remove_run(struct docker *docker, struct command *command)
{
	struct replica_task *task = task_begin(docker, TASK_REMOVE, command);

	if (task)
		remove_send(task);
}

void replica_destroyed(struct docker *docker, const struct replica_key *key)
{
	struct replica_task *removal = task_find(docker, TASK_REMOVE, key);

	made_take(docker, key);
	if (removal && removal->announced)
		return;
	if (removal)
		removal->announced = true;
	emit_key(docker, ENGINE_REPLICA_REMOVED, key);
}

/* ---- events ---- */

void replica_died(struct docker *docker, const struct replica_key *key, uint64_t signals)
{
	struct replica_task *start = task_find(docker, TASK_START, key);

	/* A short program may end before its start is answered. STARTED is still sent before the exit. */
	if (start) {
		start->died = true;
		start->signals = signals;
	} else {
		exit_look(docker, key, signals, false);
	}
}

void replica_ran_out_of_memory(struct docker *docker, const struct replica_key *key)
{
	struct replica_task *start = task_find(docker, TASK_START, key);

	if (start)
		start->out_of_memory = true;
	exit_note_out_of_memory(docker, key);
}
