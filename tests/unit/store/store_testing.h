/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/store/store_testing.h: a store in a directory of its own, on a clock of its own. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/text.h"
#include "store/jobs/jobs.h"
#include "store/logs/logs.h"
#include "store/store.h"
#include "tests/unit/full_disk_testing.h"
#include "tests/unit/testing.h"

struct bench {
	char dir[64];
	struct store *store;
	struct clock clock;
	int64_t now_ns;
	struct error err;
	unsigned counter; /* for threads of a test */
};

#define BENCH(state) struct bench *bench = *(state)

/* 2026-11-20T00:00:00Z */
#define START_NS INT64_C(1795132800000000000)

static int64_t bench_wall_ns(void *arg)
{
	return __atomic_load_n(&((struct bench *)arg)->now_ns, __ATOMIC_RELAXED);
}

static int64_t bench_mono_us(void *arg)
{
	return bench_wall_ns(arg) / 1000;
}

static __attribute__((unused)) void bench_reopen(struct bench *bench)
{
	store_close(bench->store);
	bench->store = NULL;
	assert_int_equal(store_open(bench->dir, &bench->clock, &bench->store, &bench->err), STATUS_OK);
}

/* @pattern: mkdtemp()'s. */
static int bench_open_at(struct bench *bench, const char *pattern)
{
	snprintf(bench->dir, sizeof(bench->dir), "%s", pattern);
	if (!mkdtemp(bench->dir))
		return -1;
	bench->now_ns = START_NS;
	bench->clock = (struct clock){ bench_wall_ns, bench_mono_us, bench };
	return store_open(bench->dir, &bench->clock, &bench->store, &bench->err) == STATUS_OK ? 0 : -1;
}

static __attribute__((unused)) int bench_open(void **state)
{
	*state = calloc(1, sizeof(struct bench));
	return bench_open_at(*state, "/tmp/trainyard-test-XXXXXX");
}

static void directory_remove(const char *dir)
{
	DIR *listing = opendir(dir);
	struct dirent *file;

	while (listing && (file = readdir(listing))) {
		char path[512];

		snprintf(path, sizeof(path), "%s/%s", dir, file->d_name);
		unlink(path);
	}
	if (listing)
		closedir(listing);
	rmdir(dir);
}

static void bench_end(struct bench *bench)
{
	store_close(bench->store);
	error_deinit(&bench->err);
	directory_remove(bench->dir);
}

static __attribute__((unused)) int bench_close(void **state)
{
	bench_end(*state);
	free(*state);
	return 0;
}

/* Names in a struct job are not const, literals are. */
#define LITERAL(text) ((char *)(uintptr_t)(text))

static __attribute__((unused)) struct job job_named(const char *job_id)
{
	return (struct job){
		.project = LITERAL("demo"),
		.job_id = LITERAL(job_id),
		.input = LITERAL("{\"scaleTier\":\"BASIC\",\"workerCount\":\"12\"}"),
		.output = LITERAL("{}"),
		.plan = LITERAL("{}"),
	};
}

/* A new job; its number. */
static __attribute__((unused)) int64_t job_add(struct bench *bench, const char *job_id)
{
	struct job job = job_named(job_id);
	struct job *stored = NULL;
	int64_t id;

	assert_int_equal(job_insert(bench->store, &job, NULL, 0, &stored, &bench->err), STATUS_OK);
	id = stored->id;
	job_free(stored);
	return id;
}

static __attribute__((unused)) struct log_source *task_source(int64_t job, const char *job_id,
							      const char *task)
{
	char labels[256];

	snprintf(labels, sizeof(labels), "{\"project_id\":\"demo\",\"job_id\":\"%s\",\"task_name\":\"%s\"}",
		 job_id, task);
	return log_source_new(&(struct log_source_spec){ .job = job,
							 .project = "demo",
							 .log_name = task,
							 .resource_type = "ml_job",
							 .resource_labels = labels });
}

static __attribute__((unused)) void line_add(struct bench *bench, struct log_source *source, int64_t time_ns,
					     int severity, const char *payload)
{
	struct log_record record = { .source = source,
				     .time_ns = time_ns,
				     .severity = severity,
				     .kind = LOG_TEXT,
				     .payload = payload,
				     .payload_length = strlen(payload) };

	assert_true(log_offer(bench->store, &record));
}

/* What a query gives, one text: payloads joined by '|'. */
struct gathering {
	struct text text;
	size_t count;
	char *next;
	int64_t last_ns;
	char last_id[600];
};

static void entry_gather(void *arg, const struct log_entry *entry)
{
	struct gathering *gathering = arg;

	/* The order that readers rely on. */
	assert_true(gathering->last_ns == 0 || entry->time_ns != gathering->last_ns ||
		    strcmp(entry->insert_id, gathering->last_id) != 0);
	gathering->last_ns = entry->time_ns;
	snprintf(gathering->last_id, sizeof(gathering->last_id), "%s", entry->insert_id);
	if (gathering->count++)
		text_putc(&gathering->text, '|');
	text_append(&gathering->text, entry->payload, entry->payload_length);
}

static __attribute__((unused)) enum status logs_ask(struct bench *bench, const char *filter, bool descending,
						    unsigned page_size, const char *token,
						    struct gathering *gathering)
{
	const char *const projects[] = { "demo" };
	struct log_query query = { .projects = projects,
				   .project_count = 1,
				   .filter = filter,
				   .descending = descending,
				   .page_size = page_size,
				   .page_token = token,
				   .now_ns = bench->now_ns };

	gathering->count = 0;
	gathering->last_ns = 0;
	text_clear(&gathering->text);
	text_append(&gathering->text, "", 0);
	gathering->next = NULL;
	return log_query_run(bench->store, &query, entry_gather, gathering, &gathering->next, &bench->err);
}

#define assert_logs(bench, filter, expected)                                                                 \
	do {                                                                                                 \
		struct gathering g_ = { .count = 0 };                                                        \
		if (logs_ask(bench, filter, false, 1000, NULL, &g_) != STATUS_OK)                            \
			fail_msg("%s: %s", filter, (bench)->err.text);                                       \
		if (strcmp(g_.text.data, expected) != 0)                                                     \
			fail_msg("%s: got %s, not %s", filter, g_.text.data, expected);                      \
		assert_null(g_.next);                                                                        \
		text_deinit(&g_.text);                                                                       \
	} while (0)
