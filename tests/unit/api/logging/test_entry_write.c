/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/api/logging/logging_testing.h"

static json_t *first_entry(struct bench *bench, const char *filter)
{
	char body[300];

	snprintf(body, sizeof(body), "{'resourceNames':['projects/demo'],'filter':'%s'}", filter);
	AUTO(json) json_t *answer = list_ask(bench, body);

	return json_incref(json_array_get(json_object_get(answer, "entries"), 0));
}

static void assert_json(const json_t *value, const char *expected)
{
	AUTO(string) char *text = json_dump_compact(value);
	AUTO(string) char *wanted = quotes(expected);

	assert_string_equal(text, wanted);
}

static void an_entry_comes_back_as_it_was_written(void **state)
{
	BENCH(state);

	write_entries(
		bench,
		"{'entries':[{'logName':'projects/demo/logs/my%2Flog','insertId':'i','severity':'WARNING',"
		"'timestamp':'2026-01-01T01:00:00.5+01:00','resource':{'type':'ml_job','labels':{'job_id':'j'}},"
		"'labels':{'k':'v'},'jsonPayload':{'z':1.0,'a':[true,null,9007199254740993]},'trace':'t','spanId':'s','traceSampled':true,"
		"'httpRequest':{'status':200,'responseSize':'12'},'sourceLocation':{'line':7}}]}");
	AUTO(json) json_t *entry = first_entry(bench, "");

	assert_json(
		entry,
		"{'logName':'projects/demo/logs/my%2Flog','resource':{'type':'ml_job','labels':{'job_id':'j',"
		"'project_id':'demo'}},'timestamp':'2026-01-01T00:00:00.500000000Z',"
		"'receiveTimestamp':'2026-11-20T00:00:00.000000000Z','severity':'WARNING','insertId':'i',"
		"'labels':{'k':'v'},'httpRequest':{'status':200,'responseSize':'12'},'trace':'t',"
		"'sourceLocation':{'line':'7'},'spanId':'s','traceSampled':true,'jsonPayload':{'z':1,'a':[true,null,9007199254740992]}}");
}

static void the_request_gives_what_entries_leave_out(void **state)
{
	BENCH(state);

	write_entries(
		bench,
		"{'logName':'projects/123456789/logs/a/b','resource':{'type':'t','labels':{'x':'y'}},"
		"'labels':{'k':'request','l':'m'},'entries':[{'textPayload':'p','labels':{'k':'own'}}]}");
	AUTO(json) json_t *entry = first_entry(bench, "labels.k=own");

	assert_json(json_object_get(entry, "labels"), "{'k':'own','l':'m'}");
	assert_json(json_object_get(entry, "resource"),
		    "{'type':'t','labels':{'x':'y','project_id':'demo'}}");
	assert_string_equal(json_text_at(entry, "logName"), "projects/demo/logs/a%2Fb");
	assert_string_equal(json_text_at(entry, "timestamp"), "2026-11-20T00:00:00.000000000Z");
	assert_int_equal(strlen(json_text_at(entry, "insertId")), 16);
	assert_null(json_object_get(entry, "severity"));
}

static void ties_are_read_by_their_ids(void **state)
{
	BENCH(state);

	write_entries(bench,
		      "{'logName':'projects/demo/logs/l','entries':["
		      "{'timestamp':'2026-11-20T22:39:17Z','insertId':'tie-1','textPayload':'tie 1'},"
		      "{'timestamp':'2026-11-20T22:39:17Z','insertId':'tie-0','textPayload':'tie 0'}]}");
	write_entries(bench,
		      "{'logName':'projects/demo/logs/l','entries':["
		      "{'timestamp':'2026-11-20T22:39:17Z','insertId':'tie-2','textPayload':'tie 2'},"
		      "{'timestamp':'2026-11-20T22:39:17Z','insertId':'tie-1','textPayload':'tie 1'}]}");
	assert_logs(bench, "", "tie 0|tie 1|tie 2");
}

