/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_image_task.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_emit.h"

struct image_task *image_task_find(const struct docker *docker, const char *image)
{
	struct image_task *task = docker->images;

	while (task && strcmp(task->image, image) != 0)
		task = task->next;
	return task;
}

void image_task_free(struct image_task *task)
{
	struct image_task **at = &task->docker->images;

	while (*at != task)
		at = &(*at)->next;
	*at = task->next;
	if (task->stop_fd >= 0)
		close(task->stop_fd);
	if (timer_is_set(&task->search.timer))
		timer_unset(task->docker, &task->search.timer);
	image_origin_deinit(&task->copy.origin);
	free(task->found);
	secret_free(task->registry_auth);
	error_deinit(&task->problem);
	progress_deinit(&task->progress);
	free(task->image);
	free(task);
}

void image_task_end(struct image_task *task, enum engine_event_kind kind, enum status status, const char *text)
{
	emit_image(task->docker, kind, task->image, status, text);
	image_task_free(task);
}

void image_task_fail(struct image_task *task, enum status status, const char *text)
{
	if (!task->docker->closing)
		log_event(LOG_WARNING, "image-failed", "image=%s status=%s error=\"%s\"", task->image,
			  status_name(status), text);
	image_task_end(task, ENGINE_IMAGE_FAILED, status, text);
}

/* ---- threads ---- */

void image_thread_join(struct image_task *task)
{
	pthread_join(task->thread, NULL);
	task->thread_runs = false;
}

bool image_thread_start(struct image_task *task, void *(*main)(void *arg),
			void (*then)(struct docker *docker, struct command *command))
{
	free(task->found);
	task->found = memory_calloc(1, sizeof(*task->found));
	*task->found = (struct command){ .run = then, .arg = task };
	if (task->stop_fd < 0)
		task->stop_fd = eventfd(0, EFD_CLOEXEC);
	task->copy.stop_fd = task->stop_fd;
	task->thread_runs = task->stop_fd >= 0 && pthread_create(&task->thread, NULL, main, task) == 0;
	return task->thread_runs;
}
