/* SPDX-License-Identifier: Apache-2.0 */
/* HyperparameterTuningJob.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.hyperparameterTuningJobs */
#include "api/aiplatform/rules_parts.h"
#include "daemon/base/json.h"

/* Choice: a limit beyond every useful number of trials. */
enum { TRIALS_MAX = 10000 };

/* parallelTrialCount has no limit of its own: if it exceeds the number of trials, all trials run at once. */
static void check_trial_counts(struct findings *findings, const json_t *inputs)
{
	const int64_t most = json_int_at(inputs, "maxTrialCount", 0);
	const int64_t parallel = json_int_at(inputs, "parallelTrialCount", 0);
	const int64_t failed = json_int_at(inputs, "maxFailedTrialCount", 0);

	if (most < 1 || most > TRIALS_MAX)
		findings_add(findings, "max_trial_count", "The number must be from 1 to %d, not %lld.",
			     TRIALS_MAX, (long long)most);
	if (parallel < 1)
		findings_add(findings, "parallel_trial_count", "The number must be at least 1, not %lld.",
			     (long long)parallel);
	if (failed < 0)
		findings_add(findings, "max_failed_trial_count", "The number must not be negative: %lld.",
			     (long long)failed);
	else if (failed > most && most >= 1)
		findings_add(findings, "max_failed_trial_count",
			     "The number must not be greater than max_trial_count: %lld.", (long long)failed);
}

static void check_study(struct findings *findings, const json_t *job)
{
	const json_t *spec = json_object_get(job, "studySpec");
	const size_t length = findings_enter(findings, "study_spec");

	if (spec)
		check_study_spec(findings, spec);
	else
		findings_add(findings, NULL, "The study spec must be specified.");
	findings_leave(findings, length);
}

static void check_trial_job(struct findings *findings, const json_t *job,
			    const struct aiplatform_settings *settings)
{
	const json_t *spec = json_object_get(job, "trialJobSpec");
	const size_t length = findings_enter(findings, "trial_job_spec");

	if (spec)
		check_job_spec(findings, spec, settings);
	else
		findings_add(findings, NULL, "The trial job spec must be specified.");
	findings_leave(findings, length);
}

void check_tuning(struct findings *findings, const json_t *job, const struct aiplatform_settings *settings)
{
	check_study(findings, job);
	check_trial_counts(findings, job);
	check_trial_job(findings, job, settings);
}

void check_tuning_capabilities(struct findings *findings, const json_t *job,
			       const struct aiplatform_settings *settings)
{
	const size_t length = findings_enter(findings, "study_spec");

	check_study_spec_capabilities(findings, json_object_get(job, "studySpec"));
	findings_leave(findings, length);
	findings_enter(findings, "trial_job_spec");
	check_job_spec_capabilities(findings, json_object_get(job, "trialJobSpec"), settings);
	findings_leave(findings, length);
}

enum status tuning_job_rules_check(const json_t *job, const struct aiplatform_settings *settings,
				   struct error *err)
{
	struct findings findings AUTO_FINDINGS = { 0 };

	check_display_name(&findings, job);
	check_tuning(&findings, job, settings);
	check_labels(&findings, job);
	check_encryption_spec(&findings, job);
	if (!findings.err.status)
		check_tuning_capabilities(&findings, job, settings);
	return findings_finish(&findings, err);
}
