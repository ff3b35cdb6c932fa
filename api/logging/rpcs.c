/* SPDX-License-Identifier: Apache-2.0 */
#include "api/logging/rpcs.h"

#include "api/logging/messages.h"

/* Its parent is in the path of HTTP. */
static const struct field list_logs_fields[] = {
	{ .number = 1, .name = "parent", .type = FIELD_STRING },
	{ .number = 2, .name = "pageSize", .type = FIELD_INT32 },
	{ .number = 3, .name = "pageToken", .type = FIELD_STRING },
	{ .number = 8, .name = "resourceNames", .type = FIELD_STRING, .flags = FIELD_REPEATED },
	{ .name = NULL },
};
static const struct message list_logs = { "google.logging.v2.ListLogsRequest", list_logs_fields, "" };

#define SERVICE "/google.logging.v2.LoggingServiceV2/"

const struct rpc logging_rpcs[] = {
	{ SERVICE "WriteLogEntries", &logging_write_entries_request, &logging_write_entries_response, "POST",
	  "/v2/entries:write", "*" },
	{ SERVICE "ListLogEntries", &logging_list_entries_request, &logging_list_entries_response, "POST",
	  "/v2/entries:list", "*" },
	{ SERVICE "ListLogs", &list_logs, &logging_list_logs_response, "GET", "/v2/{parent=projects/*}/logs",
	  NULL },
	{ .path = NULL },
};
