/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/job_timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/terminal.h"

enum { FIRST_SHOWN = 10, LAST_SHOWN = 30, TIME_SHOWN = 16, SINCE_WIDTH = 8, TEXT_AT = 23 };

json_t *timeline_ask(struct client *client, const json_t *job, unsigned trial)
{
	const char *id = json_text_at(job, "id"), *project = json_text_at(job, "project");
	struct text path AUTO_TEXT = { 0 };
	json_t *timeline = NULL;

	job_path_write(&path, id ? id : "", ":timeline?project=");
	text_percent(&path, project ? project : "", URL_UNRESERVED);
	if (trial)
		text_printf(&path, "&trial=%u", trial);
	client_call(client, "GET", path.data, NULL, &timeline, NULL);
	return timeline;
}

/* "+0.2s", "+3m12s" */
static void since_write(struct text *text, int64_t us)
{
	struct text reported AUTO_TEXT = { 0 };

	text_puts(&reported, "+");
	if (us < 10000000)
		text_printf(&reported, "%.1fs", (double)us / 1e6);
	else
		duration_append(&reported, us);
	text_printf(text, "%-*s", SINCE_WIDTH, reported.data);
}

static void event_write(struct text *text, const json_t *event, int64_t before_us)
{
	const int64_t us = time_read(json_text_at(event, "time"), 0);
	const time_t s = us / 1000000;
	const bool blamed = json_true_at(event, "blamed");
	struct text reported AUTO_TEXT = { 0 };
	struct tm local;
	char moment[TIME_SHOWN];

	localtime_r(&s, &local);
	strftime(moment, sizeof(moment), "%H:%M:%S", &local);
	text_printf(text, "  %s%s.%03d ", terminal_style(stdout, STYLE_DIM), moment, (int)(us / 1000 % 1000));
	if (before_us)
		since_write(text, us - before_us);
	else
		text_printf(text, "%*s", SINCE_WIDTH, "");
	text_printf(text, "%s%s", terminal_style(stdout, STYLE_NONE),
		    blamed ? terminal_style(stdout, STYLE_BAD) : "");
	text_printf(&reported, "%s%s", json_text_at(event, "text"),
		    blamed ? ": the job's end is decided by it" : "");
	text_wrap(text, reported.data, TEXT_AT);
	text_printf(text, "%s\n", blamed ? terminal_style(stdout, STYLE_NONE) : "");
}

void timeline_write(struct text *text, const json_t *timeline)
{
	const json_t *events = json_object_get(timeline, "events");
	const size_t count = json_array_size(events);
	int64_t before_us = 0;

	for (size_t i = 0; i < count; i++) {
		const json_t *event = json_array_get(events, i);

		if (count > FIRST_SHOWN + LAST_SHOWN && i == FIRST_SHOWN)
			text_printf(text, "  %zu more: -o json has them\n", count - FIRST_SHOWN - LAST_SHOWN);
		if (count <= FIRST_SHOWN + LAST_SHOWN || i < FIRST_SHOWN || i >= count - LAST_SHOWN)
			event_write(text, event, before_us);
		before_us = time_read(json_text_at(event, "time"), 0);
	}
}

const json_t *timeline_replica(const json_t *timeline, const char *name)
{
	const json_t *replica;
	size_t index;

	json_array_foreach(json_object_get(timeline, "replicas"), index, replica) {
		const char *own = json_text_at(replica, "replica");

		if (name && own && strcmp(own, name) == 0)
			return replica;
	}
	return NULL;
}

const json_t *timeline_blamed(const json_t *timeline, size_t *ret_others)
{
	const int64_t attempt = json_int_at(timeline, "attempt", 1);
	const json_t *event, *found = NULL;
	size_t index;

	*ret_others = 0;
	json_array_foreach(json_object_get(timeline, "events"), index, event) {
		if (!json_true_at(event, "blamed") || json_int_at(event, "attempt", 1) != attempt)
			continue;
		*ret_others += found != NULL;
		found = found ? found : event;
	}
	return found;
}

void replica_end_report(struct text *text, const json_t *replica)
{
	const char *end = json_text_at(replica, "end");

	if (!end)
		text_puts(text, "-");
	else if (strcmp(end, "EXIT") == 0)
		text_printf(text, "exited with %" PRId64 "%s", json_int_at(replica, "exitCode", 0),
			    json_true_at(replica, "outOfMemory") ? ", out of memory" : "");
	else
		text_puts(text, strcmp(end, "LOST") == 0      ? "lost"
				: strcmp(end, "REFUSED") == 0 ? "refused by the engine"
							      : "not started by the engine");
}
