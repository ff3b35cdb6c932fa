/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of Cloud Logging; numbers are those of protobuf's binary form.
 * Source: https://github.com/googleapis/googleapis/tree/master/google/logging/v2 (read 2026-11-25) */
#include "api/logging/messages.h"

#define END                                                                                                  \
	{                                                                                                    \
		.name = NULL                                                                                 \
	}
#define ROW(NUMBER, NAME, TYPE, FLAGS, HELP)                                                                 \
	{                                                                                                    \
		.number = (NUMBER), .name = (NAME), .type = (TYPE), .flags = (FLAGS), .help = (HELP)         \
	}
/* A member of the entry's oneof. */
#define PAYLOAD(NUMBER, NAME, TYPE, FLAGS, HELP)                                                             \
	{                                                                                                    \
		.oneof = "payload", .number = (NUMBER), .name = (NAME), .type = (TYPE), .flags = (FLAGS),    \
		.help = (HELP)                                                                               \
	}
#define PLAIN(NUMBER, NAME, TYPE, HELP) ROW(NUMBER, NAME, TYPE, 0, HELP)
#define LIST(NUMBER, NAME, TYPE, HELP)  ROW(NUMBER, NAME, TYPE, FIELD_REPEATED, HELP)
#define MAP(NUMBER, NAME, TYPE, HELP)   ROW(NUMBER, NAME, TYPE, FIELD_MAP, HELP)
#define OBJECT(NUMBER, NAME, FLAGS, OF, HELP)                                                                \
	{                                                                                                    \
		.number = (NUMBER), .name = (NAME), .type = FIELD_MESSAGE, .flags = (FLAGS),                 \
		.message = (OF), .help = (HELP)                                                              \
	}

static const struct enum_value severities[] = {
	{ "DEFAULT", 0, "No severity was given." },
	{ "DEBUG", 100, "Details for debugging." },
	{ "INFO", 200, "What happens from day to day." },
	{ "NOTICE", 300, "Normal, but worth knowing." },
	{ "WARNING", 400, "May lead to trouble." },
	{ "ERROR", 500, "Likely to be trouble." },
	{ "CRITICAL", 600, "Serious trouble." },
	{ "ALERT", 700, "A person has to act at once." },
	{ "EMERGENCY", 800, "Nothing can be used any more." },
	{ NULL, 0, NULL },
};
const struct enum_type logging_severity = { "google.logging.type.LogSeverity", severities };

static const struct field resource_fields[] = {
	PLAIN(1, "type", FIELD_STRING, "Kind of thing the entry is about: ml_job for training jobs."),
	MAP(2, "labels", FIELD_STRING, "Which one: project_id, job_id, task_name for ml_job."),
	END,
};
static const struct message resource = { "google.api.MonitoredResource", resource_fields,
					 "What an entry is about." };

static const struct field http_request_fields[] = {
	PLAIN(1, "requestMethod", FIELD_STRING, "GET, POST ..."),
	PLAIN(2, "requestUrl", FIELD_STRING, "Scheme, host, path and query."),
	PLAIN(3, "requestSize", FIELD_INT64, "Bytes of the request."),
	PLAIN(4, "status", FIELD_INT32, "Status code of the response."),
	PLAIN(5, "responseSize", FIELD_INT64, "Bytes of the response."),
	PLAIN(6, "userAgent", FIELD_STRING, "What the client calls itself."),
	PLAIN(7, "remoteIp", FIELD_STRING, "Address of the client."),
	PLAIN(8, "referer", FIELD_STRING, "Referer header."),
	PLAIN(9, "cacheHit", FIELD_BOOL, "A cache had something to answer with."),
	PLAIN(10, "cacheValidatedWithOriginServer", FIELD_BOOL,
	      "The origin server was asked before the cache answered."),
	PLAIN(11, "cacheLookup", FIELD_BOOL, "A cache was looked into."),
	PLAIN(12, "cacheFillBytes", FIELD_INT64, "Bytes put into the cache."),
	PLAIN(13, "serverIp", FIELD_STRING, "Address of the server."),
	PLAIN(14, "latency", FIELD_DURATION, "From the request's arrival to the response's end."),
	PLAIN(15, "protocol", FIELD_STRING, "HTTP/1.1, HTTP/2 ..."),
	END,
};
static const struct message http_request = { "google.logging.type.HttpRequest", http_request_fields,
					     "The HTTP request that an entry is about." };

