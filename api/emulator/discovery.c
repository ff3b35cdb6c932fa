/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/discovery.h"

#include <string.h>

#include "api/http/router.h"
#include "api/message/discovery.h"
#include "daemon/base/json.h"

static const struct field rest_fields[] = {
	{ .name = "version", .type = FIELD_STRING, .help = "The version of the API, v1 unless given." },
	{ .name = NULL },
};
static const struct message rest_query = { "google.discovery.RestQuery", rest_fields, "Which document." };

static const struct field list_fields[] = {
	{ .name = "name", .type = FIELD_STRING, .help = "Only the API of this name." },
	{ .name = "preferred", .type = FIELD_BOOL, .help = "Only preferred versions; all of them are." },
	{ .name = NULL },
};
static const struct message list_query = { "google.discovery.ListQuery", list_fields, "Which APIs." };

/* "http://127.0.0.1:8090/" */
static enum status root_url_write(struct text *text, const struct call *call, struct error *err)
{
	if (!*call->host || !utf8_valid(call->host, strlen(call->host)))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "A discovery document names the host it was asked at: the header Host is "
				 "missing, or is not UTF-8.");
	text_printf(text, "http://%s/", call->host);
	return STATUS_OK;
}

static void route_publish(json_t *document, const struct discovery_api *api, const struct route *route)
{
	struct text id AUTO_TEXT = { 0 };

	if (route->doc->id)
		text_puts(&id, route->doc->id);
	else
		route_name_write(&id, route);
	discovery_add(document, api,
		      &(struct discovery_method){
			      .id = id.data,
			      .http_method = route->method,
			      .path = route->path,
			      .resource = route->doc->resource,
			      .query = route->query,
			      .request = route->doc->request ? route->doc->request : route->body,
			      .own_names = route->doc->id != NULL,
			      .response = route->doc->response,
			      .help = route->doc->help,
		      });
}

static void routes_publish(json_t *document, const struct discovery_api *api, const struct route *routes)
{
	for (const struct route *route = routes; route->method; route++)
		if (route->doc)
			route_publish(document, api, route);
}

static enum status document_write(struct call *call, const struct discovery_entry *entry, struct error *err)
{
	struct text root_url AUTO_TEXT = { 0 };
	AUTO(json) json_t *document = NULL;
	enum status rc = root_url_write(&root_url, call, err);

	if (rc)
		return rc;
	document = discovery_begin(entry->api, root_url.data);
	routes_publish(document, entry->api, entry->routes);
	if (entry->more)
		routes_publish(document, entry->api, entry->more);
	json_write(&call->answer, document);
	return STATUS_OK;
}

/* The first API of this name and version; NULL for @name: of any name. */
static const struct discovery_entry *entry_find(const struct call *call, const char *name,
						const char *version)
{
	const struct discovery *discovery = call->context;

	for (const struct discovery_entry *entry = discovery->entries; entry->api; entry++)
		if ((!name || strcmp(entry->api->name, name) == 0) &&
		    strcmp(entry->api->version, version) == 0)
			return entry;
	return NULL;
}

/* Every API of the cloud has this path on a host of its own; here the version determines the API. */
static enum status own_document_get(struct call *call, struct error *err)
{
	const char *asked = call_query(call, "version");
	const char *version = asked && *asked ? asked : "v1";
	const struct discovery_entry *entry = entry_find(call, NULL, version);

	if (!entry)
		return error_set(err, STATUS_NOT_FOUND, NULL,
				 "There is no discovery document for version %.100s.", version);
	return document_write(call, entry, err);
}

static enum status document_get(struct call *call, struct error *err)
{
	const char *name = call_param(call, "api"), *version = call_param(call, "version");
	const struct discovery_entry *entry = entry_find(call, name, version);

	if (!entry)
		return error_set(err, STATUS_NOT_FOUND, NULL,
				 "There is no discovery document for %.100s %.100s.", name, version);
	return document_write(call, entry, err);
}

static json_t *item_make(const struct discovery_api *api, const char *root_url)
{
	return json_pack("{s:s, s:s++, s:s, s:s, s:s, s:s, s:s+++++, s:s, s:b}", "kind",
			 "discovery#directoryItem", "id", api->name, ":", api->version, "name", api->name,
			 "version", api->version, "title", api->title, "description", api->description,
			 "discoveryRestUrl", root_url, "discovery/v1/apis/", api->name, "/", api->version,
			 "/rest", "documentationLink", api->documentation_link, "preferred", 1);
}

