/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/message.h"

#include "tests/unit/api/message/json_testing.h"
#include "tests/unit/api/message/sample_message.h"

struct row {
	const char *given, *expected;
};

static void assert_read(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		AUTO(json) json_t *value = json_of(rows[i].given);
		AUTO(json) json_t *canonical = NULL;
		struct error err AUTO_ERROR = { 0 };

		if (message_read(&sample_message, value, "job", &canonical, &err))
			fail_msg("%s: %s", rows[i].given, err.text);
		assert_json_text(canonical, rows[i].expected);
	}
}

/* Each of @rows is refused with exactly the expected text. */
static void assert_refused(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		AUTO(json) json_t *value = json_of(rows[i].given);
		AUTO(string) char *expected = strdup(rows[i].expected);
		AUTO(json) json_t *canonical = NULL;
		struct error err AUTO_ERROR = { 0 };

		if (!message_read(&sample_message, value, "job", &canonical, &err))
			fail_msg("%s was taken", rows[i].given);
		assert_int_equal(err.status, STATUS_INVALID_ARGUMENT);
		assert_null(canonical);
		assert_string_equal(err.text, expected);
	}
}

static void the_canonical_form_is_in_the_tables_order_and_spelling(void **state)
{
	static const struct row rows[] = {
		{ "{}", "{}" },
		{ "{'ratio':1.5,'text':'x'}", "{'text':'x','ratio':1.5}" },
		{ "{'small_count':1,'largeCount':2}", "{'smallCount':1,'largeCount':'2'}" },
		{ "{'large_count':1,'largeCount':2}", "{'largeCount':'2'}" },
		{ "{'largeCount':2,'large_count':1}", "{'largeCount':'1'}" },
		{ "{'child':{'child':{'text':'x'}}}", "{'child':{'child':{'text':'x'}}}" },
	};

	(void)state;
	assert_read(rows, COUNT_OF(rows));
}

static void defaults_and_nulls_vanish_and_set_messages_stay(void **state)
{
	static const struct row rows[] = {
		{ "{'text':'','flag':false,'smallCount':0,'largeCount':'0','ratio':0,'etag':''}", "{}" },
		{ "{'ratio':0.0,'color':'NONE','words':[],'labels':{},'nodes':{}}", "{}" },
		{ "{'text':null,'child':null,'words':null,'labels':null,'color':null,'bag':null}", "{}" },
		{ "{'color':0,'largeCount':-0.0}", "{}" },
		{ "{'ratio':-0.0}", "{'ratio':-0.0}" },
		{ "{'child':{},'bag':{},'waitTime':'0s'}", "{'waitTime':'0s','bag':{},'child':{}}" },
		{ "{'words':[''],'numbers':[0],'colors':['NONE'],'children':[{}],'labels':{'a':''}}",
		  "{'words':[''],'numbers':['0'],'colors':['NONE'],'children':[{}],'labels':{'a':''}}" },
		{ "{'thing':null}", "{'thing':null}" },
		{ "{'words':[null],'children':[null]}", "{}" },
		{ "{'words':['a',null,'b'],'children':[null,{}]}", "{'words':['a','b'],'children':[{}]}" },
		{ "{'labels':{'a':null},'nodes':{'n':null}}", "{'labels':{'a':''},'nodes':{'n':{}}}" },
	};

	(void)state;
	assert_read(rows, COUNT_OF(rows));
}

