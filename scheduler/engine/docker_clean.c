/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_clean.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_elsewhere.h"
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_http.h"
#include "scheduler/engine/docker_json.h"
#include "scheduler/engine/docker_orphans.h"
#include "scheduler/engine/docker_route.h"
#include "scheduler/engine/docker_tunnel.h"

/* An object that is in use can be removed a moment later, so a sweep repeats its rounds. IDLE_ROUNDS rounds in a row
 * in which nothing was removed end it. */
enum {
	LIST_TIMEOUT_S = 60,
	REMOVE_TIMEOUT_S = 120,
	WAIT_MS = 60 * 1000,
	IDLE_ROUNDS = 4,
	IDLE_PAUSE_MS = 250,
};

/* The state of a list or a sweep: how many exchanges run (@waiting), and the first failure to reach the engine
 * (@status, @text). */
struct cleaning {
	struct http *http;
	size_t waiting;
	enum orphan_kind listed; /* the kind of the last listing */
	enum status status;
	char text[DOCKER_TEXT_SIZE];
	json_t *answer; /* the answer to the last listing, an array; NULL: the engine refuses calls for volumes */
};

/* The engine's result for one object. */
struct removal {
	struct cleaning *cleaning;
	const struct orphan *item;
	const struct sweep_report *report;
	bool done;
	char text[DOCKER_TEXT_SIZE]; /* why the object was not removed */
};

static void exchanges_await(struct cleaning *cleaning)
{
	for (;;) {
		http_move(cleaning->http);
		if (!cleaning->waiting)
			return;
		http_wait(cleaning->http, WAIT_MS);
	}
}

static enum status engine_connect(const char *url, struct cleaning *cleaning, struct error *err)
{
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	enum status rc = route_endpoint_open(url, &endpoint, err);

	if (!rc)
		rc = http_new(endpoint, &cleaning->http, err);

	/* Limits the calls that run at a time: an engine does only a few removals at once. */
	if (!rc)
		http_set_limit(cleaning->http, LANE_CALL, 4 * (unsigned)get_nprocs());
	return rc;
}

static void answer_fail(struct cleaning *cleaning, enum status status, const char *text)
{
	if (cleaning->status)
		return;
	cleaning->status = status;
	snprintf(cleaning->text, sizeof(cleaning->text), "%s", text);
}

/* ---- listing ---- */

/* The engine writes null for an empty list of volumes. */
static json_t *volumes_parse(const struct http_answer *answer)
{
	AUTO(json) json_t *body = docker_parse(answer->body, answer->body_length, JSON_OBJECT);
	json_t *volumes = json_object_get(body, "Volumes");

	return json_is_null(volumes) ? json_array() : json_is_array(volumes) ? json_incref(volumes) : NULL;
}

static void listed(void *arg, const struct http_answer *answer)
{
	struct cleaning *cleaning = arg;
	char text[DOCKER_TEXT_SIZE];

	cleaning->waiting--;
	if (answer->status) {
		answer_fail(cleaning, STATUS_UNAVAILABLE, answer->problem);
	} else if (cleaning->listed == ORPHAN_VOLUME && elsewhere_is_refused(answer->code)) {
		return;
	} else if (answer->code >= 300) {
		docker_message(answer->body, answer->body_length, text);
		answer_fail(cleaning, docker_code_status(answer->code), text);
	} else {
		cleaning->answer = cleaning->listed == ORPHAN_VOLUME
					   ? volumes_parse(answer)
					   : docker_parse(answer->body, answer->body_length, JSON_ARRAY);
		if (!cleaning->answer)
			answer_fail(cleaning, STATUS_INTERNAL, "its list cannot be understood");
	}
}

/* Asks for a list. Its answer is stored in cleaning->answer. */
static enum status list_ask(struct cleaning *cleaning, const char *path, struct error *err)
{
	cleaning->waiting++;
	http_start(cleaning->http, &(struct http_request){ .method = "GET",
							   .path = path,
							   .without_version = true,
							   .timeout_s = LIST_TIMEOUT_S,
							   .body_max = DOCKER_LISTING_MAX,
							   .done = listed,
							   .arg = cleaning });
	exchanges_await(cleaning);
	return cleaning->status ? error_set(err, cleaning->status, NULL, "%s", cleaning->text) : STATUS_OK;
}

static enum status list_add(struct cleaning *cleaning, enum orphan_kind kind, const char *instance,
			    struct orphans *list, struct error *err)
{
	static const char *const paths[] = { "/containers/json?all=1&filters=", "/networks?filters=",
					     "/volumes?filters=" };
	char filter[DOCKER_PATH_SIZE], path[DOCKER_PATH_SIZE + 64];

	docker_label_filter(instance, NULL, filter);
	snprintf(path, sizeof(path), "%s%s", paths[kind], filter);
	cleaning->listed = kind;
	enum status rc = list_ask(cleaning, path, err);
	AUTO(json) json_t *answer = TAKE(cleaning->answer);

	if (!rc)
		orphans_add(list, kind, answer);
	return rc;
}

/* Drops the objects that have another instance's label, which the engine's filter may have let through. */
static void others_drop(struct orphans *list, const char *instance)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].instance, instance) == 0)
			list->items[kept++] = list->items[i];
	list->count = kept;
}

static enum status list_read(struct cleaning *cleaning, const char *instance, struct orphans *ret_list,
			     struct error *err)
{
	struct orphans list AUTO_ORPHANS = { 0 };
	enum status rc = STATUS_OK;

