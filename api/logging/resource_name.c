/* SPDX-License-Identifier: Apache-2.0 */
#include "api/logging/resource_name.h"

#include <stdlib.h>
#include <string.h>

#include "api/logging/routes.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"

/* A log name has less than 512 characters. Source:
 * https://cloud.google.com/logging/docs/reference/v2/rest/v2/LogEntry */
enum { LOG_NAME_MAX = 511, SEGMENTS_MAX = 8 };

char *project_resolve(const struct logging_context *context, const char *name)
{
	if (context->project_number && context->project_id && strcmp(name, context->project_number) == 0)
		return memory_strdup(context->project_id);
	return memory_strdup(name);
}

/* Splits @path at its slashes, in place. Returns the number of segments; 0: a segment is empty, or there are too
 * many. */
static size_t segments_cut(char *path, char *ret_segments[SEGMENTS_MAX])
{
	size_t count = 0;

	for (char *at = path; at;) {
		char *slash = strchr(at, '/');

		if (slash)
			*slash = '\0';
		if (!*at || count == SEGMENTS_MAX)
			return 0;
		ret_segments[count++] = at;
		at = slash ? slash + 1 : NULL;
	}
	return count;
}

static bool is_view(char *const segments[], size_t count)
{
	return count == 8 && !strcmp(segments[2], "locations") && !strcmp(segments[4], "buckets") &&
	       !strcmp(segments[6], "views");
}

static bool is_container(const char *collection)
{
	return !strcmp(collection, "folders") || !strcmp(collection, "organizations") ||
	       !strcmp(collection, "billingAccounts");
}

enum status resource_name_read(const struct logging_context *context, const char *name, char **ret_project,
			       struct error *err)
{
	AUTO(string) char *copy = memory_strdup(name);
	char *segments[SEGMENTS_MAX];
	size_t count = segments_cut(copy, segments);

	if (count == 2 || is_view(segments, count)) {
		if (is_container(segments[0])) {
			*ret_project = NULL;
			return STATUS_OK;
		}
		if (strcmp(segments[0], "projects") == 0) {
			*ret_project = project_resolve(context, segments[1]);
			return STATUS_OK;
		}
	}
	return error_set(err, STATUS_INVALID_ARGUMENT, "resource_names",
			 "'%.200s' is not a resource name such as projects/PROJECT_ID.", name);
}

enum status log_name_read(const struct logging_context *context, const char *name, char **ret_project,
			  char **ret_log, struct error *err)
{
	const char *project = strncmp(name, "projects/", 9) == 0 ? name + 9 : NULL;
	const char *logs = project ? strstr(project, "/logs/") : NULL;
	const char *slash = project ? strchr(project, '/') : NULL;

	if (!logs || logs != slash || logs == project || !logs[6])
		return error_set(err, STATUS_INVALID_ARGUMENT, "log_name",
				 "'%.200s' is not a log name such as projects/PROJECT_ID/logs/LOG_ID.", name);
	AUTO(string) char *cut = memory_strndup(project, (size_t)(logs - project));
	AUTO(string) char *id = project_resolve(context, cut);
	struct text encoded AUTO_TEXT = { 0 };

	text_percent(&encoded, logs + 6, URL_UNRESERVED "%"); /* "%": what is encoded is not encoded again */
	AUTO(string) char *log = text_take(&encoded);

	if (strlen(log) > LOG_NAME_MAX)
		return error_set(err, STATUS_INVALID_ARGUMENT, "log_name",
				 "The log's name is longer than %d characters.", LOG_NAME_MAX);
	*ret_project = TAKE(id);
	*ret_log = TAKE(log);
	return STATUS_OK;
}