static void scalars_are_taken_in_each_of_their_spellings(void **state)
{
	static const struct row rows[] = {
		{ "{'smallCount':2147483647}", "{'smallCount':2147483647}" },
		{ "{'smallCount':'-2147483648'}", "{'smallCount':-2147483648}" },
		{ "{'smallCount':3.0}", "{'smallCount':3}" },
		{ "{'smallCount':'1e2'}", "{'smallCount':100}" },
		{ "{'largeCount':9223372036854775807}", "{'largeCount':'9223372036854775807'}" },
		{ "{'largeCount':'-9223372036854775808'}", "{'largeCount':'-9223372036854775808'}" },
		{ "{'largeCount':1e3}", "{'largeCount':'1000'}" },
		{ "{'ratio':1}", "{'ratio':1}" },
		{ "{'ratio':'1.5'}", "{'ratio':1.5}" },
		{ "{'ratio':'+.5e1'}", "{'ratio':5.0}" },
		{ "{'smallCount':'+5'}", "{'smallCount':5}" },
		{ "{'ratio':'NaN'}", "{'ratio':'NaN'}" },
		{ "{'ratio':'-Infinity'}", "{'ratio':'-Infinity'}" },
		{ "{'flag':true}", "{'flag':true}" },
		{ "{'flag':'true'}", "{'flag':true}" },
		{ "{'flag':'True'}", "{'flag':true}" },
		{ "{'flag':'yes'}", "{'flag':true}" },
		{ "{'flag':'1'}", "{'flag':true}" },
		{ "{'flag':'false'}", "{}" },
		{ "{'flag':'NO'}", "{}" },
		{ "{'color':'BLUE'}", "{'color':'BLUE'}" },
		{ "{'color':4}", "{'color':'BLUE'}" },
		{ "{'color':4.0}", "{'color':'BLUE'}" },
		{ "{'color':'4'}", "{'color':'BLUE'}" },
		{ "{'color':'GREY'}", "{'color':'GREY'}" },
		{ "{'color':'BLACK'}", "{'color':'BLACK'}" },
		{ "{'etag':'2KRqIbAhzvM='}", "{'etag':'2KRqIbAhzvM='}" },
		{ "{'etag':'2KRqIbAhzvM'}", "{'etag':'2KRqIbAhzvM='}" },
		{ "{'etag':'_-8'}", "{'etag':'/+8='}" },
		{ "{'etag':'_w=='}", "{'etag':'/w=='}" },
		{ "{'etag':'AB'}", "{'etag':'AA=='}" },
		{ "{'bag':{'any_name':[1,null,{'x':'y'}]}}", "{'bag':{'any_name':[1,null,{'x':'y'}]}}" },
		{ "{'thing':[1,[2]]}", "{'thing':[1,[2]]}" },
		{ "{'updateMask':'training_input.job_dir,labels'}",
		  "{'updateMask':'trainingInput.jobDir,labels'}" },
		{ "{'updateMask':''}", "{'updateMask':''}" },
	};

	(void)state;
	assert_read(rows, COUNT_OF(rows));
}

static void times_become_normal(void **state)
{
	static const struct row rows[] = {
		{ "{'waitTime':'3600s'}", "{'waitTime':'3600s'}" },
		{ "{'waitTime':'0003.50s'}", "{'waitTime':'3.500s'}" },
		{ "{'waitTime':'-0.000000001s'}", "{'waitTime':'-0.000000001s'}" },
		{ "{'waitTime':'1.0000100s'}", "{'waitTime':'1.000010s'}" },
		{ "{'waitTime':'-0s'}", "{'waitTime':'0s'}" },
		{ "{'waitTime':'315576000000s'}", "{'waitTime':'315576000000s'}" },
		{ "{'endTime':'2020-01-02T03:04:05Z'}", "{'endTime':'2020-01-02T03:04:05Z'}" },
		{ "{'endTime':'2020-01-02T03:04:05.5+01:00'}", "{'endTime':'2020-01-02T02:04:05.500Z'}" },
		{ "{'endTime':'2020-01-02T03:04:05.000001Z'}", "{'endTime':'2020-01-02T03:04:05.000001Z'}" },
		{ "{'endTime':'0001-01-01T00:00:00Z'}", "{'endTime':'0001-01-01T00:00:00Z'}" },
	};

	(void)state;
	assert_read(rows, COUNT_OF(rows));
}

