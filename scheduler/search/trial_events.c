/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/trial_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "scheduler/tuning/event_file.h"
#include "scheduler/tuning/metric_report.h"
#include "store/objects/objects.h"

enum {
	PIECE_BYTES = 256 * 1024,
	/* how many bytes before the offset must be unchanged; they include the last record's checksum */
	TAIL_BYTES = 64,
};

static const char scheme[] = "gs://";

/* An object (an event file) that is read repeatedly. */
struct followed {
	char *name;
	int64_t generation; /* the generation that was read last; 0: none */
	struct event_file reader;
	char tail[TAIL_BYTES]; /* the bytes before reader.offset */
	size_t tail_bytes;
	struct measurement_list found;
};

struct trial_events {
	struct objects *objects;
	char *directory, *bucket, *prefix;
	int64_t since, left_bytes;
	bool was_read, is_new; /* @is_new: something was read that is not in @all yet */
	uint64_t change_count; /* objects_change_count() at the last reading */
	struct followed *files[EVENT_FILES_MAX];
	size_t file_count;
	bool has_more_files;
	struct measurement_list all;
	struct error cause; /* why the last reading failed; OK: it did not */
};

static void followed_free(struct followed *file)
{
	event_file_deinit(&file->reader);
	measurement_list_deinit(&file->found);
	free(file->name);
	free(file);
}

static void files_free(struct trial_events *events)
{
	while (events->file_count)
		followed_free(events->files[--events->file_count]);
}

struct trial_events *trial_events_new(struct objects *objects, const char *directory, int64_t since)
{
	AUTO(trial_events) struct trial_events *events = memory_calloc(1, sizeof(*events));
	const size_t skipped = strncmp(directory, scheme, strlen(scheme)) == 0 ? strlen(scheme) : 0;
	const char *bucket = directory + skipped, *path = strchrnul(bucket, '/');

	events->objects = objects;
	events->since = since;
	events->left_bytes = EVENT_READ_BYTES_MAX;
	events->directory = memory_strdup(directory);
	events->bucket = memory_strndup(bucket, (size_t)(path - bucket));
	events->prefix = memory_printf("%s/", *path ? path + 1 : "");
	return TAKE(events);
}

void trial_events_free(struct trial_events *events)
{
	if (!events)
		return;
	files_free(events);
	measurement_list_deinit(&events->all);
	error_deinit(&events->cause);
	free(events->directory);
	free(events->bucket);
	free(events->prefix);
	free(events);
}

/* ---- one object ---- */

static void followed_begin(struct followed *file)
{
	event_file_deinit(&file->reader);
	event_file_init(&file->reader, 0);
	measurement_list_deinit(&file->found);
	file->tail_bytes = 0;
}

/* Whether the object continues what the last reading read. */
static bool is_continued(const struct followed *file, struct object_reader *object)
{
	const int64_t start = file->reader.offset - (int64_t)file->tail_bytes;
	char tail[TAIL_BYTES] = "";
	struct error err AUTO_ERROR = { 0 };
	size_t got = 0;

	while (got < file->tail_bytes) {
		const ssize_t length =
			object_read(object, start + (int64_t)got, tail + got, file->tail_bytes - got, &err);

		if (length <= 0)
			return false;
		got += (size_t)length;
	}
	return memcmp(tail, file->tail, got) == 0;
}

/* Keeps the last bytes that were read. @piece: the newest @length bytes. */
static void tail_keep(struct followed *file, const char *piece, size_t length)
{
	const size_t whole = file->tail_bytes + length;
	const size_t kept = whole < TAIL_BYTES ? whole : TAIL_BYTES;

	if (length < TAIL_BYTES) {
		const size_t old = kept - length;

		memmove(file->tail, file->tail + file->tail_bytes - old, old);
		memcpy(file->tail + old, piece, length);
	} else {
		memcpy(file->tail, piece + length - TAIL_BYTES, TAIL_BYTES);
	}
	file->tail_bytes = kept;
}

static void found_take(struct followed *file, struct metric_report *report)
{
	for (size_t i = 0; i < report->measurement_count; i++)
		measurement_list_append(&file->found, &report->measurements[i]);
	metric_report_clear(report);
}

/* Feeds a piece to the file's reader. Damaged data is no error here: the reader remembers it and reads no further in
 * this file. */
static enum status piece_take(struct followed *file, struct metric_report *report, const char *piece,
			      size_t length, struct error *err)
{
	const int64_t before = file->reader.offset;
	struct error broken AUTO_ERROR = { 0 };
	enum status rc = event_file_feed(&file->reader, report, before, piece, length, &broken);

	tail_keep(file, piece, (size_t)(file->reader.offset - before));
	found_take(file, report);
	return rc == STATUS_DATA_LOSS ? STATUS_OK : rc ? error_move(err, &broken) : STATUS_OK;
}

static enum status object_follow(struct trial_events *events, struct followed *file,
				 struct object_reader *object, struct metric_report *report,
				 struct error *err)
{
	AUTO(string) char *piece = memory_alloc(PIECE_BYTES);
	enum status rc = STATUS_OK;

	if (!is_continued(file, object))
		followed_begin(file);
	while (!rc && !file->reader.breakage && events->left_bytes > 0) {
		const size_t most =
			events->left_bytes < PIECE_BYTES ? (size_t)events->left_bytes : PIECE_BYTES;
		const ssize_t length = object_read(object, file->reader.offset, piece, most, err);

		if (length <= 0)
			return length ? err->status : STATUS_OK;
		events->left_bytes -= length;
		rc = piece_take(file, report, piece, (size_t)length, err);
	}
	return rc;
}

