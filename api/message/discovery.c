/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/discovery.h"

#include <ctype.h>
#include <string.h>

#include "api/message/discovery_schema.h"
#include "api/message/message.h"
#include "api/message/path.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"

static const char scope_all[] = "https://www.googleapis.com/auth/cloud-platform";
static const char scope_read[] = "https://www.googleapis.com/auth/cloud-platform.read-only";

static const struct enum_value error_form_values[] = {
	{ "1", 0, "Errors with a list of errors in them, as older clients read them." },
	{ "2", 1, "Errors with a status and details." },
	{ .name = NULL },
};
static const struct enum_type error_form = { "google.api.ErrorFormat", error_form_values };

static const struct enum_value alt_values[] = {
	{ "json", 0, "JSON." },
	{ .name = NULL },
};
static const struct enum_type alt = { "google.api.Alt", alt_values };

/* Source: https://cloud.google.com/apis/docs/system-parameters (read 2026-11-20) */
static const struct field parameter_fields[] = {
	{ "$.xgafv", FIELD_ENUM, 0, &error_form, NULL, "The form of errors." },
	{ "access_token", FIELD_STRING, 0, NULL, NULL, "An OAuth access token; accepted, not looked at." },
	{ "alt", FIELD_ENUM, 0, &alt, NULL, "The form of the answer." },
	{ "fields", FIELD_STRING, 0, NULL, NULL, "Which fields to answer, such as jobs(jobId,state)." },
	{ "key", FIELD_STRING, 0, NULL, NULL, "An API key; accepted, not looked at." },
	{ "oauth_token", FIELD_STRING, 0, NULL, NULL, "An OAuth access token; accepted, not looked at." },
	{ "prettyPrint", FIELD_BOOL, 0, NULL, NULL, "Whether the answer has line breaks." },
	{ "quotaUser", FIELD_STRING, 0, NULL, NULL,
	  "Ignored: calls count for the quota of their project." },
	{ "uploadType", FIELD_STRING, 0, NULL, NULL,
	  "The older way to send media; accepted, not looked at." },
	{ "upload_protocol", FIELD_STRING, 0, NULL, NULL, "The way to send media; accepted, not looked at." },
	{ .name = NULL },
};
const struct message discovery_parameters = { "google.api.SystemParameters", parameter_fields,
					      "What every method takes." };

static const struct {
	const char *parameter, *value;
} defaults[] = { { "alt", "json" }, { "prettyPrint", "true" } };

static json_t *global_parameters(void)
{
	json_t *parameters = json_object();

	parameters_add(parameters, &discovery_parameters);
	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		json_object_set_new(json_object_get(parameters, defaults[i].parameter), "default",
				    json_string(defaults[i].value));
	return parameters;
}

static json_t *auth(void)
{
	return json_pack("{s:{s:{s:{s:s}, s:{s:s}}}}", "oauth2", "scopes", scope_all, "description",
			 "See and change everything.", scope_read, "description", "See everything.");
}

/* The document has no batchPath, because the API takes no batches. */
json_t *discovery_begin(const struct discovery_api *api, const char *root_url)
{
	return json_pack("{s:s, s:s, s:s++, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s,"
			 " s:s, s:s, s:s, s:s, s:s, s:b, s:o, s:o, s:{}, s:{}}",
			 "kind", "discovery#restDescription", "discoveryVersion", "v1", "id", api->name, ":",
			 api->version, "name", api->name, "canonicalName", api->canonical_name, "version",
			 api->version, "revision", api->revision, "title", api->title, "description",
			 api->description, "ownerDomain", "google.com", "ownerName", "Google",
			 "documentationLink", api->documentation_link, "protocol", "rest", "rootUrl",
			 root_url, "servicePath", "", "basePath", "", "baseUrl", root_url,
			 "fullyEncodeReservedExpansion", 1, "auth", auth(), "parameters", global_parameters(),
			 "resources", "schemas");
}

/* The object at @name; makes it if it does not exist. */
static json_t *object_in(json_t *object, const char *name)
{
	json_t *member = json_object_get(object, name);

	if (member)
		return member;
	member = json_object();
	json_object_set_new(object, name, member);
	return member;
}

/* Adds the method below its resources: "projects.jobs.create" below projects and jobs. */
static void method_put(json_t *document, const char *id, json_t *method)
{
	AUTO(string) char *copy = memory_strdup(id);
	AUTO(json) json_t *made = method;
	char *rest = copy, *word = strsep(&rest, ".");
	json_t *at = document;

	for (; rest; word = strsep(&rest, "."))
		at = object_in(object_in(at, "resources"), word);
	json_object_set(object_in(at, "methods"), word, made);
}

/* The texts that are made from a method's path, segment by segment. */
struct path_texts {
	struct text flat;    /* v1/projects/{projectsId}/jobs */
	struct text pattern; /* ^projects/[^/]+$ */
	struct text form;    /* projects/PROJECT */
	struct text path;    /* v1/{+parent}/jobs */
};

static void path_texts_deinit(struct path_texts *texts)
{
	text_deinit(&texts->flat);
	text_deinit(&texts->pattern);
	text_deinit(&texts->form);
	text_deinit(&texts->path);
}

/* The number of parts of the path up to its last {name}, including the version. */
static size_t bound_parts(const char *path)
{
	struct path_part part;
	size_t count = 0, bound = 0;

	while (path_part_next(&path, &part)) {
		count++;
		if (part.is_name)
			bound = count;
	}
	return bound;
}