static void a_single_value_is_a_list_of_one(void **state)
{
	static const struct row rows[] = {
		{ "{'words':'x'}", "{'words':['x']}" },
		{ "{'children':{'text':'x'}}", "{'children':[{'text':'x'}]}" },
		{ "{'words':['x','y']}", "{'words':['x','y']}" },
	};

	(void)state;
	assert_read(rows, COUNT_OF(rows));
}

static void output_only_fields_are_read_and_dropped(void **state)
{
	static const struct row taken[] = {
		{ "{'consumedMLUnits':1.5,'text':'x'}", "{'text':'x'}" },
		{ "{'consumed_ml_units':1.5}", "{}" },
		{ "{'output':{'text':'x'}}", "{}" },
	};
	static const struct row refused[] = {
		{ "{'consumedMLUnits':'x'}",
		  "Invalid value at 'job.consumed_ml_units' (TYPE_DOUBLE), \"x\"" },
		{ "{'output':{'nope':1}}", "Invalid JSON payload received. Unknown name \"nope\" at "
					   "'job.output': Cannot find field." },
	};

	(void)state;
	assert_read(taken, COUNT_OF(taken));
	assert_refused(refused, COUNT_OF(refused));
}

#define DURATION "(type.googleapis.com/google.protobuf.Duration), Field "
#define UNKNOWN(name, path)                                                                                  \
	"Invalid JSON payload received. Unknown name \"" name "\" at '" path "': Cannot find field."
#define NOT_REPEATING(name, path)                                                                            \
	"Invalid JSON payload received. Unknown name \"" name "\" at '" path                                 \
	"': Proto field is not repeating, cannot start list."

