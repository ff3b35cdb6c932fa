/* SPDX-License-Identifier: Apache-2.0 */
/* In each method, a parameter without a value counts as absent, and a parameter with a fixed set of values refuses
 * others. */
#include <ctype.h>

#include "daemon/base/memory.h"
#include "tests/unit/api/storage/storage_testing.h"

static int bench_open(void **state)
{
	const int rc = yard_open(state);

	if (!rc)
		bucket_add("box");
	return rc;
}

#define BOX_TEST(name) cmocka_unit_test_setup_teardown(name, bench_open, yard_close)

/* The path of a row, with the fixture's names in place of the {names}. */
static void path_write(struct text *path, const char *row)
{
	for (const char *c = row; *c; c++) {
		if (*c != '{') {
			text_putc(path, *c);
			continue;
		}
		const char *end = strpbrk(c, "=}");

		if (strncmp(end - strlen("ucket"), "ucket", strlen("ucket")) == 0)
			text_puts(path, "box");
		else
			text_putc(path, strncmp(c, "{destination", strlen("{destination")) == 0 ? 'y' : 'x');
		c = strchr(c, '}');
	}
}

static bool is_mark(const struct field *field)
{
	return field->type == FIELD_STRING && field->flags & FIELD_PRESENCE;
}

static void blanks_write(struct text *path, const struct message *query)
{
	static const char *const system[] = {
		"alt", "prettyPrint", "fields", "callback", "uploadType", "key"
	};

	for (size_t i = 0; i < COUNT_OF(system); i++)
		text_printf(path, "&%s=", system[i]);
	for (const struct field *field = query ? query->fields : NULL; field && field->name; field++)
		if (!is_mark(field) && strcmp(field->name, "project") != 0)
			text_printf(path, "&%s=", field->name);
}

static unsigned status_of(const struct route *route, bool blanks)
{
	struct text path AUTO_TEXT = { 0 };

	path_write(&path, route->path);
	text_puts(&path, "?project=demo");
	if (blanks)
		blanks_write(&path, route->query);
	object_add("box", "x", "1");
	struct seen seen AUTO_SEEN = ask(route->method, path.data, route->body || route->begin ? "{}" : NULL);

	if (strcmp(route->method, "GET") == 0 && !strstr(route->path, "/download/") &&
	    seen.http_status != 200)
		fail_msg("GET %s: %u\n%s", path.data, seen.http_status, seen.all);
	return seen.http_status;
}

static void rows_try(const struct route *routes)
{
	for (const struct route *route = routes; route->method; route++) {
		if (strstr(route->path, "/batch") || strcmp(route->path, "/storage/v1/b/{bucket}") == 0)
			continue;
		const unsigned without = status_of(route, false);
		const unsigned with = status_of(route, true);

		if (with != without)
			fail_msg("%s %s: %u, and with blank parameters %u", route->method, route->path,
				 without, with);
	}
}

/* Fails with: is_absent() of api/http/parameters.c that says no. */
TEST(parameters_without_a_value_are_none)
{
	(void)state_;
	rows_try(storage_routes);
	rows_try(storage_plain_routes);
	done(200, "GET", "/storage/v1/b/box?ifMetagenerationMatch=&projection=", NULL);
	done(200, "GET", "/storage/v1/b/box/o/x?ifGenerationMatch=&ifGenerationMatch", NULL);
	refused(400, "invalid", "", "GET", "/storage/v1/b/box/o/x?ifGenerationMatch=x", NULL);
}

TEST(marks_need_no_value)
{
	struct seen seen AUTO_SEEN = ask_for(200, "GET", "/box?uploads=", NULL);

	(void)state_;
	assert_non_null(strstr(seen.body, "<ListMultipartUploadsResult"));
}

/* Calls the row with field=value; *ret_body gets the beginning of the answer. */
static unsigned status_with(const struct route *route, const char *field, const char *value,
			    char ret_body[512])
{
	struct text path AUTO_TEXT = { 0 };

	path_write(&path, route->path);
	text_printf(&path, "?project=demo&%s=%s", field, value);
	struct seen seen AUTO_SEEN = ask(route->method, path.data, route->body || route->begin ? "{}" : NULL);

	snprintf(ret_body, 512, "%s", seen.body);
	return seen.http_status;
}

static bool is_refused(const struct route *route, const char *field, const char *value)
{
	char body[512], refusal[128];

	snprintf(refusal, sizeof(refusal), "Invalid string value: '%s'. Allowed values: [", value);
	if (status_with(route, field, value, body) != 400 || !strstr(body, refusal))
		return false;
	snprintf(refusal, sizeof(refusal),
		 "\"reason\":\"invalidParameter\",\"locationType\":\"parameter\",\"location\":\"%s\"", field);
	assert_non_null(strstr(body, refusal));
	return true;
}

static void choice_try(const struct route *route, const struct field *field)
{
	object_add("box", "x", "1");
	/* the XML API's spelling of a value, and the number that gRPC would use */
	if (!is_refused(route, field->name, "public-read") || !is_refused(route, field->name, "1"))
		fail_msg("%s %s takes any %s", route->method, route->path, field->name);
	for (const struct enum_value *value = field->enum_type->values; value->name; value++) {
		AUTO(string) char *shouted = memory_strdup(value->name);

		for (char *c = shouted; *c; c++)
			*c = (char)toupper((unsigned char)*c);
		if (is_refused(route, field->name, value->name) || is_refused(route, field->name, shouted))
			fail_msg("%s %s refuses %s=%s", route->method, route->path, field->name, value->name);
	}
}

/* Fails with: case respected; numbers taken; the parameters as plain strings. */
TEST(a_parameter_of_few_values_takes_no_other)
{
	size_t count = 0;

	(void)state_;
	for (const struct route *route = storage_routes; route->method; route++) {
		const struct field *field = route->query ? route->query->fields : NULL;

		for (; field && field->name; field++)
			if (field->type == FIELD_ENUM && !strstr(route->path, "/batch")) {
				choice_try(route, field);
				count++;
			}
	}
	assert_true(count > 20);
	refused(400, "invalidParameter", "Invalid string value: 'zzz'. Allowed values: [full, noacl]", "GET",
		"/storage/v1/b/box?projection=zzz", NULL);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		BOX_TEST(parameters_without_a_value_are_none),
		BOX_TEST(marks_need_no_value),
		BOX_TEST(a_parameter_of_few_values_takes_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
