/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/logs/log_filter.h: the fields of a log entry in filters, and the facts about a query that its filter shows
 * before it runs. */
#include "store/filter/filter_interval.h"
#include "store/filter/filter_sql.h"

struct log_filter {
	const char *text;
	struct filter tree;
	struct filter_interval timestamp; /* the times that can match */
	int64_t margin_ns; /* the upper bound that was removed (reader's margin: log_query_run()); INT64_MAX: none */
	const char *job_label;          /* the job in resource.labels.job_id of the filter, or NULL */
	struct filter_node *job_node;   /* the condition in @tree that names the job */
	struct filter_node of_trial[4]; /* see log_filter_add_trial() */
};

/* Reads a filter. INVALID_ARGUMENT: the text says where. Applies the reader's margin of log_query_run(),
 * unless @now_ns is 0. @text is kept by reference. */
enum status log_filter_init(struct log_filter *filter, const char *text, int64_t now_ns, int64_t ahead_ns,
			    struct error *err);
void log_filter_deinit(struct log_filter *filter);
#define AUTO_LOG_FILTER __attribute__((cleanup(log_filter_deinit)))

/* The job in the filter runs trial @trial of tuning job @owner, and its lines are in the tuning job's log: makes those
 * lines match, too. To be called once, only with a job_label. Texts are kept by reference. */
void log_filter_add_trial(struct log_filter *filter, const char *owner, const char *trial);

/* A condition over the joined tables entry AS e and source AS s. @of_jobs: only entries of the jobs :job0 … :job3 are
 * searched, so conditions on their sources are worth evaluating first. */
enum status log_filter_sql(const struct log_filter *filter, bool of_jobs, struct filter_sql *ret_sql,
			   struct error *err);
