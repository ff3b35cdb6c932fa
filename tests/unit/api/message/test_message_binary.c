/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/message_binary.h"

#include <sodium.h>

#include "tests/unit/api/message/json_testing.h"

static const struct enum_value color_values[] = {
	{ "NONE", 0, "" }, { "RED", 1, "" }, { "BLUE", 4, "" }, { NULL, 0, NULL }
};
static const struct enum_type color = { "test.Color", color_values };
static const struct message sample;

#define ROW(NUMBER, NAME, TYPE, FLAGS, ...)                                                                  \
	{                                                                                                    \
		.name = (NAME), .type = FIELD_##TYPE, .flags = (FLAGS), .number = (NUMBER), __VA_ARGS__      \
	}

static const struct field fields[] = {
	ROW(1, "text", STRING, 0),
	ROW(2, "flag", BOOL, 0),
	ROW(3, "smallCount", INT32, 0),
	ROW(4, "largeCount", INT64, 0),
	ROW(5, "ratio", DOUBLE, 0),
	ROW(6, "etag", BYTES, 0),
	ROW(7, "waitTime", DURATION, 0),
	ROW(8, "endTime", TIMESTAMP, 0),
	ROW(9, "updateMask", MASK, 0),
	ROW(10, "bag", STRUCT, 0),
	ROW(11, "thing", VALUE, 0),
	ROW(12, "color", ENUM, 0, .enum_type = &color),
	ROW(13, "child", MESSAGE, 0, .message = &sample),
	ROW(14, "words", STRING, FIELD_REPEATED),
	ROW(15, "numbers", INT64, FIELD_REPEATED),
	ROW(16, "colors", ENUM, FIELD_REPEATED, .enum_type = &color),
	ROW(17, "children", MESSAGE, FIELD_REPEATED, .message = &sample),
	ROW(18, "labels", STRING, FIELD_MAP),
	ROW(19, "limit", INT32, FIELD_WRAPPED | FIELD_PRESENCE),
	ROW(20, "whatever", STRUCT, FIELD_ANY),
	ROW(21, "tcp", STRING, 0, .oneof = "socket"),
	ROW(22, "udp", MESSAGE, 0, .message = &sample, .oneof = "socket"),
	ROW(23, "name", STRING, 0, .oneof = "owner"),
	ROW(24, "stages", MESSAGE, FIELD_MAP, .message = &sample),
	ROW(2000, "ratios", DOUBLE, FIELD_REPEATED),
	ROW(0, "jsonOnly", STRING, 0),
	{ .name = NULL },
};
static const struct message sample = { "test.Sample", fields, "" };

static char *hex_of(const struct text *bytes)
{
	char *hex = malloc(bytes->length * 2 + 1);

	return sodium_bin2hex(hex, bytes->length * 2 + 1, (const unsigned char *)bytes->data, bytes->length);
}

static enum status read_hex(const char *hex, json_t **ret_value, struct error *err)
{
	unsigned char bytes[512];
	size_t length = 0;

	if (sodium_hex2bin(bytes, sizeof(bytes), hex, strlen(hex), NULL, &length, NULL))
		fail_msg("the test itself has bad digits: %s", hex);
	return message_from_binary(&sample, bytes, length, "job", ret_value, err);
}

