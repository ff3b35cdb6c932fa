/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/fault_differences.h"

#include "scheduler/plan/difference.h"
#include "store/jobs/faults.h"

enum status fault_differences_add(struct store *store, int64_t job, json_t *differences, struct error *err)
{
	struct fault_hit_list list AUTO_FAULT_HIT_LIST = { 0 };
	enum status rc = fault_hits_of_job(store, job, &list, err);

	for (size_t i = 0; !rc && i < list.count; i++)
		difference_append(differences, DONE_OTHERWISE, "fault-ordered", list.hits[i].line);
	return rc;
}
