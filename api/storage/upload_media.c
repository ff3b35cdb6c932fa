/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/upload_media.c: uploads of an object as the whole body, and the intake functions that the other kinds of
 * uploads use too. */
#include "api/storage/storage.h"
#include "api/storage/upload.h"
#include "daemon/base/memory.h"

static enum status upload_take(void *arg, const char *data, size_t length, struct error *err)
{
	return upload_write(arg, data, length, err);
}

static void upload_close(void *arg)
{
	upload_free(arg);
}

enum status upload_intake_begin(struct call *call, const struct object_target *target, struct error *err)
{
	const struct storage_context *context = call->context;
	struct upload *upload = NULL;
	enum status rc = upload_begin(context->objects, target, &upload, err);

	if (!rc)
		call->intake = (struct intake){ upload_take, upload_close, upload };
	return rc;
}

enum status upload_intake_finish(struct call *call, struct object *ret_object, struct error *err)
{
	return upload_finish(call->intake.arg, ret_object, err);
}

enum status upload_media_begin(struct call *call, struct error *err)
{
	struct upload_form form AUTO_UPLOAD_FORM = { .target = { .name = NULL } };
	enum status rc = upload_form_read(call, "", 0, call_header(call, "Content-Type"), &form, err);

	return rc ? rc : upload_intake_begin(call, &form.target, err);
}

enum status upload_media(struct call *call, struct error *err)
{
	struct object object AUTO_OBJECT = { .name = NULL };
	enum status rc = upload_intake_finish(call, &object, err);

	return rc ? rc : object_answer(call, &object, err);
}

enum status resource_append(struct text *resource, const char *data, size_t length, struct error *err)
{
	if (length > RESOURCE_MAX_BYTES - resource->length)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "The metadata of an upload is limited to %d bytes.", RESOURCE_MAX_BYTES);
	text_append(resource, data, length);
	return STATUS_OK;
}

static enum status resource_take(void *arg, const char *data, size_t length, struct error *err)
{
	return resource_append(arg, data, length, err);
}

static void resource_close(void *arg)
{
	text_deinit(arg);
	free(arg);
}

enum status resource_intake_begin(struct call *call, struct error *err)
{
	struct text *resource = memory_calloc(1, sizeof(*resource));

	(void)err;
	call->intake = (struct intake){ resource_take, resource_close, resource };
	return STATUS_OK;
}

const struct text *resource_intake_text(const struct call *call)
{
	return call->intake.arg;
}
