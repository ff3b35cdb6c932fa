/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/filter/filter_values.h: what other functions of the Logging query language compute, as functions in SQL.
 *
 *   ip_in_net(text, subnet)    1 when the text is an address in "10.1.2.0/24", or a JSON list that has one; or 0
 *   sampled(text, fraction)    1 for that fraction of all texts, always the same ones; 0 for NULL
 *   cast_value(text, type)     a number, nanoseconds, seconds, 'true' or 'false'; NULL for what is no such
 *   time_text(ns, zone)        RFC 3339 */
#include <stdbool.h>

struct sqlite3_context;
struct sqlite3_value;

void filter_ip_in_net(struct sqlite3_context *context, int count, struct sqlite3_value **values);
void filter_sampled(struct sqlite3_context *context, int count, struct sqlite3_value **values);
void filter_cast_value(struct sqlite3_context *context, int count, struct sqlite3_value **values);
void filter_time_text(struct sqlite3_context *context, int count, struct sqlite3_value **values);

/* What clients may write for a subnet, a fraction and a time zone. */
bool filter_net_known(const char *subnet);
bool filter_fraction_known(const char *fraction);
bool filter_zone_known(const char *zone);
