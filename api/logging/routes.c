/* SPDX-License-Identifier: Apache-2.0 */
#include "api/logging/routes.h"

#include "api/grpc/rpc.h"
#include "api/logging/entry_tail.h"
#include "api/logging/handlers.h"
#include "api/logging/messages.h"
#include "api/message/discovery.h"

/* revision is that of the public discovery document with the same fields. */
const struct discovery_api logging_api = {
	.name = "logging",
	.version = "v2",
	.revision = "20260911",
	.title = "Cloud Logging API",
	.description = "The logs of trainyard's jobs, and whatever else is written to them.",
	.canonical_name = "Logging",
	.documentation_link = "https://cloud.google.com/logging/docs",
	.short_names = true,
};

#define CALL(NAME, REQUEST)                                                                                  \
	(&(const struct rpc){ .path = "/google.logging.v2.LoggingServiceV2/" NAME, .request = &(REQUEST) })

#define LOGS_OF(PARENT)                                                                                      \
	.method = "GET", .path = "/v2/" PARENT "/logs", .handler = log_list,                                 \
	.query = &logging_list_logs_request,                                                                 \
	.doc = METHOD_DOC("parent", logging_list_logs_response,                                              \
			  "Lists the names of logs that have entries.")

const struct route logging_routes[] = {
	{ .method = "POST",
	  .path = "/v2/entries:list",
	  .handler = entry_list,
	  .body = &logging_list_entries_request,
	  .body_root = "",
	  .doc = METHOD_DOC(NULL, logging_list_entries_response,
			    "Reads entries of logs in the order of time, page by page."),
	  .rpc = CALL("ListLogEntries", logging_list_entries_request) },
	{ .method = "POST",
	  .path = "/v2/entries:write",
	  .handler = entry_write,
	  .body = &logging_write_entries_request,
	  .body_root = "",
	  .doc = METHOD_DOC(NULL, logging_write_entries_response, "Writes entries into logs."),
	  .rpc = CALL("WriteLogEntries", logging_write_entries_request) },
	{ .method = "POST",
	  .path = "/v2/entries:tail",
	  .handler = entry_tail,
	  .body = &logging_tail_entries_request,
	  .body_root = "",
	  .doc = METHOD_DOC(NULL, logging_tail_entries_response,
			    "Goes on with new entries as they are stored, for an hour at most."),
	  .rpc = &(const struct rpc){ .path = "/google.logging.v2.LoggingServiceV2/TailLogEntries",
				      .request = &logging_tail_entries_request,
				      .feed = &entry_tail_feed } },
	{ .method = "DELETE",
	  .path = "/v2/projects/{project}/logs/{log}",
	  .handler = log_delete,
	  .doc = METHOD_DOC("logName", logging_empty,
			    "Deletes the entries of a log; with the next entry it is there again."),
	  .rpc = CALL("DeleteLog", logging_delete_log_request) },
	{ LOGS_OF("projects/{project}"), .rpc = CALL("ListLogs", logging_list_logs_call) },
	{ LOGS_OF("projects/{project}/locations/{location}/buckets/{bucket}/views/{view}") },
	{ LOGS_OF("folders/{folder}") },
	{ LOGS_OF("organizations/{organization}") },
	{ LOGS_OF("billingAccounts/{account}") },
	{ .method = "GET",
	  .path = "/v2/monitoredResourceDescriptors",
	  .handler = descriptor_list,
	  .query = &logging_list_descriptors_request,
	  .doc = METHOD_DOC(NULL, logging_list_descriptors_response,
			    "Lists the types of resources that entries are about."),
	  .rpc = CALL("ListMonitoredResourceDescriptors", logging_list_descriptors_request) },
	{ 0 },
};

#define ABSENT(method_, path_)                                                                               \
	{                                                                                                    \
		.method = (method_), .path = (path_)                                                         \
	}

const struct route logging_absent[] = {
	ABSENT("POST", "/v2/entries:copy"),
	ABSENT("GET", "/v2/projects/{project}/metrics"),
	ABSENT("POST", "/v2/projects/{project}/metrics"),
	ABSENT("GET", "/v2/projects/{project}/metrics/{metric}"),
	ABSENT("PUT", "/v2/projects/{project}/metrics/{metric}"),
	ABSENT("DELETE", "/v2/projects/{project}/metrics/{metric}"),
	ABSENT("GET", "/v2/projects/{project}/sinks"),
	ABSENT("POST", "/v2/projects/{project}/sinks"),
	ABSENT("GET", "/v2/projects/{project}/sinks/{sink}"),
	ABSENT("PUT", "/v2/projects/{project}/sinks/{sink}"),
	ABSENT("PATCH", "/v2/projects/{project}/sinks/{sink}"),
	ABSENT("DELETE", "/v2/projects/{project}/sinks/{sink}"),
	ABSENT("GET", "/v2/projects/{project}/exclusions"),
	ABSENT("POST", "/v2/projects/{project}/exclusions"),
	ABSENT("GET", "/v2/projects/{project}/settings"),
	ABSENT("GET", "/v2/projects/{project}/cmekSettings"),
	ABSENT("GET", "/v2/projects/{project}/locations"),
	ABSENT("GET", "/v2/projects/{project}/locations/{location}/buckets"),
	ABSENT("POST", "/v2/projects/{project}/locations/{location}/buckets"),
	ABSENT("GET", "/v2/projects/{project}/locations/{location}/buckets/{bucket}"),
	ABSENT("GET", "/v2/projects/{project}/locations/{location}/buckets/{bucket}/views"),
	{ 0 },
};