/* Fails with: is_own_machine() that says no; project_of() that gives what it is given. */
static void a_replicas_entries_are_of_its_job(void **state)
{
	static const char *const machines[] = {
		"", "'resource':{'type':'global','labels':{'project_id':'demo'}},",
		"'resource':{'type':'gce_instance','labels':{'instance_id':'7','zone':'z'}},"
	};
	struct log_source *source = log_source_new(&(struct log_source_spec){
		.job = 7,
		.project = "its",
		.log_name = "master-replica-0",
		.resource_type = "ml_job",
		.resource_labels = "{\"job_id\":\"j\"}",
		.labels = "{\"host\":\"h\",\"k\":\"its\"}",
	});

	BENCH(state);
	writing_source = source;
	for (size_t i = 0; i < COUNT_OF(machines); i++) {
		char body[400];

		snprintf(body, sizeof(body),
			 "{'logName':'projects/demo/logs/l%zu',%s'entries':[{'textPayload':'p',"
			 "'labels':{'k':'own'}}]}",
			 i, machines[i]);
		write_entries(bench, body);
	}
	write_entries(bench, "{'logName':'projects/other/logs/l','entries':[{'textPayload':'p','resource':"
			     "{'type':'generic_task','labels':{'job':'x'}}}]}");
	/* Fails with: draft_make() without dated: raised to the time of the entries before. */
	write_entries(bench,
		      "{'logName':'projects/third/logs/l','entries':[{'timestamp':'2020-01-01T00:00:00Z',"
		      "'textPayload':'earlier'}]}");
	writing_source = NULL;
	log_source_unref(source);
	AUTO(json)
	json_t *earlier = list_ask(bench, "{'resourceNames':['projects/third'],'filter':"
					  "'timestamp=2020-01-01'}");

	assert_int_equal(json_array_size(json_object_get(earlier, "entries")), 1);
	AUTO(json)
	json_t *its = list_ask(bench, "{'resourceNames':['projects/its'],'filter':"
				      "'resource.type=ml_job AND resource.labels.job_id=j'}");
	json_t *entries = json_object_get(its, "entries");

	assert_int_equal(json_array_size(entries), COUNT_OF(machines));
	for (size_t i = 0; i < COUNT_OF(machines); i++)
		assert_json(json_object_get(json_array_get(entries, i), "labels"), "{'host':'h','k':'own'}");
	AUTO(json) json_t *other = list_ask(bench, "{'resourceNames':['projects/other']}");

	assert_json(json_object_get(json_array_get(json_object_get(other, "entries"), 0), "resource"),
		    "{'type':'generic_task','labels':{'job':'x','project_id':'other'}}");
}

/* Fails with: draft_make() that counts the payload alone (as it was). */
static void an_entry_has_so_many_bytes_in_all(void **state)
{
	static const char *const forms[] = {
		"{'logName':'projects/demo/logs/l','entries':[{'textPayload':'%s'}]}",
		"{'logName':'projects/demo/logs/l','entries':[{'labels':{'k':'%s'}}]}",
		"{'logName':'projects/demo/logs/l','entries':[{'resource':{'type':'t','labels':{'k':'%s'}}}]}",
		"{'logName':'projects/demo/logs/l','entries':[{'httpRequest':{'userAgent':'%s'}}]}",
	};
	AUTO(string) char *large = calloc(1, 256 * 1024 + 2);

	BENCH(state);
	memset(large, 'x', 256 * 1024 + 1);
	for (size_t i = 0; i < COUNT_OF(forms); i++) {
		struct text body AUTO_TEXT = { 0 };

		text_puts(&body, "");
		text_append(&body, forms[i], (size_t)(strchr(forms[i], '%') - forms[i]));
		text_puts(&body, large);
		text_puts(&body, strchr(forms[i], '%') + strlen("%s"));
		assert_refused(bench, entry_write, &logging_write_entries_request, body.data, "entries");
		assert_non_null(strstr(bench->err.text, "exceeds maximum size of 262144 bytes"));
	}
}

static void a_dry_run_writes_nothing(void **state)
{
	BENCH(state);

	write_entries(bench,
		      "{'dryRun':true,'logName':'projects/demo/logs/l','entries':[{'textPayload':'x'}]}");
	assert_logs(bench, "", "");
	assert_refused(bench, entry_write, &logging_write_entries_request,
		       "{'dryRun':true,'entries':[{'textPayload':'x'}]}", "log_name");
}

