/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_reports.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_archive.h"
#include "scheduler/engine/docker_core.h"

enum {
	EVERY_US = 2 * SECOND_US,
	OVER_EVERY_US = 30 * SECOND_US, /* the time between looks for the container after the last fetch, until it is
					 * gone */
	BYTES_MAX = 16 * 1024 * 1024,   /* total size of the files in the directory */
	PLACE_SIZE = 256,
	CODE_GONE = 404,
};

static const char unfinished[] = ".fetched";

/* A caller that waits for the last fetch. */
struct waiter {
	struct waiter *next;
	void (*then)(void *arg, bool is_lost);
	void *arg;
};

struct report {
	struct report *next;
	struct docker *docker;
	struct replica_key key;
	char place[PLACE_SIZE]; /* the directory's path in the container */
	struct timer again;
	struct http_exchange *fetch;
	bool is_last; /* the running fetch is the last one */
	bool is_over; /* the last fetch was made */
	bool is_gone; /* the container does not exist any more: the timer frees this struct */
	struct waiter *waiters;
	/* The state of the running fetch: */
	struct archive archive;
	struct file_sink sink;
	char name[64]; /* the name of the current file; "": the file is not wanted */
	size_t size;
	struct text data;
};

static struct report *report_find(struct docker *docker, const struct replica_key *key)
{
	struct report *report = docker->reports;

	while (report && (report->is_gone || !docker_key_equal(&report->key, key)))
		report = report->next;
	return report;
}

static void report_free(struct report *report)
{
	struct report **at = &report->docker->reports;

	while (*at != report)
		at = &(*at)->next;
	*at = report->next;
	text_deinit(&report->data);
	free(report);
}

/* ---- files ---- */

static void problem_report(const struct report *report, const char *problem)
{
	log_event(LOG_WARNING, "reports-unread", "job=%" PRId64 " path=%s error=\"%s\"", report->key.job,
		  report->place, problem);
}

/* Replaces the file by renaming, so that a reader finds either the old or the new content, never a part. */
static void file_keep(struct report *report)
{
	AUTO(string)
	char *directory = memory_printf("%s/%" PRId64, report->docker->reports_dir, report->key.job);
	const int place = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const int file = place < 0 ? -1
				   : openat(place, unfinished,
					    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	const bool is_kept = file >= 0 &&
			     write(file, report->data.data ? report->data.data : "", report->data.length) ==
				     (ssize_t)report->data.length &&
			     renameat(place, unfinished, place, report->name) == 0;

	if (!is_kept && errno != ENOENT) /* ENOENT: the job has ended, and its directory was removed */
		problem_report(report, strerror(errno));
	if (file >= 0)
		close(file);
	if (place >= 0)
		close(place);
	report->name[0] = '\0';
	text_clear(&report->data);
}

static void file_begun(void *arg, const char *name, size_t size)
{
	struct report *report = arg;
	const char *rest = strchr(name, '/');
	const bool is_wanted =
		rest && !strchr(rest + 1, '/') && rest[1] != '.' && strlen(rest + 1) < sizeof(report->name);

	snprintf(report->name, sizeof(report->name), "%s", is_wanted ? rest + 1 : "");
	report->size = size;
	text_clear(&report->data);
	if (is_wanted && size == 0)
		file_keep(report);
}

static void file_piece(void *arg, const char *data, size_t length)
{
	struct report *report = arg;

	if (!report->name[0])
		return;
	text_append(&report->data, data, length);
	if (report->data.length >= report->size)
		file_keep(report);
}

/* ---- fetching the files ---- */

static void fetch(void *arg);

static void waiters_call(struct report *report, bool is_lost)
{
	while (report->waiters) {
		struct waiter *waiter = report->waiters;

		report->waiters = waiter->next;
		waiter->then(waiter->arg, is_lost);
		free(waiter);
	}
}

static enum http_outcome fetched_piece(void *arg, const char *data, size_t length)
{
	struct report *report = arg;

	return archive_take(&report->archive, data, length) ? HTTP_TAKEN : HTTP_BREAK;
}

/* Whether the container is gone. If only the directory is missing, because the program removed it, the engine's text
 * has the directory's name. */
static bool is_gone(const struct report *report, const struct http_answer *answer)
{
	return answer->code == CODE_GONE && !strstr(answer->body, report->place);
}

static int64_t pause_us(const struct report *report)
{
	if (report->is_gone)
		return 0;
	return report->is_over ? OVER_EVERY_US : EVERY_US;
}

static void fetched(void *arg, const struct http_answer *answer)
{
	struct report *report = arg;
	const bool was_last = report->is_last;
	bool is_lost = answer->status != STATUS_OK && !report->archive.status;

	report->is_last = false;
	link_watch(report->docker, answer);
	report->is_gone = answer->status == STATUS_OK && is_gone(report, answer);
	if (!is_lost && (report->archive.status || (answer->code < 300 && !archive_end(&report->archive))))
		problem_report(report, report->archive.problem);
	if (was_last && !is_lost)
		report->is_over = true;
	if (!report->docker->closing)
		docker_after(report->docker, &report->again, pause_us(report), fetch, report);
	if (was_last)
		waiters_call(report, is_lost);
}

static void fetch_send(struct report *report)
{
	char suffix[DOCKER_PATH_SIZE / 2] = "/archive?path=";
	const size_t length = strlen(suffix);

	docker_query_encode(report->place, suffix + length, sizeof(suffix) - length);
	report->sink = (struct file_sink){ file_begun, file_piece, report };
	report->archive = (struct archive){ .sink = &report->sink, .bytes_left = BYTES_MAX };
	report->name[0] = '\0';
	docker_container_call(report->docker, &report->key, suffix,
			      (struct http_request){ .method = "GET",
						     .timeout_s = CALL_TIMEOUT_S,
						     .data = fetched_piece,
						     .done = fetched,
						     .arg = report,
						     .slot = &report->fetch });
}

static void fetch(void *arg)
{
	struct report *report = arg;

	if (report->docker->closing || report->fetch)
		return; /* the timer is set when the running fetch ends */
	if (report->is_gone)
		report_free(report);
	else if (link_is_up(report->docker))
		fetch_send(report);
	else
		docker_after(report->docker, &report->again, EVERY_US, fetch, report);
}

void reports_follow(struct docker *docker, const json_t *labels, const struct replica_key *key)
{
	const char *place = json_text_at(labels, DOCKER_LABEL_REPORTS);
	struct report *report;

	if (!docker->reports_dir || !place || place[0] != '/' || strlen(place) >= PLACE_SIZE ||
	    report_find(docker, key))
		return;
	report = memory_calloc(1, sizeof(*report));
	report->docker = docker;
	report->key = *key;
	snprintf(report->place, sizeof(report->place), "%s", place);
	report->next = docker->reports;
	docker->reports = report;
	docker_after(docker, &report->again, EVERY_US, fetch, report);
}

void reports_finish(struct docker *docker, const struct replica_key *key,
		    void (*then)(void *arg, bool is_lost), void *arg)
{
	struct report *report = report_find(docker, key);
	struct waiter *waiter;

	if (!report || report->is_over) {
		then(arg, false);
		return;
	}
	waiter = memory_alloc(sizeof(*waiter));
	*waiter = (struct waiter){ report->waiters, then, arg };
	report->waiters = waiter;
	if (report->is_last)
		return;
	if (report->fetch)
		http_cancel(report->fetch);
	report->is_last = true;
	fetch_send(report);
}

void reports_close(struct docker *docker)
{
	while (docker->reports)
		report_free(docker->reports);
}
