/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/job_scalars.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/emulator/fields.h"
#include "api/emulator/jobs.h"
#include "api/message/message_write.h"
#include "api/training/context.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/plan.h"
#include "scheduler/tuning/event_file.h"
#include "scheduler/tuning/scalars.h"
#include "store/jobs/jobs.h"
#include "store/jobs/summaries.h"
#include "store/objects/objects.h"

enum { POINTS_DEFAULT = 500, PIECE_BYTES = 256 * 1024, PAGES_MAX = 20 };

/* ---- messages ---- */

static const struct field query_fields[] = {
	FIELD("project", STRING, 0, "Only a job of the project with this id."),
	FIELD("points", INT32, 0, "How many points of a curve at most: 2 to 2000; 500 unless given."),
	{ .name = NULL },
};
const struct message job_scalars_query = { "trainyard.ScalarsRequest", query_fields,
					   "The job of the scalars.", .is_own = true };

static const struct field curve_fields[] = {
	FIELD("run", STRING, 0,
	      "The directory of its event files, below the one that the job writes to; absent for that one "
	      "itself."),
	FIELD("tag", STRING, 0, "What the program calls it."),
	FIELD("steps", DOUBLE, FIELD_REPEATED, "The step of each point."),
	FIELD("seconds", DOUBLE, FIELD_REPEATED, "When it was written, in seconds since 1970."),
	FIELD("values", DOUBLE, FIELD_REPEATED, "Its value, which is finite."),
	FIELD("valueCount", INT64, 0,
	      "How many values were written; if there are fewer points, these stand for the others."),
	FIELD("notFiniteCount", INT64, 0, "How many values were infinite or no number; absent if 0."),
	{ .name = NULL },
};
static const struct message curve_message = { "trainyard.ScalarCurve", curve_fields,
					      "A run's values of a tag.", .is_own = true };

static const struct field scalars_fields[] = {
	FIELD("directory", STRING, 0,
	      "Where event files are looked for: gs://…; absent for a job that names no directory."),
	FIELD("fileCount", INT32, 0, "How many event files were read."),
	{ .name = "curves",
	  .type = FIELD_MESSAGE,
	  .flags = FIELD_REPEATED,
	  .message = &curve_message,
	  .help = "By run and tag." },
	FIELD("remarks", STRING, FIELD_REPEATED, "Why there may be more curves or values, in sentences."),
	{ .name = NULL },
};
const struct message job_scalars_message = { "trainyard.Scalars", scalars_fields,
					     "What a job wrote for TensorBoard.", .is_own = true };

/* ---- the files ---- */

struct reading {
	struct objects *objects;
	char *bucket, *prefix; /* ends with a slash, or is empty */
	struct scalars scalars;
	int64_t left_bytes;
	unsigned file_count;
	bool has_more_files;
	struct text broken; /* the problem of the first broken file */
};

static void reading_deinit(struct reading *reading)
{
	scalars_deinit(&reading->scalars);
	text_deinit(&reading->broken);
	free(reading->bucket);
	free(reading->prefix);
}

static void broken_report(struct reading *reading, const char *name, const char *why)
{
	if (!reading->broken.length)
		text_printf(&reading->broken, "The event file gs://%s/%s: %s.", reading->bucket, name, why);
}

static enum status pieces_read(struct reading *reading, struct object_reader *object, struct event_file *file,
			       struct error *err)
{
	AUTO(string) char *piece = memory_alloc(PIECE_BYTES);
	enum status rc = STATUS_OK;

	while (!rc && reading->left_bytes > 0) {
		const int64_t offset = file->offset;
		const size_t most =
			reading->left_bytes < PIECE_BYTES ? (size_t)reading->left_bytes : PIECE_BYTES;
		const ssize_t length = object_read(object, offset, piece, most, err);

		if (length <= 0)
			return length ? err->status : STATUS_OK;
		reading->left_bytes -= length;
		rc = event_file_read(file, scalars_take, &reading->scalars, offset, piece, (size_t)length,
				     err);
	}
	return rc;
}

/* Reads one file. If it is broken, or is deleted meanwhile, the others are read nevertheless. */
static void object_take(struct reading *reading, const char *name)
{
	AUTO(object_reader) struct object_reader *object = NULL;
	const char *below = name + strlen(reading->prefix), *slash = strrchr(below, '/');
	AUTO(string) char *run = memory_strndup(below, slash ? (size_t)(slash - below) : 0);
	struct error err AUTO_ERROR = { 0 };
	struct event_file file;

	reading->file_count++;
	reading->scalars.run = run;
	event_file_init(&file, 0);
	if (object_open(reading->objects, reading->bucket, name, 0, &object, &err) ||
	    pieces_read(reading, object, &file, &err))
		broken_report(reading, name, err.text);
	event_file_deinit(&file);
	reading->scalars.run = "";
}

/* Reads the files in the order of their names, which is that of their times within one directory. */
static enum status files_read(struct reading *reading, struct error *err)
{
	AUTO(string) char *after = NULL;

	for (unsigned pages = 0; pages < PAGES_MAX; pages++) {
		struct object_page page AUTO_OBJECT_PAGE = { 0 };
		const struct object_query query = { .bucket = reading->bucket,
						    .prefix = reading->prefix,
						    .after = after,
						    .match_glob = "**tfevents*",
						    .most = SCALARS_FILES_MAX };
		enum status rc = object_list(reading->objects, &query, &page, err);

		if (rc == STATUS_NOT_FOUND) { /* no such bucket: nothing was written */
			error_deinit(err);
			return STATUS_OK;
		}
		if (rc)
			return rc;
		for (size_t i = 0; i < page.count; i++) {
			if (reading->file_count == SCALARS_FILES_MAX || reading->left_bytes <= 0) {
				reading->has_more_files = true;
				return STATUS_OK;
			}
			object_take(reading, page.objects[i].name);
		}
		free(after);
		after = TAKE(page.next);
		if (!after)
			return STATUS_OK;
	}
	reading->has_more_files = true;
	return STATUS_OK;
}

