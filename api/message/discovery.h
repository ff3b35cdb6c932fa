/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/message/discovery.h: the tables of messages, told to clients: Google's discovery document.
 *
 * The same rows that check what clients send say here what they may send, so that the two cannot differ.
 * A document is begun for an API and its methods are added one by one; each brings the messages it takes and
 * gives, and those that they hold. What is added first stands first: equal tables make equal documents.
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
	const char *canonical_name; /* what generators of clients make names of */
	const char *documentation_link;
	bool short_names; /* messages are known without their package: LogEntry */
	bool joined_names; /* by all words in one: GoogleCloudAiplatformV1CustomJob; else as older documents have them,
			    * with the package and outer messages set off by underscores: GoogleCloudMlV1__Job */
};

struct discovery_method {
	const char *id;          /* "projects.jobs.create" */
	const char *http_method; /* "POST" */
	const char *path;        /* a route's: "/v1/projects/{project}/jobs/{job}:cancel" */
	const char *
		resource; /* what the request calls the path up to its last {name}: "name"; NULL: no {name} */
	bool own_names;   /* each {name} of the path is a parameter of its own; resource is NULL then */
	const struct message *query, *request; /* NULL: none */
	const struct message *response;
	const char *help;
};

/* The parameters that every method takes. */
extern const struct message discovery_parameters;

/* The beginning of the document; @root_url ends in a slash. The caller owns it. */
json_t *discovery_begin(const struct discovery_api *api, const char *root_url);
/* Adds a method with its messages. */
void discovery_add(json_t *document, const struct discovery_api *api, const struct discovery_method *method);

/* Appends what the message is called in the document: "GoogleCloudMlV1__Job" of google.cloud.ml.v1.Job,
 * "GoogleCloudMlV1_Outer_Inner" of a message inside another. */
void discovery_schema_name(struct text *text, const struct discovery_api *api, const struct message *message);
