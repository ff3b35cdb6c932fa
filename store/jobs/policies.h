/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/policies.h: the IAM policies of jobs. */
#include "daemon/base/error.h"

struct store;

/* The policy of a job as canonical JSON text without its etag, and the etag (base64 of 8 bytes, new with each change;
 * "ACAB" for a job without a policy). *ret_policy NULL: the job has none. The caller frees both. NOT_FOUND: on
 * field resource, which names the job in the requests for policies. */
enum status policy_get(struct store *store, const char *project, const char *job_id, char **ret_policy,
		       char **ret_etag, struct error *err);
/* Replaces the policy. ABORTED: @etag is given and is not the present one. NOT_FOUND as policy_get(). The caller frees
 * *ret_etag. */
enum status policy_set(struct store *store, const char *project, const char *job_id, const char *policy,
		       const char *etag, char **ret_etag, struct error *err);
