/* SPDX-License-Identifier: Apache-2.0 */
/* A rule of a fault, as a client posts it or a file has it; and a pattern and a name, one a line, as its globs.
 *
 * What must hold beside not crashing: a rule that is taken has only values that it may have, and is the same when its
 * canonical form is read again, which is what the store keeps. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/emulator/faults.h"
#include "api/message/message.h"
#include "daemon/base/json.h"
#include "scheduler/faults/fault.h"
#include "tests/fuzz/message_mutation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const struct mutated mutated = { .messages = (const struct message *const[]){ &fault_message, NULL } };

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void contexts_try(const struct fault_rule *rule)
{
	static const struct fault_context contexts[] = {
		{ .stage = STAGE_QUEUED, .project = "p", .job_names = { "j" }, .key.attempt = 1 },
		{ .stage = STAGE_PREPARING, .project = "p", .job_names = { "j", NULL, "k" }, .trial = 2 },
		{ .stage = STAGE_RUNNING,
		  .project = "p",
		  .job_names = { "j" },
		  .key.role = ROLE_WORKER,
		  .running_us = 5000000 },
		{ .stage = STAGE_NETWORK, .job_names = { NULL, "j" }, .key.index = 3, .key.restart = 1 },
		{ .stage = STAGE_CALL,
		  .project = "p",
		  .method = "ml.projects.jobs.create",
		  .creates_job = true },
	};

	for (size_t i = 0; i < sizeof(contexts) / sizeof(contexts[0]); i++) {
		bool drawn;

		if (!fault_fits(rule, &contexts[i]))
			continue;
		expect(fault_wait_us(rule, &contexts[i], true) >= 0);
		expect(fault_wait_us(rule, &contexts[i], false) >= -1);
		drawn = fault_drawn(rule, &contexts[i], 1, 1);
		expect(fault_drawn(rule, &contexts[i], 1, 1) == drawn);
	}
}

static void rule_check(const struct fault_rule *rule)
{
	expect(rule->kind > FAULT_UNSPECIFIED && rule->kind < FAULT_KIND_COUNT);
	expect(rule->role >= -1 && rule->role < ROLE_COUNT && rule->replica >= -1);
	expect(rule->probability >= 0 && rule->probability <= 1);
	expect(rule->after_us >= 0 && rule->seconds_us >= 0);
	expect(rule->exit_code >= 0 && rule->exit_code <= 255);
	contexts_try(rule);
}

static void message_try(const char *data, size_t size)
{
	AUTO(json) json_t *value = NULL;
	AUTO(json) json_t *canonical = NULL;
	AUTO(json) json_t *again = NULL;
	AUTO(fault_rule) struct fault_rule *rule = NULL;
	struct error err AUTO_ERROR = { 0 };

	if (message_parse_body(data, size, &value, NULL) ||
	    message_read(&fault_message, value, "", &canonical, NULL))
		return;
	expect(message_read(&fault_message, canonical, "", &again, NULL) == STATUS_OK);
	expect(json_equal(canonical, again));
	if (fault_rule_read(canonical, &rule, &err))
		expect(err.text && err.status == STATUS_INVALID_ARGUMENT);
	else
		rule_check(rule);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(string) char *text = strndup(size ? (const char *)data : "", size);
	char *name = text;
	const char *pattern = text ? strsep(&name, "\n") : NULL;

	message_try((const char *)data, size);
	if (pattern && name)
		fault_glob_fits(pattern, name);
	return 0;
}
