/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/summaries.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "store/job_progress.h"
#include "store/jobs/resources.h"
#include "store/row_page.h"
#include "store/store_parts.h"

static void summary_deinit(struct job_summary *job)
{
	free(job->project);
	free(job->location);
	free(job->job_id);
	free(job->pipeline_id);
	free(job->display_name);
	free(job->labels);
	free(job->reason);
	free(job->waits_for);
	free(job->progress);
}

void summary_list_deinit(struct summary_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		summary_deinit(&list->jobs[i]);
	free(list->jobs);
	free(list->next_page_token);
	*list = (struct summary_list){ 0 };
}

/* The family that JOB_STATES gives for the job of a pipeline; its other numbers are those of enum job_kind. */
enum { FAMILY_PIPELINES = SUMMARY_FAMILIES - 1 };

const char *summary_family_name(unsigned family)
{
	if (family == FAMILY_PIPELINES)
		return "trainingPipelines";
	return family == KIND_TRAINING ? "jobs" : resource_collection((enum job_kind)family);
}

const char *summary_family(const struct job_summary *job)
{
	return summary_family_name(job->pipeline_id ? FAMILY_PIPELINES : (unsigned)job->kind);
}

/* ---- counts ---- */

static enum status queued_count(struct connection *connection, struct job_counts *counts, struct error *err)
{
	AUTO(statement) sqlite3_stmt *row = connection_statement(connection, JOB_QUEUED_COUNT);
	bool found = false;
	enum status rc = statement_step(row, &found, err);

	if (rc || !found)
		return rc;
	counts->queued = (uint64_t)sqlite3_column_int64(row, 0);
	counts->oldest_queued_us = sqlite3_column_int64(row, 1);
	return STATUS_OK;
}

enum status summary_count(struct store *store, struct job_counts *ret_counts, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	struct job_counts counts = { 0 };
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *rows = connection_statement(reader.connection, JOB_STATES);
	while (statement_next(rows, &rc, err)) {
		const unsigned family = (unsigned)sqlite3_column_int(rows, 0);
		const unsigned state = (unsigned)sqlite3_column_int(rows, 1);

		if (family < SUMMARY_FAMILIES && state < JOB_STATE_COUNT)
			counts.jobs[family][state]++;
	}
	if (!rc)
		rc = queued_count(reader.connection, &counts, err);
	if (!rc)
		*ret_counts = counts;
	return rc;
}

/* ---- the list ---- */

static bool state_parse(const char *name, int64_t *ret_number)
{
	for (int state = JOB_QUEUED; state < JOB_STATE_COUNT; state++)
		if (strcasecmp(job_state_name((enum job_state)state), name) == 0) {
			*ret_number = state;
			return true;
		}
	return false;
}

#define OF_PIPELINE(COLUMN)                                                                                  \
	"(SELECT " COLUMN " FROM pipeline WHERE pipeline.job = job.id AND pipeline.deleted = 0)"
#define SHOWN_LABELS "coalesce(" OF_PIPELINE("labels") ", labels)"

static const struct filter_field fields[] = {
	{ .path = "family",
	  .kind = MATCH_EXACT,
	  .traits = TRAIT_ALWAYS,
	  .sql = "(CASE WHEN kind = 0 THEN 'jobs' WHEN " OF_PIPELINE(
		  "1") " THEN 'trainingPipelines'"
		       " WHEN kind = 1 THEN 'customJobs' ELSE 'hyperparameterTuningJobs' END)" },
	{ .path = "project", .kind = MATCH_EXACT, .traits = TRAIT_ALWAYS, .sql = "project" },
	{ .path = "location", .kind = MATCH_EXACT, .sql = "location" },
	{ .path = "id",
	  .kind = MATCH_EXACT,
	  .traits = TRAIT_ALWAYS,
	  .sql = "coalesce(" OF_PIPELINE("pipeline_id") ", job_id)" },
	{ .path = "displayName",
	  .kind = MATCH_EXACT,
	  .sql = "coalesce(" OF_PIPELINE("display_name") ", display_name)" },
	{ .path = "state", .kind = MATCH_ENUM, .traits = TRAIT_ALWAYS, .sql = "state", .parse = state_parse },
	{ .path = "createTime", .kind = MATCH_TIME, .traits = TRAIT_ALWAYS, .sql = "(created_us * 1000)" },
	{ .path = "startTime", .kind = MATCH_TIME, .sql = "(nullif(started_us, 0) * 1000)" },
	{ .path = "endTime", .kind = MATCH_TIME, .sql = "(nullif(ended_us, 0) * 1000)" },
	{ .path = "labels.*", .kind = MATCH_JSON, .traits = TRAIT_KEYS, .sql = SHOWN_LABELS, .root = "$" },
	{ .path = NULL },
};
static const struct filter_schema schema = { .fields = fields, .error_field = "filter", .wildcards = true };

