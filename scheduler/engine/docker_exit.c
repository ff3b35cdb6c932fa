/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_exit.h"

#include <signal.h>
#include <stdlib.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_emit.h"
#include "scheduler/engine/docker_history.h"
#include "scheduler/engine/docker_listing.h"
#include "scheduler/engine/docker_logs.h"
#include "scheduler/engine/docker_reports.h"

enum { RETRY_US = 300 * MILLISECOND_US, EXIT_TRIES = 10 };

struct exit_task {
	struct exit_task *next;
	struct docker *docker;
	struct replica_key key;
	unsigned tries;
	struct timer again;
	uint64_t signals;   /* the signals that the engine sent to the container before its end */
	bool out_of_memory; /* the engine has reported that memory ran out */
	bool waited;        /* the task has waited for such a report */
};

bool docker_inspection_read(struct docker *docker, const struct http_answer *answer,
			    struct replica_status *ret_status, struct outcome *ret_outcome)
{
	AUTO(json) json_t *container = docker_parse(answer->body, answer->body_length, JSON_OBJECT);

	docker_outcome(docker, answer, ret_outcome);
	if (!ret_outcome->status && !docker_container_inspected(container, ret_status))
		*ret_outcome =
			(struct outcome){ STATUS_INTERNAL,
					  "the engine's account of the container cannot be understood" };
	return !ret_outcome->status;
}

/* An exit that is reported to the sink after the container's report files were fetched. */
struct exit_report {
	struct docker *docker;
	struct replica_status status;
};

static void exit_reported(void *arg, bool is_lost)
{
	struct exit_report *report = arg;

	if (!is_lost) { /* after a loss, the listing of the next connection reports the exit */
		follower_note_exit(report->docker, &report->status);
		emit_replica(report->docker, ENGINE_REPLICA_EXITED, &report->status);
	}
	free(report);
}

void exit_report(struct docker *docker, const struct replica_status *status)
{
	struct exit_report *report = memory_alloc(sizeof(*report));

	*report = (struct exit_report){ docker, *status };
	reports_finish(docker, &status->key, exit_reported, report);
}

static void task_end(struct exit_task *task)
{
	struct exit_task **at = &task->docker->exits;

	while (*at != task)
		at = &(*at)->next;
	*at = task->next;
	free(task);
}

static void exit_inspect(struct exit_task *task);

static void exit_inspect_again(void *arg)
{
	struct exit_task *task = arg;

	if (link_is_up(task->docker))
		exit_inspect(task);
	else
		task_end(task); /* the engine is lost: the listing of the next connection reports the exit */
}

/* Whether the reason of the end may still come. The engine learns of an end and of the kernel's out-of-memory kill from
 * two events that race, and dockerd 20.10 leaves OOMKilled false where the end was first. */
static bool exit_lacks_reason(const struct exit_task *task, const struct replica_status *status)
{
	return status->exit_code == 128 + SIGKILL && !status->signalled && !status->out_of_memory &&
	       !task->waited;
}

/* Reports the exit with the inspection's exit code, not the event's: an image's label named "exitCode" would replace
 * the latter. */
static void exit_inspected(void *arg, const struct http_answer *answer)
{
	struct exit_task *task = arg;
	struct replica_status status;
	struct outcome outcome;

	if (docker_inspection_read(task->docker, answer, &status, &outcome) &&
	    status.observed == REPLICA_EXITED) {
		status.signalled = docker_signals_end(task->signals, status.exit_code);
		status.witnessed = !status.signalled;
		status.out_of_memory = status.out_of_memory || task->out_of_memory;
		if (exit_lacks_reason(task, &status)) {
			task->waited = true;
			docker_after(task->docker, &task->again, RETRY_US, exit_inspect_again, task);
			return;
		}
		exit_report(task->docker, &status);
	} else if (answer->status || answer->code != 404) { /* 404: the container is gone, and an event reports that */
		if (++task->tries < EXIT_TRIES) {
			docker_after(task->docker, &task->again, RETRY_US, exit_inspect_again, task);
			return;
		}
		listing_ask(task->docker);
	}
	task_end(task);
}

static void exit_inspect(struct exit_task *task)
{
	docker_container_call(task->docker, &task->key, "/json",
			      (struct http_request){ .method = "GET",
						     .timeout_s = CALL_TIMEOUT_S,
						     .done = exit_inspected,
						     .arg = task });
}

void exit_look(struct docker *docker, const struct replica_key *key, uint64_t signals, bool out_of_memory)
{
	struct exit_task *task = memory_calloc(1, sizeof(*task));

	*task = (struct exit_task){ .next = docker->exits,
				    .docker = docker,
				    .key = *key,
				    .signals = signals,
				    .out_of_memory = out_of_memory };
	docker->exits = task;
	exit_inspect(task);
}

void exit_note_out_of_memory(struct docker *docker, const struct replica_key *key)
{
	for (struct exit_task *task = docker->exits; task; task = task->next)
		if (docker_key_equal(&task->key, key))
			task->out_of_memory = true;
}
