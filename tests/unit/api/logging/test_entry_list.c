/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/api/logging/logging_testing.h"

static void an_entry_is_shown_whole(void **state)
{
	BENCH(state);
	struct log_source *source = task_source(job_add(bench, "my_job"), "my_job", "master-replica-0");
	struct log_record record = { .source = source,
				     .time_ns = START_NS + 19,
				     .severity = SEVERITY_ERROR,
				     .kind = LOG_JSON,
				     .payload = "{\"message\":\"m\",\"n\":1}",
				     .payload_length = 21,
				     .extra = "{\"trace\":\"t\",\"labels\":{\"a\":\"b\"}}" };
	AUTO(string) char *answer = NULL;

	assert_true(log_offer(bench->store, &record));
	/* this waits for all entries before it, since items are handled in their order */
	log_flush(bench->store, NULL);
	line_add(bench, source, START_NS + 20, SEVERITY_DEFAULT, "text \"quoted\"");
	log_source_unref(source);
	log_flush(bench->store, NULL);
	assert_int_equal(handler_call(bench, entry_list, &logging_list_entries_request,
				      "{'resourceNames':['projects/demo']}", &answer),
			 STATUS_OK);
	AUTO(string)
	char *expected = quotes(
		"{'entries':[{'logName':'projects/demo/logs/master-replica-0','resource':{'type':'ml_job','labels':"
		"{'project_id':'demo','job_id':'my_job','task_name':'master-replica-0'}},"
		"'timestamp':'2026-11-20T00:00:00.000000019Z','receiveTimestamp':'2026-11-20T00:00:00.000000000Z',"
		"'severity':'ERROR','insertId':'0000000000000001','labels':{'a':'b'},'trace':'t',"
		"'jsonPayload':{'message':'m','n':1}},"
		"{'logName':'projects/demo/logs/master-replica-0','resource':{'type':'ml_job','labels':"
		"{'project_id':'demo','job_id':'my_job','task_name':'master-replica-0'}},"
		"'timestamp':'2026-11-20T00:00:00.000000020Z','receiveTimestamp':'2026-11-20T00:00:00.000000002Z',"
		"'insertId':'0000000000000002','textPayload':'text \\'quoted\\''}]}");

	assert_string_equal(answer, expected);
}

static void nothing_found_is_an_empty_object(void **state)
{
	BENCH(state);
	static const char *const bodies[] = {
		"{'resourceNames':['projects/demo']}",
		"{'projectIds':['demo']}",
		"{'resourceNames':['folders/1']}",
		"{'resource_names':['organizations/1'],'filter':'severity>=ERROR','order_by':'timestamp desc','page_size':5}",
	};

	for (size_t i = 0; i < COUNT_OF(bodies); i++) {
		AUTO(string) char *answer = NULL;

		assert_int_equal(
			handler_call(bench, entry_list, &logging_list_entries_request, bodies[i], &answer),
			STATUS_OK);
		assert_string_equal(answer, "{}");
	}
}

static void a_project_has_several_names(void **state)
{
	BENCH(state);
	static const char *const names[] = {
		"'resourceNames':['projects/demo']",
		"'resourceNames':['projects/123456789']",
		"'resourceNames':['projects/demo/locations/global/buckets/_Default/views/_AllLogs']",
		"'projectIds':['demo']",
		"'projectIds':['123456789']",
		"'resourceNames':['projects/other','projects/demo','folders/7']"
	};

	write_entries(bench, "{'logName':'projects/demo/logs/l','entries':[{'textPayload':'x'}]}");
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		char body[200];

		snprintf(body, sizeof(body), "{%s}", names[i]);
		AUTO(json) json_t *answer = list_ask(bench, body);

		assert_int_equal(json_array_size(json_object_get(answer, "entries")), 1);
	}
	AUTO(json) json_t *none = list_ask(bench, "{'resourceNames':['projects/other']}");

	assert_null(json_object_get(none, "entries"));
}