static const struct field operation_fields[] = {
	PLAIN(1, "id", FIELD_STRING, "Entries of one operation share it."),
	PLAIN(2, "producer", FIELD_STRING, "The program that made the id."),
	PLAIN(3, "first", FIELD_BOOL, "The operation's first entry."),
	PLAIN(4, "last", FIELD_BOOL, "The operation's last entry."),
	END,
};
static const struct message operation = { "google.logging.v2.LogEntryOperation", operation_fields,
					  "The long-running operation an entry belongs to." };

static const struct field source_location_fields[] = {
	PLAIN(1, "file", FIELD_STRING, "Source file."),
	PLAIN(2, "line", FIELD_INT64, "Line in it, from 1."),
	PLAIN(3, "function", FIELD_STRING, "Function or method."),
	END,
};
static const struct message source_location = { "google.logging.v2.LogEntrySourceLocation",
						source_location_fields,
						"Where in the program the entry was made." };

static const struct field split_fields[] = {
	PLAIN(1, "uid", FIELD_STRING, "All parts share it."),
	PLAIN(2, "index", FIELD_INT32, "Which part, from 0."),
	PLAIN(3, "totalSplits", FIELD_INT32, "How many parts."),
	END,
};
static const struct message split = { "google.logging.v2.LogSplit", split_fields,
				      "An entry that was cut into parts because of its size." };

static const struct field entry_fields[] = {
	PAYLOAD(2, "protoPayload", FIELD_STRUCT, FIELD_ANY, "Payload: a protocol buffer as JSON, with @type."),
	PAYLOAD(3, "textPayload", FIELD_STRING, 0, "Payload: a text."),
	PLAIN(4, "insertId", FIELD_STRING,
	      "Unique among entries of the same log and time; made when absent."),
	PAYLOAD(6, "jsonPayload", FIELD_STRUCT, 0, "Payload: a JSON object."),
	OBJECT(7, "httpRequest", 0, &http_request, "The HTTP request that the entry is about."),
	OBJECT(8, "resource", 0, &resource, "What the entry is about."),
	PLAIN(9, "timestamp", FIELD_TIMESTAMP, "When it happened; the present when absent."),
	{ .number = 10,
	  .name = "severity",
	  .type = FIELD_ENUM,
	  .enum_type = &logging_severity,
	  .help = "How much it matters." },
	MAP(11, "labels", FIELD_STRING, "Whatever else is known of it."),
	PLAIN(12, "logName", FIELD_STRING, "projects/PROJECT/logs/LOG, LOG percent-encoded."),
	OBJECT(15, "operation", 0, &operation, "The operation it belongs to."),
	PLAIN(22, "trace", FIELD_STRING, "Name of the trace it belongs to."),
	OBJECT(23, "sourceLocation", 0, &source_location, "Where in the program it was made."),
	ROW(24, "receiveTimestamp", FIELD_TIMESTAMP, FIELD_OUTPUT_ONLY, "When the service took it in."),
	PLAIN(27, "spanId", FIELD_STRING, "The span within the trace."),
	PLAIN(30, "traceSampled", FIELD_BOOL, "The trace was kept."),
	OBJECT(35, "split", 0, &split, "Which part of a cut entry this is."),
	END,
};
static const char *const entry_unset[] = { "apphub",      "apphubDestination", "apphubSource",
					   "errorGroups", "metadata",          "otel",
					   NULL };
const struct message logging_entry = { "google.logging.v2.LogEntry", entry_fields, "One entry of a log.",
				       entry_unset };

