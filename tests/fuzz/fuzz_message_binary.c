/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of gRPC from bytes to canonical JSON and back.
 *
 * What must hold beside not crashing: what is refused is INVALID_ARGUMENT in words, a canonical message has a binary
 * form, and that is read as the same message. */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>

#include "api/aiplatform/aiplatform.h"
#include "api/aiplatform/messages.h"
#include "api/message/message_binary.h"
#include "daemon/base/json.h"
#include "tests/fuzz/message_mutation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct message *const messages[] = { &aiplatform_custom_job, &aiplatform_tuning_job,
						  &aiplatform_training_pipeline,
						  &aiplatform_custom_job_list_request, NULL };
const struct mutated mutated = {
	.messages = messages,
	.inner = (const struct message *const[]){ &aiplatform_custom_job_spec, &aiplatform_tuning_task_inputs,
						  NULL },
	.binary = true,
};

static void expect(bool held)
{
	if (!held)
		abort();
}

/* Whether the mask is unchanged after a round trip. Some paths that name no field are not: "BQMLs" becomes "bqmLs" by
 * way of snake_case. */
static bool mask_comes_back(const char *mask)
{
	bool may_rise = false; /* a capital at this position begins another word */

	for (const char *c = mask; *c; c++) {
		if (isupper((unsigned char)*c) && !may_rise)
			return false;
		may_rise = islower((unsigned char)*c) || isdigit((unsigned char)*c);
	}
	return read_mask_check(&aiplatform_custom_job, mask, &mask, NULL) == STATUS_OK;
}

static json_t *message_of(const struct message *message, const void *data, size_t size)
{
	AUTO(json) json_t *read = NULL;
	json_t *canonical = NULL;
	struct error err AUTO_ERROR = { 0 };

	if (message_from_binary(message, data, size, "", &read, &err) ||
	    message_read(message, read, "", &canonical, &err))
		expect(err.status == STATUS_INVALID_ARGUMENT && err.text);
	return canonical;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct message *message = messages[size ? data[0] % 4 : 0];
	AUTO(json) json_t *first = message_of(message, data + !!size, size - !!size);
	AUTO(json) json_t *second = NULL;
	AUTO(string) char *json = NULL;
	const char *mask;
	struct text bytes AUTO_TEXT = { 0 };

	if (!first)
		return 0;
	json = json_dump_compact(first);
	expect(message_to_binary(message, json, NULL, &bytes, NULL) == STATUS_OK);
	second = message_of(message, bytes.data, bytes.length);
	mask = json_text_at(first, "readMask");
	expect(second && (json_equal(first, second) || (mask && !mask_comes_back(mask))));
	return 0;
}
