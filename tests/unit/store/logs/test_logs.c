/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <sqlite3.h>

#include "store/statements.h"
#include "tests/unit/store/store_testing.h"

#define SECOND INT64_C(1000000000)

static void severities_have_names(void **state)
{
	(void)state;
	assert_string_equal(log_severity_name(SEVERITY_DEFAULT), "DEFAULT");
	assert_string_equal(log_severity_name(SEVERITY_ERROR), "ERROR");
	assert_string_equal(log_severity_name(299), "INFO");
	assert_string_equal(log_severity_name(5000), "EMERGENCY");
	assert_string_equal(log_severity_name(-1), "DEFAULT");
}

static void times_of_a_job_never_go_back(void **state)
{
	BENCH(state);
	int64_t job = job_add(bench, "a");
	struct log_source *master = task_source(job, "a", "master-replica-0");
	struct log_source *worker = task_source(job, "a", "worker-replica-0");

	line_add(bench, master, START_NS + 5 * SECOND, SEVERITY_INFO, "1");
	line_add(bench, worker, START_NS, SEVERITY_INFO, "2");
	log_flush(bench->store, NULL);
	bench_reopen(bench); /* now only the file has them */
	line_add(bench, worker, START_NS + SECOND, SEVERITY_INFO, "3");
	line_add(bench, master, START_NS + 6 * SECOND, SEVERITY_INFO, "4");
	log_source_unref(master);
	log_source_unref(worker);
	log_flush(bench->store, NULL);
	assert_logs(bench, "", "1|2|3|4");
	assert_logs(bench, "timestamp=\"2026-11-20T00:00:05Z\"", "1|2|3");
	assert_logs(bench, "timestamp>\"2026-11-20T00:00:05Z\"", "4");
}

static void an_insert_id_from_outside_never_hides_an_entry(void **state)
{
	BENCH(state);
	struct log_source *source = task_source(job_add(bench, "a"), "a", "master-replica-0");
	static const char *const ids[] = { NULL, "zzz", "aaa", NULL, "0" };
	struct gathering gathering = { .count = 0 };

	for (size_t i = 0; i < COUNT_OF(ids); i++) {
		char payload[2] = { (char)('1' + i), '\0' };
		struct log_record record = { .source = source,
					     .time_ns = START_NS,
					     .payload = payload,
					     .payload_length = 1,
					     .insert_id = ids[i] };

		assert_true(log_offer(bench->store, &record));
	}
	log_source_unref(source);
	log_flush(bench->store, NULL);
	assert_logs(bench, "", "1|2|3|4|5");
	/* A client that asks for entries after the last one it saw gets all of them. */
	assert_logs(bench, "timestamp>\"2026-11-20T00:00:00.000000001Z\"", "3|4|5");
	assert_int_equal(logs_ask(bench, "", true, 10, NULL, &gathering), STATUS_OK);
	assert_string_equal(gathering.text.data, "5|4|3|2|1");
	text_deinit(&gathering.text);
}

/* Two groups of rows, in each of which one row cannot be stored, and some more rows. Fails with: rows_store() that gives up
 * its group with its first failure. */
