/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/nearest.h"
#include "scheduler/engine/docker_core.h"
#include "scheduler/engine/docker_emit.h"
#include "scheduler/engine/docker_image_task.h"

enum { LOG_EVERY_US = 2 * SECOND_US, NEAR_MOST = 4 };

/* ---- pull ---- */

/* Chooses the status by the text, because the engine answers most failures of a registry with 500. */
static enum status pull_status(enum status status, const char *text)
{
	static const struct {
		const char *words;
		enum status status;
	} meanings[] = {
		{ "manifest unknown", STATUS_NOT_FOUND },
		{ "not found", STATUS_NOT_FOUND },
		{ "does not exist", STATUS_NOT_FOUND },
		{ "denied", STATUS_PERMISSION_DENIED },
		{ "unauthorized", STATUS_UNAUTHENTICATED },
		{ "no basic auth", STATUS_UNAUTHENTICATED },
		{ "authentication required", STATUS_UNAUTHENTICATED },
	};

	for (size_t i = 0; status == STATUS_INTERNAL && i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (strstr(text, meanings[i].words))
			return meanings[i].status;
	return status;
}

/* ---- the image is neither local nor can it be pulled: look for similar names ---- */

/* Copies the last part of a name, without tag and digest: "train" of "gcr.io/p/train:1" and of "train@sha256:..." */
static void base_of(const char *reference, char base[REFERENCE_SIZE])
{
	const char *slash = strrchr(reference, '/');

	snprintf(base, REFERENCE_SIZE, "%s", slash ? slash + 1 : reference);
	base[strcspn(base, ":@")] = '\0';
}

static bool is_near(const char *wanted, const char *tag)
{
	char base[REFERENCE_SIZE];
	struct nearest nearest = { .wanted = wanted };

	base_of(tag, base);
	nearest_look(&nearest, base);
	return strcmp(base, wanted) == 0 || nearest.found;
}

static void near_write(const struct image_task *task, const json_t *images, struct text *text)
{
	char wanted[REFERENCE_SIZE];
	const char *first = NULL;
	unsigned count = 0;
	size_t i, k;
	json_t *image, *tag;

	base_of(task->image, wanted);
	json_array_foreach(images, i, image)
		json_array_foreach(json_object_get(image, "RepoTags"), k, tag) {
			const char *name = json_string_value(tag);

			if (count == NEAR_MOST || !name || !is_near(wanted, name))
				continue;
			first = first ? first : name;
			text_printf(text, "%s%s", count++ ? ", " : "; did you mean ", name);
		}
	if (first)
		text_printf(text, "? (--image-map %s=%s runs that one in its place)", task->image, first);
	else
		text_printf(
			text,
			"; bring it with docker load or docker build -t %s, or have another one run in its "
			"place with --image-map %s=IMAGE (docker images lists them)",
			task->image, task->image);
}

static void near_listed(void *arg, const struct http_answer *answer)
{
	struct image_task *task = arg;
	AUTO(json) json_t *images = docker_parse(answer->body, answer->body_length, JSON_ARRAY);
	struct text text AUTO_TEXT = { 0 };

	link_watch(task->docker, answer);
	text_puts(&text, task->failure.text);
	near_write(task, images, &text);
	image_task_fail(task, task->failure.status, text.data);
}

static void near_look(struct image_task *task, enum status status)
{
	task->failure.status = status;
	http_start(task->docker->http, &(struct http_request){ .method = "GET",
							       .path = "/images/json",
							       .timeout_s = CALL_TIMEOUT_S,
							       .body_max = DOCKER_LISTING_MAX,
							       .done = near_listed,
							       .arg = task });
}

static void pull_fail(struct image_task *task, enum status status, const char *text)
{
	snprintf(task->failure.text, sizeof(task->failure.text),
		 "the image %s is not in this engine and cannot be pulled: %s%s%s", task->image, text,
		 task->problem.text ? "; credentials: " : "", task->problem.text ? task->problem.text : "");
	if (status == STATUS_UNAVAILABLE)
		image_task_fail(task, status, task->failure.text);
	else if (task->search.engine && !task->docker->closing)
		image_copy(task);
	else
		near_look(task, pull_status(status, text));
}

/* Sends one event per image, however many requests wait for it. */
static void pull_report(const struct image_task *task, const char *line)
{
	int64_t pulled, all;

	progress_bytes(&task->progress, &pulled, &all);
	emit_pull(task->docker, task->image, line, pulled, all);
}

static enum http_outcome pull_data(void *arg, const char *data, size_t length)
{
	struct image_task *task = arg;
	int64_t now_us = clock_mono_us(&system_clock);
	struct text line AUTO_TEXT = { 0 };

