/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/job_state.h"

#define TO(state) (1u << JOB_##state)

static const struct {
	const char *name;
	unsigned next;
} states[JOB_STATE_COUNT] = {
	[JOB_STATE_UNSPECIFIED] = { "STATE_UNSPECIFIED", 0 },
	[JOB_QUEUED] = { "QUEUED", TO(PREPARING) | TO(CANCELLING) | TO(FAILED) },
	[JOB_PREPARING] = { "PREPARING", TO(RUNNING) | TO(CANCELLING) | TO(FAILED) | TO(SUCCEEDED) },
	[JOB_RUNNING] = { "RUNNING", TO(PREPARING) | TO(CANCELLING) | TO(FAILED) | TO(SUCCEEDED) },
	[JOB_SUCCEEDED] = { "SUCCEEDED", 0 },
	[JOB_FAILED] = { "FAILED", 0 },
	[JOB_CANCELLING] = { "CANCELLING", TO(CANCELLED) },
	[JOB_CANCELLED] = { "CANCELLED", 0 },
};

const char *job_state_name(enum job_state state)
{
	if ((unsigned)state >= JOB_STATE_COUNT)
		return states[JOB_STATE_UNSPECIFIED].name;
	return states[state].name;
}

bool job_state_may_follow(enum job_state from, enum job_state to)
{
	return (unsigned)from < JOB_STATE_COUNT && (unsigned)to < JOB_STATE_COUNT &&
	       (states[from].next & 1u << to);
}

bool job_state_is_final(enum job_state state)
{
	return state == JOB_SUCCEEDED || state == JOB_FAILED || state == JOB_CANCELLED;
}
