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

/* The accelerators of Vertex AI, as bits. */
enum {
	IN_A100 = 1 << 0,
	IN_A100_80 = 1 << 1,
	IN_B200 = 1 << 2,
	IN_GB200 = 1 << 3,
	IN_H100 = 1 << 4,
	IN_H100_MEGA = 1 << 5,
	IN_H200 = 1 << 6,
	IN_L4 = 1 << 7,
	IN_P4 = 1 << 8,
	IN_P100 = 1 << 9,
	IN_RTX_6000 = 1 << 10,
	IN_T4 = 1 << 11,
	IN_V100 = 1 << 12,
	IN_TPU2 = 1 << 13,
	IN_TPU3 = 1 << 14,
	IN_TPU5E = 1 << 15,
	IN_TPU6E = 1 << 16,
	IN_TPU7X = 1 << 17,
};

/* The names of these accelerators in the order of the bits: accelerator types and, for TPUs that have no accelerator
 * type, the beginning of the names of their machine types. */
static const char *const vertex_accelerators[] = {
	"NVIDIA_TESLA_A100",
	"NVIDIA_A100_80GB",
	"NVIDIA_B200",
	"NVIDIA_GB200",
	"NVIDIA_H100_80GB",
	"NVIDIA_H100_MEGA_80GB",
	"NVIDIA_H200_141GB",
	"NVIDIA_L4",
	"NVIDIA_TESLA_P4",
	"NVIDIA_TESLA_P100",
	"NVIDIA_RTX_PRO_6000",
	"NVIDIA_TESLA_T4",
	"NVIDIA_TESLA_V100",
	"TPU_V2",
	"TPU_V3",
	"ct5lp",
	"ct6e",
	"tpu7x",
};

/* Source: https://cloud.google.com/ai-platform/training/docs/regions for the regions and, as clients of the service
 * copied it, for GPUs and single TPUs. Choice: A100 is in the regions that had A2 machines first, TPU pods are where
 * TPUs are, and TPU_V4_POD is in none. The regions that only Vertex AI has are those that gcloud accepts (version 578).
 * The accelerators of Vertex AI are those that the following list offers for training:
 * https://docs.cloud.google.com/gemini-enterprise-agent-platform/machine-learning/general/locations#accelerators (a
 * copy of 2026, read 2026-11-28). */
