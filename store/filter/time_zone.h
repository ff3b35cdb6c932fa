/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/filter/time_zone.h: the offset of a named time zone from UTC at an instant. libc supports one zone per process;
 * this reads the machine's zone files. Source: RFC 8536. Thread: any. */
#include <stdint.h>

struct time_zone;

/* Reads the zone "America/New_York" or similar, or "UTC", which needs no file. NULL: unknown name. */
struct time_zone *time_zone_read(const char *name);
void time_zone_free(struct time_zone *zone);
/* Returns the seconds by which the zone is ahead of UTC at that time. */
int time_zone_offset_s(const struct time_zone *zone, int64_t unix_s);
