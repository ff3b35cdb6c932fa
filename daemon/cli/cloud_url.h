/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/cloud_url.h: "gs://BUCKET/OBJECT" on the command line. Pure. Thread: any. */
#include <stdbool.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"

struct cloud_url {
	char *bucket;
	char *object; /* "": the bucket itself */
};
#define AUTO_CLOUD_URL __attribute__((cleanup(cloud_url_deinit)))

/* Returns true if a word begins with "gs://"; all other words are paths of files on this machine. */
bool cloud_url_is(const char *word);
/* Splits "gs://BUCKET/OBJECT". INVALID_ARGUMENT: the word has no bucket, or is not UTF-8. */
enum status cloud_url_read(const char *word, struct cloud_url *ret_url, struct error *err);
void cloud_url_deinit(struct cloud_url *url);
/* Returns true if a name has a wildcard: *, ? or [. */
bool cloud_name_is_pattern(const char *name);
/* Appends "gs://BUCKET/OBJECT". */
void cloud_url_write(struct text *text, const char *bucket, const char *object);
/* Returns "gs://BUCKET/OBJECT" for errors and progress lines: safe to print. The caller frees. */
char *cloud_url_text(const char *bucket, const char *object);
