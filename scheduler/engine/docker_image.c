/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_image.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_core.h"
#include "scheduler/engine/docker_emit.h"
#include "scheduler/engine/docker_image_task.h"

enum { TELL_PATIENCE_US = 3 * SECOND_US };

void images_close(struct docker *docker)
{
	struct image_task *next;

	for (struct image_task *task = docker->images; task; task = next) {
		next = task->next;
		if (!task->thread_runs)
			continue;
		(void)!write(task->stop_fd, &(uint64_t){ 1 }, sizeof(uint64_t));
		image_thread_join(task);
		image_task_free(task);
	}
}

/* ---- the other engines ---- */

static void searched(struct image_task *task)
{
	const bool is_found = task->search.engine != NULL;

	task->search.is_over = true;
	if (timer_is_set(&task->search.timer))
		timer_unset(task->docker, &task->search.timer);
	if (task->docker->closing)
		image_task_fail(task, STATUS_CANCELLED, "the daemon ends");
	else if (task->own.id[0] && (!is_found || task->search.is_current))
		image_task_end(task, ENGINE_IMAGE_READY, STATUS_OK, task->own.id);
	else if (is_found && (!task->search.seen.is_registrys || task->docker->offline || task->copies))
		image_copy(task);
	else
		image_pull(task);
}

static void search_late(void *arg)
{
	searched(arg);
}

/* Whether the image is to be copied from this engine rather than from the one that was found earlier. */
static bool is_better(const struct image_task *task, const struct image_seen *seen)
{
	const struct image_seen *best = &task->search.seen;

	if (task->own.id[0] && (seen->is_copy || seen->is_registrys))
		return false;
	return !task->search.engine || seen->is_copy + 2 * seen->is_registrys < best->is_copy + 2 * best->is_registrys;
}

/* Takes another engine's answer: group_ask(). */
static void image_reported_run(struct docker *docker, struct command *command)
{
	struct image_task *task = image_task_find(docker, command->image);
	struct image_seen seen;

	if (!task || task->search.is_over || task->search.number != command->number || !task->search.awaited)
		return;
	if (command->body && image_seen_read(command->body, &seen)) {
		if (!seen.is_copy && strcmp(seen.id, task->own.id) == 0)
			task->search.is_current = true;
		if (is_better(task, &seen)) {
			task->search.engine = command->arg;
			task->search.seen = seen;
		}
	}
	if (!--task->search.awaited)
		searched(task);
}

static void search(struct image_task *task)
{
	task->search.engine = NULL;
	task->search.is_current = false;
	task->search.number = ++task->docker->searches;
	task->search.awaited = group_ask(task->docker, task->image, task->search.number, image_reported_run);
	if (task->search.awaited)
		docker_after(task->docker, &task->search.timer, TELL_PATIENCE_US, search_late, task);
	else
		searched(task);
}

/* ---- looking for the image ---- */

/* A digest is a registry's name of an image. A copy would not have it. */
static bool may_be_copied(const struct image_task *task)
{
	return task->docker->group && !strchr(task->reference.tag, ':');
}

static void missing(struct image_task *task, const char *text)
{
	task->own = (struct image_seen){ 0 };
	if (task->pulled || task->copied)
		image_task_fail(task, STATUS_NOT_FOUND, text);
	else if (!task->search.is_over && may_be_copied(task))
		search(task);
	else
		image_pull(task);
}

static void present(struct image_task *task, const struct image_seen *seen)
{
	if (task->copied) {
		image_copy_mark(task, seen);
	} else if (seen->is_copy && !task->reference.is_id && !task->search.is_over && may_be_copied(task)) {
		task->own = *seen;
		search(task);
	} else {
		image_task_end(task, ENGINE_IMAGE_READY, STATUS_OK, seen->id);
	}
}

static void looked(void *arg, const struct http_answer *answer)
{
	struct image_task *task = arg;
	AUTO(json) json_t *image = docker_parse(answer->body, answer->body_length, JSON_OBJECT);
	struct image_seen seen;
	struct outcome outcome;

	docker_outcome(task->docker, answer, &outcome);
	if (answer->code == 404)
		missing(task, outcome.text);
	else if (outcome.status)
		image_task_fail(task, outcome.status, outcome.text);
	else if (!image_seen_read(image, &seen))
		image_task_fail(task, STATUS_INTERNAL, "the engine's account of the image cannot be understood");
	else
		present(task, &seen);
}

static void look(struct image_task *task)
{
	char name[3 * REFERENCE_SIZE], path[3 * REFERENCE_SIZE + 32];

	docker_query_encode(task->image, name, sizeof(name));
	snprintf(path, sizeof(path), "/images/%s/json", name);
	http_start(task->docker->http, &(struct http_request){ .method = "GET",
							       .path = path,
							       .timeout_s = CALL_TIMEOUT_S,
							       .done = looked,
							       .arg = task });
}

void image_ensure_run(struct docker *docker, struct command *command)
{
	const char *image = command->image;
	struct error err AUTO_ERROR = { 0 };
	struct image_reference reference;
	struct image_task *task;

	task = image_task_find(docker, image);
	if (task)
		return; /* the event at the end of that task also answers this request */
	if (!link_is_up(docker)) {
		emit_image(docker, ENGINE_IMAGE_FAILED, image, STATUS_UNAVAILABLE, docker->link.reason);
		return;
	}
	if (image_reference_parse(image, &reference, &err)) {
		emit_image(docker, ENGINE_IMAGE_FAILED, image, err.status, err.text ? err.text : "");
		return;
	}
	task = memory_calloc(1, sizeof(*task));
	task->docker = docker;
	task->stop_fd = -1;
	task->reference = reference;
	task->look = look;
	task->image = TAKE(command->image);
	task->next = docker->images;
	docker->images = task;
	look(task);
}