	progress_feed(&task->progress, data, length);
	if (now_us - task->logged_us < LOG_EVERY_US || !progress_print(&task->progress, task->image, &line))
		return HTTP_TAKEN;
	task->logged_us = now_us;
	pull_report(task, line.data);
	return HTTP_TAKEN;
}

static void pull_done(void *arg, const struct http_answer *answer)
{
	struct image_task *task = arg;
	struct outcome outcome;

	docker_outcome(task->docker, answer, &outcome);
	progress_end(&task->progress);
	if (outcome.status) {
		pull_fail(task, outcome.status, outcome.text);
	} else if (task->progress.problem[0]) {
		pull_fail(task, STATUS_INTERNAL, task->progress.problem);
	} else {
		task->pulled = true;
		task->look(task);
	}
}

static void pull(struct image_task *task)
{
	char name[3 * REFERENCE_SIZE], tag[3 * REFERENCE_SIZE], path[6 * REFERENCE_SIZE + 64];
	char words[REFERENCE_SIZE + 16];

	docker_query_encode(task->reference.name, name, sizeof(name));
	docker_query_encode(task->reference.tag, tag, sizeof(tag));
	snprintf(path, sizeof(path), "/images/create?fromImage=%s&tag=%s", name, tag);
	log_event(LOG_INFO, "image-pull", "image=%s", task->image);
	task->logged_us = clock_mono_us(&system_clock);
	snprintf(words, sizeof(words), "Pulling %s", task->image);
	pull_report(task, words);
	http_start(task->docker->http, &(struct http_request){ .method = "POST",
							       .path = path,
							       .registry_auth = task->registry_auth,
							       .lane = LANE_PULL,
							       .data = pull_data,
							       .done = pull_done,
							       .arg = task });
}

/* ---- credentials ---- */

static void credentials_found(struct docker *docker, struct command *command)
{
	struct image_task *task = command->arg;

	(void)docker;
	image_thread_join(task);
	/* Missing credentials do not end the task, because the registry may need none; the problem is reported if
	 * the pull fails. */
	if (task->problem.status)
		log_event(LOG_WARNING, "registry-credentials", "registry=%s error=\"%s\"",
			  task->reference.registry, task->problem.text ? task->problem.text : "");
	pull(task);
}

static void *credentials_main(void *arg)
{
	struct image_task *task = arg;

	pthread_setname_np(pthread_self(), "credentials");
	registry_credentials_find(task->docker->docker_config, task->reference.registry, task->stop_fd,
				  &task->registry_auth, &task->problem);
	docker_hand_over(task->docker, TAKE(task->found));
	return NULL;
}

static void credentials_look(struct image_task *task)
{
	if (!image_thread_start(task, credentials_main, credentials_found))
		image_task_fail(task, STATUS_INTERNAL, "no thread to look for registry credentials");
}

/* ---- the way to the image ---- */

void image_pull(struct image_task *task)
{
	if (task->copies) {
		image_task_fail(task, STATUS_NOT_FOUND, task->failure.text);
	} else if (task->reference.is_id) {
		snprintf(task->failure.text, sizeof(task->failure.text), "No such image: %s", task->image);
		image_task_fail(task, STATUS_NOT_FOUND, task->failure.text);
	} else if (task->docker->offline) {
		snprintf(task->failure.text, sizeof(task->failure.text),
			 "the image %s is not present and trainyard runs with --offline", task->image);
		near_look(task, STATUS_NOT_FOUND);
	} else if (task->docker->docker_config) {
		credentials_look(task);
	} else {
		pull(task);
	}
}
