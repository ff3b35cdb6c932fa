/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/upload_form.c: name, metadata and checksums of the object to be made, from an upload request. */
#include <string.h>

#include "api/storage/upload.h"
#include "daemon/base/memory.h"

void upload_form_deinit(struct upload_form *form)
{
	object_form_deinit(&form->form);
}

static enum status name_choose(const struct call *call, const struct object_form *form, const char **ret_name,
			       struct error *err)
{
	const char *asked = call_query(call, "name");

	if (asked && form->name && strcmp(asked, form->name) != 0)
		return error_parameter(
			err, "invalid", "name",
			"Value '%s' in content does not agree with value '%s'. This can happen when a "
			"value set through a parameter is inconsistent with a value set in the request.",
			form->name, asked);
	*ret_name = asked ? asked : form->name;
	return *ret_name ? STATUS_OK : error_parameter(err, "required", "name", "Required");
}

/* Sets contentEncoding. The parameter has precedence over the resource. */
static void encoding_set(const struct call *call, json_t *metadata)
{
	const char *encoding = call_query(call, "contentEncoding");

	if (encoding)
		json_object_set_new(metadata, "contentEncoding", json_string(encoding));
}

enum status upload_form_read(const struct call *call, const char *resource, size_t length,
			     const char *media_type, struct upload_form *ret_form, struct error *err)
{
	struct upload_form form AUTO_UPLOAD_FORM = { .target = { .conditions = CONDITIONS_NONE } };
	struct checksums checksums = { .has_crc32c = false };
	enum status rc = object_form_parse(resource, length, &form.form, err);

	if (!rc)
		rc = name_choose(call, &form.form, &form.target.name, err);
	if (!rc)
		encoding_set(call, form.form.metadata);
	if (!rc)
		rc = checksums_read(call, &checksums, err);
	if (rc)
		return rc;
	object_form_target(&form.form, &form.target);
	form.target.bucket = call_param(call, "bucket");
	form.target.conditions = conditions_read(call);
	if (!form.target.content_type)
		form.target.content_type = *media_type ? media_type : "application/octet-stream";
	rc = headers_size_check(form.form.metadata, form.target.content_type, err);
	if (rc)
		return rc;
	checksums_target(&checksums, &form.target);
	*ret_form = form;
	form = (struct upload_form){ .form = { .name = NULL } };
	return STATUS_OK;
}

static enum status checksum_refuse(struct error *err, const char *header, const char *value)
{
	return error_parameter(err, "invalid", header, "Invalid value for the header %s: '%.80s'.", header,
			       value);
}

/* Takes one hash of the header, "md5=…" or "crc32c=…"; other kinds are ignored. False: it is invalid. */
static bool hash_take(char *hash, struct checksums *checksums)
{
	hash += strspn(hash, " \t");
	hash[strcspn(hash, " \t")] = '\0';
	if (strncmp(hash, "crc32c=", strlen("crc32c=")) == 0)
		return checksums->has_crc32c = crc32c_decode(hash + strlen("crc32c="), &checksums->crc32c);
	if (strncmp(hash, "md5=", strlen("md5=")) == 0)
		return checksums->has_md5 = md5_decode(hash + strlen("md5="), checksums->md5);
	return true;
}

enum status checksums_read(const struct call *call, struct checksums *ret_checksums, struct error *err)
{
	const char *const hashes = call_header(call, "X-Goog-Hash");
	const char *const md5 = call_header(call, "Content-MD5");
	AUTO(string) char *copy = memory_strdup(hashes);
	struct checksums checksums = { .has_crc32c = false };
	char *rest = NULL;

	for (char *hash = strtok_r(copy, ",", &rest); hash; hash = strtok_r(NULL, ",", &rest))
		if (!hash_take(hash, &checksums))
			return checksum_refuse(err, "X-Goog-Hash", hashes);
	if (*md5) {
		checksums.has_md5 = md5_decode(md5, checksums.md5);
		if (!checksums.has_md5)
			return checksum_refuse(err, "Content-MD5", md5);
	}
	*ret_checksums = checksums;
	return STATUS_OK;
}

void checksums_target(const struct checksums *checksums, struct object_target *target)
{
	if (checksums->has_crc32c) {
		target->expects_crc32c = true;
		target->crc32c = checksums->crc32c;
	}
	if (checksums->has_md5) {
		target->expects_md5 = true;
		memcpy(target->md5, checksums->md5, sizeof(target->md5));
	}
}
