/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"

enum { DEVICES_MAX = 1024, DEVICE_ID_BYTES_MAX = 255 };

static void devices_free(char **devices, size_t count)
{
	for (size_t i = 0; devices && i < count; i++)
		free(devices[i]);
	free(devices);
}

void host_deinit(struct host *host)
{
	devices_free(host->devices, host->device_count);
	*host = (struct host){ 0 };
}

struct host host_copy(const struct host *from)
{
	struct host copy = *from;

	copy.devices = from->device_count ? memory_calloc(from->device_count, sizeof(*copy.devices)) : NULL;
	for (size_t i = 0; i < from->device_count; i++)
		copy.devices[i] = memory_strdup(from->devices[i]);
	return copy;
}

void inventory_deinit(struct inventory *inventory)
{
	devices_free(inventory->devices, inventory->device_count);
	*inventory = (struct inventory){ 0 };
}

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

/* The names by which NVIDIA's toolkit and container engines know a GPU: its index, followed for a part of it by a colon
 * and the part's index; its UUID, or that of a part; or a name of the Container Device Interface. Any other text is
 * usually a slip ("4x"), which would only show when the first job starts. The toolkit's words for "every GPU" and "no
 * GPU" are refused.
 * Source: https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html
 * Source: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/ (parts of GPUs; read 2026-11-21) */
bool device_id_valid(const char *id, size_t length)
{
	static const char digits[] = "0123456789";
	const size_t index = strspn(id, digits);
	const size_t part = index && id[index] == ':' ? 1 + strspn(id + index + 1, digits) : 0;

	if (!length || length > DEVICE_ID_BYTES_MAX || strchr("-_.:/=", *id) || id[length - 1] == ':')
		return false;
	if (strncmp(id, "GPU-", 4) != 0 && strncmp(id, "MIG-", 4) != 0 && !memchr(id, '=', length))
		return index + part == length;
	return strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/=") >= length;
}

static bool holds(const struct inventory *inventory, const char *id)
{
	for (size_t i = 0; i < inventory->device_count; i++)
		if (strcmp(inventory->devices[i], id) == 0)
			return true;
	return false;
}

/* Takes ownership of @id. */
static enum status device_add(struct inventory *inventory, char *id, struct error *err)
{
	enum status rc = STATUS_OK;

	if (holds(inventory, id))
		rc = error_set(err, STATUS_INVALID_ARGUMENT, NULL, "GPU %s is named twice", id);
	else if (inventory->device_count == DEVICES_MAX)
		rc = error_set(err, STATUS_INVALID_ARGUMENT, NULL,
			       "the list has too many GPUs: name %d at most", DEVICES_MAX);
	if (rc) {
		free(id);
		return rc;
	}
	inventory->devices[inventory->device_count++] = id;
	return STATUS_OK;
}

static enum status number_parse(const char *text, struct inventory *inventory, struct error *err)
{
	unsigned long count = strtoul(text, NULL, 10); /* ULONG_MAX when it is larger */

	if (count > DEVICES_MAX)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "too many GPUs: give a number up to %d", DEVICES_MAX);
	for (unsigned i = 0; i < count; i++) {
		char id[16];
		enum status rc;

		snprintf(id, sizeof(id), "%u", i);
		rc = device_add(inventory, memory_strdup(id), err);
		if (rc)
			return rc;
	}
	return STATUS_OK;
}

static enum status ids_parse(const char *text, struct inventory *inventory, struct error *err)
{
	for (const char *id = text;;) {
		size_t length = strcspn(id, ",");
		enum status rc;

		if (!device_id_valid(id, length))
			return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "this host has no GPU \"%.*s\"",
					 length < 64 ? (int)length : 64, id);
		rc = device_add(inventory, memory_strndup(id, length), err);
		if (rc || !id[length])
			return rc;
		id += length + 1;
	}
}

enum status inventory_parse(const char *text, struct inventory *ret_inventory, struct error *err)
{
	struct inventory inventory = { .automatic = strcmp(text, "auto") == 0 };
	enum status rc;

	if (inventory.automatic || strcmp(text, "none") == 0) {
		*ret_inventory = inventory;
		return STATUS_OK;
	}
	inventory.devices = memory_calloc(DEVICES_MAX, sizeof(*inventory.devices));
	rc = is_number(text) ? number_parse(text, &inventory, err) : ids_parse(text, &inventory, err);
	if (rc) {
		inventory_deinit(&inventory);
		return rc;
	}
	*ret_inventory = inventory;
	return STATUS_OK;
}
