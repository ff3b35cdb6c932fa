/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/filter/filter_values.h: further functions of the Logging query language, as SQL functions.
 *
 *   ip_in_net(text, subnet)    1 if the text is an address in "10.1.2.0/24", or a JSON list with one; else 0
 *   sampled(text, fraction)    1 for that fraction of all texts, always the same ones; 0 for NULL
 *   cast_value(text, type)     a number, nanoseconds, seconds, 'true' or 'false'; NULL if it is none
 *   time_text(ns, zone)        RFC 3339 */
#include <stdbool.h>

struct sqlite3_context;
struct sqlite3_value;

void filter_ip_in_net(struct sqlite3_context *context, int count, struct sqlite3_value **values);
void filter_sampled(struct sqlite3_context *context, int count, struct sqlite3_value **values);
void filter_cast_value(struct sqlite3_context *context, int count, struct sqlite3_value **values);
void filter_time_text(struct sqlite3_context *context, int count, struct sqlite3_value **values);

/* True if the client's subnet, fraction or time zone is valid. */
bool filter_net_known(const char *subnet);
bool filter_fraction_known(const char *fraction);
bool filter_zone_known(const char *zone);
