/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/resource_filter.h: the fields that a filter of resources may name. */
#include "store/filter/filter_interval.h"
#include "store/filter/filter_sql.h"

/* The names of JobState by their numbers, up to a NULL. Those of an own job are JOB_STATE_… of store/jobs/job_state.h. */
extern const char *const resource_state_names[];

/* What the stored input of a job says that asked to wait for capacity. Canonical text has it nowhere else: in a string its
 * quotes would be escaped. */
#define RESOURCE_FLEX_START "\"strategy\":\"FLEX_START\""

/* INVALID_ARGUMENT on field filter. @ret_created: when the resources wanted can have been created. */
enum status resource_filter_make(const char *filter, struct filter_sql *ret_sql,
				 struct filter_interval *ret_created, struct error *err);
