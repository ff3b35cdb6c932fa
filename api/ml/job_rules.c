/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/job_rules.h"

#include <string.h>

#include "api/ml/rules.h"
#include "api/training/forms.h"
#include "api/training/regions.h"
#include "daemon/base/json.h"
#include "daemon/base/text.h"
#include "daemon/base/timestamp.h"

static void check_job_id(struct rules *rules)
{
	const char *job_id = json_text_at(rules->job, "jobId");
	size_t length = job_id ? strlen(job_id) : 0;

	if (!job_id)
		rules_refuse(rules, "job.job_id", "A job id is required.");
	else if (length > JOB_ID_BYTES_MAX)
		rules_refuse(rules, "job.job_id", "A name should have at most %d characters, not %zu.",
			     JOB_ID_BYTES_MAX, length);
	else if (!is_job_id(job_id))
		rules_refuse(rules, "job.job_id",
			     "A name should start with a letter and contain only letters, numbers and "
			     "underscores.");
}

static void check_kind(struct rules *rules)
{
	bool prediction = json_object_get(rules->job, "predictionInput");
	bool explanation = json_object_get(rules->job, "explanationInput");

	if (prediction)
		rules_refuse(rules, "prediction_input",
			     "Batch prediction is not emulated: trainyard runs training jobs.");
	if (explanation)
		rules_refuse(rules, "explanation_input",
			     "Batch explanation is not emulated: trainyard runs training jobs.");
	if (rules->input && (prediction || explanation))
		rules_refuse(rules, "training_input",
			     "Exactly one of training_input and prediction_input must be given.");
	if (!rules->input && !prediction && !explanation)
		rules_refuse(rules, "training_input", "A training input is required.");
}

static void check_region(struct rules *rules)
{
	const char *region = json_text_at(rules->input, "region");
	struct text known AUTO_TEXT = { 0 };

	if (region && (region_known(region) || (rules->settings->lenient && is_cloud_name(region))))
		return;
	regions_list(&known);
	rules_refuse(rules, "region", "The provided GCE region '%.*s' is not available. Options are [%s].",
		     RULES_SHOWN_BYTES, region ? region : "", known.data);
}

static void check_job_dir(struct rules *rules)
{
	const char *job_dir = json_text_at(rules->input, "jobDir");
	char fault[STORAGE_FAULT_SIZE];

	if (job_dir && storage_path_fault(job_dir, STORAGE_WRITTEN, fault))
		rules_refuse(rules, "job_dir", "'%.*s' %s.", RULES_SHOWN_BYTES, job_dir, fault);
}

/* Source: https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs#Scheduling */
static void check_scheduling(struct rules *rules)
{
	const int64_t wait_min_us = 1800 * 1000000LL;
	const json_t *scheduling = json_object_get(rules->input, "scheduling");
	const char *running = json_text_at(scheduling, "maxRunningTime");
	const char *wait = json_text_at(scheduling, "maxWaitTime");
	int64_t priority = json_int_at(scheduling, "priority", 0);
	int64_t us;

	if (running && (!duration_parse(running, &us) || us <= 0))
		rules_refuse(rules, "scheduling.max_running_time",
			     "The limit must be longer than 0s, not %s.", running);
	if (wait && (!duration_parse(wait, &us) || us < wait_min_us))
		rules_refuse(rules, "scheduling.max_wait_time", "The limit must be at least 1800s, not %s.",
			     wait);
	if (priority < 0 || priority > 1000)
		rules_refuse(rules, "scheduling.priority", "The priority must be from 0 to 1000, not %lld.",
			     (long long)priority);
}

/* Source: https://cloud.google.com/ai-platform/training/docs/vpc-peering */
static void check_network(struct rules *rules)
{
	const char *network = json_text_at(rules->input, "network");

	if (network && !is_network(network))
		rules_refuse(rules, "network",
			     "'%.*s' is not a network: it should be "
			     "projects/PROJECT_NUMBER/global/networks/NAME, with the "
			     "project's number, not its id.",
			     RULES_SHOWN_BYTES, network);
}

/* Source: https://cloud.google.com/ai-platform/training/docs/custom-service-account */
static void check_service_account(struct rules *rules)
{
	const char *account = json_text_at(rules->input, "serviceAccount");

	if (account && !is_account_email(account))
		rules_refuse(rules, "service_account",
			     "'%.*s' is not the e-mail address of a service account.", RULES_SHOWN_BYTES,
			     account);
}

/* Source: https://cloud.google.com/ai-platform/training/docs/cmek */
static void check_encryption(struct rules *rules)
{
	static const char field[] = "encryption_config.kms_key_name";
	const json_t *config = json_object_get(rules->input, "encryptionConfig");
	const char *key = json_text_at(config, "kmsKeyName");
	const char *region = json_text_at(rules->input, "region");
	const char *location;

	if (!key)
		return;
	if (!is_kms_key(key)) {
		rules_refuse(rules, field,
			     "'%.*s' is not a key: it should be "
			     "projects/PROJECT/locations/REGION/keyRings/RING/cryptoKeys/KEY.",
			     RULES_SHOWN_BYTES, key);
		return;
	}
	location = strchr(strchr(key, '/') + 1, '/') + strlen("/locations/");
	if (region && (strncmp(location, region, strlen(region)) != 0 || location[strlen(region)] != '/'))
		rules_refuse(rules, field, "The key must be in the region of the job, %.*s.",
			     RULES_SHOWN_BYTES, region);
}

/* The rules, in the order in which the service reports violations. */
static void (*const input_rules[])(struct rules *) = {
	check_region,  rules_check_cluster,   rules_check_containers, rules_check_packages,
	check_job_dir, check_scheduling,      rules_check_tuning,     check_encryption,
	check_network, check_service_account,
};

static void check_labels(struct rules *rules)
{
	struct error err AUTO_ERROR = { 0 };

	if (!labels_check(json_object_get(rules->job, "labels"), &err))
		return;
	for (size_t i = 0; i < err.violation_count; i++)
		rules_refuse(rules, err.violations[i].field, "%s", err.violations[i].text);
}

enum status job_rules_check(const json_t *job, const struct ml_settings *settings, struct error *err)
{
	struct rules rules = { .job = job, .settings = settings };
	enum status status;

	rules.input = json_object_get(job, "trainingInput");
	rules.tier = input_tier(rules.input);
	check_job_id(&rules);
	check_kind(&rules);
	if (rules.input)
		for (size_t i = 0; i < sizeof(input_rules) / sizeof(input_rules[0]); i++)
			input_rules[i](&rules);
	check_labels(&rules);
	if (!rules.err.status)
		rules_check_capabilities(&rules);
	status = rules.err.status;
	if (status)
		error_move(err, &rules.err);
	return status;
}
