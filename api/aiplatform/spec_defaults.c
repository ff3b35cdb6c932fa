/* SPDX-License-Identifier: Apache-2.0 */
#include "api/aiplatform/spec_defaults.h"

#include <stdbool.h>
#include <string.h>

#include "daemon/base/json.h"

enum { DISK_GB = 100 };

/* Returns the default type of the boot disk: hyperdisk for the families of machines that take no other disks. */
static const char *disk_type(const char *machine_type)
{
	static const char *const hyperdisk[] = { "a3-ultragpu-", "a4-", "a4x-", "n4-", "g4-" };

	for (size_t i = 0; machine_type && i < sizeof(hyperdisk) / sizeof(hyperdisk[0]); i++)
		if (strncmp(machine_type, hyperdisk[i], strlen(hyperdisk[i])) == 0)
			return "hyperdisk-balanced";
	return "pd-ssd";
}

bool spec_disk_is_default(const json_t *pool)
{
	const json_t *disk = json_object_get(pool, "diskSpec");
	const char *type = json_text_at(disk, "bootDiskType");

	return type && json_int_at(disk, "bootDiskSizeGb", 0) == DISK_GB &&
	       strcmp(type, disk_type(json_text_at(json_object_get(pool, "machineSpec"), "machineType"))) == 0;
}

static void pool_fill(json_t *pool)
{
	const char *type = disk_type(json_text_at(json_object_get(pool, "machineSpec"), "machineType"));
	json_t *disk = json_object_get(pool, "diskSpec");

	if (!json_object_size(pool))
		return; /* an empty pool is skipped */
	if (!disk) {
		disk = json_object();
		json_object_set_new(pool, "diskSpec", disk);
	}
	if (!json_object_get(disk, "bootDiskType"))
		json_object_set_new(disk, "bootDiskType", json_string(type));
	if (!json_object_get(disk, "bootDiskSizeGb"))
		json_object_set_new(disk, "bootDiskSizeGb", json_integer(DISK_GB));
}

static void output_fill(json_t *output)
{
	const char *prefix = json_text_at(output, "outputUriPrefix");
	size_t length = prefix ? strlen(prefix) : 0;

	if (length && prefix[length - 1] != '/')
		json_object_set_new(output, "outputUriPrefix", json_sprintf("%s/", prefix));
}

void spec_defaults_fill(json_t *spec)
{
	json_t *pool;
	size_t i;

	json_array_foreach(json_object_get(spec, "workerPoolSpecs"), i, pool)
		pool_fill(pool);
	output_fill(json_object_get(spec, "baseOutputDirectory"));
}