/* Fails with: entry_fields without their oneof: the last payload was taken. */
static void an_entry_has_one_payload(void **state)
{
	BENCH(state);

	assert_refused(bench, entry_write, &logging_write_entries_request,
		       "{'logName':'projects/demo/logs/l','entries':[{'textPayload':'x','jsonPayload':{}}]}",
		       "entries[0]");
	assert_string_equal(bench->err.text,
			    "Invalid value at 'entries[0]' (oneof), oneof field 'payload' is already set. Cannot set "
			    "'jsonPayload'");
}

static void one_bad_entry_refuses_all_unless_told(void **state)
{
	BENCH(state);
	static const char *const entries =
		"'entries':[{'textPayload':'a','logName':'projects/demo/logs/l'},{'textPayload':'b'},"
		"{'textPayload':'c','logName':'projects/demo/logs/l'}]}";
	char body[300];

	snprintf(body, sizeof(body), "{%s", entries);
	assert_refused(bench, entry_write, &logging_write_entries_request, body, "log_name");
	assert_logs(bench, "", "");
	snprintf(body, sizeof(body), "{'partialSuccess':true,%s", entries);
	assert_refused(bench, entry_write, &logging_write_entries_request, body, "log_name");
	assert_logs(bench, "", "a|c");
}

static void wrong_entries_are_refused(void **state)
{
	BENCH(state);
	static const struct {
		const char *body, *field;
	} wrong[] = {
		{ "{'entries':[{'logName':'l','textPayload':'x'}]}", "log_name" },
		{ "{'entries':[{'logName':'projects//logs/l','textPayload':'x'}]}", "log_name" },
		{ "{'entries':[{'logName':'projects/demo/logs/','textPayload':'x'}]}", "log_name" },
		{ "{'entries':[{'logName':'projects/demo/x/logs/l','textPayload':'x'}]}", "log_name" },
		{ "{'entries':[{'logName':'projects/demo/logs/l','severity':'LOUD'}]}", NULL },
		{ "{'entries':[{'logName':'projects/demo/logs/l','nosuch':1}]}", NULL },
	};

	for (size_t i = 0; i + 2 < COUNT_OF(wrong); i++)
		assert_refused(bench, entry_write, &logging_write_entries_request, wrong[i].body,
			       wrong[i].field);
	for (size_t i = COUNT_OF(wrong) - 2; i < COUNT_OF(wrong); i++)
		assert_refused(bench, entry_write, &logging_write_entries_request, wrong[i].body, NULL);
	write_entries(bench, "{}");
	write_entries(bench, "{'entries':[]}");
}

static void many_entries_pass_through_a_full_queue(void **state)
{
	BENCH(state);
	struct text body AUTO_TEXT = { 0 };
	struct gathering gathering = { .count = 0 };

	text_puts(&body, "{'logName':'projects/demo/logs/l','entries':[{'textPayload':'x'}");
	for (int i = 1; i < 70000; i++)
		text_puts(&body, ",{'textPayload':'x'}");
	text_puts(&body, "]}");
	write_entries(bench, body.data);
	assert_int_equal(logs_ask(bench, "insertId>\"0000000000069500\"", false, 1000, NULL, &gathering),
			 STATUS_OK);
	assert_int_equal(gathering.count, 500);
	text_deinit(&gathering.text);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(an_entry_comes_back_as_it_was_written),
		WITH_BENCH(the_request_gives_what_entries_leave_out),
		WITH_BENCH(ties_are_read_by_their_ids),
		WITH_BENCH(a_replicas_entries_are_of_its_job),
		WITH_BENCH(an_entry_has_so_many_bytes_in_all),
		WITH_BENCH(an_entry_has_one_payload),
		WITH_BENCH(a_dry_run_writes_nothing),
		WITH_BENCH(one_bad_entry_refuses_all_unless_told),
		WITH_BENCH(wrong_entries_are_refused),
		WITH_BENCH(many_entries_pass_through_a_full_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
