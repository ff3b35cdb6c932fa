/* SPDX-License-Identifier: Apache-2.0 */
/* Answers with the plan that a create would make, after the checks of a create. */
#include "api/ml/job_units.h"
#include "api/ml/ml.h"
#include "api/ml/pool_field.h"
#include "api/training/plan_answer.h"
#include "daemon/base/json.h"
#include "daemon/base/text.h"

enum status job_plan_handle(struct call *call, struct error *err)
{
	const json_t *input = json_object_get(call->body, "trainingInput");
	AUTO(plan) struct plan *plan = NULL;
	struct text name AUTO_TEXT = { 0 };
	double units;
	enum status rc = job_prepare(call, &plan, err);

	if (!rc)
		rc = job_possible(call, plan, err);
	if (rc)
		return rc;
	units = job_ml_units_per_hour(plan, input);
	text_printf(&name, "projects/%s/jobs/%s", plan->project, plan->job_id);
	return plan_answer(
		call, plan,
		&(struct plan_report){
			.name = name.data, .input = input, .namer = ml_pool_field, .units_per_hour = &units },
		err);
}
