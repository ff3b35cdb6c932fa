/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/logs/log_fields.h: the special fields of a structured line, which are members of its entry.
 *
 * A field that is understood leaves the line's object; every other one, and what is too much in it, stays there and so
 * in the payload: nothing of a line is lost. Pure.
 * Source: https://cloud.google.com/logging/docs/structured-logging#special-payload-fields and the agent,
 * github.com/GoogleCloudPlatform/fluent-plugin-google-cloud (read 2026-11-25) */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The line's severity, *@severity, unless it says none: a name as programs write it, a number, or DEFAULT where it
 * says something else, which stays. */
void log_severity_lift(json_t *object, int *severity);
/* A severity as programs write it ("warn", " E ", "450"); SEVERITY_DEFAULT for what is none. */
int log_severity_parse(const char *name);

/* True when the line says its time: "timestamp":{"seconds","nanos"}, "timestampSeconds" and "timestampNanos",
 * "timeNanos", or RFC 3339 in "time" or "timestamp". One that is later than @latest_ns, or before 1678, is none. */
bool log_time_lift(json_t *object, int64_t latest_ns, int64_t *ret_ns);

/* Moves httpRequest, labels, operation, sourceLocation, spanId, trace and traceSampled to @extra. @project: of a bare
 * trace id; NULL: it stays bare. */
void log_members_lift(json_t *object, json_t *extra, const char *project);