static void pages_have_their_sizes(void **state)
{
	BENCH(state);
	struct log_source *source = task_source(job_add(bench, "a"), "a", "master-replica-0");
	static const struct {
		const char *body;
		size_t count;
		bool more;
	} pages[] = {
		{ "{'resourceNames':['projects/demo']}", 50, true },
		{ "{'resourceNames':['projects/demo'],'pageSize':0}", 50, true },
		{ "{'resourceNames':['projects/demo'],'pageSize':1}", 1, true },
		{ "{'resourceNames':['projects/demo'],'pageSize':1000}", 1000, true },
		{ "{'resourceNames':['projects/demo'],'pageSize':100000}", 1000, true },
		{ "{'resourceNames':['projects/demo'],'pageSize':100,'filter':'severity=DEBUG'}", 0, false },
	};

	for (int i = 0; i < 1001; i++)
		line_add(bench, source, START_NS, SEVERITY_INFO, "x");
	log_source_unref(source);
	log_flush(bench->store, NULL);
	for (size_t i = 0; i < COUNT_OF(pages); i++) {
		AUTO(json) json_t *answer = list_ask(bench, pages[i].body);

		assert_int_equal(json_array_size(json_object_get(answer, "entries")), pages[i].count);
		assert_int_equal(json_object_get(answer, "nextPageToken") != NULL, pages[i].more);
	}
}

static void an_order_is_kept(void **state)
{
	BENCH(state);
	static const struct {
		const char *order, *first;
	} orders[] = {
		{ "", "a" },
		{ "timestamp", "a" },
		{ "timestamp asc", "a" },
		{ " timestamp  desc ", "b" },
	};

	write_entries(bench, "{'logName':'projects/demo/logs/l','entries':["
			     "{'textPayload':'b','timestamp':'2026-01-02T00:00:00Z'},"
			     "{'textPayload':'a','timestamp':'2026-01-01T00:00:00Z'}]}");
	for (size_t i = 0; i < COUNT_OF(orders); i++) {
		char body[200];

		snprintf(body, sizeof(body), "{'resourceNames':['projects/demo'],'orderBy':'%s'}",
			 orders[i].order);
		AUTO(json) json_t *answer = list_ask(bench, body);

		assert_string_equal(
			json_text_at(json_array_get(json_object_get(answer, "entries"), 0), "textPayload"),
			orders[i].first);
	}
}

static void wrong_requests_are_refused(void **state)
{
	BENCH(state);
	static const struct {
		const char *body, *field;
	} wrong[] = {
		{ "{}", "resource_names" },
		{ "{'resourceNames':[]}", "resource_names" },
		{ "{'resourceNames':['demo']}", "resource_names" },
		{ "{'resourceNames':['projects/']}", "resource_names" },
		{ "{'resourceNames':['projects/demo/logs/x']}", "resource_names" },
		{ "{'resourceNames':['projects/demo'],'pageSize':-1}", "page_size" },
		{ "{'resourceNames':['projects/demo'],'orderBy':'severity'}", "order_by" },
		{ "{'resourceNames':['projects/demo'],'orderBy':'timestamp down'}", "order_by" },
		{ "{'resourceNames':['projects/demo'],'orderBy':'timestamp asc, x'}", "order_by" },
		{ "{'resourceNames':['projects/demo'],'pageToken':'MQ=='}", "page_token" },
		{ "{'resourceNames':['projects/demo'],'filter':'resource.type= = (('}", NULL },
	};
	struct text many AUTO_TEXT = { 0 };

	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		assert_refused(bench, entry_list, &logging_list_entries_request, wrong[i].body,
			       wrong[i].field);
	text_puts(&many, "{'resourceNames':['projects/p'");
	for (int i = 0; i < 100; i++)
		text_puts(&many, ",'projects/p'");
	text_puts(&many, "]}");
	assert_refused(bench, entry_list, &logging_list_entries_request, many.data, "resource_names");
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(an_entry_is_shown_whole),
		WITH_BENCH(nothing_found_is_an_empty_object),
		WITH_BENCH(a_project_has_several_names),
		WITH_BENCH(pages_have_their_sizes),
		WITH_BENCH(an_order_is_kept),
		WITH_BENCH(wrong_requests_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