static void faults_are_told_in_the_front_ends_words(void **state)
{
	static const struct row rows[] = {
		{ "{'nope':1}", UNKNOWN("nope", "job") },
		{ "{'nope':null}", UNKNOWN("nope", "job") },
		{ "{'Text':'x'}", UNKNOWN("Text", "job") },
		{ "{'small-count':1}", UNKNOWN("small-count", "job") },
		{ "{'child':{'nope':1}}", UNKNOWN("nope", "job.child") },
		{ "{'children':[{},{'nope':1}]}", UNKNOWN("nope", "job.children[1]") },
		{ "{'nodes':{'a':{},'b':{'nope':1}}}", UNKNOWN("nope", "job.nodes[1].value") },
		{ "{'text':1}", "Invalid value at 'job.text' (TYPE_STRING), 1" },
		{ "{'text':true}", "Invalid value at 'job.text' (TYPE_STRING), true" },
		{ "{'text':1.5}", "Invalid value at 'job.text' (TYPE_STRING), 1.5" },
		{ "{'flag':'maybe'}", "Invalid value at 'job.flag' (TYPE_BOOL), \"maybe\"" },
		{ "{'flag':''}", "Invalid value at 'job.flag' (TYPE_BOOL), \"\"" },
		{ "{'flag':' true'}", "Invalid value at 'job.flag' (TYPE_BOOL), \" true\"" },
		{ "{'flag':1}", "Invalid value at 'job.flag' (TYPE_BOOL), 1" },
		{ "{'smallCount':2147483648}",
		  "Invalid value at 'job.small_count' (TYPE_INT32), 2147483648" },
		{ "{'smallCount':-2147483649}",
		  "Invalid value at 'job.small_count' (TYPE_INT32), -2147483649" },
		{ "{'smallCount':1.5}", "Invalid value at 'job.small_count' (TYPE_INT32), 1.5" },
		{ "{'smallCount':''}", "Invalid value at 'job.small_count' (TYPE_INT32), \"\"" },
		{ "{'largeCount':'abc'}", "Invalid value at 'job.large_count' (TYPE_INT64), \"abc\"" },
		{ "{'largeCount':'9223372036854775808'}",
		  "Invalid value at 'job.large_count' (TYPE_INT64), \"9223372036854775808\"" },
		{ "{'largeCount':1e19}", "Invalid value at 'job.large_count' (TYPE_INT64), 1e+19" },
		{ "{'largeCount':' 1'}", "Invalid value at 'job.large_count' (TYPE_INT64), \" 1\"" },
		{ "{'largeCount':'0x10'}", "Invalid value at 'job.large_count' (TYPE_INT64), \"0x10\"" },
		{ "{'largeCount':'1.'}", "Invalid value at 'job.large_count' (TYPE_INT64), \"1.\"" },
		{ "{'largeCount':false}", "Invalid value at 'job.large_count' (TYPE_INT64), false" },
		{ "{'ratio':' 1'}", "Invalid value at 'job.ratio' (TYPE_DOUBLE), \" 1\"" },
		{ "{'ratio':'1 '}", "Invalid value at 'job.ratio' (TYPE_DOUBLE), \"1 \"" },
		{ "{'ratio':''}", "Invalid value at 'job.ratio' (TYPE_DOUBLE), \"\"" },
		{ "{'ratio':'nan'}", "Invalid value at 'job.ratio' (TYPE_DOUBLE), \"nan\"" },
		{ "{'ratio':'1e999'}", "Invalid value at 'job.ratio' (TYPE_DOUBLE), \"1e999\"" },
		{ "{'color':'red'}",
		  "Invalid value at 'job.color' (type.googleapis.com/test.Color), \"red\"" },
		{ "{'color':2}", "Invalid value at 'job.color' (type.googleapis.com/test.Color), 2" },
		{ "{'color':'2'}", "Invalid value at 'job.color' (type.googleapis.com/test.Color), \"2\"" },
		{ "{'color':-2147483648}",
		  "Invalid value at 'job.color' (type.googleapis.com/test.Color), -2147483648" },
		{ "{'color':4294967300}",
		  "Invalid value at 'job.color' (type.googleapis.com/test.Color), 4294967300" },
		{ "{'etag':'!'}",
		  "Invalid value at 'job.etag' (TYPE_BYTES), Base64 decoding failed for \"!\"" },
		{ "{'etag':'A'}",
		  "Invalid value at 'job.etag' (TYPE_BYTES), Base64 decoding failed for \"A\"" },
		{ "{'etag':'AAA=='}",
		  "Invalid value at 'job.etag' (TYPE_BYTES), Base64 decoding failed for \"AAA==\"" },
		{ "{'etag':'===='}",
		  "Invalid value at 'job.etag' (TYPE_BYTES), Base64 decoding failed for \"====\"" },
		{ "{'etag':5}", "Invalid value at 'job.etag' (TYPE_BYTES), 5" },
		{ "{'waitTime':'3600'}", "Invalid value at 'job.wait_time' " DURATION
					 "'waitTime', Illegal duration format; duration must end with 's'" },
		{ "{'wait_time':''}", "Invalid value at 'job.wait_time' " DURATION
				      "'wait_time', Illegal duration format; duration must end with 's'" },
		{ "{'waitTime':'xs'}", "Invalid value at 'job.wait_time' " DURATION
				       "'waitTime', Invalid duration format, failed to parse seconds" },
		{ "{'waitTime':'.5s'}", "Invalid value at 'job.wait_time' " DURATION
					"'waitTime', Invalid duration format, failed to parse seconds" },
		{ "{'waitTime':'1.xs'}",
		  "Invalid value at 'job.wait_time' " DURATION
		  "'waitTime', Invalid duration format, failed to parse nano seconds" },
		{ "{'waitTime':'315576000001s'}",
		  "Invalid value at 'job.wait_time' " DURATION "'waitTime', Duration value exceeds limits" },
		{ "{'waitTime':60}",
		  "Invalid value at 'job.wait_time' (type.googleapis.com/google.protobuf.Duration), 60" },
		{ "{'endTime':'2020-01-02'}",
		  "Invalid value at 'job.end_time' (type.googleapis.com/google.protobuf.Timestamp), "
		  "Field 'endTime', Invalid time format: 2020-01-02" },
		{ "{'updateMask':'a b'}", "Invalid value at 'job.update_mask' "
					  "(type.googleapis.com/google.protobuf.FieldMask), \"a b\"" },
		{ "{'bag':'x'}",
		  "Invalid value at 'job.bag' (type.googleapis.com/google.protobuf.Struct), \"x\"" },
		{ "{'child':'x'}", "Invalid value at 'job.child' (type.googleapis.com/test.Sample), \"x\"" },
		{ "{'text':['x']}", NOT_REPEATING("text", "job") },
		{ "{'child':[{}]}", NOT_REPEATING("child", "job") },
		{ "{'words':[['x']]}", NOT_REPEATING("", "job.words[0]") },
		{ "{'words':['x',1]}", "Invalid value at 'job.words[1]' (TYPE_STRING), 1" },
		{ "{'words':[null,1]}", "Invalid value at 'job.words[1]' (TYPE_STRING), 1" },
		{ "{'text':{'a':1}}", "Invalid value at 'job' (text), Starting an object on a scalar field" },
		{ "{'child':{'small_count':{}}}",
		  "Invalid value at 'job.child' (small_count), Starting an object on a scalar field" },
		{ "{'labels':[]}",
		  "Invalid value at 'job' (Map), Cannot bind a list to map for field 'labels'." },
		{ "{'labels':'x'}",
		  "Invalid value at 'job.labels' (type.googleapis.com/test.Sample.LabelsEntry), \"x\"" },
		{ "{'labels':{'a':'x','b':1}}", "Invalid value at 'job.labels[1].value' (TYPE_STRING), 1" },
		{ "{'labels':{'a':{}}}",
		  "Invalid value at 'job.labels[0]' (value), Starting an object on a scalar field" },
	};

	(void)state;
	assert_refused(rows, COUNT_OF(rows));
}

