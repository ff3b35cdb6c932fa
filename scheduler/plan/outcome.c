/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/outcome.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/text.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/plan/placement.h"

enum {
	ATTEMPTS_MAX = 4,  /* the first attempt and three more */
	ATTEMPTS_SPOT = 7, /* the first attempt and six more */
	SIGNAL_BASE = 128,
	TAIL_BYTES_MAX = 16 * 1024,
	TAIL_LINES = 20,
};

static bool exit_is_transient(int code)
{
	return code == SIGABRT || code == SIGNAL_BASE + SIGABRT || code == SIGSEGV ||
	       code == SIGNAL_BASE + SIGSEGV;
}

/* Appends the exit status: "1", or "9(SIGKILL)" for an end by a signal. The exit codes of SIGABRT and SIGSEGV always
 * count as signals: these signals do not come through the engine, so of_itself does not exclude them. */
static void status_append(struct text *text, const struct plan *plan, const struct replica_outcome *outcome)
{
	const int code = outcome->exit_code;
	const bool signalled = outcome->out_of_memory || !outcome->of_itself || exit_is_transient(code);
	const char *name = signalled && dialect_of(plan)->names_signals && code > SIGNAL_BASE
				   ? sigabbrev_np(code - SIGNAL_BASE)
				   : NULL;

	if (name)
		text_printf(text, "%d(SIG%s)", code - SIGNAL_BASE, name);
	else
		text_printf(text, "%d", code);
}

static void outcome_append(struct text *text, const struct plan *plan, const struct replica_outcome *outcome)
{
	const struct dialect *dialect = dialect_of(plan);
	char replica[REPLICA_NAME_MAX];

	replica_sentence_name(plan, outcome->role, outcome->index, replica);
	text_printf(text, "The replica %s ", replica);
	switch (outcome->end) {
	case END_NONE:
		break;
	case END_EXIT:
		if (outcome->out_of_memory) {
			text_printf(text, "%s and exited with a non-zero status of ", dialect->out_of_memory);
			status_append(text, plan, outcome);
			text_puts(text, ". ");
		} else {
			text_puts(text, "exited with a non-zero status of ");
			status_append(text, plan, outcome);
			text_puts(text, ". Termination reason: Error. ");
		}
		break;
	case END_LOST:
		if (outcome->text && !outcome->ordered)
			text_printf(text, "was lost: %s. ", outcome->text);
		else
			text_puts(text, outcome->ordered
						? "was lost: it was preempted by an injected fault. "
						: "was lost: its container was stopped or removed from outside. ");
		break;
	case END_REFUSED:
	case END_BROKEN:
		text_printf(text, "could not be started: %s ", outcome->text ? outcome->text : "");
		break;
	}
}

bool end_is_bad(enum replica_end end, int exit_code)
{
	return end == END_EXIT ? exit_code != 0 : end != END_NONE;
}

static bool outcome_is_bad(const struct replica_outcome *outcome)
{
	return end_is_bad(outcome->end, outcome->exit_code);
}

static bool outcome_is_internal(const struct replica_outcome *outcome)
{
	return outcome->end == END_LOST || outcome->end == END_BROKEN;
}

/* The maximum number of attempts of the whole job, the first included, after an attempt that ended like this. */
static unsigned attempts_of(const struct plan *plan, const struct replica_outcome *outcome)
{
	if (outcome->end == END_BROKEN)
		return dialect_of(plan)->internal_attempts;
	if (outcome->end == END_LOST && plan->preemptible)
		return ATTEMPTS_SPOT;
	return outcome->end == END_LOST || (outcome->end == END_EXIT && !outcome->out_of_memory &&
					    exit_is_transient(outcome->exit_code))
		       ? ATTEMPTS_MAX
		       : 1;
}