static enum status summary_read(struct connection *connection, int64_t id, void *ret_item, struct error *err)
{
	AUTO(statement) sqlite3_stmt *row = connection_statement(connection, JOB_SUMMARY);
	bool found = false;
	enum status rc;

	bind_int(row, ":id", id);
	rc = statement_step(row, &found, err);
	if (!rc && !found)
		rc = error_set(err, STATUS_INTERNAL, NULL,
			       "a job was deleted while its page was read: list again");
	if (rc)
		return rc;
	*(struct job_summary *)ret_item = (struct job_summary){
		.id = id,
		.kind = (enum job_kind)sqlite3_column_int(row, 0),
		.project = column_copy(row, 1),
		.location = column_copy(row, 2),
		.job_id = column_copy(row, 3),
		.pipeline_id = column_copy(row, 4),
		.display_name = column_copy(row, 5),
		.labels = column_copy(row, 6),
		.state = (enum job_state)sqlite3_column_int(row, 7),
		.created_us = sqlite3_column_int64(row, 8),
		.started_us = sqlite3_column_int64(row, 9),
		.ended_us = sqlite3_column_int64(row, 10),
		.reason = column_copy(row, 11),
		.replica_count = (unsigned)sqlite3_column_int64(row, 12),
		.gpu_count = (unsigned)sqlite3_column_int64(row, 13),
	};
	return STATUS_OK;
}

/* Reads the last line in a job's log that the service (@by_service) or that a replica wrote. NULL: there is none among
 * the latest entries of the log. */
static enum status last_said(struct connection *connection, int64_t job, bool by_service, char **ret_text,
			     struct error *err)
{
	AUTO(statement) sqlite3_stmt *row = connection_statement(connection, ENTRY_LAST_SAID);
	bool found = false;
	enum status rc;

	bind_int(row, ":job", job);
	bind_int(row, ":by_service", by_service);
	rc = statement_step(row, &found, err);
	*ret_text = !rc && found ? column_copy(row, 0) : NULL;
	return rc;
}

/* Reads a job's progress. It is kept in memory; after a restart of the daemon the job's last line comes from its
 * log. */
static enum status progress_read(struct store *store, struct connection *connection, struct job_summary *job,
				 struct error *err)
{
	struct job_progress progress;
	AUTO(string) char *line = NULL;
	enum status rc = STATUS_OK;

	if (!progress_get(store->progress, job->id, &progress)) {
		rc = last_said(connection, job->id, false, &line, err);
		progress_line_found(store->progress, job->id, line ? line : "", line ? strlen(line) : 0);
		if (rc || !progress_get(store->progress, job->id, &progress))
			return rc;
	}
	if (progress.line[0] || progress.image[0]) {
		job->progress = memory_calloc(1, sizeof(progress));
		*job->progress = progress;
	}
	return STATUS_OK;
}

static bool is_waiting(const struct job_summary *job)
{
	return job->state == JOB_QUEUED || job->state == JOB_PREPARING;
}

static bool is_started(const struct job_summary *job)
{
	return job->state == JOB_PREPARING || job->state == JOB_RUNNING;
}

/* Adds to the unfinished jobs what they wait for, and their progress. The reason of a wait is the service's last line
 * in the job's log: the service writes one when the wait begins, and when the reason changes. */
