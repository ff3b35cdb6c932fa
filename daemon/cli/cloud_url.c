/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/cloud_url.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "daemon/cli/terminal.h"

#define SCHEME "gs://"

bool cloud_url_is(const char *word)
{
	return strncmp(word, SCHEME, strlen(SCHEME)) == 0;
}

enum status cloud_url_read(const char *word, struct cloud_url *ret_url, struct error *err)
{
	const char *bucket = word + strlen(SCHEME);
	const size_t length = strcspn(bucket, "/");

	if (!length)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "\"%s\" has no bucket: write gs://BUCKET/OBJECT", word);
	if (!utf8_valid(word, strlen(word)))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "the name of an object must be UTF-8");
	*ret_url = (struct cloud_url){ .bucket = memory_strndup(bucket, length),
				       .object = memory_strdup(bucket + length + (bucket[length] == '/')) };
	return STATUS_OK;
}

void cloud_url_deinit(struct cloud_url *url)
{
	free(url->bucket);
	free(url->object);
	*url = (struct cloud_url){ 0 };
}

bool cloud_name_is_pattern(const char *name)
{
	return strpbrk(name, "*?[") != NULL;
}

void cloud_url_write(struct text *text, const char *bucket, const char *object)
{
	text_printf(text, SCHEME "%s/%s", bucket, object);
}

char *cloud_url_text(const char *bucket, const char *object)
{
	struct text url AUTO_TEXT = { 0 }, reported AUTO_TEXT = { 0 };

	cloud_url_write(&url, bucket, object);
	text_one_line(&reported, url.data, 0);
	return text_take(&reported);
}
