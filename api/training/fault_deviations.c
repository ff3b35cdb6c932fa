/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/fault_deviations.h"

#include "scheduler/plan/deviation.h"
#include "store/jobs/faults.h"

enum status fault_deviations_add(struct store *store, int64_t job, json_t *deviations, struct error *err)
{
	struct fault_injection_list list AUTO_FAULT_INJECTION_LIST = { 0 };
	enum status rc = fault_injections_of_job(store, job, &list, err);

	for (size_t i = 0; !rc && i < list.count; i++)
		deviation_append(deviations, DONE_OTHERWISE, "fault-ordered", list.injections[i].line);
	return rc;
}
