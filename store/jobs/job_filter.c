/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/job_filter.h"

#include <ctype.h>
#include <strings.h>

#include "store/jobs/job_state.h"

static bool state_parse(const char *name, int64_t *ret_number)
{
	for (int state = 0; state < JOB_STATE_COUNT; state++) {
		if (strcasecmp(job_state_name((enum job_state)state), name) != 0)
			continue;
		*ret_number = state;
		return true;
	}
	return false;
}

/* Choice: times compare as they are shown, in whole seconds, so that a time read from one job finds it. */
static const struct filter_field fields[] = {
	{ .path = "jobId", .kind = MATCH_EXACT, .traits = TRAIT_ALWAYS, .sql = "job_id" },
	{ .path = "state", .kind = MATCH_ENUM, .traits = TRAIT_ALWAYS, .sql = "state", .parse = state_parse },
	{ .path = "createTime",
	  .kind = MATCH_TIME,
	  .traits = TRAIT_ALWAYS,
	  .sql = "(created_us / 1000000 * 1000000000)" },
	{ .path = "startTime", .kind = MATCH_TIME, .sql = "(nullif(started_us, 0) / 1000000 * 1000000000)" },
	{ .path = "endTime", .kind = MATCH_TIME, .sql = "(nullif(ended_us, 0) / 1000000 * 1000000000)" },
	{ .path = "errorMessage", .kind = MATCH_TEXT, .sql = "error_message" },
	{ .path = "labels.*", .kind = MATCH_JSON, .traits = TRAIT_KEYS, .sql = "labels", .root = "$" },
	{ .path = "trainingInput.*", .kind = MATCH_JSON, .traits = TRAIT_CAMEL, .sql = "input", .root = "$" },
	{ .path = "trainingOutput.*",
	  .kind = MATCH_JSON,
	  .traits = TRAIT_CAMEL,
	  .sql = "output",
	  .root = "$" },
	{ .path = NULL },
};

static const char *const texts[] = { "job_id", "error_message", "labels", NULL };

static const struct filter_schema schema = {
	.fields = fields,
	.error_field = "filter",
	.wildcards = true,
	.row_texts = texts,
};

enum status job_filter_make(const char *filter, struct filter_sql *ret_sql,
			    struct filter_interval *ret_created, struct error *err)
{
	enum status rc = filter_created_make(&schema, filter, ret_sql, ret_created, err);

	if (rc)
		return rc;
	/* All times within one second count as equal. */
	if (ret_created->to_ns < INT64_MAX - 1000000000)
		ret_created->to_ns += 999999999;
	return STATUS_OK;
}
