/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/pipeline_filter.h: the fields that filters of pipelines and of models may name. */
#include "store/filter/filter_interval.h"
#include "store/filter/filter_sql.h"

/* The names of PipelineState by their numbers, up to a NULL. */
extern const char *const pipeline_state_names[];

/* INVALID_ARGUMENT on field filter. @ret_created: when those wanted can have been created. */
enum status pipeline_filter_make(const char *filter, struct filter_sql *ret_sql,
				 struct filter_interval *ret_created, struct error *err);
enum status model_filter_make(const char *filter, struct filter_sql *ret_sql,
			      struct filter_interval *ret_created, struct error *err);
