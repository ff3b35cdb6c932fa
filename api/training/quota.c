/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/quota.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/message/refusal.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"

/* Choice: these names of metrics. The service's own names are not known; their form is that of all Google APIs. */
static const struct {
	const char *service, *metric, *name, *limit;
	bool creates;
} metrics[QUOTA_METRICS] = {
	[QUOTA_CREATE] = { "ml.googleapis.com", "ml.googleapis.com/job_submission_requests",
			   "Job submission requests", "Job submission requests per minute per project",
			   true },
	[QUOTA_READ] = { "ml.googleapis.com", "ml.googleapis.com/online_requests",
			 "Resource management requests",
			 "Resource management requests per minute per project", false },
	[QUOTA_RESOURCE_CREATE] = { "aiplatform.googleapis.com",
				    "aiplatform.googleapis.com/job_submission_requests",
				    "Job submission requests",
				    "Job submission requests per minute per region", true },
	[QUOTA_RESOURCE_OTHER] = { "aiplatform.googleapis.com",
				   "aiplatform.googleapis.com/resource_management_requests",
				   "Resource management (CRUD) requests",
				   "Resource management (CRUD) requests per minute per region", false },
};

enum { COUNT_MAX = 1000000000 };

/* Compares a name with the wanted one; a name that differs is appended to @names, for the error that lists all. */
static bool name_is(const char *wanted, size_t length, const char *name, struct text *names)
{
	if (strlen(name) == length && strncmp(name, wanted, length) == 0)
		return true;
	text_printf(names, "%s%s", names->length ? ", " : "", name);
	return false;
}

/* The limit with this name. NULL: there is none, and *ret_names lists all names. */
static unsigned *limit_find(struct quota_limits *limits, const char *name, size_t length,
			    struct text *ret_names)
{
	if (name_is(name, length, "create", ret_names))
		return &limits->create;
	if (name_is(name, length, "read", ret_names))
		return &limits->read;
	if (name_is(name, length, "vcpus", ret_names))
		return &limits->vcpus;
	for (int i = 0; i < ACCELERATOR_COUNT; i++)
		if (name_is(name, length, accelerator_short_name(accelerator_name((enum accelerator)i)),
			    ret_names))
			return &limits->accelerators[i];
	return NULL;
}

/* Reads a term such as "K80=2", of @length bytes. */
static enum status term_parse(const char *term, size_t length, struct quota_limits *limits, struct error *err)
{
	struct text names AUTO_TEXT = { 0 };
	const size_t name_length = strcspn(term, "=,");
	const char *digits = term + name_length + 1;
	unsigned *limit = limit_find(limits, term, name_length, &names);
	int least;
	long long count;

	if (!limit)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "there is no quota \"%.*s\": there are %s",
				 (int)name_length, term, names.data);
	if (name_length == length)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "\"%.*s\" has no number", (int)length,
				 term);
	if (*limit != QUOTA_UNLIMITED)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "\"%.*s\" is there twice",
				 (int)name_length, term);
	least = limit == &limits->vcpus ? 1 : 0;
	errno = 0;
	count = strtoll(digits, NULL, 10);
	if (length == name_length + 1 || strspn(digits, "0123456789") != length - name_length - 1 || errno ||
	    count > COUNT_MAX || count < least)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "\"%.*s\" needs a number from %d to %d",
				 (int)length, term, least, COUNT_MAX);
	*limit = (unsigned)count;
	return STATUS_OK;
}

enum status quota_parse(const char *text, struct quota_limits *ret_limits, struct error *err)
{
	struct quota_limits limits = { QUOTA_UNLIMITED, QUOTA_UNLIMITED, QUOTA_UNLIMITED, { 0 } };
	bool more = *text;

	for (int i = 0; i < ACCELERATOR_COUNT; i++)
		limits.accelerators[i] = ACCELERATOR_UNLIMITED;
	while (more) {
		size_t length = strcspn(text, ",");
		enum status rc = term_parse(text, length, &limits, err);

		if (rc)
			return rc;
		more = text[length] == ',';
		text += length + 1;
	}
	*ret_limits = limits;
	return STATUS_OK;
}

void quota_request_add(struct quota_request *request, const char *type, uint64_t count)
{
	enum accelerator accelerator;

	if (accelerator_parse(type, &accelerator))
		request->accelerators[accelerator] += count;
}