/* Writes a part of the path that belongs to the name of the resource. */
static void bound_part_write(struct path_texts *texts, const struct path_part *part, bool first)
{
	text_puts(&texts->pattern, first ? "^" : "/");
	text_puts(&texts->form, first ? "" : "/");
	if (!part->is_name) {
		text_append(&texts->pattern, part->text, part->length);
		text_append(&texts->form, part->text, part->length);
		return;
	}
	text_puts(&texts->pattern, part->is_rest ? ".*" : "[^/]+");
	for (size_t i = 0; i < part->length; i++)
		text_putc(&texts->form, (char)toupper((unsigned char)part->text[i]));
}

static void flat_part_write(struct text *flat, const struct path_part *part, const struct path_part *before)
{
	if (part->is_name)
		text_printf(flat, "{%.*sId}", (int)before->length, before->text);
	else
		text_append(flat, part->text, part->length);
}

/* Writes a part of the path that belongs to no resource. */
static void own_part_write(struct text *path, const struct path_part *part)
{
	text_puts(path, part->is_name ? (part->is_rest ? "{+" : "{") : "");
	text_append(path, part->text, part->length);
	text_puts(path, part->is_name ? "}" : "");
}

/* The first part is the version, which belongs to no resource. */
static void path_texts_write(struct path_texts *texts, const struct discovery_method *method)
{
	const char *at = method->path;
	const size_t bound = bound_parts(method->path);
	struct path_part part, before = { 0 };

	for (size_t i = 1; path_part_next(&at, &part); before = part, i++) {
		const char *slash = i == 1 ? "" : "/";

		text_puts(&texts->flat, slash);
		if (method->own_names)
			own_part_write(&texts->flat, &part);
		else
			flat_part_write(&texts->flat, &part, &before);
		if (i > 1 && i <= bound && !method->own_names) {
			bound_part_write(texts, &part, i == 2);
		} else {
			text_puts(&texts->path, slash);
			own_part_write(&texts->path, &part);
		}
		if (i == bound && !method->own_names)
			text_printf(&texts->path, "/{+%s}", method->resource);
	}
	text_putc(&texts->pattern, '$');
	text_puts(&texts->flat, at);
	text_puts(&texts->path, at);
}

/* Adds each {name} of the path as a parameter to @parameters, and as a string to the list @order. */
static void names_add(json_t *parameters, json_t *order, const char *path)
{
	struct path_part part;

	while (path_part_next(&path, &part)) {
		AUTO(string) char *name = part.is_name ? memory_strndup(part.text, part.length) : NULL;

		if (!part.is_name)
			continue;
		json_array_append_new(order, json_string(name));
		json_object_set_new(parameters, name,
				    json_pack("{s:s, s:s, s:b, s:s}", "description", "Required. Which one.",
					      "location", "path", "required", 1, "type", "string"));
	}
}

/* Makes the document's parameters of the method: the resource in the path, then the query's
 * fields. */
static json_t *method_parameters(const struct discovery_method *method, const struct path_texts *texts)
{
	AUTO(json) json_t *parameters = json_object();
	AUTO(json) json_t *order = json_array();

	if (method->own_names)
		names_add(parameters, order, method->path);
	if (method->resource)
		json_object_set_new(parameters, method->resource,
				    json_pack("{s:s+, s:s, s:s, s:b, s:s}", "description",
					      "Required. Which one: ", texts->form.data, "location", "path",
					      "pattern", texts->pattern.data, "required", 1, "type",
					      "string"));
	if (method->query)
		parameters_add(parameters, method->query);
	return TAKE(parameters);
}

/* Returns the scopes that allow the method. The read-only scope is enough for a GET without a verb. */
static json_t *method_scopes(const struct discovery_method *method)
{
	bool reads = strcmp(method->http_method, "GET") == 0 && !strchr(method->path, ':');

	return reads ? json_pack("[s, s]", scope_all, scope_read) : json_pack("[s]", scope_all);
}

static json_t *method_order(const struct discovery_method *method)
{
	AUTO(json) json_t *unused = json_object();
	AUTO(json) json_t *order = method->resource ? json_pack("[s]", method->resource) : json_array();

	if (method->own_names)
		names_add(unused, order, method->path);
	return TAKE(order);
}

static json_t *method_make(const struct discovery_api *api, const struct discovery_method *method)
{
	struct path_texts texts __attribute__((cleanup(path_texts_deinit))) = { 0 };
	AUTO(json) json_t *made = NULL;

	path_texts_write(&texts, method);
	made = json_pack("{s:s++, s:s, s:s, s:s, s:s, s:o, s:o, s:o*, s:o, s:o}", "id", api->name, ".",
			 method->id, "path", texts.path.data, "flatPath", texts.flat.data, "httpMethod",
			 method->http_method, "description", method->help, "parameters",
			 method_parameters(method, &texts), "parameterOrder", method_order(method), "request",
			 method->request ? schema_reference(api, method->request) : NULL, "response",
			 schema_reference(api, method->response), "scopes", method_scopes(method));
	return TAKE(made);
}

void discovery_add(json_t *document, const struct discovery_api *api, const struct discovery_method *method)
{
	json_t *schemas = json_object_get(document, "schemas");

	method_put(document, method->id, method_make(api, method));
	if (method->request)
		schema_add(schemas, api, method->request);
	schema_add(schemas, api, method->response);
}
