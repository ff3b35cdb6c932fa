/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/accelerator.h"

#include <string.h>

#include "daemon/base/text.h"

#define GPU_PREFIX "NVIDIA_TESLA_"
#define TPU_PREFIX "TPU_"

static const char *const types[ACCELERATOR_COUNT] = {
	[ACCELERATOR_A100] = GPU_PREFIX "A100",
	[ACCELERATOR_K80] = GPU_PREFIX "K80",
	[ACCELERATOR_P100] = GPU_PREFIX "P100",
	[ACCELERATOR_P4] = GPU_PREFIX "P4",
	[ACCELERATOR_T4] = GPU_PREFIX "T4",
	[ACCELERATOR_TPU_V2] = TPU_PREFIX "V2",
	[ACCELERATOR_TPU_V2_POD] = TPU_PREFIX "V2_POD",
	[ACCELERATOR_TPU_V3] = TPU_PREFIX "V3",
	[ACCELERATOR_TPU_V3_POD] = TPU_PREFIX "V3_POD",
	[ACCELERATOR_V100] = GPU_PREFIX "V100",
};

bool accelerator_parse(const char *type, enum accelerator *ret_accelerator)
{
	for (int i = 0; i < ACCELERATOR_COUNT; i++) {
		if (strcmp(types[i], type) == 0) {
			*ret_accelerator = (enum accelerator)i;
			return true;
		}
	}
	return false;
}

const char *accelerator_name(enum accelerator accelerator)
{
	return types[accelerator];
}

bool accelerator_is_tpu(const char *type)
{
	return strncmp(type, TPU_PREFIX, strlen(TPU_PREFIX)) == 0;
}

const char *accelerator_short_name(const char *type)
{
	return strncmp(type, GPU_PREFIX, strlen(GPU_PREFIX)) == 0 ? type + strlen(GPU_PREFIX) : type;
}

char *accelerator_quota_text(const char *project, const char *type, unsigned count,
			     const unsigned maxima[ACCELERATOR_COUNT])
{
	struct text text AUTO_TEXT = { 0 };

	text_printf(&text,
		    "Quota failure for project %s. The request for %u %s accelerators exceeds the allowed "
		    "maximum of ",
		    project, count, accelerator_short_name(type));
	for (int i = 0; i < ACCELERATOR_COUNT; i++) {
		text_puts(&text, i ? ", " : "");
		if (maxima[i] == ACCELERATOR_UNLIMITED)
			text_puts(&text, "unlimited");
		else
			text_printf(&text, "%u", maxima[i]);
		text_printf(&text, " %s", accelerator_short_name(types[i]));
	}
	text_puts(&text, " accelerators.");
	return text_take(&text);
}