static enum status directory_get(struct call *call, struct error *err)
{
	const struct discovery *discovery = call->context;
	const char *name = call_query(call, "name");
	struct text root_url AUTO_TEXT = { 0 };
	AUTO(json) json_t *directory = NULL;
	json_t *items = json_array();
	enum status rc = root_url_write(&root_url, call, err);

	directory = json_pack("{s:s, s:s, s:o}", "kind", "discovery#directoryList", "discoveryVersion", "v1",
			      "items", items);
	if (rc)
		return rc;
	for (const struct discovery_entry *entry = discovery->entries; entry->api; entry++)
		if ((!name || !*name || strcmp(name, entry->api->name) == 0))
			json_array_append_new(items, item_make(entry->api, root_url.data));
	json_write(&call->answer, directory);
	return STATUS_OK;
}

/* ---- tables for masks of fields ---- */

#define TEXT_FIELD(NAME)                                                                                     \
	{                                                                                                    \
		.name = (NAME), .type = FIELD_STRING                                                         \
	}
#define OPEN_FIELD(NAME)                                                                                     \
	{                                                                                                    \
		.name = (NAME), .type = FIELD_STRUCT                                                         \
	}
#define OF_BOTH                                                                                              \
	TEXT_FIELD("kind"), TEXT_FIELD("id"), TEXT_FIELD("name"), TEXT_FIELD("version"),                     \
		TEXT_FIELD("title"), TEXT_FIELD("description"), OPEN_FIELD("icons"),                         \
		TEXT_FIELD("documentationLink"),                                                             \
	{                                                                                                    \
		.name = "labels", .type = FIELD_STRING, .flags = FIELD_REPEATED                              \
	}

/* Source: https://developers.google.com/discovery/v1/reference/apis (read 2026-11-26) */
static const struct field item_fields[] = {
	OF_BOTH,
	TEXT_FIELD("discoveryRestUrl"),
	TEXT_FIELD("discoveryLink"),
	{ .name = "preferred", .type = FIELD_BOOL },
	{ .name = NULL },
};
static const struct message item = { .full_name = "discovery#directoryItem", .fields = item_fields };
static const struct field directory_fields[] = {
	TEXT_FIELD("kind"),
	TEXT_FIELD("discoveryVersion"),
	{ .name = "items", .type = FIELD_MESSAGE, .flags = FIELD_REPEATED, .message = &item },
	{ .name = NULL },
};
static const struct message directory_answer = { .full_name = "discovery#directoryList",
						 .fields = directory_fields };
static const struct field document_fields[] = {
	OF_BOTH,
	TEXT_FIELD("discoveryVersion"),
	TEXT_FIELD("etag"),
	TEXT_FIELD("revision"),
	TEXT_FIELD("canonicalName"),
	TEXT_FIELD("ownerDomain"),
	TEXT_FIELD("ownerName"),
	TEXT_FIELD("packagePath"),
	TEXT_FIELD("protocol"),
	TEXT_FIELD("baseUrl"),
	TEXT_FIELD("basePath"),
	TEXT_FIELD("rootUrl"),
	TEXT_FIELD("mtlsRootUrl"),
	TEXT_FIELD("servicePath"),
	TEXT_FIELD("batchPath"),
	{ .name = "fullyEncodeReservedExpansion", .type = FIELD_BOOL },
	{ .name = "version_module", .type = FIELD_BOOL },
	OPEN_FIELD("endpoints"),
	OPEN_FIELD("parameters"),
	OPEN_FIELD("auth"),
	OPEN_FIELD("schemas"),
	OPEN_FIELD("methods"),
	OPEN_FIELD("resources"),
	{ .name = NULL },
};
static const struct message document_answer = { .full_name = "discovery#restDescription",
						.fields = document_fields };

/* No token is needed, as for the documents of the cloud: clients read them before they authenticate. */
const struct route discovery_routes[] = {
	{ .method = "GET",
	  .path = "/$discovery/rest",
	  .handler = own_document_get,
	  .query = &rest_query,
	  .response = &document_answer,
	  .open = true },
	{ .method = "GET",
	  .path = "/discovery/v1/apis",
	  .handler = directory_get,
	  .query = &list_query,
	  .response = &directory_answer,
	  .open = true },
	{ .method = "GET",
	  .path = "/discovery/v1/apis/{api}/{version}/rest",
	  .handler = document_get,
	  .response = &document_answer,
	  .open = true },
	{ .method = NULL },
};
