/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/upload_multipart.c: uploads with two parts: the resource, and the bytes. */
#include "api/storage/multipart.h"
#include "api/storage/storage.h"
#include "api/storage/upload.h"
#include "daemon/base/memory.h"

struct parts {
	const struct call *call;
	struct multipart *multipart;
	unsigned count;
	struct text resource;
	struct upload *upload; /* from the second part on */
};

static enum status bytes_begin(struct parts *parts, const char *media_type, struct error *err)
{
	const struct storage_context *context = parts->call->context;
	struct upload_form form AUTO_UPLOAD_FORM = { .target = { .name = NULL } };
	enum status rc = upload_form_read(parts->call, parts->resource.data ? parts->resource.data : "",
					  parts->resource.length, media_type, &form, err);

	return rc ? rc : upload_begin(context->objects, &form.target, &parts->upload, err);
}

static enum status count_refuse(const struct parts *parts, struct error *err)
{
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "Invalid multipart request with %u mime parts.",
			 parts->count);
}

static enum status on_begin(void *arg, const struct multipart *multipart, struct error *err)
{
	struct parts *parts = arg;

	switch (++parts->count) {
	case 1:
		return STATUS_OK;
	case 2:
		return bytes_begin(parts, multipart_header(multipart, "Content-Type"), err);
	}
	return count_refuse(parts, err);
}

static enum status on_data(void *arg, const char *data, size_t length, struct error *err)
{
	struct parts *parts = arg;

	if (parts->upload)
		return upload_write(parts->upload, data, length, err);
	return resource_append(&parts->resource, data, length, err);
}

static enum status on_end(void *arg, struct error *err)
{
	(void)arg, (void)err;
	return STATUS_OK;
}

static enum status parts_take(void *arg, const char *data, size_t length, struct error *err)
{
	struct parts *parts = arg;

	return multipart_receive(parts->multipart, data, length, err);
}

static void parts_free(struct parts *parts)
{
	multipart_free(parts->multipart);
	upload_free(parts->upload);
	text_deinit(&parts->resource);
	free(parts);
}

DEFINE_AUTO(parts, struct parts *, parts_free)

static void parts_close(void *arg)
{
	parts_free(arg);
}

enum status upload_multipart_begin(struct call *call, struct error *err)
{
	AUTO(parts) struct parts *parts = memory_calloc(1, sizeof(*parts));
	const struct multipart_sink sink = { on_begin, on_data, on_end, parts };
	enum status rc;

	parts->call = call;
	rc = multipart_new(call_header(call, "Content-Type"), &sink, &parts->multipart, err);
	if (rc)
		return rc;
	call->intake = (struct intake){ parts_take, parts_close, TAKE(parts) };
	return STATUS_OK;
}

enum status upload_multipart(struct call *call, struct error *err)
{
	struct parts *parts = call->intake.arg;
	struct object object AUTO_OBJECT = { .name = NULL };
	enum status rc = multipart_finish(parts->multipart, err);

	if (!rc && parts->count != 2)
		rc = count_refuse(parts, err);
	if (!rc)
		rc = upload_finish(parts->upload, &object, err);
	return rc ? rc : object_answer(call, &object, err);
}
