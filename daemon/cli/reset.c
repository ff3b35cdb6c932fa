/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/reset.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/clock.h"
#include "daemon/base/memory.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/terminal.h"
#include "daemon/main.h"

enum { PAUSE_MS = 100, WAIT_US = 300000000 };

/* False: the user says no. */
static bool agreed(const struct client *client)
{
	AUTO(string)
	char *question = memory_printf("Stop all jobs of %s and remove all jobs, logs, objects and faults?", client_endpoint(client));

	return terminal_agrees(question);
}

/* Repeats the daemon's reset steps until nothing is left. Gives up if jobs have not stopped within @limit_us. */
static int steps_take(struct client *client, int64_t limit_us)
{
	AUTO(json) json_t *body = json_object();
	int64_t jobs = 0, objects = 0, end_us = clock_mono_us(&system_clock) + limit_us;

	for (;;) {
		struct error err AUTO_ERROR = { 0 };
		AUTO(json) json_t *reported = NULL;
		int64_t stopping;

		if (client_call(client, "POST", "/_trainyard/v1/reset", body, &reported, &err)) {
			progress_clear();
			return ask_failure(client, &err);
		}
		jobs += json_int_at(reported, "removedJobs", 0);
		objects += json_int_at(reported, "removedObjects", 0);
		stopping = json_int_at(reported, "stoppingCount", 0);
		if (json_true_at(reported, "done"))
			break;
		progress_show("jobs being stopped: %lld, jobs removed: %lld, objects removed: %lld",
			      (long long)stopping, (long long)jobs, (long long)objects);
		if (stopping && clock_mono_us(&system_clock) > end_us) {
			progress_clear();
			fprintf(stderr,
				"trainyard: %lld job%s not stopped in time; `trainyard jobs` shows which\n",
				(long long)stopping, stopping == 1 ? " has" : "s have");
			return EXIT_TIMED_OUT;
		}
		if (stopping)
			poll(NULL, 0, PAUSE_MS);
	}
	progress_clear();
	printf("removed: %lld job%s, %lld object%s\n", (long long)jobs, jobs == 1 ? "" : "s",
	       (long long)objects, objects == 1 ? "" : "s");
	return main_printed();
}

int reset_main(struct invocation *invocation)
{
	AUTO(client) struct client *client = NULL;
	struct error err AUTO_ERROR = { 0 };
	int64_t limit_us = WAIT_US;
	int exit_code;

	if (invocation_duration(invocation, "timeout", &limit_us, &err))
		return main_usage_error("reset ", &err);
	exit_code = ask_open(invocation, &client);
	if (exit_code)
		return exit_code;
	if (!invocation_flag(invocation, "yes")) {
		if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
			error_set(&err, STATUS_INVALID_ARGUMENT, NULL,
				  "reset removes all jobs, logs and objects: give --yes to confirm");
			return main_usage_error("reset ", &err);
		}
		if (!agreed(client))
			return EXIT_FAILED;
	}
	return steps_take(client, limit_us);
}
