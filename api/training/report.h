/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/report.h: the report of a job: its replicas here, and its deviations from the cloud, which no field of
 * its resource could hold.
 *
 * Below /_trainyard, for jobs of both families. Numbers are JSON numbers, not strings, because no client library reads
 * these answers. Thread: any. */
#include "api/training/replica_json.h"
#include "daemon/base/error.h"

struct call;
struct job;
struct plan;

/* Makes {"name", "console", "state", "attempt", "differences", "commandLines", "environments", "replicas"} of @job with
 * this plan. "console" is the address of the job's page, for the host that the client used; absent in a build without
 * the console, for a client that sends no host, and for the job of a trial, which is shown on the page of its search. A
 * tuning job has, instead of the last three, "trialCount" and "trials", newest first, each with "commandLines" and
 * "replicas". A queued job also has "start", see start_estimate.h. A job that was not admitted yet has no limits, no
 * devices, and only the deviations of its request. The caller owns *ret_report. */
enum status report_make(const struct call *call, const struct job *job, const struct plan *plan,
			pool_field_namer namer, json_t **ret_report, struct error *err);
