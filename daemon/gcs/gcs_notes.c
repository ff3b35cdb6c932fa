/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_notes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/json.h"
#include "store/objects/objects.h"

enum { NS_PER_US = 1000, NS_DIGITS = 9 };
#define NS_PER_S INT64_C(1000000000)

void gcs_time_write(int64_t time_ns, char ret_text[GCS_TIME_SIZE])
{
	const int64_t ns = (time_ns % NS_PER_S + NS_PER_S) % NS_PER_S;
	const time_t seconds = (time_ns - ns) / NS_PER_S;
	char fraction[NS_DIGITS + 2];
	struct tm parts;
	size_t length;

	gmtime_r(&seconds, &parts);
	length = strftime(ret_text, GCS_TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(fraction, sizeof(fraction), ".%09d", (int)ns);
	for (size_t end = strlen(fraction); end > 0 && strchr("0.", fraction[end - 1]); end--)
		fraction[end - 1] = '\0';
	snprintf(ret_text + length, GCS_TIME_SIZE - length, "%sZ", fraction);
}

/* Reads the part of a time after the seconds: an optional fraction, and the zone. False: malformed. */
static bool rest_read(const char *rest, int64_t *ret_ns, int *ret_zone_s)
{
	int hours, minutes, used = 0;

	*ret_ns = 0;
	*ret_zone_s = 0;
	if (*rest == '.') {
		const size_t digits = strspn(++rest, "0123456789");

		if (digits == 0)
			return false;
		for (size_t i = 0; i < NS_DIGITS; i++)
			*ret_ns = *ret_ns * 10 + (i < digits ? rest[i] - '0' : 0);
		rest += digits;
	}
	if (strcmp(rest, "Z") == 0)
		return true;
	if ((*rest != '+' && *rest != '-') || strspn(rest + 1, "0123456789:") != 5 ||
	    sscanf(rest + 1, "%2d:%2d%n", &hours, &minutes, &used) != 2 || used != 5 || rest[6] != '\0')
		return false;
	*ret_zone_s = (*rest == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
	return hours < 24 && minutes < 60;
}

bool gcs_time_read(const char *text, int64_t *ret_ns)
{
	static const char form[] = "0000-00-00T00:00:00";
	struct tm parts = { 0 };
	int64_t ns, seconds;
	int zone_s;

	for (size_t i = 0; form[i]; i++)
		if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
			return false;
	if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d", &parts.tm_year, &parts.tm_mon, &parts.tm_mday,
		   &parts.tm_hour, &parts.tm_min, &parts.tm_sec) != 6 ||
	    !rest_read(text + sizeof(form) - 1, &ns, &zone_s))
		return false;
	if (parts.tm_mon < 1 || parts.tm_mon > 12 || parts.tm_mday < 1 || parts.tm_mday > 31 ||
	    parts.tm_hour > 23 || parts.tm_min > 59 || parts.tm_sec > 59)
		return false;
	parts.tm_year -= 1900;
	parts.tm_mon -= 1;
	seconds = (int64_t)timegm(&parts) - zone_s;
	if (__builtin_mul_overflow(seconds, NS_PER_S, ret_ns))
		return false;
	return !__builtin_add_overflow(*ret_ns, ns, ret_ns);
}

static bool seconds_read(const char *text, int64_t *ret_ns)
{
	char *rest = NULL;
	long long seconds;

	errno = 0;
	seconds = strtoll(text, &rest, 0);
	return errno == 0 && rest != text && !*rest && !__builtin_mul_overflow(seconds, NS_PER_S, ret_ns);
}

static const char *note_of(const struct object *object, const char *key)
{
	return json_string_value(json_object_get(json_object_get(object->metadata, "metadata"), key));
}

const char *gcs_link_target(const struct object *object)
{
	return note_of(object, GCS_NOTE_TARGET);
}

struct gcs_facts gcs_facts_of(const struct object *object)
{
	const char *target = gcs_link_target(object);
	const char *link = note_of(object, "goog-reserved-file-is-symlink");
	const char *seconds = note_of(object, "goog-reserved-file-mtime"); /* gsutil's */
	const char *time = note_of(object, GCS_NOTE_TIME);
	struct gcs_facts facts = {
		.is_link = target || (link && strcmp(link, "true") == 0),
		.size_bytes = target ? (int64_t)strlen(target) : object->size_bytes,
		.modified_ns = object->updated_us * NS_PER_US,
		.generation = object->generation,
	};
	int64_t noted_ns;

	if (seconds && seconds_read(seconds, &noted_ns))
		facts.modified_ns = noted_ns;
	if (time && gcs_time_read(time, &noted_ns))
		facts.modified_ns = noted_ns;
	return facts;
}