static enum status last_lines_read(struct store *store, struct summary_list *list, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = reader_borrow(&store->logs_readers, &reader, err);

	for (size_t i = 0; !rc && i < list->count; i++) {
		struct job_summary *job = &list->jobs[i];

		if (is_waiting(job))
			rc = last_said(reader.connection, job->id, true, &job->waits_for, err);
		if (!rc && is_started(job))
			rc = progress_read(store, reader.connection, job, err);
	}
	return rc;
}

static bool any_unfinished(const struct summary_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (is_waiting(&list->jobs[i]) || is_started(&list->jobs[i]))
			return true;
	return false;
}

/* The jobs that lists may have: no trials, and no deleted jobs, except those of training pipelines. */
#define LISTED "job WHERE parent IS NULL AND (deleted = 0 OR " OF_PIPELINE("1") ")"

/* Reads the page of a list that @page_token names. @page: its members up to size are set; @filter: the filter's text,
 * to which tokens are bound. */
static enum status list_read(struct store *store, struct row_page *page, const char *filter,
			     const char *page_token, struct summary_list *ret_list, struct error *err)
{
	struct row_items items = { .size = sizeof(struct job_summary), .read = summary_read };
	struct summary_list list AUTO_SUMMARY_LIST = { 0 };
	enum status rc = row_page_begin(page, &store->page_key, filter, page_token, err);

	if (!rc)
		rc = row_page_walk(store, page, &items, &list.next_page_token, err);
	list.jobs = items.made;
	list.count = items.count;
	if (!rc && any_unfinished(&list))
		rc = last_lines_read(store, &list, err);
	if (rc)
		return rc;
	*ret_list = list;
	list = (struct summary_list){ 0 };
	return STATUS_OK;
}

enum status summary_list_page(struct store *store, const char *project, const char *filter,
			      unsigned page_size, const char *page_token, struct summary_list *ret_list,
			      struct error *err)
{
	struct row_page page AUTO_ROW_PAGE = {
		/* The unary plus keeps SQLite from using an index on the project: only the one on created_us has the
		 * order of the list. */
		.from = project ? LISTED " AND +project = :project" : LISTED,
		.bound = { { project ? ":project" : NULL, project } },
		.size = page_size,
	};
	enum status rc = filter_created_make(&schema, filter, &page.filter, &page.created, err);

	return rc ? rc : list_read(store, &page, filter, page_token, ret_list, err);
}

/* ---- jobs by their numbers ---- */

/* Removes the jobs of trials from a list of job numbers. @numbers: the list as JSON, "[1,2]"; *jobs and *count: the
 * numbers that remain. */
static enum status trials_drop(struct store *store, const char *numbers, int64_t *jobs, size_t *count,
			       struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *rows = connection_statement(reader.connection, JOB_NOT_TRIALS);
	bind_text(rows, ":jobs", numbers);
	*count = 0;
	while (statement_next(rows, &rc, err))
		jobs[(*count)++] = sqlite3_column_int64(rows, 0);
	return rc;
}

/* The jobs of LISTED that have a number in :jobs. The unary pluses keep SQLite from using an index on parent or
 * deleted, so that it finds the rows by id. */
#define CHOSEN                                                                                               \
	"job WHERE id IN (SELECT value FROM json_each(:jobs)) AND +parent IS NULL"                           \
	" AND (+deleted = 0 OR " OF_PIPELINE("1") ")"

enum status summary_list_some(struct store *store, const char *project, const char *filter, int64_t *jobs,
			      size_t *count, struct summary_list *ret_list, struct error *err)
{
	struct text numbers AUTO_TEXT = { 0 };
	struct row_page page AUTO_ROW_PAGE = { .from = project ? CHOSEN " AND +project = :project" : CHOSEN,
					       .size = ROW_PAGE_MAX };
	enum status rc = filter_created_make(&schema, filter, &page.filter, &page.created, err);

	text_putc(&numbers, '[');
	for (size_t i = 0; i < *count; i++)
		text_printf(&numbers, "%s%" PRId64, i ? "," : "", jobs[i]);
	text_putc(&numbers, ']');
	page.bound[0].name = ":jobs";
	page.bound[0].value = numbers.data;
	page.bound[1].name = project ? ":project" : NULL;
	page.bound[1].value = project;
	if (!rc)
		rc = trials_drop(store, numbers.data, jobs, count, err);
	return rc ? rc : list_read(store, &page, filter, NULL, ret_list, err);
}

