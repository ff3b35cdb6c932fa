/* SPDX-License-Identifier: Apache-2.0 */
#include "store/filter/filter_values.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/timestamp.h"
#include "store/filter/filter.h"
#include "store/filter/time_zone.h"

/* ---- ip_in_net ---- */

struct net {
	int family;
	unsigned char address[16];
	unsigned bits;
};

static bool address_read(const char *text, struct net *net)
{
	for (unsigned i = 0; i < 2; i++) {
		net->family = i ? AF_INET6 : AF_INET;
		net->bits = i ? 128 : 32;
		if (inet_pton(net->family, text, net->address) == 1)
			return true;
	}
	return false;
}

static bool net_read(const char *text, struct net *net)
{
	const char *slash = strchr(text, '/');
	char address[64] = "";
	unsigned long bits;
	char *end;

	if (!slash)
		return address_read(text, net);
	if ((size_t)(slash - text) >= sizeof(address))
		return false;
	memcpy(address, text, (size_t)(slash - text));
	if (!address_read(address, net) || !isdigit((unsigned char)slash[1]))
		return false;
	bits = strtoul(slash + 1, &end, 10);
	if (*end || bits > net->bits)
		return false;
	net->bits = (unsigned)bits;
	return true;
}

bool filter_net_known(const char *subnet)
{
	struct net net;

	return net_read(subnet, &net);
}

static bool net_has(const struct net *net, const char *text)
{
	const unsigned whole = net->bits / 8, rest = net->bits % 8;
	struct net address;

	return text && address_read(text, &address) && address.family == net->family &&
	       memcmp(address.address, net->address, whole) == 0 &&
	       (!rest || (address.address[whole] ^ net->address[whole]) >> (8 - rest) == 0);
}

void filter_ip_in_net(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *text = (const char *)sqlite3_value_text(values[0]);
	const char *subnet = (const char *)sqlite3_value_text(values[1]);
	struct net net;
	bool found = false;

	(void)count;
	if (text && subnet && net_read(subnet, &net)) {
		AUTO(json)
		json_t *list = *text == '[' ? json_loadb(text, strlen(text), 0, NULL) : NULL;

		found = net_has(&net, text);
		for (size_t i = 0; i < json_array_size(list) && !found; i++)
			found = net_has(&net, json_string_value(json_array_get(list, i)));
	}
	sqlite3_result_int(context, found);
}

/* ---- the function sample() ---- */

static bool fraction_read(const char *text, double *ret_fraction)
{
	char *end;

	*ret_fraction = strtod(text, &end);
	return end != text && !*end && *ret_fraction > 0 && *ret_fraction <= 1;
}

bool filter_fraction_known(const char *fraction)
{
	double value;

	return fraction_read(fraction, &value);
}

/* FNV-1a, then the last steps of MurmurHash3, so that ids with only a different last digit get hashes that are far
 * apart. */
static uint64_t hash_of(const unsigned char *text, size_t length)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ text[i]) * UINT64_C(0x100000001b3);
	hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
	hash = (hash ^ hash >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return hash ^ hash >> 33;
}

void filter_sampled(sqlite3_context *context, int count, sqlite3_value **values)
{
	const unsigned char *text = sqlite3_value_text(values[0]);
	const char *given = (const char *)sqlite3_value_text(values[1]);
	double fraction;

	(void)count;
	sqlite3_result_int(context,
			   text && given && fraction_read(given, &fraction) &&
				   (double)hash_of(text, (size_t)sqlite3_value_bytes(values[0])) * 0x1p-64 <
					   fraction);
}

/* ---- the function cast() ---- */

static void integer_give(sqlite3_context *context, const char *text)
{
	char *end;
	long long number;
	double real;

	errno = 0;
	number = strtoll(text, &end, 10);
	if (end != text && !*end && !errno) {
		sqlite3_result_int64(context, number);
		return;
	}
	real = strtod(text, &end);
	if (end != text && !*end && fabs(real) < 0x1p63)
		sqlite3_result_int64(context, (sqlite3_int64)real);
}

static void real_give(sqlite3_context *context, const char *text)
{
	char *end;
	const double real = strtod(text, &end);

	if (end != text && !*end && isfinite(real))
		sqlite3_result_double(context, real);
}

void filter_cast_value(sqlite3_context *context, int count, sqlite3_value **values)
{
	const bool is_real = sqlite3_value_type(values[0]) == SQLITE_FLOAT;
	/* Read before the conversion to text, because SQLite's text of the number has fewer digits. */
	const double real = is_real ? sqlite3_value_double(values[0]) : 0;
	const char *text = (const char *)sqlite3_value_text(values[0]);
	int64_t time;

	(void)count;
	if (!text)
		return;
	switch ((enum filter_type)sqlite3_value_int(values[1])) {
	case TYPE_INT64:
		integer_give(context, text);
		break;
	case TYPE_FLOAT64:
		if (is_real)
			sqlite3_result_double(context, real);
		else
			real_give(context, text);
		break;
	case TYPE_BOOL:
		if (strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0)
			sqlite3_result_text(context, strcasecmp(text, "true") == 0 ? "true" : "false", -1,
					    SQLITE_STATIC);
		break;
	case TYPE_TIMESTAMP:
		if (time_parse(text, &time))
			sqlite3_result_int64(context, time);
		break;
	case TYPE_DURATION:
		if (duration_parse(text, &time))
			sqlite3_result_double(context, (double)time / 1e6);
		break;
	case TYPE_STRING:
		sqlite3_result_value(context, values[0]);
		break;
	}
}

/* ---- times ---- */

bool filter_zone_known(const char *zone)
{
	struct time_zone *found = time_zone_read(zone);

	time_zone_free(found);
	return found;
}

static void zone_free(void *zone)
{
	time_zone_free(zone);
}

/* Returns the time zone, which is kept with the SQL statement for its next rows. */
static const struct time_zone *zone_of(sqlite3_context *context, sqlite3_value *name)
{
	struct time_zone *zone = sqlite3_get_auxdata(context, 1);

	if (zone)
		return zone;
	zone = time_zone_read((const char *)sqlite3_value_text(name));
	if (!zone)
		return NULL;
	sqlite3_set_auxdata(context, 1, zone, zone_free);
	return sqlite3_get_auxdata(context, 1);
}

void filter_time_text(sqlite3_context *context, int count, sqlite3_value **values)
{
	const struct time_zone *zone = zone_of(context, values[1]);
	const int64_t time_ns = sqlite3_value_int64(values[0]);
	struct text text AUTO_TEXT = { 0 };
	int64_t local_ns;
	int offset_s;

	(void)count;
	if (sqlite3_value_type(values[0]) == SQLITE_NULL)
		return;
	if (!zone) {
		sqlite3_result_error_nomem(context);
		return;
	}
	offset_s = time_zone_offset_s(zone, time_ns / 1000000000 - (time_ns % 1000000000 < 0));
	if (__builtin_add_overflow(time_ns, offset_s * INT64_C(1000000000), &local_ns))
		local_ns = time_ns;
	text_time_nanos(&text, local_ns);
	if (offset_s && text.length) {
		const int minutes = abs(offset_s) / 60;

		text.length--; /* the Z */
		text_printf(&text, "%c%02d:%02d", offset_s < 0 ? '-' : '+', minutes / 60, minutes % 60);
	}
	sqlite3_result_text(context, text.data, (int)text.length, SQLITE_TRANSIENT);
}
