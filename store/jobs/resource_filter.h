/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/resource_filter.h: the fields in filters of resources. */
#include "store/filter/filter_interval.h"
#include "store/filter/filter_sql.h"

/* The names of JobState by number, ends with NULL. The states of our own jobs are JOB_STATE_… of
 * store/jobs/job_state.h. */
extern const char *const resource_state_names[];

/* Converts a filter to SQL. INVALID_ARGUMENT on field filter. @ret_created: the interval in which matching resources
 * can have been created. */
enum status resource_filter_make(const char *filter, struct filter_sql *ret_sql,
				 struct filter_interval *ret_created, struct error *err);
