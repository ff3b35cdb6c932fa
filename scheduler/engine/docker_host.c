/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_host.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/nvidia_gpus.h"

enum { DEVICES_MAX = 1024, CPUS_MAX = 65536, UUID_MAX = 100, WHOLE = -1 };

/* ---- names of the Container Device Interface ---- */

/* "nvidia.com/gpu=3", "nvidia.com/gpu=3:1" (a slice of it), "nvidia.com/gpu=GPU-8a5…" */
struct device {
	const char *id;
	bool indexed;
	int gpu, slice; /* valid if indexed; slice WHOLE: the device is the whole GPU */
};

/* "3", or "3:1". */
static bool index_read(const char *name, struct device *device)
{
	int gpu, slice = WHOLE, end = 0;

	if (name[strspn(name, "0123456789:")])
		return false;
	if ((sscanf(name, "%4d%n", &gpu, &end) != 1 || name[end]) &&
	    (sscanf(name, "%4d:%4d%n", &gpu, &slice, &end) != 2 || name[end]))
		return false;
	device->indexed = true;
	device->gpu = gpu;
	device->slice = slice;
	return true;
}

static bool uuid_has_form(const char *name)
{
	bool whole = strncmp(name, "GPU-", 4) == 0, slice = strncmp(name, "MIG-", 4) == 0;

	return (whole || slice) && name[4] && strlen(name) <= UUID_MAX &&
	       name[strspn(name, "0123456789abcdefABCDEFGIMPU-/")] == '\0';
}

/* Reads the name of one GPU or slice. False: the name is another one, such as "all". */
static bool device_read(const json_t *entry, struct device *ret_device)
{
	static const char prefix[] = "nvidia.com/gpu=";
	const char *id = json_text_at(entry, "ID"), *name;
	struct device device = { .id = id };

	if (!id || strncmp(id, prefix, strlen(prefix)) != 0)
		return false;
	name = id + strlen(prefix);
	if (!index_read(name, &device) && !uuid_has_form(name))
		return false;
	*ret_device = device;
	return true;
}

/* Orders devices: those with an index first, a whole GPU before its slices; then the others by name. */
static int by_index(const void *a, const void *b)
{
	const struct device *left = a, *right = b;

	if (left->indexed != right->indexed)
		return left->indexed ? -1 : 1;
	if (left->gpu != right->gpu)
		return left->gpu < right->gpu ? -1 : 1;
	if (left->slice != right->slice)
		return left->slice < right->slice ? -1 : 1;
	return strcmp(left->id, right->id);
}

/* Whether @device is another name of the device @last, which was taken just before it; @last NULL: none was taken. */
static bool device_is_taken(const struct device *device, const struct device *last)
{
	if (!last)
		return false;
	if (!device->indexed)
		return last->indexed || strcmp(device->id, last->id) == 0;
	return device->gpu == last->gpu && (last->slice == WHOLE || device->slice == last->slice);
}

static void devices_take(const struct device *devices, size_t count, struct host *host)
{
	const struct device *last = NULL;

	for (size_t i = 0; i < count; i++) {
		if (device_is_taken(&devices[i], last))
			continue;
		last = &devices[i];
		host->devices[host->device_count] = memory_strdup(last->id);
		host->device_count++;
	}
}

static void discovered_read(const json_t *entries, struct host *host)
{
	size_t most = json_array_size(entries) < DEVICES_MAX ? json_array_size(entries) : DEVICES_MAX;
	struct device *devices = memory_calloc(most + 1, sizeof(*devices));
	size_t count = 0;

	host->devices = memory_calloc(most + 1, sizeof(*host->devices));
	for (size_t i = 0; i < most; i++)
		count += device_read(json_array_get(entries, i), &devices[count]);
	qsort(devices, count, sizeof(*devices), by_index);
	devices_take(devices, count, host);
	free(devices);
}

/* ---- the host: kernel, GPUs and resources ---- */

/* Whether this process and the engine run on the same kernel, as far as can be determined: by its release, and by the
 * machine's memory to the byte. */
static bool is_on_this_kernel(const json_t *info)
{
	const char *release = json_text_at(info, "KernelVersion");
	struct utsname us;
	struct sysinfo machine;

	if (!release || uname(&us) != 0 || sysinfo(&machine) != 0 || strcmp(release, us.release) != 0)
		return false;
	return json_int_at(info, "MemTotal", 0) == (int64_t)machine.totalram * (int64_t)machine.mem_unit;
}

static void devices_read(const json_t *info, const char *nvidia_directory, struct host *host)
{
	const json_t *discovered = json_object_get(info, "DiscoveredDevices");

	if (json_array_size(discovered) > 0)
		discovered_read(discovered, host);
	if (host->device_count == 0 && is_on_this_kernel(info) &&
	    json_object_get(json_object_get(info, "Runtimes"), "nvidia")) {
		free(host->devices);
		host->devices = NULL;
		nvidia_gpus_read(nvidia_directory, host);
	}
}

void docker_engine_id(const json_t *info, char *ret_id, size_t size)
{
	const char *id = json_text_at(info, "ID"), *root = json_text_at(info, "DockerRootDir");

	/* Up to version 20.10, all engines of a machine have the same ID. So the text also has the engine's data
	 * directory, and is empty if one of the two is missing. */
	*ret_id = '\0';
	if (id && root)
		snprintf(ret_id, size, "%.80s %.160s", id, root);
}

void docker_host_read(const json_t *info, const char *nvidia_directory, struct host *ret_host)
{
	int64_t cpus = json_int_at(info, "NCPU", 0), memory_bytes = json_int_at(info, "MemTotal", 0);
	struct host host = {
		.cpus = cpus > 0 && cpus <= CPUS_MAX ? (unsigned)cpus : 0,
		.memory_bytes = memory_bytes > 0 ? memory_bytes : 0,
	};

	docker_engine_id(info, host.engine, sizeof(host.engine));
	devices_read(info, nvidia_directory, &host);
	host.known = host.cpus > 0 && host.memory_bytes > 0;
	*ret_host = host;
}

bool docker_is_rootless(const json_t *info)
{
	const json_t *options = json_object_get(info, "SecurityOptions");

	for (size_t i = 0; i < json_array_size(options); i++) {
		const char *option = json_string_value(json_array_get(options, i));

		if (option && strcmp(option, "name=rootless") == 0)
			return true;
	}
	return false;
}
