/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/ask.h: shared by all commands that ask a daemon about jobs. Thread: the first. */
#include <jansson.h>

#include "daemon/base/error.h"
#include "daemon/base/json.h"
#include "daemon/cli/client.h"
#include "daemon/cli/verb.h"

struct invocation;

/* The option --project of verbs that take JOB as an argument. */
#define PROJECT_OPTION                                                                                       \
	{                                                                                                    \
		.name = "project", .hint = "ID", .help = "only jobs of this project (default: of all)"       \
	}
#define JOB_WORDS_DETAIL                                                                                     \
	"JOB is an id, a display name, how one of these begins, or @last, the newest; of any API and\n"      \
	"location.\n"

/* Makes a client of the daemon that the command line names. Returns EXIT_GOOD, or EXIT_USAGE after printing the error. */
int ask_open(const struct invocation *invocation, struct client **ret_client);
/* Makes a client of the Cloud Storage that the daemon's jobs use: of the daemon itself or, with `serve
 * --storage-endpoint`, of another emulator, which gets no token. Returns EXIT_GOOD, EXIT_USAGE, or as ask_failure(). */
int ask_storage_open(const struct invocation *invocation, struct client **ret_client);
/* Prints why a call failed. Returns EXIT_UNREACHED or EXIT_FAILED. */
int ask_failure(const struct client *client, const struct error *err);
/* Prints @answer as JSON for --output json; returns the exit code. */
int json_print(const json_t *answer);
/* Asks /_trainyard/v1/jobs/{job} for the job of @reference. The caller owns *ret_job. Returns EXIT_GOOD, or as
 * ask_failure(). */
int ask_job(const struct invocation *invocation, struct client *client, const char *reference,
	    json_t **ret_job);
/* Appends "/_trainyard/v1/jobs/{job}" for a reference to a job, followed by @behind. */
void job_path_write(struct text *text, const char *reference, const char *behind);
/* Appends the job's name for messages: "train (1234567890)". Safe to print. */
void job_title_write(struct text *text, const json_t *job);
#define CONSOLE_PATH "/_trainyard/console/"
/* Appends the URL of a job's page in the console; @job NULL: the URL of the console. Appends nothing if the daemon
 * serves a unix socket, which browsers cannot open. */
void console_address_write(struct text *text, const struct client *client, const json_t *job);
/* Returns the daemon's present time, or this machine's if the daemon does not report it. */
int64_t ask_now(struct client *client);
/* Appends the daemon's clock from its answer @clock: "2026-11-26 08:00:01, 7d ahead"; nothing if it has no time. */
void clock_write(struct text *text, const json_t *clock);

/* How long commands that follow a job wait for a daemon that restarts. */
#define ASK_AWAY_US INT64_C(60000000)

/* SUCCEEDED, FAILED and CANCELLED. */
bool state_is_final(const char *state);
/* Returns the exit code for a job that ended in @state: EXIT_GOOD, EXIT_FAILED or EXIT_CANCELLED. */
int state_exit(const char *state);
