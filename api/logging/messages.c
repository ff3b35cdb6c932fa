/* SPDX-License-Identifier: Apache-2.0 */
#include "api/logging/messages.h"

#define END                                                                                                  \
	{                                                                                                    \
		NULL, FIELD_STRING, 0, NULL, NULL, NULL                                                      \
	}
#define PLAIN(name, type, help)                                                                              \
	{                                                                                                    \
		name, type, 0, NULL, NULL, help                                                              \
	}
#define LIST(name, type, help)                                                                               \
	{                                                                                                    \
		name, type, FIELD_REPEATED, NULL, NULL, help                                                 \
	}
#define MAP(name, type, help)                                                                                \
	{                                                                                                    \
		name, type, FIELD_MAP, NULL, NULL, help                                                      \
	}
#define OBJECT(name, flags, message, help)                                                                   \
	{                                                                                                    \
		name, FIELD_MESSAGE, flags, NULL, message, help                                              \
	}

static const struct enum_value severities[] = {
	{ "DEFAULT", 0, "No severity was given." },
	{ "DEBUG", 100, "Of use to who searches for faults." },
	{ "INFO", 200, "What happens from day to day." },
	{ "NOTICE", 300, "Normal, but worth knowing." },
	{ "WARNING", 400, "May lead to trouble." },
	{ "ERROR", 500, "Likely to be trouble." },
	{ "CRITICAL", 600, "Serious trouble." },
	{ "ALERT", 700, "Someone has to act at once." },
	{ "EMERGENCY", 800, "Nothing can be used any more." },
	{ NULL, 0, NULL },
};
const struct enum_type logging_severity = { "google.logging.type.LogSeverity", severities };

static const struct field resource_fields[] = {
	PLAIN("type", FIELD_STRING, "Kind of thing the entry is about: ml_job for training jobs."),
	MAP("labels", FIELD_STRING, "Which one: project_id, job_id, task_name for ml_job."),
	END,
};
static const struct message resource = { "google.api.MonitoredResource", resource_fields,
					 "What an entry is about." };

static const struct field http_request_fields[] = {
	PLAIN("requestMethod", FIELD_STRING, "GET, POST ..."),
	PLAIN("requestUrl", FIELD_STRING, "Scheme, host, path and query."),
	PLAIN("requestSize", FIELD_INT64, "Bytes of the request."),
	PLAIN("status", FIELD_INT32, "Status code of the response."),
	PLAIN("responseSize", FIELD_INT64, "Bytes of the response."),
	PLAIN("userAgent", FIELD_STRING, "What the client calls itself."),
	PLAIN("remoteIp", FIELD_STRING, "Address of the client."),
	PLAIN("referer", FIELD_STRING, "Referer header."),
	PLAIN("cacheHit", FIELD_BOOL, "A cache had something to answer with."),
	PLAIN("cacheValidatedWithOriginServer", FIELD_BOOL, "It was asked for before the cache answered."),
	PLAIN("cacheLookup", FIELD_BOOL, "A cache was looked into."),
	PLAIN("cacheFillBytes", FIELD_INT64, "Bytes put into the cache."),
	PLAIN("serverIp", FIELD_STRING, "Address of the server."),
	PLAIN("latency", FIELD_DURATION, "From the request's arrival to the response's end."),
	PLAIN("protocol", FIELD_STRING, "HTTP/1.1, HTTP/2 ..."),
	END,
};
static const struct message http_request = { "google.logging.type.HttpRequest", http_request_fields,
					     "The HTTP request that an entry tells of." };

static const struct field operation_fields[] = {
	PLAIN("id", FIELD_STRING, "Entries of one operation share it."),
	PLAIN("producer", FIELD_STRING, "Who made the id."),
	PLAIN("first", FIELD_BOOL, "The operation's first entry."),
	PLAIN("last", FIELD_BOOL, "The operation's last entry."),
	END,
};
static const struct message operation = { "google.logging.v2.LogEntryOperation", operation_fields,
					  "The long-running operation an entry belongs to." };

static const struct field source_location_fields[] = {
	PLAIN("file", FIELD_STRING, "Source file."),
	PLAIN("line", FIELD_INT64, "Line in it, from 1."),
	PLAIN("function", FIELD_STRING, "Function or method."),
	END,
};
static const struct message source_location = { "google.logging.v2.LogEntrySourceLocation",
						source_location_fields,
						"Where in the program the entry was made." };

static const struct field split_fields[] = {
	PLAIN("uid", FIELD_STRING, "All parts share it."),
	PLAIN("index", FIELD_INT32, "Which part, from 0."),
	PLAIN("totalSplits", FIELD_INT32, "How many parts."),
	END,
};
static const struct message split = { "google.logging.v2.LogSplit", split_fields,
				      "An entry that was cut into parts because of its size." };