static void all_faults_are_told_at_once_in_the_bodys_order(void **state)
{
	AUTO(json) json_t *value = json_of("{'zzz':1,'children':[{'text':1},{'flag':0}],'smallCount':'x'}");
	AUTO(json) json_t *canonical = NULL;
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(message_read(&sample_message, value, "job", &canonical, &err),
			 STATUS_INVALID_ARGUMENT);
	assert_int_equal(err.violation_count, 4);
	assert_string_equal(err.violations[0].field, "job");
	assert_string_equal(err.violations[1].field, "job.children[0].text");
	assert_string_equal(err.violations[2].field, "job.children[1].flag");
	assert_string_equal(err.violations[3].field, "job.small_count");
	assert_string_equal(err.violations[3].text, "Invalid value at 'job.small_count' (TYPE_INT32), \"x\"");
}

static void at_the_root_of_a_request_there_is_no_path(void **state)
{
	AUTO(json) json_t *value = json_of("{'nope':1,'text':{}}");
	AUTO(json) json_t *canonical = NULL;
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(message_read(&sample_message, value, "", &canonical, &err), STATUS_INVALID_ARGUMENT);
	assert_string_equal(err.text,
			    "Invalid JSON payload received. Unknown name \"nope\": Cannot find field.\n"
			    "Invalid value (text), Starting an object on a scalar field");
	assert_null(err.violations[0].field);
	assert_null(err.violations[1].field);
}

static void a_body_full_of_faults_gets_a_hundred_of_them_said(void **state)
{
	AUTO(json) json_t *value = json_object();
	AUTO(json) json_t *words = json_array();
	AUTO(json) json_t *canonical = NULL;
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	for (int i = 0; i < 50000; i++)
		json_array_append_new(words, json_integer(i));
	json_object_set(value, "words", words);
	assert_int_equal(message_read(&sample_message, value, "job", &canonical, &err),
			 STATUS_INVALID_ARGUMENT);
	assert_int_equal(err.violation_count, 100);
}

