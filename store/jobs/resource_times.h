/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/resource_times.h: SQL for the times of a location's resources, from a row of table job, for filters:
 * nanoseconds, NULL for none.
 *
 * They equal the times that clients see (api/training/job_times.h), so that a filter with a time read from a resource
 * finds it. Start and end are whole seconds; the creation is in microseconds. The start is not before the creation, the
 * end not before the start, and the update not before either. */

#define CREATED_SECOND "(created_us + 999999) / 1000000"
#define START_SECOND   "max(nullif(running_us, 0) / 1000000, " CREATED_SECOND ")"
#define END_SECOND     "max(nullif(ended_us, 0) / 1000000, coalesce(" START_SECOND ", " CREATED_SECOND "))"

#define SHOWN_START  "(" START_SECOND " * 1000000000)"
#define SHOWN_END    "(" END_SECOND " * 1000000000)"
#define SHOWN_UPDATE "max(updated_us * 1000, coalesce(" SHOWN_END ", " SHOWN_START ", 0))"
