/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of CustomJob, and of the fields that all resources have.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.customJobs#CustomJob */
#include <string.h>

#include "api/aiplatform/rules_parts.h"
#include "api/training/forms.h"
#include "api/training/label.h"
#include "daemon/base/json.h"

enum { DISPLAY_NAME_CHARACTERS_MAX = 128, LABEL_BYTES_MAX = 127 };

void check_display_name(struct findings *findings, const json_t *resource)
{
	const char *name = json_text_at(resource, "displayName");
	const size_t length = name ? utf8_count(name) : 0;

	if (!name)
		findings_add(findings, "display_name", "The display name must be specified.");
	else if (length > DISPLAY_NAME_CHARACTERS_MAX)
		findings_add(findings, "display_name",
			     "The display name must have at most %d characters, not %zu.",
			     DISPLAY_NAME_CHARACTERS_MAX, length);
}

static bool label_is_valid(const char *key, const char *value)
{
	const bool begins = label_begins_with_letter(key) || (*key >= '0' && *key <= '9');

	return begins && label_text_valid(key) && label_text_valid(value) && strlen(key) <= LABEL_BYTES_MAX &&
	       strlen(value) <= LABEL_BYTES_MAX;
}

static bool labels_are_valid(const json_t *labels)
{
	const char *key;
	json_t *value;

	if (json_object_size(labels) > LABELS_MAX)
		return false;
	json_object_foreach((json_t *)labels, key, value) {
		if (!label_is_valid(key, json_is_string(value) ? json_string_value(value) : ""))
			return false;
	}
	return true;
}

/* Reports all kinds of errors in labels with the same text, which is the service's own. */
void check_labels(struct findings *findings, const json_t *resource)
{
	if (!labels_are_valid(json_object_get(resource, "labels")))
		findings_add(
			findings, "labels",
			"There can be no more than 64 labels attached to a single resource. Label keys and values "
			"can only contain lowercase letters, numbers, dashes and underscores. Label keys must "
			"start with a letter or number, must be less than 64 characters in length, and must be "
			"less that 128 bytes in length when encoded in UTF-8. Label values must be less than 64 "
			"characters in length, and must be less that 128 bytes in length when encoded in UTF-8.");
}

void check_encryption_spec(struct findings *findings, const json_t *resource)
{
	const json_t *spec = json_object_get(resource, "encryptionSpec");
	const char *key = json_text_at(spec, "kmsKeyName");

	if (spec && !key)
		findings_add(findings, "encryption_spec.kms_key_name", "The key must be specified.");
	else if (key && !is_kms_key(key))
		findings_add(findings, "encryption_spec.kms_key_name",
			     "'%.*s' is not a key: it should be "
			     "projects/PROJECT/locations/REGION/keyRings/RING/cryptoKeys/KEY.",
			     FINDINGS_SHOWN_BYTES, key);
}

static void check_spec_of(struct findings *findings, const json_t *job,
			  const struct aiplatform_settings *settings,
			  void (*check)(struct findings *, const json_t *,
					const struct aiplatform_settings *))
{
	const json_t *spec = json_object_get(job, "jobSpec");
	const size_t length = findings_enter(findings, "job_spec");

	if (spec)
		check(findings, spec, settings);
	else
		findings_add(findings, NULL, "The job spec must be specified.");
	findings_leave(findings, length);
}

enum status custom_job_rules_check(const json_t *job, const struct aiplatform_settings *settings,
				   struct error *err)
{
	struct findings findings AUTO_FINDINGS = { 0 };

	check_display_name(&findings, job);
	check_spec_of(&findings, job, settings, check_job_spec);
	check_labels(&findings, job);
	check_encryption_spec(&findings, job);
	if (!findings.err.status)
		check_spec_of(&findings, job, settings, check_job_spec_capabilities);
	return findings_finish(&findings, err);
}
