/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/api/logging/logging_testing.h"

/* Calls log_list for a project or a folder. */
static enum status logs_list(struct bench *bench, const char *collection, const char *name, int page_size,
			     const char *page_token, char **ret_answer)
{
	struct logging_context context = { bench->store, &bench->clock, "demo", "123456789" };
	AUTO(string) char *value = strdup(name);
	struct route route = { .path = strcmp(collection, "projects") ? "/v2/folders/{folder}/logs"
								      : "/v2/projects/{project}/logs" };
	struct call call = { .context = &context, .route = &route, .query = json_object(), .param_count = 1 };
	enum status rc;

	call.params[0].name = strcmp(collection, "projects") ? "folder" : "project";
	call.params[0].value = value;
	json_object_set_new(call.query, "pageSize", json_integer(page_size));
	if (page_token)
		json_object_set_new(call.query, "pageToken", json_string(page_token));
	rc = log_list(&call, &bench->err);
	json_decref(call.query);
	if (!rc && call.answer.length == 0)
		text_puts(&call.answer, "{}");
	*ret_answer = rc ? NULL : text_take(&call.answer);
	text_deinit(&call.answer);
	return rc;
}

static void names_are_listed(void **state)
{
	BENCH(state);
	AUTO(string) char *answer = NULL;
	AUTO(string) char *by_number = NULL;
	AUTO(string) char *folder = NULL;
	AUTO(string) char *empty = NULL;

	write_entries(bench, "{'entries':[{'logName':'projects/demo/logs/b/c','textPayload':'x'},"
			     "{'logName':'projects/demo/logs/a','textPayload':'x'}]}");
	assert_int_equal(logs_list(bench, "projects", "demo", 0, NULL, &answer), STATUS_OK);
	assert_string_equal(answer, "{\"logNames\":[\"projects/demo/logs/a\",\"projects/demo/logs/b%2Fc\"]}");
	assert_int_equal(logs_list(bench, "projects", "123456789", 0, NULL, &by_number), STATUS_OK);
	assert_string_equal(by_number, answer);
	assert_int_equal(logs_list(bench, "folders", "1", 0, NULL, &folder), STATUS_OK);
	assert_string_equal(folder, "{}");
	assert_int_equal(logs_list(bench, "projects", "other", 0, NULL, &empty), STATUS_OK);
	assert_string_equal(empty, "{}");
}

static void names_come_in_pages(void **state)
{
	BENCH(state);
	AUTO(string) char *first = NULL;
	AUTO(string) char *second = NULL;
	AUTO(string) char *wrong = NULL;
	AUTO(json) json_t *page = NULL;

	write_entries(bench, "{'entries':[{'logName':'projects/demo/logs/b','textPayload':'x'},"
			     "{'logName':'projects/demo/logs/a','textPayload':'x'}]}");
	assert_int_equal(logs_list(bench, "projects", "demo", 1, NULL, &first), STATUS_OK);
	page = json_loads(first, 0, NULL);
	assert_int_equal(
		logs_list(bench, "projects", "demo", 1, json_text_at(page, "nextPageToken"), &second),
		STATUS_OK);
	assert_string_equal(second, "{\"logNames\":[\"projects/demo/logs/b\"]}");
	assert_int_equal(logs_list(bench, "projects", "demo", -1, NULL, &wrong), STATUS_INVALID_ARGUMENT);
	assert_int_equal(
		logs_list(bench, "projects", "other", 1, json_text_at(page, "nextPageToken"), &wrong),
		STATUS_INVALID_ARGUMENT);
}

static enum status descriptors_list(struct bench *bench, int page_size, const char *token, char **ret_answer)
{
	struct logging_context context = { bench->store, &bench->clock, "demo", "123456789" };
	struct call call = { .context = &context, .query = json_object() };
	enum status rc;

	json_object_set_new(call.query, "pageSize", json_integer(page_size));
	if (token)
		json_object_set_new(call.query, "pageToken", json_string(token));
	rc = descriptor_list(&call, &bench->err);
	json_decref(call.query);
	*ret_answer = rc ? NULL : text_take(&call.answer);
	text_deinit(&call.answer);
	return rc;
}

static void the_types_of_resources_come_in_pages(void **state)
{
	BENCH(state);
	AUTO(string) char *all = NULL;
	AUTO(string) char *first = NULL;
	AUTO(string) char *second = NULL;
	AUTO(string) char *wrong = NULL;
	AUTO(json) json_t *page = NULL;

	assert_int_equal(descriptors_list(bench, 0, NULL, &all), STATUS_OK);
	assert_non_null(strstr(all, "\"type\":\"ml_job\""));
	assert_non_null(strstr(all, "{\"key\":\"task_name\","));
	assert_null(strstr(all, "nextPageToken"));
	assert_int_equal(descriptors_list(bench, 2, NULL, &first), STATUS_OK);
	assert_null(strstr(first, "ml_job"));
	page = json_loads(first, 0, NULL);
	assert_int_equal(descriptors_list(bench, 2, json_text_at(page, "nextPageToken"), &second), STATUS_OK);
	assert_non_null(strstr(second, "{\"resourceDescriptors\":[{\"type\":\"ml_job\","));
	assert_null(strstr(second, "nextPageToken"));
	assert_int_equal(descriptors_list(bench, -1, NULL, &wrong), STATUS_INVALID_ARGUMENT);
	assert_int_equal(descriptors_list(bench, 1, "wrong", &wrong), STATUS_INVALID_ARGUMENT);
}

static void each_row_is_complete(void **state)
{
	(void)state;
	for (const struct route *route = logging_routes; route->method; route++) {
		assert_non_null(route->handler);
		assert_true(strncmp(route->path, "/v2/", 4) == 0);
		assert_int_equal(route->body != NULL, strcmp(route->method, "POST") == 0);
		assert_int_equal(route->body != NULL, route->body_root != NULL);
	}
	for (const struct route *route = logging_absent; route->method; route++)
		assert_null(route->handler);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(names_are_listed),
		WITH_BENCH(names_come_in_pages),
		WITH_BENCH(the_types_of_resources_come_in_pages),
		cmocka_unit_test(each_row_is_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
