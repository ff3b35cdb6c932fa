/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/discovery.h"

#include "api/message/discovery_schema.h"
#include "tests/unit/api/message/json_testing.h"
#include "tests/unit/api/message/sample_message.h"

static const struct discovery_api api = {
	.name = "yard",
	.version = "v7",
	.revision = "20261121",
	.title = "T",
	.description = "D",
	.canonical_name = "Yard",
	.documentation_link = "https://example.com/",
};

static void schemas_are_named_by_rule(void **state)
{
	static const struct {
		const char *full_name, *long_name, *short_name, *joined_name;
	} rows[] = {
		{ "google.cloud.ml.v1.Job", "GoogleCloudMlV1__Job", "Job", "GoogleCloudMlV1Job" },
		{ "google.cloud.ml.v1.Outer.Inner", "GoogleCloudMlV1_Outer_Inner", "Outer_Inner",
		  "GoogleCloudMlV1OuterInner" },
		{ "google.protobuf.Empty", "GoogleProtobuf__Empty", "Empty", "GoogleProtobufEmpty" },
		{ "google.iam.v1.Policy", "GoogleIamV1__Policy", "Policy", "GoogleIamV1Policy" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct message message = { .full_name = rows[i].full_name };
		const struct discovery_api brief = { .short_names = true };
		struct text name AUTO_TEXT = { 0 };
		const struct discovery_api joined = { .joined_names = true };
		struct text short_name AUTO_TEXT = { 0 };
		struct text joined_name AUTO_TEXT = { 0 };

		discovery_schema_name(&name, &api, &message);
		discovery_schema_name(&short_name, &brief, &message);
		discovery_schema_name(&joined_name, &joined, &message);
		assert_string_equal(joined_name.data, rows[i].joined_name);
		assert_string_equal(name.data, rows[i].long_name);
		assert_string_equal(short_name.data, rows[i].short_name);
	}
}

/* A message with a field of each type, and one that contains itself. */
static void each_type_has_its_schema(void **state)
{
	static const struct {
		const char *name, *schema;
	} rows[] = {
		{ "text", "{'type':'string','description':''}" },
		{ "flag", "{'type':'boolean','description':''}" },
		{ "smallCount", "{'type':'integer','format':'int32','description':''}" },
		{ "largeCount", "{'type':'string','format':'int64','description':''}" },
		{ "ratio", "{'type':'number','format':'double','description':''}" },
		{ "etag", "{'type':'string','format':'byte','description':''}" },
		{ "waitTime", "{'type':'string','format':'google-duration','description':''}" },
		{ "endTime", "{'type':'string','format':'google-datetime','description':''}" },
		{ "updateMask", "{'type':'string','format':'google-fieldmask','description':''}" },
		{ "bag", "{'type':'object','additionalProperties':{'type':'any','description':'Any value.'},"
			 "'description':''}" },
		{ "thing", "{'type':'any','description':''}" },
		{ "color",
		  "{'type':'string','enum':['NONE','RED','BLUE','GREY','BLACK'],'enumDescriptions':['','','','',''],"
		  "'description':''}" },
		{ "child", "{'$ref':'Test__Sample','description':''}" },
		{ "words", "{'type':'array','items':{'type':'string'},'description':''}" },
		{ "children", "{'type':'array','items':{'$ref':'Test__Sample'},'description':''}" },
		{ "labels", "{'type':'object','additionalProperties':{'type':'string'},'description':''}" },
		{ "nodes",
		  "{'type':'object','additionalProperties':{'$ref':'Test__Sample'},'description':''}" },
		{ "consumedMLUnits", "{'type':'number','format':'double','description':'Output only. ',"
				     "'readOnly':true}" },
	};
	AUTO(json) json_t *schemas = json_object();
	const json_t *sample, *properties;

	(void)state;
	schema_add(schemas, &api, &sample_message);
	assert_int_equal(json_object_size(schemas), 1);
	sample = json_object_get(schemas, "Test__Sample");
	properties = json_object_get(sample, "properties");
	assert_string_equal(json_text_at(sample, "id"), "Test__Sample");
	assert_string_equal(json_text_at(sample, "type"), "object");
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		assert_json_text(json_object_get(properties, rows[i].name), rows[i].schema);
}

static void flags_show_in_the_description(void **state)
{
	static const struct field fields[] = {
		{ .name = "a", .type = FIELD_STRING, .flags = FIELD_REQUIRED, .help = "A." },
		{ .name = "b",
		  .type = FIELD_STRING,
		  .flags = FIELD_REQUIRED | FIELD_IMMUTABLE,
		  .help = "B." },
		{ .name = "c", .type = FIELD_STRING, .flags = FIELD_IMMUTABLE, .help = "C." },
		{ .name = NULL },
	};
	static const struct message message = { "test.Flags", fields, "Flags." };
	AUTO(json) json_t *schemas = json_object();

	(void)state;
	schema_add(schemas, &api, &message);
	assert_json_text(
		schemas,
		"{'Test__Flags':{'id':'Test__Flags','description':'Flags.','type':'object','properties':"
		"{'a':{'type':'string','description':'Required. A.'},"
		"'b':{'type':'string','description':'Required. Immutable. B.'},"
		"'c':{'type':'string','description':'Immutable. C.'}}}}");
}

static void a_query_has_what_can_be_bound(void **state)
{
	static const struct field options_fields[] = {
		{ .name = "version", .type = FIELD_INT32, .help = "V." },
		{ .name = "words", .type = FIELD_STRING, .flags = FIELD_REPEATED, .help = "W." },
		{ .name = NULL },
	};
	static const struct message options = { "test.Options", options_fields, "" };
	static const struct field fields[] = {
		{ .name = "options", .type = FIELD_MESSAGE, .message = &options, .help = "O." },
		{ .name = "labels", .type = FIELD_STRING, .flags = FIELD_MAP, .help = "L." },
		{ .name = "bag", .type = FIELD_STRUCT, .help = "B." },
		{ .name = "list",
		  .type = FIELD_MESSAGE,
		  .flags = FIELD_REPEATED,
		  .message = &options,
		  .help = "L." },
		{ .name = NULL },
	};
	static const struct message query = { "test.Query", fields, "" };
	AUTO(json) json_t *parameters = json_object();

	(void)state;
	parameters_add(parameters, &query);
	assert_json_text(parameters,
			 "{'options.version':{'type':'integer','format':'int32','description':'V.',"
			 "'location':'query'},'options.words':{'type':'string','description':'W.',"
			 "'location':'query','repeated':true}}");
}

static void methods_stand_under_their_resources(void **state)
{
	static const struct field none[] = { { .name = NULL } };
	static const struct message empty = { "google.protobuf.Empty", none, "Nothing." };
	static const struct discovery_method stop = {
		.id = "projects.jobs.stop",
		.http_method = "POST",
		.path = "/v7/projects/{project}/jobs/{job}:stop",
		.resource = "name",
		.request = &empty,
		.response = &empty,
		.help = "Stops.",
	};
	static const struct discovery_method list = {
		.id = "projects.jobs.list",
		.http_method = "GET",
		.path = "/v7/projects/{project}/jobs",
		.resource = "parent",
		.response = &empty,
		.help = "Lists.",
	};
	static const struct discovery_method find = {
		.id = "entries.find",
		.http_method = "POST",
		.path = "/v7/entries:find",
		.response = &empty,
		.help = "Finds.",
	};
	AUTO(json) json_t *document = discovery_begin(&api, "http://h/");

	(void)state;
	discovery_add(document, &api, &stop);
	discovery_add(document, &api, &list);
	discovery_add(document, &api, &find);
	assert_string_equal(json_text_at(document, "id"), "yard:v7");
	assert_string_equal(json_text_at(document, "rootUrl"), "http://h/");
	assert_string_equal(json_text_at(document, "servicePath"), "");
	assert_null(json_object_get(document, "batchPath"));
	assert_json_text(
		json_object_get(document, "resources"),
		"{'projects':{'resources':{'jobs':{'methods':{"
		"'stop':{'id':'yard.projects.jobs.stop','path':'v7/{+name}:stop',"
		"'flatPath':'v7/projects/{projectsId}/jobs/{jobsId}:stop','httpMethod':'POST','description':'Stops.',"
		"'parameters':{'name':{'description':'Required. Which one: projects/PROJECT/jobs/JOB',"
		"'location':'path','pattern':'^projects/[^/]+/jobs/[^/]+$','required':true,'type':'string'}},"
		"'parameterOrder':['name'],'request':{'$ref':'GoogleProtobuf__Empty'},"
		"'response':{'$ref':'GoogleProtobuf__Empty'},"
		"'scopes':['https://www.googleapis.com/auth/cloud-platform']},"
		"'list':{'id':'yard.projects.jobs.list','path':'v7/{+parent}/jobs',"
		"'flatPath':'v7/projects/{projectsId}/jobs','httpMethod':'GET','description':'Lists.',"
		"'parameters':{'parent':{'description':'Required. Which one: projects/PROJECT','location':'path',"
		"'pattern':'^projects/[^/]+$','required':true,'type':'string'}},'parameterOrder':['parent'],"
		"'response':{'$ref':'GoogleProtobuf__Empty'},"
		"'scopes':['https://www.googleapis.com/auth/cloud-platform',"
		"'https://www.googleapis.com/auth/cloud-platform.read-only']}}}}},"
		"'entries':{'methods':{'find':{'id':'yard.entries.find','path':'v7/entries:find',"
		"'flatPath':'v7/entries:find','httpMethod':'POST','description':'Finds.','parameters':{},"
		"'parameterOrder':[],'response':{'$ref':'GoogleProtobuf__Empty'},"
		"'scopes':['https://www.googleapis.com/auth/cloud-platform']}}}}");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(schemas_are_named_by_rule),
		cmocka_unit_test(each_type_has_its_schema),
		cmocka_unit_test(flags_show_in_the_description),
		cmocka_unit_test(a_query_has_what_can_be_bound),
		cmocka_unit_test(methods_stand_under_their_resources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
