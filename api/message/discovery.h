/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/message/discovery.h: converts the tables of messages to Google's discovery document for clients.
 *
 * The rows that check requests also describe them here, so both always agree. A document is begun for an API, and its
 * methods are added one by one, each with the messages that it uses. Their order is that of adding: equal tables make
 * equal documents.
 *
 * Pure. Thread: any. Source: https://developers.google.com/discovery/v1/reference/apis (read 2026-11-21) */
#include <jansson.h>
#include <stdbool.h>

struct message;
struct text;

struct discovery_api {
	const char *name, *version; /* "ml", "v1" */
	const char *revision;       /* "20251213" */
	const char *title, *description;
	const char *canonical_name; /* the base of names in generated clients */
	const char *documentation_link;
	bool short_names; /* true: names of messages lack the package: LogEntry */
	/* all words joined: GoogleCloudAiplatformV1CustomJob; otherwise as in older documents, with underscores around
	 * the package and outer messages: GoogleCloudMlV1__Job */
	bool joined_names;
};

struct discovery_method {
	const char *id;          /* "projects.jobs.create" */
	const char *http_method; /* "POST" */
	const char *path;        /* a route's: "/v1/projects/{project}/jobs/{job}:cancel" */
	const char *
		resource; /* the request field that is the path up to its last {name}: "name"; NULL: no {name} */
	bool own_names;   /* each {name} of the path is a parameter; resource is NULL then */
	const struct message *query, *request; /* NULL: none */
	const struct message *response;
	const char *help;
};

/* The query parameters that every method has. */
extern const struct message discovery_parameters;

/* Returns the beginning of the document, which the caller owns. @root_url must end in a slash. */
json_t *discovery_begin(const struct discovery_api *api, const char *root_url);
/* Adds a method, and the messages that it uses. */
void discovery_add(json_t *document, const struct discovery_api *api, const struct discovery_method *method);

/* Appends the message's name in the document: "GoogleCloudMlV1__Job" for google.cloud.ml.v1.Job,
 * "GoogleCloudMlV1_Outer_Inner" for a message inside another. */
void discovery_schema_name(struct text *text, const struct discovery_api *api, const struct message *message);