/* The bytes that Google's Python library (protobuf 6) makes of the same JSON. */
static const struct row {
	const char *json, *hex;
} rows[] = {
	{ "{}", "" },
	{ "{'text':'h\xc3\xa9'}", "0a0368c3a9" },
	{ "{'flag':true}", "1001" },
	{ "{'smallCount':-2}", "18feffffffffffffffff01" },
	{ "{'largeCount':'9007199254740993'}", "208180808080808010" },
	{ "{'largeCount':'-9223372036854775808'}", "2080808080808080808001" },
	{ "{'ratio':0.1}", "299a9999999999b93f" },
	{ "{'ratio':'-Infinity'}", "29000000000000f0ff" },
	{ "{'etag':'AP8='}", "320200ff" },
	{ "{'waitTime':'3.500s'}", "3a0808031080cab5ee01" },
	{ "{'waitTime':'-0.000000001s'}", "3a0b10ffffffffffffffffff01" },
	{ "{'waitTime':'0s'}", "3a00" },
	{ "{'endTime':'2026-11-20T21:29:51.250Z'}", "420b08cff782d8061080e59a77" },
	{ "{'endTime':'1969-12-31T23:59:59.750Z'}", "421108ffffffffffffffffff011080afd0e502" },
	{ "{'updateMask':'endTime,child.waitTime'}",
	  "4a1b0a08656e645f74696d650a0f6368696c642e776169745f74696d65" },
	{ "{'bag':{'a':[1.5,null,true,'x'],'b':{'c':-2}}}",
	  "523a0a1f0a0161121a32180a0911000000000000f83f0a0208000a0220010a031a01780a170a016212122a100a0e0a016312091100"
	  "000000000000c0" },
	{ "{'thing':'word'}", "5a061a04776f7264" },
	{ "{'thing':null}", "5a020800" },
	{ "{'thing':[{'k':false}]}", "5a0f320d0a0b2a090a070a016b12022000" },
	{ "{'color':'BLUE'}", "6004" },
	{ "{'child':{'text':'x','child':{'flag':true}}}", "6a070a01786a021001" },
	{ "{'words':['a','','b']}", "7201617200720162" },
	{ "{'children':[{'flag':true},{},{'text':'z'}]}", "8a010210018a01008a01030a017a" },
	{ "{'labels':{'a':'b','c':''}}", "9201060a01611201629201050a01631200" },
	{ "{'limit':7}", "9a01020807" },
};

static void messages_are_written_and_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		AUTO(json) json_t *value = json_of(rows[i].json);
		AUTO(json) json_t *read = NULL;
		AUTO(json) json_t *canonical = NULL;
		struct text bytes AUTO_TEXT = { 0 };
		struct error err AUTO_ERROR = { 0 };

		assert_int_equal(json_to_binary(&sample, value, NULL, &bytes, &err), STATUS_OK);
		AUTO(string) char *hex = hex_of(&bytes);

		assert_string_equal(hex, rows[i].hex);
		if (read_hex(hex, &read, &err) || message_read(&sample, read, "job", &canonical, &err))
			fail_msg("%s: %s", rows[i].json, err.text);
		assert_json_text(canonical, rows[i].json);
	}
}

static void rows_are_read(const struct row *these, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		AUTO(json) json_t *read = NULL;
		AUTO(json) json_t *canonical = NULL;
		struct error err AUTO_ERROR = { 0 };

		if (read_hex(these[i].hex, &read, &err) ||
		    message_read(&sample, read, "job", &canonical, &err))
			fail_msg("%s: %s", these[i].hex, err.text);
		assert_json_text(canonical, these[i].json);
	}
}

/* Other encodings of the same message: packed numbers, a wrapper or a map entry without its value, a message in two
 * parts, repeated fields of which the last counts. */