/* ---- one job ---- */

/* By which rule a reference matched a job; the numbers are those in JOB_REFERRED. */
enum meeting { MEETING_ID, MEETING_NAME, MEETING_BEGINNING };

struct finding {
	int64_t ids[SUMMARIES_FOUND];
	size_t count; /* how many jobs matched by the best rule; ids has the first of them */
};

static enum status referred_read(struct connection *connection, const char *project, const char *reference,
				 struct finding *finding, struct error *err)
{
	const bool last = strcmp(reference, "@last") == 0;
	AUTO(statement)
	sqlite3_stmt *rows = connection_statement(connection, last ? JOB_NEWEST : JOB_REFERRED);
	int best = MEETING_BEGINNING;
	enum status rc = STATUS_OK;

	bind_text(rows, ":project", project);
	if (!last)
		bind_text(rows, ":reference", reference);
	while (statement_next(rows, &rc, err)) {
		const int met = sqlite3_column_int(rows, 1);

		if (met > best)
			continue;
		if (met < best)
			finding->count = 0;
		best = met;
		if (finding->count < SUMMARIES_FOUND)
			finding->ids[finding->count] = sqlite3_column_int64(rows, 0);
		finding->count++;
	}
	return rc;
}

static void candidate_write(struct text *text, const struct job_summary *job)
{
	text_printf(text, "\n  %s  %s, project %s%s%s, %s", job->pipeline_id ? job->pipeline_id : job->job_id,
		    summary_family(job), job->project, job->location ? ", " : "",
		    job->location ? job->location : "", job_state_name(job->state));
	if (job->display_name)
		text_printf(text, ", \"%s\"", job->display_name);
}

static enum status several_refuse(const char *reference, const struct finding *finding,
				  const struct summary_list *list, struct error *err)
{
	struct text text AUTO_TEXT = { 0 };

	for (size_t i = 0; i < list->count; i++)
		candidate_write(&text, &list->jobs[i]);
	if (finding->count > list->count)
		text_printf(&text, "\n  and %zu more", finding->count - list->count);
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "\"%.100s\" fits %zu jobs:%s", reference,
			 finding->count, text.data);
}

static enum status found_read(struct store *store, const char *project, const char *reference,
			      struct finding *finding, struct summary_list *list, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	if (!rc)
		rc = referred_read(reader.connection, project, reference, finding, err);
	list->jobs = memory_calloc(SUMMARIES_FOUND, sizeof(*list->jobs));
	for (size_t i = 0; !rc && i < finding->count && i < SUMMARIES_FOUND; i++) {
		rc = summary_read(reader.connection, finding->ids[i], &list->jobs[i], err);
		list->count += !rc;
	}
	return rc;
}

enum status summary_find(struct store *store, const char *project, const char *reference,
			 struct summary_list *ret_one, struct error *err)
{
	struct summary_list list AUTO_SUMMARY_LIST = { 0 };
	struct finding finding = { .count = 0 };
	/* Every job's name begins with "": a script with an empty variable must not cancel the only job. */
	enum status rc = *reference ? found_read(store, project, reference, &finding, &list, err) : STATUS_OK;

	if (rc)
		return rc;
	if (!list.count && strcmp(reference, "@last") == 0)
		return error_set(err, STATUS_NOT_FOUND, NULL, "There is no job%s%s yet.",
				 project ? " of project " : "", project ? project : "");
	if (!list.count)
		return error_set(err, STATUS_NOT_FOUND, NULL,
				 "No job%s%s has the id or display name \"%.100s\", or one that "
				 "begins with that.",
				 project ? " of project " : "", project ? project : "", reference);
	if (finding.count > 1)
		return several_refuse(reference, &finding, &list, err);
	rc = any_unfinished(&list) ? last_lines_read(store, &list, err) : STATUS_OK;
	if (rc)
		return rc;
	*ret_one = list;
	list = (struct summary_list){ 0 };
	return STATUS_OK;
}
