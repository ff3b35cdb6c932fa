/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/regions.h"

#include <stddef.h>
#include <string.h>

#include "daemon/base/text.h"

/* Source: https://cloud.google.com/ai-platform/training/docs/regions */
const char *const ml_regions[] = {
	"asia-east1",
	"asia-east2",
	"asia-northeast1",
	"asia-northeast2",
	"asia-northeast3",
	"asia-south1",
	"asia-southeast1",
	"australia-southeast1",
	"europe-north1",
	"europe-west1",
	"europe-west2",
	"europe-west3",
	"europe-west4",
	"europe-west6",
	"northamerica-northeast1",
	"southamerica-east1",
	"us-central1",
	"us-east1",
	"us-east4",
	"us-west1",
	"us-west2",
	"us-west3",
	NULL,
};

bool region_known(const char *region)
{
	for (const char *const *known = ml_regions; *known; known++)
		if (strcmp(*known, region) == 0)
			return true;
	return false;
}

void regions_list(struct text *text)
{
	for (const char *const *known = ml_regions; *known; known++) {
		if (known != ml_regions)
			text_puts(text, ", ");
		text_puts(text, *known);
	}
}
