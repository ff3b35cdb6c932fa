/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/nvidia_gpus.h: the GPUs of this machine, according to nvidia's driver.
 *
 * The driver has a directory for each GPU, named by its address on the bus, with a file "information" of lines such as
 *     GPU UUID: 	 GPU-8a56a4bc-4184-4f2f-9f45-0a6a1dd8b0a3
 *     Device Minor: 	 0
 *     GPU Excluded:	 No
 * The text is untrusted: it is read with bounds, and a file of another form is no GPU.
 * Source: http://download.nvidia.com/XFree86/Linux-x86_64/460.80/README/procinterface.html (read 2026-11-21)
 * Thread: any. */
#include <stddef.h>

#include "daemon/base/error.h"
#include "scheduler/plan/host.h"

#define NVIDIA_DIRECTORY "/proc/driver/nvidia/gpus"

/* Sets the devices of @host, which must have none: UUIDs in the order of the minor numbers. A GPU that was not used
 * since the driver was loaded may have no UUID yet; in that case all are named by index, counted like nvidia's tools,
 * without excluded ones. No directory: no devices. */
void nvidia_gpus_read(const char *directory, struct host *host);