enum status quota_check_request(const struct quota_limits *limits, const struct quota_request *request,
				const char *project, struct error *err)
{
	for (int i = 0; i < ACCELERATOR_COUNT; i++) {
		uint64_t count = request->accelerators[i];
		AUTO(string) char *text = NULL;

		if (limits->accelerators[i] == ACCELERATOR_UNLIMITED || count <= limits->accelerators[i])
			continue;
		text = accelerator_quota_text(project, accelerator_name((enum accelerator)i),
					      count < UINT_MAX ? (unsigned)count : UINT_MAX,
					      limits->accelerators);
		return refusal_set_quota(err, project, "%s", text);
	}
	return STATUS_OK;
}

enum { WINDOW_US = 60 * 1000000, PROJECTS_MAX = 256 };

/* The number of calls of one project since start_us. project NULL: the window is unused. */
struct window {
	char *project;
	int64_t start_us;
	unsigned calls[QUOTA_METRICS];
};

struct quota_counter {
	pthread_mutex_t lock;
	struct window windows[PROJECTS_MAX];
};

struct quota_counter *quota_counter_new(void)
{
	struct quota_counter *counter = memory_calloc(1, sizeof(*counter));

	pthread_mutex_init(&counter->lock, NULL);
	return counter;
}

void quota_counter_free(struct quota_counter *counter)
{
	if (!counter)
		return;
	for (size_t i = 0; i < PROJECTS_MAX; i++)
		free(counter->windows[i].project);
	pthread_mutex_destroy(&counter->lock);
	free(counter);
}

static bool window_is_older(const struct window *window, const struct window *other)
{
	return !window->project || (other->project && window->start_us < other->start_us);
}

/* The window in which calls of the project are counted now. It begins now if the project had no window, or if its last
 * one is over. */
static struct window *window_open(struct quota_counter *counter, const char *project, int64_t now_us)
{
	struct window *oldest = &counter->windows[0];
	struct window *own = NULL;

	for (size_t i = 0; i < PROJECTS_MAX && !own; i++) {
		struct window *window = &counter->windows[i];

		if (window->project && strcmp(window->project, project) == 0)
			own = window;
		else if (window_is_older(window, oldest))
			oldest = window;
	}
	if (own && now_us - own->start_us < WINDOW_US)
		return own;
	if (!own) {
		char *copy = memory_strdup(project);

		own = oldest;
		free(own->project);
		own->project = copy;
	}
	own->start_us = now_us;
	memset(own->calls, 0, sizeof(own->calls));
	return own;
}

/* Source: https://cloud.google.com/docs/quotas/troubleshoot (the form of the text and of its details) */
enum status quota_refuse(enum quota_metric metric, unsigned limit, const char *consumer, struct error *err)
{
	static const char reason[] = "RATE_LIMIT_EXCEEDED";
	const char *colon = strchr(consumer, ':');
	char value[24], name[128];

	snprintf(value, sizeof(value), "%u", limit);
	snprintf(name, sizeof(name), "projects/%s", colon ? colon + 1 : consumer);
	refusal_set_quota(
		err, consumer,
		"Quota exceeded for quota metric '%s' and limit '%s' of service '%s' for consumer '%s'.",
		metrics[metric].name, metrics[metric].limit, metrics[metric].service, consumer);
	error_add_reason(err, reason, "service", metrics[metric].service);
	error_add_reason(err, reason, "consumer", name);
	error_add_reason(err, reason, "quota_metric", metrics[metric].metric);
	error_add_reason(err, reason, "quota_limit", metrics[metric].limit);
	error_add_reason(err, reason, "quota_limit_value", value);
	return STATUS_RESOURCE_EXHAUSTED;
}

enum status quota_count(struct quota_counter *counter, const struct quota_limits *limits,
			enum quota_metric metric, const char *project, const char *consumer, int64_t now_us,
			struct error *err)
{
	unsigned limit = metrics[metric].creates ? limits->create : limits->read;
	struct window *window;
	bool allowed;

	if (limit == QUOTA_UNLIMITED)
		return STATUS_OK;
	pthread_mutex_lock(&counter->lock);
	window = window_open(counter, project, now_us);
	allowed = !window || window->calls[metric] < limit;
	if (window && allowed)
		window->calls[metric]++;
	pthread_mutex_unlock(&counter->lock);
	return allowed ? STATUS_OK : quota_refuse(metric, limit, consumer, err);
}
