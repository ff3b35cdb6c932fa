/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/location_render.h"

#include "api/training/regions.h"

/* Choice: predictions, which AI Platform has too, are not told: trainyard runs none. */
static void capabilities_render(struct text *text, const struct region *region)
{
	text_puts(text, ",\"capabilities\":[{\"type\":\"TRAINING\"");
	for (size_t i = 0; region->accelerators[i]; i++)
		text_printf(text, "%s\"%s\"", i ? "," : ",\"availableAccelerators\":[",
			    region->accelerators[i]);
	text_puts(text, region->accelerators[0] ? "]}]" : "}]");
}

/* Source of the label: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations (read 2026-11-22) */
void location_render(struct text *text, const char *project, const struct region *region)
{
	text_printf(text,
		    "{\"name\":\"projects/%s/locations/%s\",\"locationId\":\"%s\","
		    "\"labels\":{\"cloud.googleapis.com/region\":\"%s\"}",
		    project, region->name, region->name, region->name);
	if (!region->vertex_only)
		capabilities_render(text, region);
	text_putc(text, '}');
}