const struct region regions[] = {
	{ "africa-south1", { NULL }, true, 0 },
	{ "asia-east1", { K80, P100, V100 }, false, IN_H100_MEGA | IN_P100 | IN_T4 | IN_V100 | IN_TPU2 },
	{ "asia-east2", { NULL }, false, IN_T4 },
	{ "asia-northeast1", { T4 }, false, IN_B200 | IN_H100 | IN_H100_MEGA | IN_T4 | IN_TPU6E },
	{ "asia-northeast2", { NULL }, false, 0 },
	{ "asia-northeast3", { T4 }, false, IN_A100 | IN_H100 | IN_L4 | IN_T4 },
	{ "asia-south1", { T4 }, false, IN_H100 | IN_H200 | IN_L4 | IN_T4 },
	{ "asia-south2", { NULL }, true, IN_H200 | IN_RTX_6000 },
	{ "asia-southeast1",
	  { P4, T4, A100 },
	  false,
	  IN_A100 | IN_A100_80 | IN_B200 | IN_H100 | IN_H100_MEGA | IN_L4 | IN_P4 | IN_RTX_6000 |
		    IN_T4 },
	{ "asia-southeast2", { NULL }, true, IN_T4 },
	{ "australia-southeast1", { P100, P4 }, false, IN_H100_MEGA | IN_P4 | IN_T4 },
	{ "australia-southeast2", { NULL }, true, 0 },
	{ "europe-central2", { NULL }, true, IN_T4 },
	{ "europe-north1", { NULL }, false, IN_H100_MEGA },
	{ "europe-north2", { NULL }, true, 0 },
	{ "europe-southwest1", { NULL }, true, 0 },
	{ "europe-west1", { K80, P100 }, false, IN_H100 | IN_H100_MEGA | IN_H200 | IN_P100 | IN_T4 },
	{ "europe-west12", { NULL }, true, 0 },
	{ "europe-west15", { NULL }, true, 0 },
	{ "europe-west2", { T4 }, false, IN_H100 | IN_L4 | IN_T4 },
	{ "europe-west3", { NULL }, false, IN_H100 | IN_H100_MEGA | IN_T4 },
	{ "europe-west4",
	  { V100, P4, T4, A100, TPU2, TPU3, TPU2_POD, TPU3_POD },
	  false,
	  IN_A100 | IN_A100_80 | IN_B200 | IN_H100 | IN_H100_MEGA | IN_H200 | IN_L4 | IN_P4 | IN_P100 |
		    IN_RTX_6000 | IN_T4 | IN_V100 | IN_TPU2 | IN_TPU3 | IN_TPU6E },
	{ "europe-west6", { NULL }, false, 0 },
	{ "europe-west8", { NULL }, true, 0 },
	{ "europe-west9", { NULL }, true, 0 },
	{ "me-central1", { NULL }, true, 0 },
	{ "me-central2", { NULL }, true, IN_L4 },
	{ "me-west1", { NULL }, true, IN_A100 },
	{ "northamerica-northeast1", { P4 }, false, IN_P4 | IN_T4 },
	{ "northamerica-northeast2", { NULL }, true, IN_H100 | IN_L4 },
	{ "southamerica-east1", { P100, T4 }, false, IN_T4 },
	{ "southamerica-west1", { NULL }, true, IN_TPU6E },
	{ "us-central1",
	  { K80, P100, V100, P4, T4, A100, TPU2, TPU3, TPU2_POD, TPU3_POD },
	  false,
	  IN_A100 | IN_A100_80 | IN_B200 | IN_GB200 | IN_H100 | IN_H100_MEGA | IN_H200 | IN_L4 | IN_P4 |
		    IN_P100 | IN_RTX_6000 | IN_T4 | IN_V100 | IN_TPU2 | IN_TPU3 | IN_TPU5E | IN_TPU6E |
		    IN_TPU7X },
	{ "us-east1",
	  { K80, P100, T4 },
	  false,
	  IN_A100 | IN_B200 | IN_L4 | IN_P100 | IN_RTX_6000 | IN_T4 | IN_V100 | IN_TPU5E | IN_TPU6E },
	{ "us-east4",
	  { P4 },
	  false,
	  IN_A100_80 | IN_B200 | IN_GB200 | IN_H100 | IN_H100_MEGA | IN_H200 | IN_L4 | IN_P4 |
		    IN_RTX_6000 | IN_T4 },
	{ "us-east5", { NULL }, true, IN_A100_80 | IN_H100 | IN_H100_MEGA | IN_H200 | IN_TPU6E },
	{ "us-south1", { NULL }, true, IN_B200 | IN_H200 | IN_TPU6E },
	{ "us-west1",
	  { K80, P100, V100, T4 },
	  false,
	  IN_H100 | IN_H100_MEGA | IN_H200 | IN_L4 | IN_P100 | IN_T4 | IN_V100 | IN_TPU5E },
	{ "us-west2", { P4 }, false, IN_B200 | IN_P4 | IN_T4 },
	{ "us-west3", { NULL }, false, IN_A100 | IN_B200 },
	{ "us-west4", { NULL }, true, IN_A100 | IN_H100 | IN_H100_MEGA | IN_T4 | IN_TPU5E },
	{ "us-west8", { NULL }, true, 0 },
	{ NULL, { NULL }, false, 0 },
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

bool region_trains_with(const char *name, const char *accelerator)
{
	const struct region *region = region_find(name);

	for (size_t i = 0; region && i < sizeof(vertex_accelerators) / sizeof(vertex_accelerators[0]); i++)
		if (strcmp(vertex_accelerators[i], accelerator) == 0)
			return region->vertex >> i & 1;
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
