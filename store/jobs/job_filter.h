/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/job_filter.h: the fields in filters of jobs. */
#include "store/filter/filter_interval.h"
#include "store/filter/filter_sql.h"

/* Converts a filter to SQL. INVALID_ARGUMENT on field filter. @ret_created: the interval in which matching jobs
 * can have been created. */
enum status job_filter_make(const char *filter, struct filter_sql *ret_sql,
			    struct filter_interval *ret_created, struct error *err);