static void long_values_are_shown_in_part(void **state)
{
	struct text long_name = { 0 };
	AUTO(json) json_t *value = json_object();
	AUTO(json) json_t *canonical = NULL;
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	for (int i = 0; i < 100000; i++)
		text_puts(&long_name, "\xc3\xa9");
	json_object_set_new(value, long_name.data, json_string("x"));
	json_object_set_new(value, "largeCount", json_string(long_name.data));
	assert_int_equal(message_read(&sample_message, value, "job", &canonical, &err),
			 STATUS_INVALID_ARGUMENT);
	assert_int_equal(err.violation_count, 2);
	assert_true(strlen(err.text) < 1000);
	assert_true(utf8_valid(err.text, strlen(err.text)));
	text_deinit(&long_name);
}

static void a_value_that_is_no_object_is_no_message(void **state)
{
	AUTO(json) json_t *value = json_of("[1]");
	AUTO(json) json_t *canonical = NULL;

	(void)state;
	assert_int_equal(message_read(&sample_message, value, "", &canonical, NULL), STATUS_INVALID_ARGUMENT);
	assert_int_equal(message_read(&sample_message, NULL, "", &canonical, NULL), STATUS_INVALID_ARGUMENT);
}

static void reading_the_canonical_form_again_changes_nothing(void **state)
{
	AUTO(json)
	json_t *value = json_of("{'largeCount':3,'ratio':'2.5','etag':'_-8','waitTime':'01.50s','endTime':'"
				"2020-01-02T03:04:05+02:00',"
				"'color':1,'children':[{'updateMask':'a_b'}],'labels':{'a':'b'},'thing':{'x':"
				"null},'words':'w'}");
	AUTO(json) json_t *once = NULL;
	AUTO(json) json_t *twice = NULL;

	(void)state;
	assert_int_equal(message_read(&sample_message, value, "", &once, NULL), STATUS_OK);
	assert_int_equal(message_read(&sample_message, once, "", &twice, NULL), STATUS_OK);
	assert_true(json_equal(once, twice));
}

static void a_default_that_was_set_is_kept_where_that_differs(void **state)
{
	static const struct field fields[] = {
		{ .name = "generation", .type = FIELD_INT64, .flags = FIELD_PRESENCE },
		{ .name = "hold", .type = FIELD_BOOL, .flags = FIELD_PRESENCE },
		{ .name = "size", .type = FIELD_INT64 },
		{ .name = NULL },
	};
	static const struct message message = { .full_name = "test.Set", .fields = fields };
	AUTO(json) json_t *value = json_of("{'generation':0,'hold':false,'size':0}");
	AUTO(json) json_t *nothing = json_object();
	AUTO(json) json_t *canonical = NULL;
	AUTO(json) json_t *unset = NULL;

	(void)state;
	assert_int_equal(message_read(&message, value, "", &canonical, NULL), STATUS_OK);
	assert_json_text(canonical, "{'generation':'0','hold':false}");
	assert_int_equal(message_read(&message, nothing, "", &unset, NULL), STATUS_OK);
	assert_json_text(unset, "{}");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_default_that_was_set_is_kept_where_that_differs),
		cmocka_unit_test(the_canonical_form_is_in_the_tables_order_and_spelling),
		cmocka_unit_test(defaults_and_nulls_vanish_and_set_messages_stay),
		cmocka_unit_test(scalars_are_taken_in_each_of_their_spellings),
		cmocka_unit_test(times_become_normal),
		cmocka_unit_test(a_single_value_is_a_list_of_one),
		cmocka_unit_test(output_only_fields_are_read_and_dropped),
		cmocka_unit_test(faults_are_told_in_the_front_ends_words),
		cmocka_unit_test(all_faults_are_told_at_once_in_the_bodys_order),
		cmocka_unit_test(at_the_root_of_a_request_there_is_no_path),
		cmocka_unit_test(a_body_full_of_faults_gets_a_hundred_of_them_said),
		cmocka_unit_test(long_values_are_shown_in_part),
		cmocka_unit_test(a_value_that_is_no_object_is_no_message),
		cmocka_unit_test(reading_the_canonical_form_again_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
