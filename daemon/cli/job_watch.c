/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/job_watch.h"

#include <stdlib.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/cli/client.h"
#include "daemon/cli/json_lines.h"

void job_watch_deinit(struct job_watch *watch)
{
	free(watch->position);
	watch->position = NULL;
}

static bool line_take(void *arg, const json_t *line)
{
	struct job_watch *watch = arg;
	const char *position = json_text_at(line, "position");

	if (position) {
		free(watch->position);
		watch->position = memory_strdup(position);
	}
	return watch->take(watch->arg, line);
}

struct reading {
	struct json_lines lines;
	struct job_watch *watch;
};

static bool piece_take(void *arg, const char *data, size_t length)
{
	return json_lines_take(&((struct reading *)arg)->lines, data, length);
}

static bool reading_tick(void *arg)
{
	const struct job_watch *watch = ((struct reading *)arg)->watch;

	return !watch->tick || watch->tick(watch->arg);
}

enum status job_watch_read(struct job_watch *watch, struct client *client, int64_t limit_us,
			   struct error *err)
{
	struct reading reading = { .lines = { .take = line_take, .arg = watch }, .watch = watch };
	const struct {
		const char *name, *value;
	} query[] = { { "project", watch->project },
		      { "filter", watch->filter },
		      { "position", watch->position } };
	struct text path AUTO_TEXT = { 0 };
	enum status rc;

	text_puts(&path, "/_trainyard/v1/jobs:watch");
	for (size_t i = 0; i < sizeof(query) / sizeof(query[0]); i++) {
		text_printf(&path, "%c%s=", i ? '&' : '?', query[i].name);
		text_percent(&path, query[i].value ? query[i].value : "", URL_UNRESERVED);
	}
	rc = client_follow(
		client, path.data,
		&(struct client_following){
			.take = piece_take, .tick = reading_tick, .arg = &reading, .limit_us = limit_us },
		err);
	if (!rc && reading.lines.broken)
		rc = error_set(err, STATUS_INTERNAL, NULL,
			       "the server at %s is not trainyard: its answer is not JSON",
			       client_endpoint(client));
	json_lines_deinit(&reading.lines);
	return rc;
}
