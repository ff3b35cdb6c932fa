/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/pipeline_filter.h: the fields in filters of pipelines and of models. */
#include "store/filter/filter_interval.h"
#include "store/filter/filter_sql.h"

/* The names of PipelineState by number, ends with NULL. */
extern const char *const pipeline_state_names[];

/* Converts a filter to SQL. INVALID_ARGUMENT on field filter. @ret_created: the interval in which matching ones
 * can have been created. */
enum status pipeline_filter_make(const char *filter, struct filter_sql *ret_sql,
				 struct filter_interval *ret_created, struct error *err);
enum status model_filter_make(const char *filter, struct filter_sql *ret_sql,
			      struct filter_interval *ret_created, struct error *err);
