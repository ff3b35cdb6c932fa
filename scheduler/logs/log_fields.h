/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/logs/log_fields.h: the special fields of a structured line, which become members of its entry.
 *
 * A field that is understood is removed from the line's object. All others, and unknown parts of a known one, stay
 * there and so in the payload: nothing of a line is lost. Pure.
 * Source: https://cloud.google.com/logging/docs/structured-logging#special-payload-fields and the agent,
 * github.com/GoogleCloudPlatform/fluent-plugin-google-cloud (read 2026-11-25) */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Sets *@severity to the line's severity, if it has one: a name as programs write it, or a number. Another value gives
 * DEFAULT and stays in the line. */
void log_severity_lift(json_t *object, int *severity);
/* Reads a severity as programs write it ("warn", " E ", "450"); SEVERITY_DEFAULT if it is not known. */
int log_severity_parse(const char *name);

/* Removes the time from the line. True if it has one: "timestamp":{"seconds","nanos"}, "timestampSeconds" and
 * "timestampNanos", "timeNanos", or RFC 3339 in "time" or "timestamp". A time later than @latest_ns or before 1678 is
 * ignored. */
bool log_time_lift(json_t *object, int64_t latest_ns, int64_t *ret_ns);

/* Moves httpRequest, labels, operation, sourceLocation, spanId, trace and traceSampled to @extra. @project completes a
 * trace id without a project; NULL: it stays as it is. */
void log_members_lift(json_t *object, json_t *extra, const char *project);
