/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/timestamp.h: times and durations, as the APIs write and read them. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/text.h"

/* Appends "2026-11-20T21:29:51Z": the format of a job's times in ml v1. */
void text_time_seconds(struct text *text, int64_t wall_us);
/* Appends "2026-11-20T21:29:51.697Z", always with three digits. */
void text_time_millis(struct text *text, int64_t wall_us);
/* Appends "2026-11-20T21:29:51.000001Z", always with six digits. */
void text_time_micros(struct text *text, int64_t wall_us);
/* Appends "2026-11-20T21:29:51.000000001Z", always with nine digits: clients compare these times as text. */
void text_time_nanos(struct text *text, int64_t wall_ns);

/* The first and last second of the whole years in which nanoseconds fit 64 bits. */
#define TIME_FIRST_S INT64_C(-9214560000) /* when 1678 begins… */
#define TIME_END_S   INT64_C(9214646400)  /* …and when 2262 does */
/* Reads RFC 3339 with Z or a numeric offset (also without its colon), a date alone, or a date and time without a zone,
 * which counts as UTC. Returns false if @string is none of these. Years from 1 to 9999 are accepted; a time before 1678
 * or after 2261, which does not fit 64 bits of nanoseconds, becomes INT64_MIN or INT64_MAX. */
bool time_parse(const char *string, int64_t *ret_wall_ns);
/* Like time_parse(), but reads only the form of protobuf's JSON: RFC 3339 with a zone. */
bool time_parse_strict(const char *string, int64_t *ret_wall_ns);
/* Reads protobuf's JSON Duration, "3.5s". Returns false if it is malformed or beyond ±315,576,000,000 s. */
bool duration_parse(const char *string, int64_t *ret_us);
/* Appends @duration, which duration_parse() must accept, in the form that protobuf's JSON writes: without leading
 * zeros, and with 0, 3, 6 or 9 digits of fraction. "-007.5000s" becomes "-7.500s". */
void text_duration(struct text *text, const char *duration);
