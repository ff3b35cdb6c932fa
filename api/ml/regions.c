/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/regions.h"

#include <stddef.h>
#include <string.h>

#include "daemon/base/text.h"

#define K80      "NVIDIA_TESLA_K80"
#define P100     "NVIDIA_TESLA_P100"
#define V100     "NVIDIA_TESLA_V100"
#define P4       "NVIDIA_TESLA_P4"
#define T4       "NVIDIA_TESLA_T4"
#define A100     "NVIDIA_TESLA_A100"
#define TPU2     "TPU_V2"
#define TPU3     "TPU_V3"
#define TPU2_POD "TPU_V2_POD"
#define TPU3_POD "TPU_V3_POD"

/* Source: https://cloud.google.com/ai-platform/training/docs/regions for the regions and, as clients of the
 * service copied it, for GPUs and single TPUs. Choice: A100 where A2 machines came first, pods where TPUs
 * are; TPU_V4_POD is nowhere, for none of these regions had it. */
const struct region ml_regions[] = {
	{ "asia-east1", { K80, P100, V100 } },
	{ "asia-east2", { NULL } },
	{ "asia-northeast1", { T4 } },
	{ "asia-northeast2", { NULL } },
	{ "asia-northeast3", { T4 } },
	{ "asia-south1", { T4 } },
	{ "asia-southeast1", { P4, T4, A100 } },
	{ "australia-southeast1", { P100, P4 } },
	{ "europe-north1", { NULL } },
	{ "europe-west1", { K80, P100 } },
	{ "europe-west2", { T4 } },
	{ "europe-west3", { NULL } },
	{ "europe-west4", { V100, P4, T4, A100, TPU2, TPU3, TPU2_POD, TPU3_POD } },
	{ "europe-west6", { NULL } },
	{ "northamerica-northeast1", { P4 } },
	{ "southamerica-east1", { P100, T4 } },
	{ "us-central1", { K80, P100, V100, P4, T4, A100, TPU2, TPU3, TPU2_POD, TPU3_POD } },
	{ "us-east1", { K80, P100, T4 } },
	{ "us-east4", { P4 } },
	{ "us-west1", { K80, P100, V100, T4 } },
	{ "us-west2", { P4 } },
	{ "us-west3", { NULL } },
	{ NULL, { NULL } },
};

const struct region *region_find(const char *name)
{
	for (const struct region *region = ml_regions; region->name; region++)
		if (strcmp(region->name, name) == 0)
			return region;
	return NULL;
}

bool region_known(const char *name)
{
	return region_find(name) != NULL;
}

bool region_has_accelerator(const char *name, const char *accelerator_type)
{
	const struct region *region = region_find(name);

	for (size_t i = 0; region && region->accelerators[i]; i++)
		if (strcmp(region->accelerators[i], accelerator_type) == 0)
			return true;
	return false;
}

void regions_list(struct text *text)
{
	for (const struct region *region = ml_regions; region->name; region++) {
		if (region != ml_regions)
			text_puts(text, ", ");
		text_puts(text, region->name);
	}
}