	for (int kind = 0; kind < ORPHAN_KIND_COUNT && !rc; kind++)
		rc = list_add(cleaning, (enum orphan_kind)kind, instance, &list, err);
	if (rc)
		return rc;
	if (instance)
		others_drop(&list, instance);
	orphans_sort(&list);
	*ret_list = list;
	list = (struct orphans){ 0 };
	return STATUS_OK;
}

enum status docker_list(const char *url, const char *instance, struct orphans *ret_list, struct error *err)
{
	struct cleaning cleaning = { 0 };
	enum status rc = engine_connect(url, &cleaning, err);
	AUTO(http) struct http *http = cleaning.http;

	return rc ? rc : list_read(&cleaning, instance, ret_list, err);
}

/* ---- removing ---- */

static void removed(void *arg, const struct http_answer *answer)
{
	struct removal *removal = arg;

	removal->cleaning->waiting--;
	if (answer->status) {
		answer_fail(removal->cleaning, STATUS_UNAVAILABLE, answer->problem);
	} else if (answer->code >= 300) {
		docker_message(answer->body, answer->body_length, removal->text);
	} else {
		removal->done = true;
		removal->report->reported(removal->report->arg, removal->item, NULL);
	}
}

static void removal_send(struct removal *removal)
{
	static const char *const forms[] = { "/containers/%s?force=1&v=1", "/networks/%s", "/volumes/%s" };
	char path[DOCKER_PATH_SIZE];

	snprintf(path, sizeof(path), forms[removal->item->kind], removal->item->id);
	removal->cleaning->waiting++;
	http_start(removal->cleaning->http, &(struct http_request){ .method = "DELETE",
								    .path = path,
								    .without_version = true,
								    .timeout_s = REMOVE_TIMEOUT_S,
								    .done = removed,
								    .arg = removal });
}

/* Requests the removal of each object in the list, and returns how many were removed. Networks are removed after
 * containers, because a network with a container in it cannot be removed. */
static size_t round_run(struct cleaning *cleaning, const struct sweep_report *report,
			const struct orphans *list, struct removal *removals)
{
	size_t done = 0;

	for (int kind = 0; kind < ORPHAN_KIND_COUNT && !cleaning->status; kind++) {
		for (size_t i = 0; i < list->count; i++) {
			if ((int)list->items[i].kind != kind)
				continue;
			removals[i] = (struct removal){ .cleaning = cleaning,
							.item = &list->items[i],
							.report = report };
			removal_send(&removals[i]);
		}
		exchanges_await(cleaning);
	}
	for (size_t i = 0; i < list->count; i++)
		done += removals[i].done;
	return done;
}

static enum status left_report(const struct sweep_report *report, const struct orphans *list,
			       const struct removal *removals, struct error *err)
{
	for (size_t i = 0; i < list->count; i++)
		report->reported(report->arg, &list->items[i], removals[i].text);
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "%zu of these objects could not be removed",
			 list->count);
}

DEFINE_AUTO(removals, struct removal *, free)

/* Lists the objects once and tries to remove them once. *ret_more: the list was not empty, so another round is
 * needed. */
static enum status rounds_step(struct cleaning *cleaning, const char *instance,
			       const struct sweep_report *report, unsigned *idle, bool *ret_more,
			       struct error *err)
{
	struct orphans list AUTO_ORPHANS = { 0 };
	enum status rc = list_read(cleaning, instance, &list, err);

	*ret_more = !rc && list.count > 0;
	if (!*ret_more)
		return rc;
	AUTO(removals) struct removal *removals = memory_calloc(list.count, sizeof(*removals));

	if (round_run(cleaning, report, &list, removals) > 0)
		*idle = 0;
	else if (++*idle >= IDLE_ROUNDS && !cleaning->status)
		return left_report(report, &list, removals, err);
	else
		poll(NULL, 0, IDLE_PAUSE_MS);
	return cleaning->status ? error_set(err, cleaning->status, NULL, "%s", cleaning->text) : STATUS_OK;
}

static void image_removed(void *arg, const struct http_answer *answer)
{
	(void)answer; /* the result is ignored: most often there is no such image */
	((struct cleaning *)arg)->waiting--;
}

static void tunnel_image_remove(struct cleaning *cleaning, const char *instance)
{
	char path[DOCKER_PATH_SIZE];

	snprintf(path, sizeof(path), "/images/" TUNNEL_IMAGE "%.32s", instance);
	cleaning->waiting++;
	http_start(cleaning->http, &(struct http_request){ .method = "DELETE",
							   .path = path,
							   .without_version = true,
							   .timeout_s = REMOVE_TIMEOUT_S,
							   .done = image_removed,
							   .arg = cleaning });
	exchanges_await(cleaning);
}

enum status docker_sweep(const char *url, const char *instance, const struct sweep_report *report,
			 struct error *err)
{
	struct cleaning cleaning = { 0 };
	enum status rc = engine_connect(url, &cleaning, err);
	AUTO(http) struct http *http = cleaning.http;
	unsigned idle = 0;
	bool more = !rc;

	if (!rc)
		rc = elsewhere_check(cleaning.http, instance, report, err);
	while (!rc && more)
		rc = rounds_step(&cleaning, instance, report, &idle, &more, err);
	if (!rc)
		tunnel_image_remove(&cleaning, instance);
	return rc;
}