static const struct field list_entries_fields[] = {
	LIST(1, "projectIds", FIELD_STRING, "Deprecated: ids or numbers of projects; use resourceNames."),
	PLAIN(2, "filter", FIELD_STRING,
	      "Which entries, in the Logging query language; at most 20000 characters."),
	PLAIN(3, "orderBy", FIELD_STRING, "\"timestamp asc\" (default) or \"timestamp desc\"."),
	PLAIN(4, "pageSize", FIELD_INT32,
	      "The maximum number of entries in an answer: 50 unless given, never more than 1000."),
	PLAIN(5, "pageToken", FIELD_STRING,
	      "nextPageToken of the previous answer; all other fields but pageSize stay as they were."),
	LIST(8, "resourceNames", FIELD_STRING, "projects/PROJECT, or a view below it; at most 100."),
	END,
};
const struct message logging_list_entries_request = { "google.logging.v2.ListLogEntriesRequest",
						      list_entries_fields, "Asks for a page of entries." };

static const struct field list_entries_response_fields[] = {
	OBJECT(1, "entries", FIELD_REPEATED, &logging_entry,
	       "The entries; a page may have none and yet not be the last."),
	PLAIN(2, "nextPageToken", FIELD_STRING, "Asks for the next page; absent on the last."),
	END,
};
const struct message logging_list_entries_response = { "google.logging.v2.ListLogEntriesResponse",
						       list_entries_response_fields, "A page of entries." };

static const struct field tail_entries_fields[] = {
	LIST(1, "resourceNames", FIELD_STRING, "projects/PROJECT, or a view below it; at most 100."),
	PLAIN(2, "filter", FIELD_STRING,
	      "Which entries, in the Logging query language; at most 20000 characters."),
	PLAIN(3, "bufferWindow", FIELD_DURATION,
	      "How long entries are held back so that late ones can come before them: 2s unless given, 60s "
	      "at most."),
	END,
};
const struct message logging_tail_entries_request = { "google.logging.v2.TailLogEntriesRequest",
						      tail_entries_fields, "Asks for entries as they come." };

static const struct enum_value suppression_values[] = {
	{ "REASON_UNSPECIFIED", 0, "Not specified." },
	{ "RATE_LIMIT", 1, "More came than a session gives in a minute." },
	{ "NOT_CONSUMED", 2, "The client did not take them in time." },
	{ NULL, 0, NULL },
};
static const struct enum_type suppression_reason = {
	"google.logging.v2.TailLogEntriesResponse.SuppressionInfo.Reason", suppression_values
};
static const struct field suppression_fields[] = {
	{ .number = 1,
	  .name = "reason",
	  .type = FIELD_ENUM,
	  .enum_type = &suppression_reason,
	  .help = "Why they were left out." },
	PLAIN(2, "suppressedCount", FIELD_INT32, "The least number of entries that were left out."),
	END,
};
static const struct message suppression_info = { "google.logging.v2.TailLogEntriesResponse.SuppressionInfo",
						 suppression_fields, "Entries that were left out." };
static const struct field tail_entries_response_fields[] = {
	OBJECT(1, "entries", FIELD_REPEATED, &logging_entry, "New entries, in the order of time."),
	OBJECT(2, "suppressionInfo", FIELD_REPEATED, &suppression_info,
	       "How many were left out since the last message; one for each reason."),
	END,
};
const struct message logging_tail_entries_response = { "google.logging.v2.TailLogEntriesResponse",
						       tail_entries_response_fields, "New entries." };

static const struct field write_entries_fields[] = {
	PLAIN(1, "logName", FIELD_STRING, "Log of the entries that name none."),
	OBJECT(2, "resource", 0, &resource, "Resource of the entries that have none."),
	MAP(3, "labels", FIELD_STRING, "Labels of all entries; an entry's own go first."),
	OBJECT(4, "entries", FIELD_REPEATED, &logging_entry, "The entries."),
	PLAIN(5, "partialSuccess", FIELD_BOOL, "Write the good entries even if others are refused."),
	PLAIN(6, "dryRun", FIELD_BOOL, "Check everything, write nothing."),
	END,
};
const struct message logging_write_entries_request = { "google.logging.v2.WriteLogEntriesRequest",
						       write_entries_fields, "Writes entries." };

static const struct field no_fields[] = { END };
const struct message logging_write_entries_response = { "google.logging.v2.WriteLogEntriesResponse",
							no_fields, "Holds nothing." };