static void a_record_that_cannot_be_stored_costs_no_other(void **state)
{
	BENCH(state);
	struct log_source *source = task_source(job_add(bench, "a"), "a", "master-replica-0");
	struct text expected AUTO_TEXT = { 0 };
	sqlite3 *db = NULL;
	char path[128];

	snprintf(path, sizeof(path), "%s/logs.db", bench->dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				      "CREATE TRIGGER no_bad BEFORE INSERT ON entry WHEN new.payload = 'bad'"
				      " BEGIN SELECT raise(ABORT, 'bad'); END",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	for (int i = 0; i < 2 * ENTRIES_AT_ONCE + 5; i++) {
		const bool is_bad = i % ENTRIES_AT_ONCE == 7;
		char payload[16];

		snprintf(payload, sizeof(payload), is_bad ? "bad" : "%d", i);
		if (!is_bad)
			text_printf(&expected, "%s%s", i ? "|" : "", payload);
		line_add(bench, source, START_NS + i, SEVERITY_INFO, payload);
	}
	log_source_unref(source);
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	sqlite3_close(db);
	assert_logs(bench, "", expected.data);
}

static void what_clients_write_keeps_its_time(void **state)
{
	BENCH(state);
	struct log_source *source = log_source_new(&(struct log_source_spec){
		.project = "demo", .log_name = "l", .resource_type = "global", .resource_labels = "{}" });
	static const struct {
		const char *id;
		int64_t second;
		const char *payload;
	} entries[] = {
		{ "tie-2", 5, "c" }, { "tie-1", 5, "b" }, { "x", 1, "a" },
		{ "tie-1", 5, "b" }, { NULL, 9, "d" },
	};

	for (size_t i = 0; i < COUNT_OF(entries); i++) {
		struct log_record record = { .source = source,
					     .time_ns = START_NS + entries[i].second * SECOND,
					     .payload = entries[i].payload,
					     .payload_length = 1,
					     .insert_id = entries[i].id };

		assert_true(log_offer(bench->store, &record));
	}
	log_source_unref(source);
	log_flush(bench->store, NULL);
	assert_logs(bench, "", "a|b|c|d"); /* sent twice, stored once */
}

static void every_page_size_gives_the_same_entries(void **state)
{
	BENCH(state);
	struct log_source *sources[3] = {
		task_source(job_add(bench, "a"), "a", "master-replica-0"),
		task_source(job_add(bench, "b"), "b", "master-replica-0"),
		task_source(0, "a", "client"), /* written by a client about job a */
	};
	static const char *const filters[] = { "", "resource.labels.job_id=\"a\"",
					       "resource.labels.job_id=\"b\"", "severity>=INFO" };

	for (int i = 0; i < 60; i++) {
		char payload[16];

		snprintf(payload, sizeof(payload), "%d", i);
		line_add(bench, sources[i % 3], START_NS + i / 7 * SECOND, SEVERITY_INFO, payload);
	}
	log_flush(bench->store, NULL);
	for (size_t f = 0; f < COUNT_OF(filters) * 2; f++) {
		struct gathering whole = { .count = 0 };

		assert_int_equal(logs_ask(bench, filters[f / 2], f % 2, 1000, NULL, &whole), STATUS_OK);
		for (unsigned size = 1; size < 62; size += size < 10 ? 1 : 17) {
			struct text joined AUTO_TEXT = { 0 };
			AUTO(string) char *token = NULL;

			do {
				struct gathering page = { .count = 0 };

				assert_int_equal(logs_ask(bench, filters[f / 2], f % 2, size, token, &page),
						 STATUS_OK);
				assert_int_not_equal(page.count, 0);
				text_printf(&joined, "%s%s", joined.length ? "|" : "", page.text.data);
				text_deinit(&page.text);
				free(token);
				token = page.next;
			} while (token);
			assert_string_equal(joined.data, whole.text.data);
		}
		text_deinit(&whole.text);
	}
	for (int i = 0; i < 3; i++)
		log_source_unref(sources[i]);
}

/* Fails with: rows_give() that counts entries alone: a page of a thousand had 250 MB. */
static void a_page_ends_before_it_is_too_large(void **state)
{
	enum { LINES = 100, BYTES = 240 << 10 };
	BENCH(state);
	struct log_source *source = task_source(job_add(bench, "a"), "a", "master-replica-0");
	AUTO(string) char *payload = calloc(1, BYTES + 1);
	AUTO(string) char *token = NULL;
	size_t count = 0, pages = 0;

	memset(payload, 'x', BYTES);
	for (int i = 0; i < LINES; i++) {
		line_add(bench, source, START_NS + i * SECOND, SEVERITY_INFO, payload);
		log_flush(bench->store, NULL);
	}
	do {
		struct gathering page = { .count = 0 };

		assert_int_equal(logs_ask(bench, "", false, 1000, token, &page), STATUS_OK);
		assert_in_range(page.text.length, 1, LOG_PAGE_BYTES + 2 * BYTES);
		count += page.count;
		pages++;
		text_deinit(&page.text);
		free(token);
		token = page.next;
	} while (token);
	assert_int_equal(count, LINES);
	assert_int_equal(pages, 2);
	log_source_unref(source);
}

static void pages_stay_right_while_logs_come_in(void **state)
{
	BENCH(state);
	struct log_source *source = task_source(job_add(bench, "a"), "a", "master-replica-0");
	AUTO(string) char *token = NULL;
	unsigned next = 0, added = 0;

	for (; added < 20; added++) {
		char payload[8];

		snprintf(payload, sizeof(payload), "%u", added);
		line_add(bench, source, START_NS, SEVERITY_INFO, payload);
	}
	do {
		struct gathering page = { .count = 0 };

		log_flush(bench->store, NULL);
		assert_int_equal(logs_ask(bench, "resource.labels.job_id=a", false, 6, token, &page),
				 STATUS_OK);
		for (char *at = page.text.data; at && *at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
			assert_int_equal(strtoul(at, NULL, 10), next++);
		free(token);
		token = page.next;
		text_deinit(&page.text);
		for (int i = 0; i < 2 && added < 30; i++, added++) {
			char payload[8];

			snprintf(payload, sizeof(payload), "%u", added);
			line_add(bench, source, START_NS - SECOND, SEVERITY_INFO, payload);
		}
	} while (token);
	assert_true(next >= 26);
	log_source_unref(source);
}

static void a_token_is_bound_to_its_query(void **state)
{
	BENCH(state);
	struct log_source *source = task_source(job_add(bench, "a"), "a", "master-replica-0");
	struct gathering page = { .count = 0 }, other = { .count = 0 };
	char *token;

	for (int i = 0; i < 3; i++)
		line_add(bench, source, START_NS, SEVERITY_INFO, "x");
	log_source_unref(source);
	log_flush(bench->store, NULL);
	assert_int_equal(logs_ask(bench, "x", false, 1, NULL, &page), STATUS_OK);
	token = page.next;
	assert_non_null(token);
	assert_int_equal(logs_ask(bench, "x", false, 1000, token, &other),
			 STATUS_OK); /* gcloud changes the page size */
	assert_int_equal(other.count, 2);
	assert_int_equal(logs_ask(bench, "y", false, 1, token, &other), STATUS_INVALID_ARGUMENT);
	assert_int_equal(logs_ask(bench, "x", true, 1, token, &other), STATUS_INVALID_ARGUMENT);
	assert_int_equal(logs_ask(bench, "x", false, 1, "MQ==", &other), STATUS_INVALID_ARGUMENT);
	assert_string_equal(bench->err.violations[0].field, "page_token");
	free(token);
	text_deinit(&page.text);
	text_deinit(&other.text);
}

static void positions_are_stored_with_their_lines(void **state)
{
	BENCH(state);
	struct log_source *source = task_source(job_add(bench, "a"), "a", "worker-replica-3");
	struct log_position reached;

	for (int i = 1; i <= 500; i++) { /* more streams than the batch remembers at a time */
		struct log_record record = { .source = source,
					     .time_ns = START_NS,
					     .payload = "x",
					     .payload_length = 1,
					     .position = { .key.job = 1,
							   .key.attempt = 1,
							   .key.role = 1,
							   .key.index = (unsigned)i % 300,
							   .stream = 1 + i % 2,
							   .reach = { .time_ns = i } } };

		assert_true(log_offer(bench->store, &record));
	}
	log_source_unref(source);
	log_flush(bench->store, NULL);
	assert_int_equal(
		log_position_get(bench->store, &(struct replica_key){ 1, 1, 1, 100, 0 }, &reached, NULL),
		STATUS_OK);
	assert_int_equal(reached.streams[0].time_ns, 400);
	assert_int_equal(reached.streams[1].time_ns, 0);
	assert_int_equal(
		log_position_get(bench->store, &(struct replica_key){ 1, 2, 1, 100, 0 }, &reached, NULL),
		STATUS_OK);
	assert_int_equal(reached.streams[0].time_ns, 0);
}

/* Stores one line of the first job's master, from the container of @restart. */
static void reach_tell(struct bench *bench, struct log_source *source, unsigned restart, int stream,
		       int64_t time_ns, int64_t behind)
{
	struct log_record record = { .source = source,
				     .time_ns = START_NS,
				     .payload = "x",
				     .payload_length = 1,
				     .position = { .key.job = 1,
						   .key.attempt = 1,
						   .key.restart = restart,
						   .stream = stream,
						   .reach = { time_ns, behind } } };

	assert_true(log_offer(bench->store, &record));
}

static void reach_check(struct bench *bench, unsigned restart, const int64_t expected[4])
{
	struct log_position reached;

	log_flush(bench->store, NULL);
	assert_int_equal(
		log_position_get(bench->store, &(struct replica_key){ 1, 1, 0, 0, restart }, &reached, NULL),
		STATUS_OK);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(reached.streams[i].time_ns, expected[2 * i]);
		assert_int_equal(reached.streams[i].behind, expected[2 * i + 1]);
	}
}

/* Fails with: REACH_PUT without its first condition: the second container's lines counted as read up to the first's.
 * Fails with: is_further() by the time alone: the lines behind it were not counted. */
static void a_position_counts_what_lies_behind_and_begins_anew_with_a_container(void **state)
{
	BENCH(state);
	struct log_source *source = task_source(job_add(bench, "a"), "a", "master-replica-0");

	reach_tell(bench, source, 0, 1, 50, 0);
	reach_tell(bench, source, 0, 1, 50, 1);
	reach_tell(bench, source, 0, 2, 20, 0);
	reach_check(bench, 0, (const int64_t[]){ 50, 1, 20, 0 });
	reach_tell(bench, source, 0, 1, 50, 2); /* in a later batch */
	reach_check(bench, 0, (const int64_t[]){ 50, 2, 20, 0 });
	reach_tell(bench, source, 0, 1, 60, 0);
	reach_check(bench, 0, (const int64_t[]){ 60, 0, 20, 0 });
	reach_check(bench, 1, (const int64_t[]){ 0, 0, 0, 0 });
	reach_tell(bench, source, 1, 2, 10, 3);
	reach_check(bench, 1, (const int64_t[]){ 0, 0, 10, 3 });
	log_source_unref(source);
}

/* Tells that so many parts of stdout's line of @parts_ns have come behind what is at @time_ns. */
static void parts_tell(struct bench *bench, struct log_source *source, int64_t time_ns, int64_t parts,
		       int64_t parts_ns)
{
	struct log_record record = {
		.source = source,
		.time_ns = START_NS,
		.payload = "x",
		.payload_length = 1,
		.position = { .key.job = 1,
			      .key.attempt = 1,
			      .stream = 1,
			      .reach = { .time_ns = time_ns, .parts = parts, .parts_ns = parts_ns } }
	};

	assert_true(log_offer(bench->store, &record));
}

static void parts_check(struct bench *bench, int64_t parts, int64_t parts_ns)
{
	struct log_position reached;

	log_flush(bench->store, NULL);
	assert_int_equal(
		log_position_get(bench->store, &(struct replica_key){ 1, 1, 0, 0, 0 }, &reached, NULL),
		STATUS_OK);
	assert_int_equal(reached.streams[0].parts, parts);
	assert_int_equal(reached.streams[0].parts_ns, parts_ns);
	assert_int_equal(reached.streams[1].parts, 0);
}

/* Fails with: is_further(), or REACH_PUT, without parts: they were not counted in one batch, or in a later one. */
static void a_position_counts_parts_until_their_line_has_ended(void **state)
{
	BENCH(state);
	struct log_source *source = task_source(job_add(bench, "a"), "a", "master-replica-0");

	parts_tell(bench, source, 0, 1, 40);
	parts_tell(bench, source, 0, 2, 40);
	parts_check(bench, 2, 40);
	parts_tell(bench, source, 0, 3, 40);
	parts_check(bench, 3, 40);
	bench_reopen(bench);
	parts_check(bench, 3, 40);
	parts_tell(bench, source, 40, 0, 0);
	parts_check(bench, 0, 0);
	parts_tell(bench, source, 40, 1, 50);
	parts_check(bench, 1, 50);
	log_source_unref(source);
}

static void the_tail_of_stderr_is_the_replicas_own(void **state)
{
	BENCH(state);
	int64_t job = job_add(bench, "a");
	struct log_source *sources[2] = { task_source(job, "a", "master-replica-0"),
					  task_source(job, "a", "worker-replica-0") };
	AUTO(string) char *tail = NULL;
	AUTO(string) char *none = NULL;

	for (int i = 0; i < 12; i++) {
		char payload[32];
		struct log_record record = {
			.source = sources[i % 3 == 2],
			.time_ns = START_NS + i,
			.payload = payload,
			.position = { .key.job = job, .key.attempt = 1, .stream = 1 + (i % 2) }
		};

		record.kind = i == 9 ? LOG_JSON : LOG_TEXT;
		snprintf(payload, sizeof(payload), i == 9 ? "{\"message\":\"m%d\",\"a\":1}" : "%d", i);
		record.payload_length = strlen(payload);
		assert_true(log_offer(bench->store, &record));
	}
	log_flush(bench->store, NULL);
	assert_int_equal(log_stderr_tail(bench->store, job, 0, "master-replica-0", 3, &tail, NULL),
			 STATUS_OK);
	assert_string_equal(tail, "3\n7\nm9");
	assert_int_equal(log_stderr_tail(bench->store, job, 0, "ps-replica-0", 3, &none, NULL), STATUS_OK);
	assert_string_equal(none, "");
	log_source_unref(sources[0]);
	log_source_unref(sources[1]);
}

static void names_of_logs_come_in_pages(void **state)
{
	BENCH(state);
	AUTO(string) char *names = NULL;
	AUTO(string) char *token = NULL;
	AUTO(string) char *more = NULL;
	AUTO(string) char *end = NULL;
	static const char *const tasks[] = { "c", "a", "b", "a" };

	for (size_t i = 0; i < COUNT_OF(tasks); i++) {
		struct log_source *source = task_source((int64_t)i + 1, "j", tasks[i]);

		line_add(bench, source, START_NS, SEVERITY_INFO, "x");
		log_source_unref(source);
	}
	log_flush(bench->store, NULL);
	assert_int_equal(log_names_page(bench->store, "demo", 2, NULL, &names, &token, NULL), STATUS_OK);
	assert_string_equal(names, "[\"projects/demo/logs/a\",\"projects/demo/logs/b\"]");
	assert_int_equal(log_names_page(bench->store, "demo", 2, token, &more, &end, NULL), STATUS_OK);
	assert_string_equal(more, "[\"projects/demo/logs/c\"]");
	assert_null(end);
}

struct room {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned count;
};

static void room_is_made(void *arg)
{
	struct room *room = arg;

	pthread_mutex_lock(&room->lock);
	room->count++;
	pthread_cond_signal(&room->changed);
	pthread_mutex_unlock(&room->lock);
}

static void a_full_queue_refuses_and_calls_back(void **state)
{
	BENCH(state);
	struct room room = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };
	struct log_source *source = task_source(job_add(bench, "a"), "a", "master-replica-0");
	const size_t size = 1 << 20;
	char *payload = malloc(size);
	struct log_record record = {
		.source = source, .time_ns = START_NS, .payload = payload, .payload_length = size
	};
	unsigned offered = 0;

	memset(payload, 'x', size);
	log_on_room(bench->store, room_is_made, &room);
	while (offered < 200 && log_offer(bench->store, &record))
		offered++;
	assert_in_range(offered, 16, 199);
	pthread_mutex_lock(&room.lock);
	while (room.count == 0)
		pthread_cond_wait(&room.changed, &room.lock);
	pthread_mutex_unlock(&room.lock);
	assert_true(log_offer(bench->store, &record));
	bench_reopen(bench);
	log_source_unref(source);
	free(payload);
}

