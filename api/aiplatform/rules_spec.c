/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of CustomJobSpec, except for its pools.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/CustomJobSpec */
#include <string.h>

#include "api/aiplatform/rules_parts.h"
#include "api/training/forms.h"
#include "daemon/base/json.h"
#include "daemon/base/text.h"
#include "daemon/base/timestamp.h"

/* GPU types that may be requested with the strategy FLEX_START.
 * Source: https://cloud.google.com/vertex-ai/docs/training/schedule-jobs-dws */
static const char *const flex_types[] = {
	"NVIDIA_L4",        "NVIDIA_TESLA_A100",     "NVIDIA_A100_80GB",
	"NVIDIA_H100_80GB", "NVIDIA_H100_MEGA_80GB", "NVIDIA_H200_141GB",
	"NVIDIA_B200",
};

static bool is_flex_type(const char *type)
{
	for (size_t i = 0; type && i < sizeof(flex_types) / sizeof(flex_types[0]); i++)
		if (strcmp(flex_types[i], type) == 0)
			return true;
	return false;
}

static void check_flex_pools(struct findings *findings, const json_t *pools)
{
	const json_t *first = json_object_get(json_array_get(pools, 0), "machineSpec");
	size_t index;
	const json_t *pool;

	json_array_foreach((json_t *)pools, index, pool) {
		const char *type;
		unsigned count;

		if (pool_is_skipped(pool))
			continue;
		pool_accelerators(pool, &type, &count);
		if (!is_flex_type(type))
			findings_add(findings, "scheduling.strategy",
				     "FLEX_START is for L4, A100, H100, H200 and B200 GPUs only: worker pool "
				     "%zu has none of them.",
				     index);
		if (!json_equal(first, json_object_get(pool, "machineSpec")))
			findings_add(
				findings, "scheduling.strategy",
				"With FLEX_START all worker pools must have the same machine spec: that of "
				"worker pool %zu is another one than the first's.",
				index);
	}
}

/* Choice: maxWaitDuration is accepted with every strategy, because no document says that it is refused; only
 * FLEX_START uses it. */
static void check_scheduling(struct findings *findings, const json_t *spec)
{
	const json_t *scheduling = json_object_get(spec, "scheduling");
	const char *timeout = json_text_at(scheduling, "timeout");
	const char *wait = json_text_at(scheduling, "maxWaitDuration");
	const char *strategy = json_text_at(scheduling, "strategy");
	const bool flex = strategy && strcmp(strategy, "FLEX_START") == 0;
	const int64_t week_us = 604800 * INT64_C(1000000);
	int64_t us;

	if (timeout && (!duration_parse(timeout, &us) || us <= 0))
		findings_add(findings, "scheduling.timeout", "The timeout must be longer than 0s, not %s.",
			     timeout);
	else if (timeout && flex && us > week_us)
		findings_add(findings, "scheduling.timeout",
			     "With FLEX_START the timeout must be at most 604800s, not %s.", timeout);
	if (flex)
		check_flex_pools(findings, json_object_get(spec, "workerPoolSpecs"));
	if (wait && (!duration_parse(wait, &us) || us < 0))
		findings_add(findings, "scheduling.max_wait_duration",
			     "The duration must not be negative: %s.", wait);
}

/* Members with a text that must match a pattern. */
static const struct {
	const char *member, *snake, *pattern, *wanted;
} forms[] = {
	{ "tensorboard", "tensorboard", "projects/[^/]+/locations/[^/]+/tensorboards/[^/]+",
	  "projects/PROJECT/locations/LOCATION/tensorboards/ID" },
	{ "experiment", "experiment", "projects/[^/]+/locations/[^/]+/metadataStores/[^/]+/contexts/[^/]+",
	  "projects/PROJECT/locations/LOCATION/metadataStores/STORE/contexts/NAME" },
	{ "experimentRun", "experiment_run",
	  "projects/[^/]+/locations/[^/]+/metadataStores/[^/]+/contexts/[^/]+",
	  "projects/PROJECT/locations/LOCATION/metadataStores/STORE/contexts/NAME" },
};

static void check_network(struct findings *findings, const json_t *spec)
{
	const char *network = json_text_at(spec, "network");

	if (network && !is_network(network))
		findings_add(
			findings, "network",
			"'%.*s' is malformed: it should be projects/PROJECT_NUMBER/global/networks/NAME, with "
			"the project's number, not its id.",
			FINDINGS_SHOWN_BYTES, network);
}

