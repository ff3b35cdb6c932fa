/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logs/log_source.h"

#include <stdlib.h>

#include "daemon/base/memory.h"

struct log_source *log_source_new(const struct log_source_spec *spec)
{
	struct log_source *source = memory_calloc(1, sizeof(*source));

	*source = (struct log_source){
		.references = 1,
		.job = spec->job,
		.project = memory_strdup(spec->project),
		.log_name = memory_strdup(spec->log_name),
		.resource_type = memory_strdup(spec->resource_type),
		.resource_labels = memory_strdup(spec->resource_labels ? spec->resource_labels : "{}"),
		.labels = memory_strdup(spec->labels ? spec->labels : "{}"),
	};
	return source;
}

void log_source_ref(struct log_source *source)
{
	__atomic_add_fetch(&source->references, 1, __ATOMIC_RELAXED);
}

void log_source_unref(struct log_source *source)
{
	if (!source || __atomic_sub_fetch(&source->references, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	free(source->project);
	free(source->log_name);
	free(source->resource_type);
	free(source->resource_labels);
	free(source->labels);
	free(source);
}
