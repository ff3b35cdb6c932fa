/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a call to the cloud from a job that is cut off: a line in its log and a difference in its report,
 * stored in one change, so that both are there or the next call tells both. */
#include <stdio.h>

#include "daemon/base/cleanup.h"
#include "scheduler/assignment.h"
#include "scheduler/difference.h"
#include "scheduler/scheduler_state.h"

/* Names come from the program: more of them say no more. */
enum { HOSTS_MAX = 16 };

static const char code[] = "cloud-tried";

void cloud_tried(struct job_run *run, const char *host)
{
	AUTO(string) char *text = NULL;
	bool told;

	if (!run->assignment ||
	    asprintf(&text, "The program tried to reach %s, which is cut off (--egress none).",
		     *host ? host : "a host that it did not name") < 0)
		return;
	if (differences_count(run->assignment->differences, code, text, &told) >= HOSTS_MAX || told)
		return;
	if (job_run_differ(run, code, " In the cloud this works.", "%s", text))
		run->dirty = true;
}
