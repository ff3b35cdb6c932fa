/* SPDX-License-Identifier: Apache-2.0 */
/* A job's report, with the ML units that it consumed. */
#include "api/ml/job_units.h"
#include "api/ml/ml.h"
#include "api/ml/pool_field.h"
#include "api/ml/trials_render.h"
#include "api/training/report.h"
#include "daemon/base/json.h"
#include "store/jobs/jobs.h"
#include "store/jobs/trials.h"

static enum status units_consumed(const struct training_context *context, const struct job *job,
				  const struct plan *plan, double *ret_units, struct error *err)
{
	const int64_t now_us = clock_wall_us(context->clock);
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	enum status rc = plan_tunes(plan) ? trial_list_read(context->store, job->id, &list, err) : STATUS_OK;

	if (!rc)
		*ret_units =
			plan_tunes(plan) ? trials_ml_units(job, &list, now_us) : job_ml_units(job, now_us);
	return rc;
}

enum status job_report_handle(struct call *call, struct error *err)
{
	const struct training_context *context = call->context;
	AUTO(job) struct job *job = NULL;
	AUTO(plan) struct plan *plan = NULL;
	AUTO(json) json_t *report = NULL;
	double units = 0;
	enum status rc = job_get(context->store, training_project(call), call_param(call, "job"), &job, err);

	if (!rc)
		rc = plan_from_text(job->plan, &plan, err);
	if (!rc)
		rc = units_consumed(context, job, plan, &units, err);
	if (!rc)
		rc = report_make(call, job, plan, ml_pool_field, &report, err);
	if (!rc)
		json_object_set_new(report, "consumedMLUnits", json_real(units));
	if (!rc)
		json_write(&call->answer, report);
	return rc;
}
