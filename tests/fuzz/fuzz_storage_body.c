/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of Cloud Storage and Cloud Logging that do not pass the readers of jobs: objects, buckets, what is composed, policies,
 * entries to write.
 *
 * What must hold beside not crashing: what is taken is taken again unchanged; a patch of a resource with itself changes
 * nothing; an object's limits hold. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/logging/messages.h"
#include "api/storage/bucket_parts.h"
#include "api/storage/messages.h"
#include "api/storage/resource.h"
#include "daemon/base/json.h"
#include "tests/fuzz/message_mutation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct message *const messages[] = { &storage_object,
						  &storage_bucket,
						  &storage_compose_request,
						  &storage_policy,
						  &logging_write_entries_request,
						  NULL };
const struct mutated mutated = { .messages = messages };

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void read_try(const struct message *message, const json_t *given)
{
	AUTO(json) json_t *canonical = NULL;
	AUTO(json) json_t *again = NULL;
	struct error err AUTO_ERROR = { 0 };

	if (message_read(message, given, "", &canonical, &err)) {
		require(err.status == STATUS_INVALID_ARGUMENT && err.text);
		return;
	}
	require(message_read(message, canonical, "", &again, NULL) == STATUS_OK &&
		json_equal(canonical, again));
}

/* Fails with: patch_apply() that appends to lists. */
static void merge_try(const struct message *message, const json_t *given)
{
	AUTO(json) json_t *made = NULL;
	AUTO(json) json_t *patched = NULL;
	struct error err AUTO_ERROR = { 0 };

	if (resource_merge(message, NULL, given, &made, &err)) {
		require(err.status == STATUS_INVALID_ARGUMENT && err.text);
		return;
	}
	require(resource_merge(message, made, made, &patched, NULL) == STATUS_OK &&
		json_equal(made, patched));
}

static void object_try(const char *data, size_t size)
{
	struct object_form form AUTO_OBJECT_FORM = { 0 };
	struct object_target target = { 0 };
	struct error err AUTO_ERROR = { 0 };

	if (object_form_parse(data, size, &form, &err)) {
		require(err.status == STATUS_INVALID_ARGUMENT && err.text);
		return;
	}
	require(metadata_size_check(form.metadata, NULL) == STATUS_OK);
	require(!json_object_get(form.metadata, "name") && !json_object_get(form.metadata, "md5Hash"));
	object_form_target(&form, &target);
	require(target.metadata == form.metadata);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(json) json_t *given = NULL;
	struct error err AUTO_ERROR = { 0 };

	object_try((const char *)data, size);
	if (resource_parse((const char *)data, size, &given, &err)) {
		require(err.status == STATUS_INVALID_ARGUMENT && err.text);
		return 0;
	}
	for (size_t i = 0; messages[i]; i++) {
		read_try(messages[i], given);
		merge_try(messages[i], given);
	}
	return 0;
}
