/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the served discovery documents with the tables they are made from. */
#include "api/emulator/discovery.h"

#include "api/http/parameters.h"
#include "api/http/router.h"
#include "api/logging/routes.h"
#include "api/message/discovery.h"
#include "api/message/names.h"
#include "api/ml/ml.h"
#include "api/storage/storage.h"
#include "tests/unit/api/message/json_testing.h"

static const struct discovery_entry entries[] = {
	{ &ml_api, ml_routes, NULL },
	{ &logging_api, logging_routes, NULL },
	{ &storage_api, storage_routes, NULL },
	{ NULL, NULL, NULL },
};
static struct discovery discovery = { entries };
static const struct family families[] = {
	{ .name = "discovery", .routes = discovery_routes, .context = &discovery },
	{ .name = NULL },
};

static enum status ask(const char *address, const char *host, json_t **ret_answer, struct error *err)
{
	struct target target = { 0 };
	struct query query = { 0 };
	struct call call = { .context = &discovery, .method = "GET", .host = host, .query = json_object() };
	struct match match;
	enum status rc;

	assert_int_equal(target_parse(address, &target, NULL), STATUS_OK);
	assert_int_equal(query_parse(target.query, strlen(target.query), &query, NULL), STATUS_OK);
	for (size_t i = 0; i < query.count; i++)
		json_object_set_new(call.query, query.pairs[i].name, json_string(query.pairs[i].value));
	match = router_match(families, "GET", &target);
	assert_int_equal(match.kind, MATCH_ROUTE);
	call.route = match.route;
	call.param_count = match.param_count;
	memcpy(call.params, match.params, sizeof(call.params));
	rc = match.route->handler(&call, err);
	*ret_answer = rc ? NULL : json_loads(call.answer.data, JSON_REJECT_DUPLICATES, NULL);
	json_decref(call.query);
	text_deinit(&call.answer);
	query_deinit(&query);
	target_deinit(&target);
	return rc;
}

static json_t *document_of(const struct discovery_api *api)
{
	AUTO(string) char *address = NULL;
	struct error err AUTO_ERROR = { 0 };
	json_t *document = NULL;

	assert_true(asprintf(&address, "/discovery/v1/apis/%s/%s/rest", api->name, api->version) > 0);
	if (ask(address, "127.0.0.1:8090", &document, &err))
		fail_msg("%s: %s", address, err.text);
	return document;
}

/* The property in the document agrees with the field. */
static void check_property(const struct field *field, const json_t *property)
{
	const json_t *value = field->flags & FIELD_REPEATED ? json_object_get(property, "items")
			      : field->flags & FIELD_MAP ? json_object_get(property, "additionalProperties")
							 : property;
	const json_t *names = json_object_get(value, "enum");
	size_t count = 0;

	assert_non_null(strstr(json_text_at(property, "description"), field->help));
	assert_int_equal(json_true_at(property, "readOnly"), !!(field->flags & FIELD_OUTPUT_ONLY));
	assert_int_equal(field->type == FIELD_MESSAGE, json_text_at(value, "$ref") != NULL);
	assert_int_equal(field->type == FIELD_ENUM, names != NULL);
	for (; field->enum_type && field->enum_type->values[count].name; count++) {
		assert_string_equal(json_string_value(json_array_get(names, count)),
				    field->enum_type->values[count].name);
		assert_true(*field->enum_type->values[count].help);
	}
	assert_int_equal(json_array_size(names), count);
}

/* Checks that the schema of a message, and of each message in it, has exactly its fields; adds it to @seen. */
static void check_schema(const struct discovery_api *api, const json_t *schemas,
			 const struct message *message, json_t *seen)
{
	struct text name AUTO_TEXT = { 0 };
	const json_t *schema, *properties;

	discovery_schema_name(&name, api, message);
	if (json_object_get(seen, name.data))
		return;
	json_object_set_new(seen, name.data, json_true());
	schema = json_object_get(schemas, name.data);
	properties = json_object_get(schema, "properties");
	if (!schema)
		fail_msg("%s is not in the document", name.data);
	assert_string_equal(json_text_at(schema, "description"), message->help);
	assert_int_equal(json_object_size(properties), field_count(message));
	for (const struct field *field = message->fields; field->name; field++) {
		const json_t *property = json_object_get(properties, field->name);

		if (!property || !*field->help)
			fail_msg("%s.%s is not in the document, or has no help", name.data, field->name);
		check_property(field, property);
		if (field->type == FIELD_MESSAGE)
			check_schema(api, schemas, field->message, seen);
	}
}

