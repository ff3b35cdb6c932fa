/* SPDX-License-Identifier: Apache-2.0 */

#include "scheduler/engine/docker_orphans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/base/timestamp.h"
#include "scheduler/engine/docker_core.h"

enum { REPORTED_MOST = 10, NANOSECONDS = 1000 * 1000 * 1000 };

/* ---- reading ---- */

/* Copies a text. False: @from is NULL or too long. */
static bool text_copy(char *to, size_t size, const char *from)
{
	return from && (size_t)snprintf(to, size, "%s", from) < size;
}

/* Whether the id may become part of a request's path. Ids of a swarm's networks have letters beyond f, and the id of
 * a volume is its name. */
static bool id_valid(const char *id)
{
	return *id && !id[strspn(id, "0123456789abcdefghijklmnopqrstuvwxyz-")];
}

static bool name_is_ours(const struct orphan *item)
{
	const size_t length = strlen(item->instance);

	return strncmp(item->name, "ty-", 3) == 0 && strncmp(item->name + 3, item->instance, length) == 0 &&
	       item->name[3 + length] == '-';
}

/* Reads a container, which has an array of names with a slash before each, and a time in seconds. False: its name is
 * missing or too long. */
static bool container_read(const json_t *from, struct orphan *item)
{
	const char *name = json_string_value(json_array_get(json_object_get(from, "Names"), 0));
	const char *state = json_text_at(from, "State");
	const char *job_id = json_text_at(json_object_get(from, "Labels"), "trainyard.job_id");

	item->created_s = json_int_at(from, "Created", 0);
	item->runs = state && (strcmp(state, "running") == 0 || strcmp(state, "paused") == 0);
	snprintf(item->job_id, sizeof(item->job_id), "%s", job_id ? job_id : "");
	return name && text_copy(item->name, sizeof(item->name), name + (*name == '/'));
}

/* Reads a network or a volume. */
static bool network_read(const json_t *from, struct orphan *item)
{
	const char *created = json_text_at(from, "Created");
	int64_t created_ns;

	if (created && time_parse(created, &created_ns))
		item->created_s = created_ns / NANOSECONDS;
	return text_copy(item->name, sizeof(item->name), json_text_at(from, "Name"));
}

static bool item_read(enum orphan_kind kind, const json_t *from, struct orphan *item)
{
	const char *instance = json_text_at(json_object_get(from, "Labels"), "trainyard.instance");

	*item = (struct orphan){ .kind = kind };
	return text_copy(item->instance, sizeof(item->instance), instance) &&
	       instance_valid(item->instance) &&
	       text_copy(item->id, sizeof(item->id),
			 json_text_at(from, kind == ORPHAN_VOLUME ? "Name" : "Id")) &&
	       id_valid(item->id) &&
	       (kind == ORPHAN_CONTAINER ? container_read(from, item) : network_read(from, item)) &&
	       name_is_ours(item);
}

void orphans_add(struct orphans *list, enum orphan_kind kind, const json_t *answer)
{
	const size_t count = json_array_size(answer);
	struct orphan *grown;

	if (!count)
		return;
	grown = memory_resize(list->items, list->count + count, sizeof(*grown));
	list->items = grown;
	for (size_t i = 0; i < count; i++) {
		struct orphan *item = &list->items[list->count];

		list->count += item_read(kind, json_array_get(answer, i), item);
	}
}

/* ---- looking for orphans ---- */

struct others {
	struct docker *docker;
	struct orphans list;
};

static void instance_report(const struct orphan_count *count)
{
	log_event(LOG_INFO, "orphans-found",
		  "instance=%s containers=%zu running=%zu networks=%zu hint=\"trainyard clean --instance %s "
		  "removes them\"",
		  count->instance, count->containers, count->running, count->networks, count->instance);
}

static void others_report(struct others *others)
{
	size_t reported = 0, more = 0;

	orphans_sort(&others->list);
	for (size_t at = 0; at < others->list.count;) {
		struct orphan_count count;

		at = orphans_count(&others->list, at, &count);
		if (strcmp(count.instance, others->docker->instance) == 0 ||
		    instance_lock_seen(count.instance))
			continue;
		if (reported++ < REPORTED_MOST)
			instance_report(&count);
		else
			more++;
	}
	if (more)
		log_event(LOG_INFO, "more-orphans-found",
			  "instances=%zu hint=\"trainyard clean --list names them\"", more);
}

static void others_end(struct others *others)
{
	orphans_deinit(&others->list);
	free(others);
}

/* Adds the objects of an answer. False: the answer is a failure; it is not logged, because the next start asks
 * again. */
static bool answer_add(struct others *others, enum orphan_kind kind, const struct http_answer *answer)
{
	AUTO(json) json_t *found = NULL;

	link_watch(others->docker, answer);
	if (answer->status || answer->code >= 300)
		return false;
	found = docker_parse(answer->body, answer->body_length, JSON_ARRAY);
	if (found)
		orphans_add(&others->list, kind, found);
	return found;
}

static void networks_listed(void *arg, const struct http_answer *answer)
{
	struct others *others = arg;

	if (answer_add(others, ORPHAN_NETWORK, answer))
		others_report(others);
	others_end(others);
}

static void list_ask(struct others *others, const char *what,
		     void (*done)(void *arg, const struct http_answer *answer))
{
	char filter[DOCKER_PATH_SIZE], path[DOCKER_PATH_SIZE + 64];

	docker_label_filter(NULL, NULL, filter);
	snprintf(path, sizeof(path), "%sfilters=%s", what, filter);
	http_start(others->docker->http, &(struct http_request){ .method = "GET",
								 .path = path,
								 .timeout_s = CALL_TIMEOUT_S,
								 .body_max = DOCKER_LISTING_MAX,
								 .done = done,
								 .arg = others });
}

static void containers_listed(void *arg, const struct http_answer *answer)
{
	struct others *others = arg;

	if (answer_add(others, ORPHAN_CONTAINER, answer))
		list_ask(others, "/networks?", networks_listed);
	else
		others_end(others);
}

void orphans_look(struct docker *docker)
{
	struct others *others = memory_calloc(1, sizeof(*others));

	others->docker = docker;
	list_ask(others, "/containers/json?all=1&", containers_listed);
}