/* ---- the answer ---- */

/* Writes the number with the fewest digits from which the same number is read. Nine are enough for a float. */
static void number_write(struct text *text, double number)
{
	char digits[40];

	snprintf(digits, sizeof(digits), "%.9g", number);
	if (strtod(digits, NULL) != number)
		snprintf(digits, sizeof(digits), "%.17g", number);
	text_puts(text, digits);
}

static void curve_write(const struct scalar_curve *curve, struct writer *answer)
{
	struct writer list;

	if (*curve->run)
		member_text(answer, "run", curve->run);
	member_text(answer, "tag", curve->tag);
	list = member_list(answer, "steps");
	for (size_t i = 0; i < curve->point_count; i++)
		number_write(element_begin(&list), (double)curve->points[i].step);
	message_close(&list);
	list = member_list(answer, "seconds");
	for (size_t i = 0; i < curve->point_count; i++)
		number_write(element_begin(&list), curve->points[i].time_s);
	message_close(&list);
	list = member_list(answer, "values");
	for (size_t i = 0; i < curve->point_count; i++)
		number_write(element_begin(&list), curve->points[i].value);
	message_close(&list);
	member_int(answer, "valueCount", (int64_t)curve->whole_count);
	if (curve->not_finite_count)
		member_int(answer, "notFiniteCount", (int64_t)curve->not_finite_count);
}

static void remarks_write(const struct reading *reading, struct writer *answer)
{
	struct writer list = member_list(answer, "remarks");
	struct text text AUTO_TEXT = { 0 };

	if (reading->has_more_files || reading->left_bytes <= 0)
		text_printf(&text, "Of the event files the first %u were read, up to %d MiB.",
			    reading->file_count, SCALARS_READ_BYTES_MAX >> 20);
	if (text.length)
		element_text(&list, text.data);
	if (reading->scalars.has_more_curves)
		element_text(&list, "There are more curves than this answer has.");
	if (reading->broken.length)
		element_text(&list, reading->broken.data);
	message_close(&list);
}

static int curves_compare(const void *one, const void *other)
{
	const struct scalar_curve *a = one, *b = other;

	return strcmp(a->run, b->run) ? strcmp(a->run, b->run) : strcmp(a->tag, b->tag);
}

static void scalars_write(const struct reading *reading, const char *directory, struct text *text)
{
	struct writer answer = message_open(text, &job_scalars_message), list;

	member_text(&answer, "directory", directory);
	member_int(&answer, "fileCount", reading->file_count);
	list = member_list(&answer, "curves");
	for (size_t i = 0; i < reading->scalars.curve_count; i++) {
		struct writer curve = element_message(&list);

		curve_write(&reading->scalars.curves[i], &curve);
		message_close(&curve);
	}
	message_close(&list);
	remarks_write(reading, &answer);
	message_close(&answer);
}

/* "gs://bucket/some/path" */
static void place_take(struct reading *reading, const char *directory)
{
	static const char scheme[] = "gs://";
	const size_t skipped = strncmp(directory, scheme, strlen(scheme)) == 0 ? strlen(scheme) : 0;
	const char *bucket = directory + skipped, *path = strchrnul(bucket, '/');
	size_t length;

	path += *path == '/';
	length = strlen(path);
	while (length && path[length - 1] == '/')
		length--;
	reading->bucket = memory_strndup(bucket, strcspn(bucket, "/"));
	reading->prefix = length ? memory_printf("%.*s/", (int)length, path) : memory_strdup("");
}

enum status job_scalars_answer(struct call *call, struct error *err)
{
	const struct jobs_context *context = call->context;
	struct reading reading __attribute__((cleanup(reading_deinit))) = {
		.objects = context->training->objects,
		.left_bytes = SCALARS_READ_BYTES_MAX,
	};
	const int64_t points = json_int_at(call->query, "points", POINTS_DEFAULT);
	struct summary_list list AUTO_SUMMARY_LIST = { 0 };
	AUTO(job) struct job *job = NULL;
	AUTO(plan) struct plan *plan = NULL;
	enum status rc;

	if (points < SCALAR_POINTS_MIN || points > SCALAR_POINTS_MAX)
		return error_set(err, STATUS_INVALID_ARGUMENT, "points",
				 "A curve has %d to %d points, not %lld.", SCALAR_POINTS_MIN,
				 SCALAR_POINTS_MAX, (long long)points);
	scalars_init(&reading.scalars, (size_t)points);
	rc = jobs_find(call, &list, err);
	if (!rc)
		rc = job_get_by_id(context->store, list.jobs[0].id, &job, err);
	if (!rc)
		rc = plan_from_text(job->plan, &plan, err);
	if (!rc && plan->job_dir && reading.objects) {
		place_take(&reading, plan->job_dir);
		rc = files_read(&reading, err);
	}
	if (rc)
		return rc;
	if (reading.scalars.curve_count)
		qsort(reading.scalars.curves, reading.scalars.curve_count, sizeof(*reading.scalars.curves),
		      curves_compare);
	scalars_write(&reading, plan->job_dir, &call->answer);
	return STATUS_OK;
}
