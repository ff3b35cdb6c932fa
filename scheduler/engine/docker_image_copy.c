/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_emit.h"
#include "scheduler/engine/docker_image_task.h"

enum { COPIES_MOST = 3, COPY_AGAIN_US = 2 * SECOND_US, MARK_BYTES = 16 };

/* ---- the copy ---- */

static void copy_moved_run(struct docker *docker, struct command *command)
{
	struct image_task *task = image_task_find(docker, command->image);
	struct text line AUTO_TEXT = { 0 };
	int64_t all;

	if (!task || !task->thread_runs)
		return;
	all = task->search.seen.bytes > command->job ? task->search.seen.bytes : command->job;
	text_printf(&line, "Copying %s from the node %s: %.1f MB of %.1f MB", task->image, task->copy.origin.node,
		    (double)command->job / 1e6, (double)all / 1e6);
	emit_pull(docker, task->image, line.data, command->job, all);
}

/* Called on the copy's thread: passes the number of copied bytes to the engine's thread. */
static void copy_moved(void *arg, int64_t bytes)
{
	struct image_task *task = arg;

	docker_post(task->docker, &(struct command){ .run = copy_moved_run,
						     .image = memory_strdup(task->image),
						     .job = bytes });
}

static void *copy_main(void *arg)
{
	struct image_task *task = arg;

	pthread_setname_np(pthread_self(), "image copy");
	handover_run(&task->copy, &task->problem);
	docker_hand_over(task->docker, TAKE(task->found));
	return NULL;
}

static void again(void *arg)
{
	struct image_task *task = arg;

	task->look(task);
}

/* After a copy that failed, the search begins anew: the engine that the image came from may be gone. */
static void copy_failed(struct image_task *task)
{
	const enum status status = task->problem.status;

	snprintf(task->failure.text, sizeof(task->failure.text),
		 "the image %s cannot be copied from the node %s: %s", task->image, task->copy.origin.node,
		 task->problem.text ? task->problem.text : "");
	if (status != STATUS_UNAVAILABLE || task->copies == COPIES_MOST || !link_is_up(task->docker)) {
		image_task_fail(task, link_is_up(task->docker) && status == STATUS_UNAVAILABLE ? STATUS_INTERNAL : status,
			  task->failure.text);
		return;
	}
	log_event(LOG_WARNING, "image-copy-failed", "image=%s node=%s error=\"%s\"", task->image,
		  task->copy.origin.node, task->failure.text);
	error_deinit(&task->problem);
	task->search.is_over = false;
	docker_after(task->docker, &task->search.timer, COPY_AGAIN_US, again, task);
}

static void copy_over(struct docker *docker, struct command *command)
{
	struct image_task *task = command->arg;

	(void)docker;
	image_thread_join(task);
	if (task->problem.status) {
		copy_failed(task);
		return;
	}
	log_event(LOG_INFO, "image-copied", "image=%s node=%s", task->image, task->copy.origin.node);
	task->copied = true;
	task->look(task);
}

void image_copy(struct image_task *task)
{
	struct docker *docker = task->docker;
	char words[2 * REFERENCE_SIZE];

	image_origin_deinit(&task->copy.origin);
	task->copies++;
	task->copy.docker = docker;
	task->copy.image = task->image;
	task->copy.moved = copy_moved;
	task->copy.arg = task;
	if (!group_origin(docker, task->search.engine, &task->copy.origin)) {
		image_task_fail(task, STATUS_CANCELLED, "the daemon ends");
		return;
	}
	memcpy(task->copy.version, docker->link.version, sizeof(task->copy.version));
	log_event(LOG_INFO, "image-copy", "image=%s node=%s", task->image, task->copy.origin.node);
	snprintf(words, sizeof(words), "Copying %s from the node %s", task->image, task->copy.origin.node);
	emit_pull(docker, task->image, words, 0, task->search.seen.bytes);
	error_deinit(&task->problem); /* the error may be left from the search for credentials */
	if (!image_thread_start(task, copy_main, copy_over))
		image_task_fail(task, STATUS_INTERNAL, "no thread to copy an image");
}

/* ---- the mark of a copied image ---- */

static void mark_write(const char *id, char mark[MARK_BYTES + 1])
{
	const char *colon = strchr(id, ':');

	snprintf(mark, MARK_BYTES + 1, "%.*s", (int)MARK_BYTES, colon ? colon + 1 : id);
}

/* Ends the task, after the tag that marked the earlier copy was removed. With its last tag the engine has removed that
 * image, too, unless something uses it. */
static void unmarked(void *arg, const struct http_answer *answer)
{
	struct image_task *task = arg;

	link_watch(task->docker, answer);
	image_task_end(task, ENGINE_IMAGE_READY, STATUS_OK, task->search.seen.id);
}

static void marked(void *arg, const struct http_answer *answer)
{
	struct image_task *task = arg;
	char mark[MARK_BYTES + 1], path[DOCKER_PATH_SIZE];
	struct outcome outcome;

	docker_outcome(task->docker, answer, &outcome);
	if (outcome.status) {
		image_task_fail(task, outcome.status, outcome.text);
		return;
	}
	if (!task->own.id[0] || strcmp(task->own.id, task->search.seen.id) == 0) {
		image_task_end(task, ENGINE_IMAGE_READY, STATUS_OK, task->search.seen.id);
		return;
	}
	mark_write(task->own.id, mark);
	snprintf(path, sizeof(path), "/images/" IMAGE_COPY ":%s", mark);
	http_start(task->docker->http, &(struct http_request){ .method = "DELETE",
							       .path = path,
							       .timeout_s = CALL_TIMEOUT_S,
							       .done = unmarked,
							       .arg = task });
}

void image_copy_mark(struct image_task *task, const struct image_seen *seen)
{
	char tag[MARK_BYTES + 1], path[DOCKER_PATH_SIZE];

	task->search.seen = *seen;
	mark_write(seen->id, tag);
	snprintf(path, sizeof(path), "/images/%s/tag?repo=" IMAGE_COPY "&tag=%s", seen->id, tag);
	http_start(task->docker->http, &(struct http_request){ .method = "POST",
							       .path = path,
							       .timeout_s = CALL_TIMEOUT_S,
							       .done = marked,
							       .arg = task });
}
