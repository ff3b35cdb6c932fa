/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/resource_filter.h"

#include <string.h>

#include "store/jobs/job_state.h"
#include "store/jobs/resource_times.h"

/* Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/JobState (read 2026-11-22) */
const char *const resource_state_names[] = {
	"JOB_STATE_UNSPECIFIED",
	"JOB_STATE_QUEUED",
	"JOB_STATE_PENDING",
	"JOB_STATE_RUNNING",
	"JOB_STATE_SUCCEEDED",
	"JOB_STATE_FAILED",
	"JOB_STATE_CANCELLING",
	"JOB_STATE_CANCELLED",
	"JOB_STATE_PAUSED",
	"JOB_STATE_EXPIRED",
	"JOB_STATE_UPDATING",
	"JOB_STATE_PARTIALLY_SUCCEEDED",
	NULL,
};

static bool state_parse(const char *name, int64_t *ret_number)
{
	for (int64_t i = 0; resource_state_names[i]; i++) {
		if (strcmp(resource_state_names[i], name) != 0)
			continue;
		*ret_number = i;
		return true;
	}
	return false;
}

/* Times are compared as clients see them. As in resource_state_name(), a waiting job is pending (2), unless it asked to
 * wait for capacity (FLEX_START). Source:
 * https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.customJobs/list for the fields (read
 * 2026-11-22). Choice: updateTime, startTime and endTime are fields too. */
static const struct filter_field fields[] = {
	{ .path = "displayName", .kind = MATCH_EXACT, .traits = TRAIT_PATTERN, .sql = "display_name" },
	{ .path = "state",
	  .kind = MATCH_ENUM,
	  .traits = TRAIT_ALWAYS,
	  .sql = "(CASE WHEN state = 1 AND traits & 2 = 0 THEN 2 ELSE state END)", /* JOB_TRAIT_FLEX_START */
	  .parse = state_parse },
	{ .path = "createTime", .kind = MATCH_TIME, .traits = TRAIT_ALWAYS, .sql = "(created_us * 1000)" },
	{ .path = "updateTime", .kind = MATCH_TIME, .traits = TRAIT_ALWAYS, .sql = SHOWN_UPDATE },
	{ .path = "startTime", .kind = MATCH_TIME, .sql = SHOWN_START },
	{ .path = "endTime", .kind = MATCH_TIME, .sql = SHOWN_END },
	{ .path = "labels.*", .kind = MATCH_JSON, .traits = TRAIT_KEYS, .sql = "labels", .root = "$" },
	{ .path = NULL },
};

/* Choice: a bare word is refused, because the service documents only comparisons of these fields; a search for it in
 * all texts would answer a mistyped filter with an empty list. */
static const struct filter_schema schema = { .fields = fields, .error_field = "filter" };

enum status resource_filter_make(const char *filter, struct filter_sql *ret_sql,
				 struct filter_interval *ret_created, struct error *err)
{
	return filter_created_make(&schema, filter, ret_sql, ret_created, err);
}