static const struct field entry_fields[] = {
	PLAIN("protoPayload", FIELD_STRUCT, "Payload: a protocol buffer as JSON, with @type."),
	PLAIN("textPayload", FIELD_STRING, "Payload: a text."),
	PLAIN("insertId", FIELD_STRING, "Unique among entries of the same log and time; made when absent."),
	PLAIN("jsonPayload", FIELD_STRUCT, "Payload: a JSON object."),
	OBJECT("httpRequest", 0, &http_request, "The HTTP request that the entry tells of."),
	OBJECT("resource", 0, &resource, "What the entry is about."),
	PLAIN("timestamp", FIELD_TIMESTAMP, "When it happened; the present when absent."),
	{ "severity", FIELD_ENUM, 0, &logging_severity, NULL, "How much it matters." },
	MAP("labels", FIELD_STRING, "Whatever else is known of it."),
	PLAIN("logName", FIELD_STRING, "projects/PROJECT/logs/LOG, LOG percent-encoded."),
	OBJECT("operation", 0, &operation, "The operation it belongs to."),
	PLAIN("trace", FIELD_STRING, "Name of the trace it belongs to."),
	OBJECT("sourceLocation", 0, &source_location, "Where in the program it was made."),
	{ "receiveTimestamp", FIELD_TIMESTAMP, FIELD_OUTPUT_ONLY, NULL, NULL,
	  "When the service took it in." },
	PLAIN("spanId", FIELD_STRING, "The span within the trace."),
	PLAIN("traceSampled", FIELD_BOOL, "The trace was kept."),
	OBJECT("split", 0, &split, "Which part of a cut entry this is."),
	END,
};
static const char *const entry_unset[] = { "apphub",      "apphubDestination", "apphubSource",
					   "errorGroups", "metadata",          "otel",
					   NULL };
const struct message logging_entry = { "google.logging.v2.LogEntry", entry_fields, "One entry of a log.",
				       entry_unset };

static const struct field list_entries_fields[] = {
	LIST("projectIds", FIELD_STRING, "Deprecated: ids or numbers of projects; use resourceNames."),
	PLAIN("filter", FIELD_STRING,
	      "Which entries, in the Logging query language; at most 20000 characters."),
	PLAIN("orderBy", FIELD_STRING, "\"timestamp asc\" (default) or \"timestamp desc\"."),
	PLAIN("pageSize", FIELD_INT32, "Most entries in an answer: 50 unless told, 1000 at most."),
	PLAIN("pageToken", FIELD_STRING,
	      "nextPageToken of the answer before; all else but pageSize stays as it was."),
	LIST("resourceNames", FIELD_STRING, "projects/PROJECT, or a view below it; at most 100."),
	END,
};
const struct message logging_list_entries_request = { "google.logging.v2.ListLogEntriesRequest",
						      list_entries_fields, "Asks for a page of entries." };

static const struct field list_entries_response_fields[] = {
	OBJECT("entries", FIELD_REPEATED, &logging_entry,
	       "The entries; a page may have none and yet not be the last."),
	PLAIN("nextPageToken", FIELD_STRING, "Asks for the next page; absent on the last."),
	END,
};
const struct message logging_list_entries_response = { "google.logging.v2.ListLogEntriesResponse",
						       list_entries_response_fields, "A page of entries." };

static const struct field write_entries_fields[] = {
	PLAIN("logName", FIELD_STRING, "Log of the entries that name none."),
	OBJECT("resource", 0, &resource, "Resource of the entries that have none."),
	MAP("labels", FIELD_STRING, "Labels of all entries; an entry's own go first."),
	OBJECT("entries", FIELD_REPEATED, &logging_entry, "The entries."),
	PLAIN("partialSuccess", FIELD_BOOL, "Write the good entries even if others are refused."),
	PLAIN("dryRun", FIELD_BOOL, "Check everything, write nothing."),
	END,
};
const struct message logging_write_entries_request = { "google.logging.v2.WriteLogEntriesRequest",
						       write_entries_fields, "Writes entries." };

static const struct field no_fields[] = { END };
const struct message logging_write_entries_response = { "google.logging.v2.WriteLogEntriesResponse",
							no_fields, "Holds nothing." };

static const struct field list_logs_fields[] = {
	PLAIN("pageSize", FIELD_INT32, "Most names in an answer."),
	PLAIN("pageToken", FIELD_STRING, "nextPageToken of the answer before."),
	LIST("resourceNames", FIELD_STRING, "Accepted: the path says which logs."),
	END,
};
const struct message logging_list_logs_request = { "google.logging.v2.ListLogsRequest", list_logs_fields,
						   "Asks for a page of names of logs." };

static const struct field list_logs_response_fields[] = {
	LIST("logNames", FIELD_STRING, "projects/PROJECT/logs/LOG, LOG percent-encoded, in rising order."),
	PLAIN("nextPageToken", FIELD_STRING, "Asks for the next page; absent on the last."),
	END,
};
const struct message logging_list_logs_response = { "google.logging.v2.ListLogsResponse",
						    list_logs_response_fields, "A page of names of logs." };