static void other_forms_are_read(void **state)
{
	static const struct row others[] = {
		{ "{'numbers':['1','-1','300']}", "7a0d01ffffffffffffffffff01ac02" },
		{ "{'numbers':['1','-1','300']}", "780178ffffffffffffffffff0178ac02" },
		{ "{'colors':['RED','BLUE']}", "8201020104" },
		{ "{'ratios':[1.0,2.5]}", "827d10000000000000f03f0000000000000440" },
		{ "{'limit':0}", "9a0100" },
		/* Fails with: kind_decode() by binary_string(): a program's log entry was refused, and those sent with it. */
		{ "{'thing':'a\xef\xbf\xbd\x62'}", "5a051a03610062" },
		{ "{'labels':{'a':''}}", "9201030a0161" },
		{ "{'child':{'text':'x','flag':true}}", "6a030a01786a021001" },
		{ "{'text':'b'}", "0a01610a0162" },
		/* Fails with: the second child laid over the first by json_object_update_recursive() */
		{ "{'child':{'words':['a','b']}}", "6a037201616a03720162" },
		{ "{'child':{'numbers':['1','2','3']}}", "6a047a0201026a027803" },
		{ "{'child':{'labels':{'a':'y','b':'x'}}}",
		  "6a089201050a016112006a0e9201050a016212009201030a0161"
		  "6a09920106"
		  "0a0162120178"
		  "6a09920106"
		  "0a0161120179" },
		{ "{'child':{'child':{'words':['a','b']}}}", "6a056a037201616a056a03720162" },
		/* Fails with: a later Value, Struct or ListValue in the place of the one before it */
		{ "{'thing':{'b':'y','a':'x','c':'z'}}",
		  "5a2c2a140a080a016212031a01780a080a016112031a01782a140a080a016212031a01790a080a016312031a017a" },
		{ "{'thing':{'a':{'l':'w'}}}",
		  "5a2a2a130a110a0161120c2a0a0a080a016b12031a01762a130a110a0161120c2a0a0a080a016c12031a0177" },
		{ "{'thing':{'a':'x','b':'y'}}", "5a0c2a0a0a080a016112031a01785a0c2a0a0a080a016212031a0179" },
		{ "{'thing':{'a':'x'}}", "5a0c2a0a0a080a016112031a01785a00" },
		{ "{'thing':['a','b']}", "5a0e32050a031a016132050a031a0162" },
		{ "{'thing':['a','b']}", "5a0732050a031a01615a0732050a031a0162" },
		{ "{'thing':{'b':'y'}}", "5a1b2a0a0a080a016112031a01781a01772a0a0a080a016212031a0179" },
		{ "{'thing':['b']}", "5a132a0a0a080a016112031a017832050a031a0162" },
		{ "{'bag':{'a':'x','b':'y'}}", "520a0a080a016112031a0178520a0a080a016212031a0179" },
		/* Fails with: an empty path before another is forgotten */
		{ "{'updateMask':',a'}", "4a050a000a0161" },
		/* Fails with: without others_forget(), message_read() refuses these */
		{ "{'udp':{'flag':true},'name':'o'}", "ba01016faa010161b201021001" },
		{ "{'tcp':'b'}", "aa010161b201021001aa010162" },
		{ "{'udp':{'text':'x','flag':true}}", "b201030a0178b201021001" },
		{ "{'child':{'tcp':'a'}}", "6a05b2010210016a04aa010161" },
	};

	(void)state;
	rows_are_read(others, COUNT_OF(others));
}

/* The result of Google's Python library (protobuf 6) for the same bytes. Fails with: times, masks and wrappers that are
 * read without @earlier; a map that takes the last value of an entry. */
static void what_comes_twice_is_both(void **state)
{
	static const struct row twice[] = {
		{ "{'waitTime':'3.500s'}", "3a0208033a061080cab5ee01" },
		{ "{'waitTime':'5.500s'}", "3a0808031080cab5ee013a020805" },
		{ "{'waitTime':'-4.000000005s'}",
		  "3a1608fdffffffffffffffff0110fbffffffffffffffff013a0b08fcffffffffffffffff01" },
		/* The first part alone is no valid time. */
		{ "{'waitTime':'-4.000000005s'}",
		  "3a0d080310fbffffffffffffffff013a0b08fcffffffffffffffff01" },
		{ "{'waitTime':'3s'}", "3a0208033a00" },
		{ "{'waitTime':'-0.000000007s'}", "3a0b10f9ffffffffffffffff013a020800" },
		{ "{'child':{'waitTime':'3.001s'}}", "6a043a0208036a063a0410c0843d" },
		{ "{'endTime':'2026-09-21T14:13:20.250Z'}", "42060880f7c4d50642051080e59a77" },
		{ "{'endTime':'1969-12-31T23:59:58.750Z'}",
		  "421008feffffffffffffffff011080e59a7742061080afd0e502" },
		{ "{'endTime':'2026-09-21T14:13:20.000000005Z'}",
		  "42110880f7c4d50610fbffffffffffffffff0142021005" },
		{ "{'endTime':'1970-01-01T00:00:05Z'}", "420a0880808080808080804042020805" },
		{ "{'updateMask':'endTime,text,child.text'}",
		  "4a0a0a08656e645f74696d654a120a04746578740a0a6368696c642e74657874" },
		{ "{'updateMask':'text'}", "4a004a060a0474657874" },
		{ "{'updateMask':'text'}", "4a060a04746578744a00" },
		{ "{'limit':7}", "9a010208079a0100" },
		{ "{'limit':0}", "9a010208079a01020800" },
		{ "{'stages':{'a':{'text':'x','waitTime':'3s'}}}", "c2010e0a016112030a017812043a020803" },
		{ "{'stages':{'b':{'text':'x'}}}", "c2010b12030a01780a01610a0162" },
		{ "{'bag':{'k':{'a':'1','b':'2'}}}",
		  "52210a1f0a016b120c2a0a0a080a016112031a0131120c2a0a0a080a016212031a0132" },
		{ "{'bag':{'k':'1'}}", "520c0a0a0a016b12031a01311200" },
	};

	(void)state;
	rows_are_read(twice, COUNT_OF(twice));
}

