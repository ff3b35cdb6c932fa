/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/filter/time_zone.h: how far a named time zone is from UTC at a moment. libc knows one zone a process; this reads the
 * machine's files of them. Source: RFC 8536. Thread: any. */
#include <stdint.h>

struct time_zone;

/* A zone such as "America/New_York", or "UTC", which needs no file; NULL: there is none of that name. */
struct time_zone *time_zone_read(const char *name);
void time_zone_free(struct time_zone *zone);
/* Seconds east of UTC. */
int time_zone_offset_s(const struct time_zone *zone, int64_t unix_s);
