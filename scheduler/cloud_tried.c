/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/cloud_tried.h"

#include "daemon/base/memory.h"
#include "scheduler/job_run.h"
#include "scheduler/plan/assignment.h"
#include "scheduler/plan/deviation.h"

/* The number of hosts reported per job: programs choose the names, and more of them would say nothing new. */
enum { HOSTS_MAX = 16 };

static const char code[] = "cloud-tried", code_failed[] = "call-failed";

static char *call_describe(const char *host, bool cut_off)
{
	if (!cut_off)
		return memory_printf("The program called %s, which is not emulated: the call goes to the "
				     "real service.",
				     host);
	return memory_printf("The program tried to reach %s, which is cut off (--egress none).",
			     *host ? host : "a host that it did not name");
}

void cloud_tried(struct job_run *run, const char *host, bool cut_off)
{
	AUTO(string) char *text = call_describe(host, cut_off);
	bool reported;

	if (!run->assignment)
		return;
	if (deviations_count(run->assignment->deviations, code, text, &reported) >= HOSTS_MAX || reported)
		return;
	job_run_differ(run, code,
		       cut_off ? " In the cloud this works."
			       : " `serve --route NAME=URL` leads a name to an emulator.",
		       "%s", text);
	job_run_touch(run);
}

void call_failed(struct job_run *run, const char *host, const char *text)
{
	const json_t *list = run->assignment ? run->assignment->deviations : NULL;
	AUTO(string) char *beginning = NULL;
	bool has;

	if (!list)
		return;
	beginning = memory_printf("The program called %s, which ", host);
	if (deviations_count(list, code_failed, "", &has) >= HOSTS_MAX ||
	    deviations_begin(list, code_failed, beginning))
		return;
	job_run_differ(run, code_failed, "", "%s%s", beginning, text);
	job_run_touch(run);
}
