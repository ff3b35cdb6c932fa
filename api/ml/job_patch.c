/* SPDX-License-Identifier: Apache-2.0 */
/* Changes a job's labels, which are the only part of a job that can change, in any state of the job. */
#include <stdlib.h>
#include <string.h>

#include "api/ml/ml.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "store/jobs/jobs.h"

struct patch_mask {
	bool labels, etag;
};

static enum status mask_part(const char *part, struct patch_mask *mask, struct error *err)
{
	if (strcmp(part, "labels") == 0)
		mask->labels = true;
	else if (strcmp(part, "etag") == 0)
		mask->etag = true;
	else
		return error_set(err, STATUS_INVALID_ARGUMENT, "update_mask",
				 "Only labels and etag can be updated, not '%s'.", part);
	return STATUS_OK;
}

static enum status mask_read(const struct call *call, struct patch_mask *ret_mask, struct error *err)
{
	const char *text = call_query(call, "updateMask");
	AUTO(string) char *copy = memory_strdup(text ? text : "");
	char *rest = NULL;
	enum status rc = STATUS_OK;

	if (!*copy)
		return error_set(err, STATUS_INVALID_ARGUMENT, "update_mask",
				 "The update mask must name a field.");
	for (char *part = strtok_r(copy, ",", &rest); part && !rc; part = strtok_r(NULL, ",", &rest))
		rc = mask_part(part, ret_mask, err);
	return rc;
}

/* The mask names only the etag: nothing changes, but a stale etag is still a conflict. */
static enum status etag_compare(const struct ml_context *context, struct call *call, const char *etag,
				struct job **ret_job, struct error *err)
{
	enum status rc = job_get(context->training.store, training_project(call), call_param(call, "job"),
				 ret_job, err);

	return rc ? rc : job_etag_check(*ret_job, etag, err);
}

enum status job_patch_handle(struct call *call, struct error *err)
{
	const struct ml_context *context = call->context;
	const json_t *labels = json_object_get(call->body, "labels");
	struct patch_mask mask = { 0 };
	const char *etag;
	AUTO(string) char *labels_text = NULL;
	AUTO(job) struct job *job = NULL;
	enum status rc = mask_read(call, &mask, err);

	if (!rc)
		rc = labels_check(labels, err);
	if (rc)
		return rc;
	etag = mask.etag ? json_text_at(call->body, "etag") : NULL;
	if (labels) {
		labels_text = json_dump_compact(labels);
	}
	if (mask.labels)
		rc = job_set_labels(context->training.store, training_project(call), call_param(call, "job"),
				    labels_text, etag, &job, err);
	else
		rc = etag_compare(context, call, etag, &job, err);
	if (rc)
		return rc;
	job_render(call, job);
	return STATUS_OK;
}
