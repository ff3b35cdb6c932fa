/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/regions.h"

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

/* Source: https://cloud.google.com/ai-platform/training/docs/regions for the regions and, as clients of the service
 * copied it, for GPUs and single TPUs. Choice: A100 is in the regions that had A2 machines first, TPU pods are where
 * TPUs are, and TPU_V4_POD is in none. The regions that only Vertex AI has are those that gcloud accepts (version
 * 578). */
const struct region regions[] = {
	{ "africa-south1", { NULL }, true },
	{ "asia-east1", { K80, P100, V100 }, false },
	{ "asia-east2", { NULL }, false },
	{ "asia-northeast1", { T4 }, false },
	{ "asia-northeast2", { NULL }, false },
	{ "asia-northeast3", { T4 }, false },
	{ "asia-south1", { T4 }, false },
	{ "asia-south2", { NULL }, true },
	{ "asia-southeast1", { P4, T4, A100 }, false },
	{ "asia-southeast2", { NULL }, true },
	{ "australia-southeast1", { P100, P4 }, false },
	{ "australia-southeast2", { NULL }, true },
	{ "europe-central2", { NULL }, true },
	{ "europe-north1", { NULL }, false },
	{ "europe-north2", { NULL }, true },
	{ "europe-southwest1", { NULL }, true },
	{ "europe-west1", { K80, P100 }, false },
	{ "europe-west12", { NULL }, true },
	{ "europe-west15", { NULL }, true },
	{ "europe-west2", { T4 }, false },
	{ "europe-west3", { NULL }, false },
	{ "europe-west4", { V100, P4, T4, A100, TPU2, TPU3, TPU2_POD, TPU3_POD }, false },
	{ "europe-west6", { NULL }, false },
	{ "europe-west8", { NULL }, true },
	{ "europe-west9", { NULL }, true },
	{ "me-central1", { NULL }, true },
	{ "me-central2", { NULL }, true },
	{ "me-west1", { NULL }, true },
	{ "northamerica-northeast1", { P4 }, false },
	{ "northamerica-northeast2", { NULL }, true },
	{ "southamerica-east1", { P100, T4 }, false },
	{ "southamerica-west1", { NULL }, true },
	{ "us-central1", { K80, P100, V100, P4, T4, A100, TPU2, TPU3, TPU2_POD, TPU3_POD }, false },
	{ "us-east1", { K80, P100, T4 }, false },
	{ "us-east4", { P4 }, false },
	{ "us-east5", { NULL }, true },
	{ "us-south1", { NULL }, true },
	{ "us-west1", { K80, P100, V100, T4 }, false },
	{ "us-west2", { P4 }, false },
	{ "us-west3", { NULL }, false },
	{ "us-west4", { NULL }, true },
	{ "us-west8", { NULL }, true },
	{ NULL, { NULL }, false },
};

const struct region *region_find(const char *name)
{
	for (const struct region *region = regions; region->name; region++)
		if (strcmp(region->name, name) == 0)
			return region;
	return NULL;
}

bool region_known(const char *name)
{
	const struct region *region = region_find(name);

	return region && !region->vertex_only;
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
	const char *separator = "";

	for (const struct region *region = regions; region->name; region++) {
		if (region->vertex_only)
			continue;
		text_printf(text, "%s%s", separator, region->name);
		separator = ", ";
	}
}
