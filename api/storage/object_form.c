/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/object_form.c: the Object resource in a request. */
#include <stdlib.h>
#include <string.h>

#include "api/storage/bucket_parts.h"
#include "api/storage/messages.h"
#include "api/storage/resource.h"
#include "daemon/base/json.h"

/* Source: https://cloud.google.com/storage/quotas#objects (read 2026-11-22) */
enum {
	METADATA_MAX_BYTES = 8192,
	/* Choice: the limit for metadata that become headers of downloads, so that they fit into the head of an answer. */
	HEADERS_MAX_BYTES = 4096,
};

void object_form_deinit(struct object_form *form)
{
	free(form->name);
	free(form->content_type);
	json_decref(form->metadata);
	*form = (struct object_form){ 0 };
}

enum status headers_size_check(const json_t *resource, const char *content_type, struct error *err)
{
	static const char *const names[] = { "cacheControl", "contentDisposition", "contentEncoding",
					     "contentLanguage" };
	size_t bytes = content_type ? strlen(content_type) : 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		bytes += json_string_length(json_object_get(resource, names[i]));
	if (bytes <= HEADERS_MAX_BYTES)
		return STATUS_OK;
	return error_parameter(
		err, "invalid", NULL,
		"The total size of the object's fixed-key metadata (%zu bytes) exceeds the maximum "
		"allowed (%d bytes).",
		bytes, HEADERS_MAX_BYTES);
}

enum status metadata_size_check(const json_t *resource, struct error *err)
{
	const json_t *metadata = json_object_get(resource, "metadata");
	size_t bytes = 0;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)metadata, name, value)
		bytes += strlen(name) + json_string_length(value);
	if (bytes <= METADATA_MAX_BYTES)
		return headers_size_check(resource, json_text_at(resource, "contentType"), err);
	return error_parameter(
		err, "invalid", NULL,
		"The total size of the object's custom metadata (%zu bytes) exceeds the maximum "
		"allowed (%d bytes).",
		bytes, METADATA_MAX_BYTES);
}

/* Moves a checksum from the resource to the form. */
static enum status checksum_take(json_t *resource, struct object_form *form, struct error *err)
{
	AUTO(string) char *crc32c = resource_take(resource, "crc32c");
	AUTO(string) char *md5 = resource_take(resource, "md5Hash");

	if (crc32c && !crc32c_decode(crc32c, &form->crc32c))
		return error_parameter(err, "invalid", NULL, "Invalid value for field crc32c: %.64s", crc32c);
	if (md5 && !md5_decode(md5, form->md5))
		return error_parameter(err, "invalid", NULL, "Invalid value for field md5Hash: %.64s", md5);
	form->expects_crc32c = crc32c != NULL;
	form->expects_md5 = md5 != NULL;
	return STATUS_OK;
}

enum status object_form_read(const json_t *resource, struct object_form *ret_form, struct error *err)
{
	AUTO(json) json_t *nothing = json_object();
	struct object_form form AUTO_OBJECT_FORM = { 0 };
	enum status rc =
		resource_merge(&storage_object, NULL, resource ? resource : nothing, &form.metadata, err);

	if (!rc)
		rc = checksum_take(form.metadata, &form, err);
	if (!rc)
		rc = storage_class_read(form.metadata, err);
	if (!rc)
		rc = metadata_size_check(form.metadata, err);
	if (rc)
		return rc;
	form.name = resource_take(form.metadata, "name");
	form.content_type = resource_take(form.metadata, "contentType");
	*ret_form = form;
	form = (struct object_form){ 0 };
	return STATUS_OK;
}

enum status object_form_parse(const char *data, size_t length, struct object_form *ret_form,
			      struct error *err)
{
	AUTO(json) json_t *given = NULL;
	enum status rc = resource_parse(data, length, &given, err);

	return rc ? rc : object_form_read(given, ret_form, err);
}

void object_form_metadata(const struct object_form *form, struct object_target *target)
{
	target->content_type = form->content_type;
	target->metadata = form->metadata;
}

void object_form_target(const struct object_form *form, struct object_target *target)
{
	object_form_metadata(form, target);
	target->expects_crc32c = form->expects_crc32c;
	target->crc32c = form->crc32c;
	target->expects_md5 = form->expects_md5;
	memcpy(target->md5, form->md5, sizeof(target->md5));
}
