/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/ml.h"
#include "api/ml/regions.h"

/* Choice: predictions, which the service has too, are not told: trainyard runs none. */
void location_render(struct text *text, const char *project, const struct region *region)
{
	text_printf(text, "{\"name\":\"projects/%s/locations/%s\",\"capabilities\":[{\"type\":\"TRAINING\"",
		    project, region->name);
	for (size_t i = 0; region->accelerators[i]; i++)
		text_printf(text, "%s\"%s\"", i ? "," : ",\"availableAccelerators\":[",
			    region->accelerators[i]);
	text_puts(text, region->accelerators[0] ? "]}]}" : "}]}");
}
