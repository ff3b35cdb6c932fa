/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/nvidia_gpus.h: the GPUs that nvidia's driver on this kernel knows.
 *
 * The driver keeps a directory for each at its place on the bus, with a file "information" of lines such as
 *     GPU UUID: 	 GPU-8a56a4bc-4184-4f2f-9f45-0a6a1dd8b0a3
 *     Device Minor: 	 0
 *     GPU Excluded:	 No
 * Read as text from outside: with bounds, and what is not of this form is no GPU.
 * Source: http://download.nvidia.com/XFree86/Linux-x86_64/460.80/README/procinterface.html (read 2026-11-21)
 * Thread: any. */
#include <stddef.h>

#include "daemon/base/error.h"
#include "scheduler/plan/host.h"

#define NVIDIA_DIRECTORY "/proc/driver/nvidia/gpus"

/* Sets the devices of @host, which has none: UUIDs in the order of the minor numbers. A GPU that was not used
 * since the driver was loaded may have no UUID yet; then all of them go by index, as nvidia's tools count
 * those that are not excluded. No directory: none. */
void nvidia_gpus_read(const char *directory, struct host *host);
