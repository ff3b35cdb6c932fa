/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/pipeline_filter.h"

#include <string.h>

#include "store/jobs/resource_times.h"

/* Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/PipelineState (read 2026-11-22) */
const char *const pipeline_state_names[] = {
	"PIPELINE_STATE_UNSPECIFIED", "PIPELINE_STATE_QUEUED",
	"PIPELINE_STATE_PENDING",     "PIPELINE_STATE_RUNNING",
	"PIPELINE_STATE_SUCCEEDED",   "PIPELINE_STATE_FAILED",
	"PIPELINE_STATE_CANCELLING",  "PIPELINE_STATE_CANCELLED",
	"PIPELINE_STATE_PAUSED",      NULL,
};

static bool state_parse(const char *name, int64_t *ret_number)
{
	for (int64_t i = 0; pipeline_state_names[i]; i++) {
		if (strcmp(pipeline_state_names[i], name) != 0)
			continue;
		*ret_number = i;
		return true;
	}
	return false;
}

#define OF_JOB(COLUMN) "(SELECT " COLUMN " FROM job WHERE job.id = pipeline.job)"

/* Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.trainingPipelines/list for the
 * fields (read 2026-11-22). Choice: updateTime, startTime and endTime are fields too. */
static const struct filter_field pipeline_fields[] = {
	{ .path = "displayName", .kind = MATCH_EXACT, .traits = TRAIT_PATTERN, .sql = "display_name" },
	{ .path = "state",
	  .kind = MATCH_ENUM,
	  .traits = TRAIT_ALWAYS,
	  .sql = OF_JOB("max(state, 2)"),
	  .parse = state_parse },
	{ .path = "trainingTaskDefinition",
	  .kind = MATCH_EXACT,
	  .traits = TRAIT_PATTERN,
	  .sql = "json_extract(input, '$.trainingTaskDefinition')" },
	{ .path = "createTime", .kind = MATCH_TIME, .traits = TRAIT_ALWAYS, .sql = "(created_us * 1000)" },
	{ .path = "updateTime", .kind = MATCH_TIME, .traits = TRAIT_ALWAYS, .sql = OF_JOB(SHOWN_UPDATE) },
	{ .path = "startTime", .kind = MATCH_TIME, .sql = OF_JOB(SHOWN_START) },
	{ .path = "endTime", .kind = MATCH_TIME, .sql = OF_JOB(SHOWN_END) },
	{ .path = "labels.*", .kind = MATCH_JSON, .traits = TRAIT_KEYS, .sql = "labels", .root = "$" },
	{ .path = NULL },
};
static const struct filter_schema pipeline_schema = { .fields = pipeline_fields, .error_field = "filter" };

/* Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.models/list (read 2026-11-22).
 * Choice: createTime is a field too; baseModelName is not, because no model here has a base. */
static const struct filter_field model_fields[] = {
	{ .path = "model", .kind = MATCH_EXACT, .traits = TRAIT_PATTERN, .sql = "model_id" },
	{ .path = "displayName",
	  .kind = MATCH_EXACT,
	  .traits = TRAIT_PATTERN,
	  .sql = "json_extract(input, '$.displayName')" },
	{ .path = "createTime", .kind = MATCH_TIME, .traits = TRAIT_ALWAYS, .sql = "(created_us * 1000)" },
	{ .path = "labels.*",
	  .kind = MATCH_JSON,
	  .traits = TRAIT_KEYS,
	  .sql = "json_extract(input, '$.labels')",
	  .root = "$" },
	{ .path = NULL },
};
static const struct filter_schema model_schema = { .fields = model_fields, .error_field = "filter" };

enum status pipeline_filter_make(const char *filter, struct filter_sql *ret_sql,
				 struct filter_interval *ret_created, struct error *err)
{
	return filter_created_make(&pipeline_schema, filter, ret_sql, ret_created, err);
}

enum status model_filter_make(const char *filter, struct filter_sql *ret_sql,
			      struct filter_interval *ret_created, struct error *err)
{
	return filter_created_make(&model_schema, filter, ret_sql, ret_created, err);
}
