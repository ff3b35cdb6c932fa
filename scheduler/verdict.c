/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/verdict.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/text.h"

enum {
	ATTEMPTS_MAX = 4, /* the first and three more */
	SIGNAL_BASE = 128,
	TAIL_BYTES_MAX = 16 * 1024,
};

static bool exit_is_transient(int code)
{
	return code == SIGABRT || code == SIGNAL_BASE + SIGABRT || code == SIGSEGV ||
	       code == SIGNAL_BASE + SIGSEGV;
}

/* "1", or "9(SIGKILL)" for what a signal ended. */
static void status_append(struct text *text, int code)
{
	const char *name = code > SIGNAL_BASE ? sigabbrev_np(code - SIGNAL_BASE) : NULL;

	if (name)
		text_printf(text, "%d(SIG%s)", code - SIGNAL_BASE, name);
	else
		text_printf(text, "%d", code);
}

static void outcome_append(struct text *text, const struct replica_outcome *outcome)
{
	text_printf(text, "The replica %s %u ", role_name(outcome->role), outcome->index);
	switch (outcome->end) {
	case END_NONE:
		break;
	case END_EXIT:
		if (outcome->out_of_memory) {
			text_puts(text, "ran out-of-memory and exited with a non-zero status of ");
			status_append(text, outcome->exit_code);
			text_puts(text, ". ");
		} else {
			text_puts(text, "exited with a non-zero status of ");
			status_append(text, outcome->exit_code);
			text_puts(text, ". Termination reason: Error. ");
		}
		break;
	case END_LOST:
		text_puts(text, "was lost: its container was stopped or removed from outside. ");
		break;
	case END_REFUSED:
	case END_BROKEN:
		text_printf(text, "could not be started: %s ", outcome->text ? outcome->text : "");
		break;
	}
}

static bool outcome_is_bad(const struct replica_outcome *outcome)
{
	return outcome->end == END_LOST || outcome->end == END_REFUSED || outcome->end == END_BROKEN ||
	       (outcome->end == END_EXIT && outcome->exit_code != 0);
}

/* Whether the whole job may be tried again for this outcome's sake. */
static bool outcome_may_pass(const struct replica_outcome *outcome)
{
	return outcome->end == END_LOST || outcome->end == END_BROKEN ||
	       (outcome->end == END_EXIT && !outcome->out_of_memory && exit_is_transient(outcome->exit_code));
}

static struct judgement judge_bad(const struct replica_outcome *outcomes, size_t count, unsigned attempt)
{
	struct text text AUTO_TEXT = { 0 };
	bool again = attempt < ATTEMPTS_MAX;

	for (size_t i = 0; i < count; i++) {
		if (!outcome_is_bad(&outcomes[i]))
			continue;
		outcome_append(&text, &outcomes[i]);
		again = again && outcome_may_pass(&outcomes[i]);
	}
	return (struct judgement){
		.verdict = again ? JOB_PREPARING : JOB_FAILED,
		.message = text_take(&text),
	};
}

struct judgement verdict_of(const struct replica_outcome *outcomes, size_t count, unsigned attempt)
{
	for (size_t i = 0; i < count; i++)
		if (outcomes[i].role == ROLE_MASTER && outcomes[i].index == 0 &&
		    outcomes[i].end == END_EXIT && outcomes[i].exit_code == 0)
			return (struct judgement){ .verdict = JOB_SUCCEEDED };
	for (size_t i = 0; i < count; i++)
		if (outcome_is_bad(&outcomes[i]))
			return judge_bad(outcomes, count, attempt);
	return (struct judgement){ .verdict = JOB_STATE_UNSPECIFIED };
}

bool sentences_blame(const char *sentences, enum role role, unsigned index)
{
	char start[64];
	size_t length = (size_t)snprintf(start, sizeof(start), "The replica %s %u ", role_name(role), index);
	const char *found = strstr(sentences, start);

	return found &&
	       (strncmp(found + length, "exited ", 7) == 0 || strncmp(found + length, "ran ", 4) == 0);
}

/* The end of a long text, from the beginning of a character on. */
static const char *end_of(const char *tail)
{
	size_t length = strlen(tail);

	if (length <= TAIL_BYTES_MAX)
		return tail;
	for (tail += length - TAIL_BYTES_MAX; (*tail & 0xc0) == 0x80; tail++)
		continue;
	return tail;
}

char *error_message_text(const char *sentences, const char *stderr_tail, const char *project_number,
			 const char *job_id)
{
	struct text text AUTO_TEXT = { 0 };

	text_puts(&text, sentences);
	if (stderr_tail && *stderr_tail)
		text_printf(&text, "\n%s", end_of(stderr_tail));
	/* Source: transcripts of failed jobs; the shape that tools search for. */
	text_printf(&text,
		    "\n\nTo find out more about why your job exited please check the logs: "
		    "https://console.cloud.google.com/logs/viewer?project=%s&resource=ml_job%%2Fjob_id%%2F%s"
		    "&advancedFilter=resource.type%%3D%%22ml_job%%22%%0Aresource.labels.job_id%%3D%%22%s%%22",
		    project_number, job_id, job_id);
	return text_take(&text);
}
