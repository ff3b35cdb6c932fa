/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/job_create.h: submits a job, and follows it to its end. */
#include <jansson.h>
#include <stdbool.h>

struct client;
struct invocation;

#define DETACH_OPTION                                                                                        \
	{                                                                                                    \
		.name = "detach", .letter = 'd', .help = "print the job's id, and leave it"                  \
	}
/* The options of verbs that submit a job. */
#define SUBMIT_OPTIONS                                                                                       \
	{ .name = "project",                                                                                 \
	  .hint = "ID",                                                                                      \
	  .help = "the job's project (default $CLOUDSDK_CORE_PROJECT, else local-project)" },                \
		{ .name = "region", .hint = "NAME", .help = "where it asks to run (default us-central1)" },  \
		DETACH_OPTION

/* submit_project() returns the project for a new job, which the caller frees; submit_region() returns its region. */
char *submit_project(const struct invocation *invocation);
const char *submit_region(const struct invocation *invocation);

/* Returns a name for a new job: @stem and the local time, in the place of a time that an earlier call has appended. The
 * time has microseconds because a script may submit many jobs. The caller frees. */
char *name_draw(const char *stem);
/* Replaces the characters that names of AI Platform jobs may not have. */
void name_restrict(char *name);

/* A job to be submitted. Borrowed. */
struct submission {
	const char *collection; /* the API's collection: "jobs" of AI Platform, or one of Vertex AI */
	const char *project, *region;
	const json_t *body;
};

/* Submits a job. Returns EXIT_GOOD with *ret_job from /_trainyard/v1/jobs/{job}; EXIT_NOT_STARTED: the daemon refused
 * the job; EXIT_UNREACHED. */
int job_submit(struct client *client, const struct submission *submission, json_t **ret_job);
/* With --detach prints the job's id; otherwise prints its log until it ends, and how it ended. Returns the same exit
 * codes as `wait`. */
int job_attend(const struct invocation *invocation, struct client *client, const json_t *job);