/* Fails with: is_full() that looks at the queue alone, or has bounds twice as large. */
static void what_is_being_written_still_takes_room(void **state)
{
	static const struct limit {
		size_t bytes;
		unsigned count; /* of records of that size; a waiting caller is one as well */
	} limits[] = { { 1 << 20, 16 }, { 1, 65536 - 1 } };
	BENCH(state);
	struct log_source *source = task_source(job_add(bench, "a"), "a", "master-replica-0");
	AUTO(string) char *payload = malloc(limits[0].bytes);
	struct log_record record = { .source = source, .time_ns = START_NS, .payload = payload };

	memset(payload, 'x', limits[0].bytes);
	for (size_t i = 0; i < COUNT_OF(limits); i++) {
		const unsigned half = limits[i].count / 2;
		unsigned offered = 0;

		record.payload_length = limits[i].bytes;
		disk_set_full(true);
		while (offered < half && log_offer(bench->store, &record))
			offered++;
		/* The writer retries until there is space. */
		assert_int_equal(log_flush(bench->store, NULL), STATUS_UNAVAILABLE);
		while (offered <= limits[i].count && log_offer(bench->store, &record))
			offered++;
		disk_set_full(false);
		assert_int_equal(offered, limits[i].count);
		while (log_flush(bench->store, NULL) == STATUS_UNAVAILABLE)
			; /* this try began before there was space */
	}
	log_source_unref(source);
}