/* Fails with: binary_timestamp() or binary_duration() without its checks. */
static void what_is_no_time_is_refused(void **state)
{
	static const struct row broken[] = {
		{ "duration", "3a0d080310fbffffffffffffffff01" },
		{ "duration", "3a06108094ebdc03" },
		{ "duration", "3a0610ffffffff07" },
		{ "time", "420a08808080808080808040" },
		{ "time", "42110880f7c4d50610fbffffffffffffffff01" },
		/* Fails with: 64-bit nanoseconds, which end in the year 2262: the time was another one after a round trip */
		{ "time", "42060880b1f1a922" },
		{ "time", "420b08fff193d6ddffffffff01" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(broken); i++) {
		AUTO(json) json_t *read = NULL;
		AUTO(json) json_t *canonical = NULL;
		struct error err AUTO_ERROR = { 0 };

		assert_int_equal(read_hex(broken[i].hex, &read, &err), STATUS_OK);
		assert_int_equal(message_read(&sample, read, "job", &canonical, &err),
				 STATUS_INVALID_ARGUMENT);
		assert_non_null(strstr(err.text, broken[i].json));
	}
}

static void any_is_written(void **state)
{
	static const struct message *const known[] = { &sample, NULL };
	AUTO(json)
	json_t *value = json_of("{'whatever':{'@type':'type.googleapis.com/test.Sample','text':'in'}}");
	AUTO(json) json_t *empty = json_of("{'whatever':{'@type':'type.googleapis.com/test.Other'}}");
	struct text bytes AUTO_TEXT = { 0 }, second AUTO_TEXT = { 0 };

	(void)state;
	assert_int_equal(json_to_binary(&sample, value, known, &bytes, NULL), STATUS_OK);
	AUTO(string) char *hex = hex_of(&bytes);

	assert_string_equal(
		hex, "a201270a1f747970652e676f6f676c65617069732e636f6d2f746573742e53616d706c6512040a02696e");
	assert_int_equal(json_to_binary(&sample, empty, known, &second, NULL), STATUS_OK);
	assert_int_equal(second.length, 3 + 2 + strlen("type.googleapis.com/test.Other"));
}

/* Fails with: any_encode() without the kept bytes: the name alone came back. */
static void any_of_a_type_that_is_not_known_is_kept(void **state)
{
	static const char sent[] = "a201060a0161120108";
	static const struct message *const known[] = { &sample, NULL };
	AUTO(json) json_t *read = NULL;
	AUTO(json) json_t *wanted = json_of("{'whatever':{'@type':'a','value':'CA=='}}");
	struct text bytes AUTO_TEXT = { 0 };

	(void)state;
	assert_int_equal(read_hex(sent, &read, NULL), STATUS_OK);
	assert_true(json_equal(read, wanted));
	assert_int_equal(json_to_binary(&sample, read, known, &bytes, NULL), STATUS_OK);
	AUTO(string) char *hex = hex_of(&bytes);

	assert_string_equal(hex, sent);
}

static char *any_hex(const char *member)
{
	AUTO(json) json_t *any = json_of(member);
	AUTO(json) json_t *value = json_pack("{s:O}", "whatever", any);
	struct text bytes AUTO_TEXT = { 0 };

	assert_int_equal(json_to_binary(&sample, value, NULL, &bytes, NULL), STATUS_OK);
	return hex_of(&bytes);
}

/* Fails with: any_encode() that refuses what has no type: one such entry, and no page of the log with it could be read; that writes
 * the name of a type that is not known alone (as it did): the payload was gone. */
static void any_that_is_not_known_is_a_struct(void **state)
{
	static const char *const unknown[] = { "{'value':'CA=='}", "{'@type':1}",
					       "{'@type':'type.googleapis.com/x.Y','a':1,'b':['c']}",
					       "{'@type':'type.googleapis.com/x.Y','value':'no base64!'}",
					       "{'@type':'type.googleapis.com/google.protobuf.Duration',"
					       "'value':'3.5s'}" };
	AUTO(string) char *empty = any_hex("{}");

	(void)state;
	assert_string_equal(empty, "a20100");
	for (size_t i = 0; i < COUNT_OF(unknown); i++) {
		struct text whole AUTO_TEXT = { 0 };

		text_printf(&whole, "{'@type':'type.googleapis.com/google.protobuf.Struct','value':%s}", unknown[i]);
		AUTO(string) char *hex = any_hex(unknown[i]);
		AUTO(string) char *struct_hex = any_hex(whole.data);

		assert_string_equal(hex, struct_hex);
		assert_true(strlen(hex) > 2 * strlen("type.googleapis.com/google.protobuf.Struct"));
	}
}

static void what_is_broken_is_refused(void **state)
{
	static const struct row broken[] = {
		{ "Unknown field number 99 at 'job'", "980601" },
		{ "Unknown field number 99 at 'job.child'", "6a03980601" },
		{ "A field of another type at 'job.flag'", "1200" },
		{ "A field of another type at 'job.words[1]'", "7201617000" },
		{ "A broken message at 'job'", "0a05" },
		{ "A broken message at 'job.children[0]'", "8a01020a05" },
		{ "A text that is not UTF-8, or has a NUL at 'job.text'", "0a01ff" },
		{ "A text that is not UTF-8, or has a NUL at 'job.text'", "0a0100" },
		{ "A text that is not UTF-8, or has a NUL at 'job.labels'", "9201030a0100" },
		/* Fails with: a mask's text is not looked at: out of memory, it is said, or it ends at the NUL */
		{ "A text that is not UTF-8, or has a NUL at 'job.update_mask'", "4a030a01ff" },
		{ "A text that is not UTF-8, or has a NUL at 'job.update_mask'", "4a050a03610062" },
		{ "A broken time at 'job.wait_time'", "3a040801"
						      "10ff" },
		{ "A broken value at 'job.thing'", "5a020a00" },
		{ "A broken message of any type at 'job.whatever'", "a201021801" },
		{ "A broken message of any type at 'job.whatever'", "a201020a05" },
		{ "A broken list at 'job.numbers'", "7a01ff" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		AUTO(json) json_t *read = NULL;
		AUTO(string) char *text = NULL;
		struct error err AUTO_ERROR = { 0 };

		assert_true(asprintf(&text, "Invalid binary payload received. %s.", broken[i].json) > 0);
		assert_int_equal(read_hex(broken[i].hex, &read, &err), STATUS_INVALID_ARGUMENT);
		assert_string_equal(err.text, text);
	}
}

static void depth_and_number_are_bounded(void **state)
{
	enum { LEVELS = 150, VALUES = 300000 };
	struct text deep AUTO_TEXT = { 0 }, many AUTO_TEXT = { 0 };
	struct error err AUTO_ERROR = { 0 };
	AUTO(json) json_t *read = NULL;

	(void)state;
	text_append(&deep, "", 0);
	for (int i = 0; i < LEVELS; i++) { /* each the child of the next */
		struct text outer = { 0 };

		text_putc(&outer, 0x6a);
		if (deep.length > 127)
			text_putc(&outer, (char)((deep.length & 0x7f) | 0x80));
		text_putc(&outer, (char)(deep.length > 127 ? deep.length >> 7 : deep.length));
		text_append(&outer, deep.data, deep.length);
		text_deinit(&deep);
		deep = outer;
	}
	assert_int_equal(message_from_binary(&sample, deep.data, deep.length, "job", &read, &err),
			 STATUS_INVALID_ARGUMENT);
	assert_non_null(strstr(err.text, "deeply nested"));
	for (int i = 0; i < VALUES; i++)
		text_append(&many, "r\0", 2);
	assert_int_equal(message_from_binary(&sample, many.data, many.length, "job", &read, NULL),
			 STATUS_INVALID_ARGUMENT);
	assert_null(read);
}

/* JSON texts in other forms than our own: spaces, escapes, members in another order, unknown members, long parts. */
static void texts_are_written(void **state)
{
	static const struct row these[] = {
		{ " { 'flag' : true , 'text' : 'x' } ", "10010a0178" },
		{ "{'text':'\\u00e9\\ud83d\\ude00\\ud83d\\n\\/'}", "0a0bc3a9f09f9880efbfbd0a2f" },
		{ "{'nosuch':[{'a':'}'},[]],'flag':true,'other':1e3}", "1001" },
		{ "{'text':null,'words':[ ],'labels':{ }}", "" },
		{ "{'labels':{'\\u0061':'b'}}", "9201060a0161120162" },
		{ "{'bag':{'a':-0.5e1}}", "52100a0e0a016112091100000000000014c0" },
	};
	char long_text[300];
	struct text bytes AUTO_TEXT = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(these) / sizeof(these[0]); i++) {
		AUTO(string) char *json = quoted(these[i].json);
		struct text written AUTO_TEXT = { 0 };

		assert_int_equal(message_to_binary(&sample, json, NULL, &written, NULL), STATUS_OK);
		AUTO(string) char *hex = hex_of(&written);

		assert_string_equal(hex, these[i].hex);
	}
	/* Fails with: wire_part_end() that moves nothing: the first byte of the child was lost. */
	snprintf(long_text, sizeof(long_text), "{\"child\":{\"text\":\"%0200d\"}}", 0);
	assert_int_equal(message_to_binary(&sample, long_text, NULL, &bytes, NULL), STATUS_OK);
	assert_int_equal(bytes.length, 200 + 3 + 3);
	assert_memory_equal(bytes.data, "\x6a\xcb\x01\x0a\xc8\x01" "0", 7);
}

static void what_is_no_json_is_told(void **state)
{
	static const char *const texts[] = { "", "x", "[]", "{", "{'text'", "{'text':", "{'text':'", "{'text':'a'", "{'text':'a'}}",
					     "{'text':'a',}", "{'text':'\\", "{'text':'\\u12'}", "{'text':'\\q'}", "{'child':}}", "{'bag':{'a':1x}}",
					     "{'bag':{'a':tru}}", "{'words':['a'", "{'words':['a',", "{'labels':{'a':", "{'whatever':{'a':" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		AUTO(string) char *json = quoted(texts[i]);
		struct text bytes AUTO_TEXT = { 0 };

		if (message_to_binary(&sample, json, NULL, &bytes, NULL) != STATUS_INTERNAL)
			fail_msg("it was taken: %s", texts[i]);
	}
}

/* Nested arrays, 100,000 deep. Fails with: value_encode() without DEPTH_MAX. */
static void depth_of_what_is_written_is_bounded(void **state)
{
	enum { DEPTH = 100000 };
	struct text json AUTO_TEXT = { 0 }, bytes AUTO_TEXT = { 0 };

	(void)state;
	text_puts(&json, "{\"thing\":");
	for (int i = 0; i < DEPTH; i++)
		text_putc(&json, '[');
	for (int i = 0; i < DEPTH; i++)
		text_putc(&json, ']');
	text_putc(&json, '}');
	assert_int_equal(message_to_binary(&sample, json.data, NULL, &bytes, NULL), STATUS_INTERNAL);
}

static void a_value_of_another_type_is_told(void **state)
{
	static const char *const values[] = { "{'text':1}",       "{'flag':'x'}",        "{'color':'GREEN'}",
					      "{'words':'a'}",    "{'labels':[]}",       "{'child':3}",
					      "{'waitTime':'1'}", "{'endTime':'today'}", "{'whatever':[]}" };

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		AUTO(json) json_t *value = json_of(values[i]);
		struct text bytes AUTO_TEXT = { 0 };

		assert_int_equal(json_to_binary(&sample, value, NULL, &bytes, NULL), STATUS_INTERNAL);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_written_and_read),
		cmocka_unit_test(other_forms_are_read),
		cmocka_unit_test(what_comes_twice_is_both),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(any_is_written),
		cmocka_unit_test(any_of_a_type_that_is_not_known_is_kept),
		cmocka_unit_test(any_that_is_not_known_is_a_struct),
		cmocka_unit_test(what_is_broken_is_refused),
		cmocka_unit_test(depth_and_number_are_bounded),
		cmocka_unit_test(texts_are_written),
		cmocka_unit_test(what_is_no_json_is_told),
		cmocka_unit_test(depth_of_what_is_written_is_bounded),
		cmocka_unit_test(a_value_of_another_type_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