static const struct field list_logs_fields[] = {
	PLAIN(2, "pageSize", FIELD_INT32, "The maximum number of names in an answer."),
	PLAIN(3, "pageToken", FIELD_STRING, "nextPageToken of the previous answer."),
	LIST(8, "resourceNames", FIELD_STRING, "Accepted: the path says which logs."),
	END,
};
const struct message logging_list_logs_request = { "google.logging.v2.ListLogsRequest", list_logs_fields,
						   "Asks for a page of names of logs." };

static const struct field list_logs_response_fields[] = {
	LIST(3, "logNames", FIELD_STRING, "projects/PROJECT/logs/LOG, LOG percent-encoded, in rising order."),
	PLAIN(2, "nextPageToken", FIELD_STRING, "Asks for the next page; absent on the last."),
	END,
};
const struct message logging_list_logs_response = { "google.logging.v2.ListLogsResponse",
						    list_logs_response_fields, "A page of names of logs." };

/* Fields of the gRPC request: it has the field parent, which HTTP has in the path. */
static const struct field list_logs_call_fields[] = {
	PLAIN(1, "parent", FIELD_STRING, ""),
	PLAIN(2, "pageSize", FIELD_INT32, ""),
	PLAIN(3, "pageToken", FIELD_STRING, ""),
	LIST(8, "resourceNames", FIELD_STRING, ""),
	END,
};
const struct message logging_list_logs_call = { "google.logging.v2.ListLogsRequest", list_logs_call_fields,
						"" };

static const struct field delete_log_fields[] = {
	PLAIN(1, "logName", FIELD_STRING, ""),
	END,
};
const struct message logging_delete_log_request = { "google.logging.v2.DeleteLogRequest", delete_log_fields,
						    "" };
const struct message logging_empty = { "google.protobuf.Empty", no_fields, "Holds nothing." };

static const struct field list_descriptors_fields[] = {
	PLAIN(1, "pageSize", FIELD_INT32, "The maximum number of descriptors in an answer."),
	PLAIN(2, "pageToken", FIELD_STRING, "nextPageToken of the previous answer."),
	END,
};
const struct message logging_list_descriptors_request = {
	"google.logging.v2.ListMonitoredResourceDescriptorsRequest", list_descriptors_fields,
	"Asks for a page of descriptors."
};

static const struct enum_value value_types[] = {
	{ "STRING", 0, "A text." },
	{ "BOOL", 1, "True or false." },
	{ "INT64", 2, "A whole number." },
	{ NULL, 0, NULL },
};
static const struct enum_type value_type = { "google.api.LabelDescriptor.ValueType", value_types };
static const struct field label_descriptor_fields[] = {
	PLAIN(1, "key", FIELD_STRING, "The label's name."),
	{ .number = 2,
	  .name = "valueType",
	  .type = FIELD_ENUM,
	  .enum_type = &value_type,
	  .help = "What its values are." },
	PLAIN(3, "description", FIELD_STRING, "What they mean."),
	END,
};
static const struct message label_descriptor = { "google.api.LabelDescriptor", label_descriptor_fields,
						 "A label of a resource." };
static const struct field resource_descriptor_fields[] = {
	PLAIN(1, "type", FIELD_STRING, "The type in an entry's resource."),
	PLAIN(2, "displayName", FIELD_STRING, "Its name for people."),
	PLAIN(3, "description", FIELD_STRING, "What resources of this type are."),
	OBJECT(4, "labels", FIELD_REPEATED, &label_descriptor, "The labels of such a resource."),
	END,
};
static const char *const resource_descriptor_unset[] = { "launchStage", "name", NULL };
static const struct message resource_descriptor = { "google.api.MonitoredResourceDescriptor",
						    resource_descriptor_fields,
						    "A type of resources that entries are about.",
						    resource_descriptor_unset };
static const struct field list_descriptors_response_fields[] = {
	OBJECT(1, "resourceDescriptors", FIELD_REPEATED, &resource_descriptor, "The descriptors, by type."),
	PLAIN(2, "nextPageToken", FIELD_STRING, "Asks for the next page; absent on the last."),
	END,
};
const struct message logging_list_descriptors_response = {
	"google.logging.v2.ListMonitoredResourceDescriptorsResponse", list_descriptors_response_fields,
	"A page of descriptors."
};