static void a_barrier_calls_when_all_can_be_read(void **state)
{
	BENCH(state);
	struct room room = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };
	struct service_line line = { SEVERITY_INFO, "said by the service" };
	struct job_change change = {
		.from = JOB_QUEUED, .to = JOB_PREPARING, .lines = &line, .line_count = 1
	};

	change.job = job_add(bench, "a");
	assert_int_equal(job_apply(bench->store, &change, 1, NULL), STATUS_OK);
	log_barrier(bench->store, room_is_made, &room);
	pthread_mutex_lock(&room.lock);
	while (room.count == 0)
		pthread_cond_wait(&room.changed, &room.lock);
	pthread_mutex_unlock(&room.lock);
	assert_logs(bench, "log_id(\"ml.googleapis.com/a\") resource.labels.task_name=service",
		    "said by the service");
}

static void a_record_that_is_itself_at_fault_takes_no_other_with_it(void **state)
{
	BENCH(state);
	struct log_source *good = task_source(7, "j", "master-replica-0"),
			  *bad = task_source(8, "no \"JSON", "t");

	line_add(bench, good, START_NS, SEVERITY_INFO, "before");
	line_add(bench, bad, START_NS, SEVERITY_INFO, "lost");
	line_add(bench, good, START_NS, SEVERITY_INFO, "after");
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	assert_logs(bench, "", "before|after");
	log_source_unref(good);
	log_source_unref(bad);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(severities_have_names),
		WITH_BENCH(times_of_a_job_never_go_back),
		WITH_BENCH(an_insert_id_from_outside_never_hides_an_entry),
		WITH_BENCH(a_record_that_cannot_be_stored_costs_no_other),
		WITH_BENCH(what_clients_write_keeps_its_time),
		WITH_BENCH(every_page_size_gives_the_same_entries),
		WITH_BENCH(a_page_ends_before_it_is_too_large),
		WITH_BENCH(pages_stay_right_while_logs_come_in),
		WITH_BENCH(a_token_is_bound_to_its_query),
		WITH_BENCH(positions_are_stored_with_their_lines),
		WITH_BENCH(a_position_counts_what_lies_behind_and_begins_anew_with_a_container),
		WITH_BENCH(a_position_counts_parts_until_their_line_has_ended),
		WITH_BENCH(the_tail_of_stderr_is_the_replicas_own),
		WITH_BENCH(names_of_logs_come_in_pages),
		WITH_BENCH(a_full_queue_refuses_and_calls_back),
		WITH_BENCH(what_is_being_written_still_takes_room),
		WITH_BENCH(a_barrier_calls_when_all_can_be_read),
		WITH_BENCH(a_record_that_is_itself_at_fault_takes_no_other_with_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
