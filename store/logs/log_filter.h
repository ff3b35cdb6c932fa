/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/logs/log_filter.h: the fields of a log entry that a filter may name, and what a query may learn from
 * a filter before it runs. */
#include "store/filter/filter_interval.h"
#include "store/filter/filter_sql.h"

struct log_filter {
	const char *text;
	struct filter tree;
	struct filter_interval timestamp; /* which times can match */
	int64_t margin_ns; /* the last moment before a reader's margin that was lifted; INT64_MAX: none was */
	const char *job_label;          /* the job that it asks for by resource.labels.job_id, or NULL */
	struct filter_node *job_node;   /* where it does */
	struct filter_node of_trial[4]; /* see log_filter_add_trial() */
};

/* INVALID_ARGUMENT with a text that says where. The margin of log_query_run() is taken into account
 * here: @now_ns, or 0 where the query's order does not allow it. @text is kept by reference. */
enum status log_filter_init(struct log_filter *filter, const char *text, int64_t now_ns, int64_t ahead_ns,
			    struct error *err);
void log_filter_deinit(struct log_filter *filter);
#define AUTO_LOG_FILTER __attribute__((cleanup(log_filter_deinit)))

/* The job that the filter names runs trial @trial of tuning job @owner, and its lines are in the tuning job's log: those lines
 * match as well. Call it once, where there is a job_label. Texts are kept by reference. */
void log_filter_add_trial(struct log_filter *filter, const char *owner, const char *trial);

/* A condition over the tables entry AS e and source AS s, joined. @of_jobs: only entries of the jobs
 * :job0 … :job3 are looked at, so that what they share is worth being worked out beforehand. */
enum status log_filter_sql(const struct log_filter *filter, bool of_jobs, struct filter_sql *ret_sql,
			   struct error *err);