static struct job_outcome outcome_of_failure(const struct plan *plan, const struct replica_outcome *outcomes,
					     size_t count, unsigned attempt, bool ran)
{
	struct text sentences AUTO_TEXT = { 0 };
	struct text text AUTO_TEXT = { 0 };
	bool again = !(plan->never_retries && ran), internal = true, preempted = plan->preemptible;

	for (size_t i = 0; i < count; i++) {
		if (!outcome_is_bad(&outcomes[i]))
			continue;
		outcome_append(&sentences, plan, &outcomes[i]);
		again = again && attempt < attempts_of(plan, &outcomes[i]);
		internal = internal && outcome_is_internal(&outcomes[i]);
		preempted = preempted && outcomes[i].end == END_LOST;
	}
	if (preempted)
		text_printf(&text, STOCKOUT_SENTENCE " ", plan->region ? plan->region : "");
	else if (internal)
		text_puts(&text, dialect_of(plan)->internal_error);
	text_puts(&text, sentences.data);
	return (struct job_outcome){
		.outcome = again ? JOB_PREPARING : JOB_FAILED,
		.message = text_take(&text),
		.code = preempted  ? STATUS_RESOURCE_EXHAUSTED
			: internal ? STATUS_INTERNAL
				   : STATUS_INVALID_ARGUMENT,
	};
}

struct job_outcome job_outcome_of(const struct plan *plan, const struct replica_outcome *outcomes,
				  size_t count, unsigned attempt, bool ran)
{
	for (size_t i = 0; i < count; i++)
		if (outcomes[i].role == ROLE_MASTER && outcomes[i].index == 0 &&
		    outcomes[i].end == END_EXIT && outcomes[i].exit_code == 0)
			return (struct job_outcome){ .outcome = JOB_SUCCEEDED };
	for (size_t i = 0; i < count; i++)
		if (outcome_is_bad(&outcomes[i]))
			return outcome_of_failure(plan, outcomes, count, attempt, ran);
	return (struct job_outcome){ .outcome = JOB_STATE_UNSPECIFIED };
}

/* The last @count lines of a text; all of it if there are fewer. */
static const char *last_lines(const char *text, unsigned count)
{
	const char *at = text + strlen(text);

	while (at > text && count > 0)
		if (*--at == '\n' && --count == 0)
			return at + 1;
	return text;
}

/* The last TAIL_BYTES_MAX bytes of the text, from the beginning of a UTF-8 character on; a shorter text is returned
 * whole. */
static const char *end_of(const char *tail)
{
	size_t length = strlen(tail);

	if (length <= TAIL_BYTES_MAX)
		return tail;
	for (tail += length - TAIL_BYTES_MAX; (*tail & 0xc0) == 0x80; tail++)
		continue;
	return tail;
}

/* Appends the last lines of @tail. If the last traceback begins before them, its beginning is put before them.
 * Source: published errors of Vertex AI, which have "  [...]" in place of left-out frames. */
static void tail_put(struct text *text, const char *tail)
{
	static const char begin[] = "Traceback (most recent call last):\n";
	const char *end = last_lines(tail, TAIL_LINES), *found = NULL;

	for (const char *at = tail; (at = strstr(at, begin)); at++)
		if (at == tail || at[-1] == '\n')
			found = at;
	text_putc(text, '\n');
	if (found && found < end) {
		text_printf(text, "%s  [...]\n", begin);
		end = last_lines(tail, TAIL_LINES - 2);
	}
	text_puts(text, end_of(end));
}

/* Source: transcripts of failed jobs. Tools search for texts of this form. */
char *error_message_text(const char *sentences, const char *stderr_tail, const char *project_number,
			 const char *job_id, size_t *ret_reason_bytes)
{
	struct text text AUTO_TEXT = { 0 };

	text_puts(&text, sentences);
	if (stderr_tail && *stderr_tail)
		tail_put(&text, stderr_tail);
	*ret_reason_bytes = text.length;
	text_printf(&text,
		    "\n\nTo find out more about why your job exited please check the logs: "
		    "https://console.cloud.google.com/logs/viewer?project=%s&resource=ml_job%%2Fjob_id%%2F%s"
		    "&advancedFilter=resource.type%%3D%%22ml_job%%22%%0Aresource.labels.job_id%%3D%%22%s%%22",
		    project_number, job_id, job_id);
	return text_take(&text);
}
