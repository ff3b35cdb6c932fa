/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/report.h: what a job's replicas are here and how that differs from the cloud: what no field of its resource
 * could say.
 *
 * Below /_trainyard, for jobs of both families. Numbers are JSON numbers here, not texts: no client library reads these
 * answers. Thread: any. */
#include "api/training/replica_json.h"
#include "daemon/base/error.h"

struct job;
struct plan;
struct training_context;

/* {"name", "state", "attempt", "differences", "commandLines", "replicas"} of @job with this plan; for a tuning job, instead of
 * the last two, "trials", which have them each, the newest first, and "trialCount". A queued job has "start", as
 * start_estimate.h says. A job that was not admitted yet has no limits, no devices, and the differences of its
 * request alone. @ret_report is the caller's. */
enum status report_make(const struct training_context *context, const struct job *job,
			const struct plan *plan, pool_field_namer namer, json_t **ret_report,
			struct error *err);