/* Uploads, downloads and batches belong to other methods and are no methods themselves; nor is the error for uploads at
 * a wrong path. */
static bool moves_bytes(const struct route *route)
{
	return strncmp(route->path, "/storage/v1/", 12) != 0 ||
	       (strcmp(route->method, "POST") == 0 && strcmp(route->path, "/storage/v1/b/{bucket}/o") == 0);
}

static void the_document_is_the_tables_and_no_more(void **state)
{
	(void)state;
	for (const struct discovery_entry *entry = entries; entry->api; entry++) {
		AUTO(json) json_t *document = document_of(entry->api);
		AUTO(json) json_t *seen = json_object();
		const json_t *schemas = json_object_get(document, "schemas");

		for (const struct route *route = entry->routes; route->method; route++) {
			const struct message *request = route->body == &raw_body ? NULL : route->body;

			if (!route->doc && moves_bytes(route))
				continue;
			if (!route->doc)
				fail_msg("%s %s is published nowhere", route->method, route->path);
			if (route->doc->request)
				request = route->doc->request;
			if (request)
				check_schema(entry->api, schemas, request, seen);
			check_schema(entry->api, schemas, route->doc->response, seen);
		}
		assert_int_equal(json_object_size(seen), json_object_size(schemas));
	}
}

/* Counts the methods below a resource. */
static size_t method_count(const json_t *resource)
{
	size_t count = json_object_size(json_object_get(resource, "methods"));
	const char *name;
	json_t *below;

	json_object_foreach(json_object_get(resource, "resources"), name, below)
		count += method_count(below);
	return count;
}

static void every_route_is_a_method(void **state)
{
	(void)state;
	for (const struct discovery_entry *entry = entries; entry->api; entry++) {
		AUTO(json) json_t *document = document_of(entry->api);
		size_t count = 0;

		for (const struct route *route = entry->routes; route->method; route++)
			count += route->doc != NULL;
		assert_int_equal(method_count(document), count);
	}
}

static void names_of_a_path_may_be_parameters_of_their_own(void **state)
{
	AUTO(json) json_t *document = document_of(&storage_api);
	const json_t *methods = json_object_get(
		json_object_get(json_object_get(document, "resources"), "objects"), "methods");
	const json_t *get = json_object_get(methods, "get");
	const json_t *parameters = json_object_get(get, "parameters");
	AUTO(json) json_t *order = json_pack("[s, s]", "bucket", "object");

	(void)state;
	assert_string_equal(json_text_at(get, "id"), "storage.objects.get");
	assert_string_equal(json_text_at(get, "path"), "storage/v1/b/{bucket}/o/{object}");
	assert_string_equal(json_text_at(get, "flatPath"), "storage/v1/b/{bucket}/o/{object}");
	assert_true(json_equal(json_object_get(get, "parameterOrder"), order));
	assert_string_equal(json_text_at(json_object_get(parameters, "bucket"), "location"), "path");
	assert_string_equal(json_text_at(json_object_get(parameters, "generation"), "location"), "query");
	assert_string_equal(
		json_text_at(json_object_get(json_object_get(methods, "patch"), "request"), "$ref"),
		"Object");
}

static void a_document_is_the_same_each_time(void **state)
{
	(void)state;
	for (const struct discovery_entry *entry = entries; entry->api; entry++) {
		AUTO(json) json_t *first = document_of(entry->api);
		AUTO(json) json_t *second = document_of(entry->api);
		AUTO(string) char *text = json_dump_compact(first);
		AUTO(string) char *again = json_dump_compact(second);

		assert_string_equal(text, again);
	}
}