static enum status followed_read(struct trial_events *events, struct followed *file,
				 struct metric_report *report, struct error *err)
{
	AUTO(object_reader) struct object_reader *object = NULL;
	enum status rc = object_open(events->objects, events->bucket, file->name, 0, &object, err);

	if (rc == STATUS_NOT_FOUND) { /* removed meanwhile: the measurements read from it stay */
		error_deinit(err);
		return STATUS_OK;
	}
	if (!rc)
		rc = object_follow(events, file, object, report, err);
	if (rc) {
		followed_begin(file);
		file->generation = 0;
		return rc;
	}
	file->generation = object_reader_object(object)->generation;
	return STATUS_OK;
}

/* ---- all files of a trial ---- */

static struct followed *followed_find(struct trial_events *events, const char *name)
{
	struct followed *file;

	for (size_t i = 0; i < events->file_count; i++)
		if (strcmp(events->files[i]->name, name) == 0)
			return events->files[i];
	if (events->file_count == EVENT_FILES_MAX) {
		events->has_more_files = true;
		return NULL;
	}
	file = memory_calloc(1, sizeof(*file));
	file->name = memory_strdup(name);
	event_file_init(&file->reader, 0);
	return events->files[events->file_count++] = file;
}

/* Reads one object if it is new or has changed. A failure does not stop the reading of the other objects; *err keeps
 * the first one. */
static void object_look(struct trial_events *events, const struct object *object,
			struct metric_report *report, struct error *err)
{
	struct error another AUTO_ERROR = { 0 };
	struct followed *file;

	if (object->generation < events->since)
		return;
	file = followed_find(events, object->name);
	if (!file || file->generation == object->generation)
		return;
	events->is_new = true;
	followed_read(events, file, report, err->status ? &another : err);
}

static void objects_look(struct trial_events *events, struct metric_report *report, struct error *err)
{
	AUTO(string) char *after = NULL;

	for (unsigned pages = 0; pages < EVENT_PAGES_MAX; pages++) {
		struct object_page page AUTO_OBJECT_PAGE = { 0 };
		const struct object_query query = { .bucket = events->bucket,
						    .prefix = events->prefix,
						    .after = after,
						    .match_glob = "**tfevents*",
						    .most = EVENT_FILES_MAX };
		const enum status rc = object_list(events->objects, &query, &page, err);

		if (rc == STATUS_NOT_FOUND) /* no such bucket: nothing was written */
			error_deinit(err);
		for (size_t i = 0; i < page.count; i++)
			object_look(events, &page.objects[i], report, err);
		free(after);
		after = TAKE(page.next);
		if (!after)
			return;
	}
	events->has_more_files = true;
}

static void all_merge(struct trial_events *events, size_t metric_count)
{
	const struct measurement_list *lists[EVENT_FILES_MAX];

	for (size_t i = 0; i < events->file_count; i++)
		lists[i] = &events->files[i]->found;
	measurement_lists_merge(lists, events->file_count, metric_count, &events->all);
}

bool trial_events_read(struct trial_events *events, struct metric_report *report)
{
	const uint64_t change_count = objects_change_count(events->objects);
	const bool was_broken = report->is_broken;
	struct error err AUTO_ERROR = { 0 };
	bool is_new;

	if (events->was_read && events->change_count == change_count)
		return false;
	objects_look(events, report, &err);
	is_new = events->is_new;
	if (is_new)
		all_merge(events, report->metric_count);
	events->is_new = false;
	/* event files do not change it: is_broken is about the file of cloudml-hypertune */
	report->is_broken = was_broken;
	events->was_read = !err.status;
	events->change_count = change_count;
	error_deinit(&events->cause);
	events->cause = err;
	err = (struct error){ 0 };
	return is_new;
}

const struct measurement_list *trial_events_all(const struct trial_events *events)
{
	return &events->all;
}

/* ---- remarks about missing values ---- */

static const struct followed *broken_find(const struct trial_events *events)
{
	for (size_t i = 0; i < events->file_count; i++)
		if (events->files[i]->reader.breakage)
			return events->files[i];
	return NULL;
}

bool trial_events_is_partial(const struct trial_events *events)
{
	return events->cause.status || broken_find(events) || events->left_bytes <= 0 ||
	       events->has_more_files;
}

void trial_events_remark(const struct trial_events *events, struct text *text)
{
	const struct followed *broken = broken_find(events);

	if (events->cause.status)
		text_printf(text, " Event files below %s could not be read: %s.", events->directory,
			    events->cause.text);
	else if (broken)
		text_printf(text, " In the event file %s%s/%s the record at byte %lld %s.", scheme,
			    events->bucket, broken->name, (long long)broken->reader.whole_bytes,
			    broken->reader.breakage);
	else if (events->left_bytes <= 0)
		text_printf(text, " Of the event files below %s the first %lld MiB were read.",
			    events->directory, (long long)(EVENT_READ_BYTES_MAX >> 20));
	else if (events->has_more_files)
		text_printf(text, " Of the event files below %s the first %d were read.", events->directory,
			    (int)events->file_count);
	else if (events->file_count)
		text_printf(text, " %zu event file%s below %s %s read.", events->file_count,
			    events->file_count > 1 ? "s" : "", events->directory,
			    events->file_count > 1 ? "were" : "was");
	else
		text_printf(text, " There is no event file below %s.", events->directory);
}