static void check_form(struct findings *findings, const json_t *spec, size_t row)
{
	const char *text = json_text_at(spec, forms[row].member);

	if (text && !text_matches(text, forms[row].pattern))
		findings_add(findings, forms[row].snake, "'%.*s' is malformed: it should be %s.",
			     FINDINGS_SHOWN_BYTES, text, forms[row].wanted);
}

static void check_service_account(struct findings *findings, const json_t *spec)
{
	const char *account = json_text_at(spec, "serviceAccount");

	if (account && !is_account_email(account))
		findings_add(findings, "service_account",
			     "'%.*s' is not the e-mail address of a service account.", FINDINGS_SHOWN_BYTES,
			     account);
}

static void check_output(struct findings *findings, const json_t *spec)
{
	const json_t *directory = json_object_get(spec, "baseOutputDirectory");
	const char *prefix = json_text_at(directory, "outputUriPrefix");
	char fault[STORAGE_FAULT_SIZE];

	if (directory && !prefix)
		findings_add(findings, "base_output_directory.output_uri_prefix",
			     "The prefix must be specified.");
	else if (prefix && storage_path_fault(prefix, STORAGE_WRITTEN, fault))
		findings_add(findings, "base_output_directory.output_uri_prefix", "'%.*s' %s.",
			     FINDINGS_SHOWN_BYTES, prefix, fault);
}

/* Source: https://cloud.google.com/vertex-ai/docs/experiments/tensorboard-training */
static void check_tensorboard(struct findings *findings, const json_t *spec)
{
	if (!json_object_get(spec, "tensorboard"))
		return;
	if (!json_object_get(spec, "serviceAccount"))
		findings_add(findings, "service_account",
			     "A service account must be specified when tensorboard is.");
	if (!json_object_get(spec, "baseOutputDirectory"))
		findings_add(findings, "base_output_directory",
			     "An output directory must be specified when tensorboard is.");
}

static bool mounts_nfs(const json_t *spec)
{
	size_t index;
	const json_t *pool;

	json_array_foreach(json_object_get(spec, "workerPoolSpecs"), index, pool)
		if (json_array_size(json_object_get(pool, "nfsMounts")))
			return true;
	return false;
}

/* Choice: the words are ours; only the rule itself is documented.
 * Source: https://cloud.google.com/vertex-ai/docs/training/train-nfs-share (read 2026-11-22) */
static void check_nfs_network(struct findings *findings, const json_t *spec)
{
	if (mounts_nfs(spec) && !json_object_get(spec, "network") &&
	    !json_object_get(spec, "pscInterfaceConfig"))
		findings_add(
			findings, "network",
			"A network or a Private Service Connect interface must be specified when NFS shares are "
			"mounted.");
}

void check_job_spec(struct findings *findings, const json_t *spec, const struct aiplatform_settings *settings)
{
	const json_t *pools = json_object_get(spec, "workerPoolSpecs");

	check_worker_pools(findings, pools, settings);
	check_scheduling(findings, spec);
	check_service_account(findings, spec);
	check_network(findings, spec);
	check_nfs_network(findings, spec);
	check_output(findings, spec);
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		check_form(findings, spec, i);
	check_tensorboard(findings, spec);
}

static const struct {
	const char *member, *snake, *text;
} not_run[] = {
	{ "nfsMounts", "nfs_mounts", "trainyard mounts no NFS shares: leave nfsMounts out." },
	{ "lustreMounts", "lustre_mounts",
	  "trainyard mounts no Lustre file systems: leave lustreMounts out." },
};

/* Choice: a job for a persistent resource is refused as if no resource had that name; a lenient configuration runs
 * it like any other job. */
void check_job_spec_capabilities(struct findings *findings, const json_t *spec,
				 const struct aiplatform_settings *settings)
{
	const json_t *pools = json_object_get(spec, "workerPoolSpecs");
	size_t index;
	const json_t *pool;

	json_array_foreach((json_t *)pools, index, pool) {
		const size_t length = findings_enter(findings, "worker_pool_specs");

		findings_enter_index(findings, index);
		for (size_t i = 0; i < sizeof(not_run) / sizeof(not_run[0]); i++)
			if (json_object_get(pool, not_run[i].member))
				findings_add(findings, not_run[i].snake, "%s", not_run[i].text);
		findings_leave(findings, length);
	}
	if (json_object_get(spec, "persistentResourceId") && !settings->lenient)
		findings_add(
			findings, "persistent_resource_id",
			"trainyard has no persistent resources: leave persistentResourceId out, or serve with "
			"--validation lenient.");
}