static void a_version_tells_which_api_is_meant(void **state)
{
	static const struct {
		const char *address, *id;
	} rows[] = {
		{ "/$discovery/rest", "ml:v1" },
		{ "/$discovery/rest?version=v1", "ml:v1" },
		{ "/%24discovery/rest?version=v2", "logging:v2" },
		{ "/discovery/v1/apis/ml/v1/rest", "ml:v1" },
		{ "/discovery/v1/apis/logging/v2/rest", "logging:v2" },
		{ "/discovery/v1/apis/storage/v1/rest", "storage:v1" },
	};
	static const char *const missing[] = { "/$discovery/rest?version=v3", "/discovery/v1/apis/ml/v2/rest",
					       "/discovery/v1/apis/compute/v1/rest" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(json) json_t *document = NULL;

		assert_int_equal(ask(rows[i].address, "h", &document, NULL), STATUS_OK);
		assert_string_equal(json_text_at(document, "id"), rows[i].id);
	}
	for (size_t i = 0; i < COUNT_OF(missing); i++) {
		json_t *document = NULL;

		assert_int_equal(ask(missing[i], "h", &document, NULL), STATUS_NOT_FOUND);
	}
}

static void a_document_names_the_host_it_was_asked_at(void **state)
{
	AUTO(json) json_t *document = NULL;
	json_t *none = NULL;

	(void)state;
	assert_int_equal(ask("/$discovery/rest", "ml.localhost:81", &document, NULL), STATUS_OK);
	assert_string_equal(json_text_at(document, "rootUrl"), "http://ml.localhost:81/");
	assert_string_equal(json_text_at(document, "baseUrl"), "http://ml.localhost:81/");
	assert_int_equal(ask("/$discovery/rest", "", &none, NULL), STATUS_INVALID_ARGUMENT);
	assert_int_equal(ask("/discovery/v1/apis", "", &none, NULL), STATUS_INVALID_ARGUMENT);
}

static void the_directory_leads_to_the_documents(void **state)
{
	AUTO(json) json_t *all = NULL;
	AUTO(json) json_t *one = NULL;
	AUTO(json) json_t *none = NULL;
	size_t index;
	const json_t *item;

	(void)state;
	assert_int_equal(ask("/discovery/v1/apis", "h:1", &all, NULL), STATUS_OK);
	assert_int_equal(json_array_size(json_object_get(all, "items")), 3);
	json_array_foreach(json_object_get(all, "items"), index, item) {
		AUTO(json) json_t *document = NULL;

		assert_int_equal(ask(json_text_at(item, "discoveryRestUrl") + strlen("http://h:1"), "h:1",
				     &document, NULL),
				 STATUS_OK);
		assert_string_equal(json_text_at(document, "id"), json_text_at(item, "id"));
	}
	assert_int_equal(ask("/discovery/v1/apis?name=logging&preferred=true", "h:1", &one, NULL), STATUS_OK);
	assert_int_equal(json_array_size(json_object_get(one, "items")), 1);
	assert_int_equal(ask("/discovery/v1/apis?name=x", "h:1", &none, NULL), STATUS_OK);
	assert_int_equal(json_array_size(json_object_get(none, "items")), 0);
}

/* Each method accepts the parameters that the document lists for all methods. */
static void the_common_parameters_are_taken(void **state)
{
	(void)state;
	for (const struct field *field = discovery_parameters.fields; field->name; field++) {
		const char *value = field->type == FIELD_ENUM   ? field->enum_type->values[0].name
				    : field->type == FIELD_BOOL ? "true"
								: "x";
		struct query_pair pair = { .name = field->name, .value = value };
		const struct query query = { .pairs = &pair, .count = 1 };
		struct parameters parameters = { 0 };
		AUTO(json) json_t *rest = json_array();

		assert_int_equal(parameters_take(&query, NULL, UNKNOWN_KEPT, &parameters, rest, NULL),
				 STATUS_OK);
		if (json_array_size(rest))
			fail_msg("%s is not taken", field->name);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_document_is_the_tables_and_no_more),
		cmocka_unit_test(every_route_is_a_method),
		cmocka_unit_test(names_of_a_path_may_be_parameters_of_their_own),
		cmocka_unit_test(a_document_is_the_same_each_time),
		cmocka_unit_test(a_version_tells_which_api_is_meant),
		cmocka_unit_test(a_document_names_the_host_it_was_asked_at),
		cmocka_unit_test(the_directory_leads_to_the_documents),
		cmocka_unit_test(the_common_parameters_are_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
