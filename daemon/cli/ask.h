/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/ask.h: shared by all commands that ask a daemon about jobs. Thread: the first. */
#include <jansson.h>

#include "daemon/base/error.h"
#include "daemon/base/json.h"
#include "daemon/cli/client.h"
#include "daemon/cli/verb.h"

struct invocation;

/* For verbs that take JOB as an argument. */
#define PROJECT_OPTION                                                                                       \
	{                                                                                                    \
		.name = "project", .hint = "ID", .help = "only jobs of this project (default: of all)"       \
	}
#define JOB_WORDS_DETAIL                                                                                     \
	"JOB is an id, a display name, how one of these begins, or @last, the newest; of any API and\n"      \
	"location.\n"

/* A client of the daemon that the command line names. EXIT_GOOD or, printed, EXIT_USAGE. */
int ask_open(const struct invocation *invocation, struct client **ret_client);
/* Likewise of the Cloud Storage that its jobs use: the daemon itself or, with `serve --storage-endpoint`, another
 * emulator, which gets no token. EXIT_GOOD, EXIT_USAGE, or as ask_failure(). */
int ask_storage_open(const struct invocation *invocation, struct client **ret_client);
/* Prints why a call failed; EXIT_UNREACHED or EXIT_FAILED. */
int ask_failure(const struct client *client, const struct error *err);
/* The job for @reference, from /_trainyard/v1/jobs/{job}: *ret_job is the caller's. EXIT_GOOD, or as ask_failure(). */
int ask_job(const struct invocation *invocation, struct client *client, const char *reference,
	    json_t **ret_job);
/* Appends "/_trainyard/v1/jobs/{job}" for a reference, and @behind. */
void job_path_write(struct text *text, const char *reference, const char *behind);
/* "train (1234567890)": the job's name for messages. Safe to print. */
void job_title_write(struct text *text, const json_t *job);
#define CONSOLE_PATH "/_trainyard/console/"
/* Appends the address of a job's page in the console, or without @job that of the console; nothing if the daemon serves
 * a unix socket, which browsers cannot open. */
void console_address_write(struct text *text, const struct client *client, const json_t *job);
/* The daemon's present time, or this machine's if it does not report it. */
int64_t ask_now(struct client *client);
/* Appends the answer of the daemon about its clock: "2026-11-26 08:00:01, 7d ahead"; nothing if it has no time. */
void clock_write(struct text *text, const json_t *clock);

/* How long a daemon that restarts may be away from commands that follow it. */
#define ASK_AWAY_US INT64_C(60000000)

/* SUCCEEDED, FAILED and CANCELLED. */
bool state_is_final(const char *state);
/* The exit code of a command that waited for the end of a job: EXIT_GOOD, EXIT_FAILED, EXIT_CANCELLED. */
int state_exit(const char *state);
