/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/forms.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"
#include "store/objects/objects.h"

/* Texts that are longer are refused without a match: none of the patterns allows so long a text. */
enum { MATCHED_BYTES_MAX = 4096 };

DEFINE_AUTO(regex, pcre2_code *, pcre2_code_free)
DEFINE_AUTO(match_data, pcre2_match_data *, pcre2_match_data_free)

/* Uses PCRE2, because libc's regcomp() frees memory twice when it runs out of memory (glibc 2.36). */
bool text_matches(const char *text, const char *pattern)
{
	const size_t length = strnlen(text, MATCHED_BYTES_MAX + 1);
	int problem, found;
	size_t at;

	if (length > MATCHED_BYTES_MAX || strchr(text, '\n'))
		return false;
	AUTO(regex)
	pcre2_code *regex = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
					  PCRE2_ANCHORED | PCRE2_ENDANCHORED, &problem, &at, NULL);
	AUTO(match_data) pcre2_match_data *data = regex ? pcre2_match_data_create(1, NULL) : NULL;
	if (!data)
		return false;
	found = pcre2_match(regex, (PCRE2_SPTR)text, length, 0, 0, data, NULL);
	return found >= 0;
}

static const char *bucket_fault(const char *name, enum storage_path kind)
{
	const char *fault = bucket_name_fault(name);

	if (!fault && kind == STORAGE_WRITTEN && bucket_name_is_googles(name))
		return "begins with goog, or has google or a word close to it, which only Google's own do";
	return fault;
}

/* Source: https://cloud.google.com/storage/docs/buckets#naming, https://cloud.google.com/storage/docs/objects#naming */
const char *storage_path_fault(const char *text, enum storage_path kind, char ret_fault[STORAGE_FAULT_SIZE])
{
	static const char scheme[] = "gs://";
	const char *bucket = text + strlen(scheme);
	const char *fault;
	char name[256];

	if (strncmp(text, scheme, strlen(scheme)) != 0 || !*bucket || *bucket == '/' ||
	    (kind == STORAGE_OBJECT && !strstr(bucket, "/"))) {
		snprintf(ret_fault, STORAGE_FAULT_SIZE, "is not a Cloud Storage %s",
			 kind == STORAGE_OBJECT ? "object: it should be gs://BUCKET/OBJECT"
						: "path: it should be gs://BUCKET or gs://BUCKET/PATH");
		return ret_fault;
	}
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(bucket, "/"), bucket);
	fault = bucket_fault(name, kind);
	if (fault)
		snprintf(ret_fault, STORAGE_FAULT_SIZE, "names a bucket that cannot be: the name %s", fault);
	else if (kind == STORAGE_OBJECT && !strchr(bucket, '/')[1])
		snprintf(ret_fault, STORAGE_FAULT_SIZE,
			 "names a bucket and no object: it should be gs://BUCKET/OBJECT");
	else if (strpbrk(text, "\r\n"))
		snprintf(ret_fault, STORAGE_FAULT_SIZE, "has a line break, which no object's name can have");
	else if (strlen(text) > MATCHED_BYTES_MAX)
		snprintf(ret_fault, STORAGE_FAULT_SIZE, "is too long for the name of an object");
	else
		return NULL;
	return ret_fault;
}

/* Choice: lenient validation, too, refuses what does not look like any name that a region or a machine type ever had. */
bool is_cloud_name(const char *text)
{
	return text_matches(text, "[a-z][a-z0-9_-]{0,62}");
}

/* Source: https://cloud.google.com/ai-platform/training/docs/vpc-peering */
bool is_network(const char *text)
{
	return text_matches(text, "projects/[0-9]+/global/networks/[a-z]([-a-z0-9]{0,61}[a-z0-9])?");
}

/* The longest possible address. Source: https://www.rfc-editor.org/rfc/rfc5321 (4.5.3.1.3: a path with its brackets has
 * 256) */
enum { EMAIL_BYTES_MAX = 254 };

bool is_account_email(const char *text)
{
	return strlen(text) <= EMAIL_BYTES_MAX &&
	       text_matches(text, "[^@/[:space:][:cntrl:]]+@[^@/[:space:][:cntrl:]]+");
}

/* Source: https://cloud.google.com/ai-platform/training/docs/cmek */
bool is_kms_key(const char *text)
{
	return text_matches(text, "projects/[^/]+/locations/[^/]+/keyRings/[^/]+/cryptoKeys/[^/]+");
}

bool is_python_module(const char *text)
{
	return text_matches(text, "[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*");
}
