/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_host.h: reads the resources of the engine's machine from the engine's answer to /info.
 *
 * GPUs come from one of two places:
 *   - DiscoveredDevices (API 1.50 and newer): names of the Container Device Interface. The same GPU is listed
 *     by index, by UUID and within "all"; it is taken once, by its index where there is one;
 *   - else, when the engine has nvidia's runtime and is on this kernel, the driver's own list in /proc.
 * Without either there are no GPUs: an engine that accepts nvidia requests reports nothing else about them.
 * Thread: any. */
#include <jansson.h>

#include "daemon/base/error.h"
#include "scheduler/plan/host.h"

/* Reads the engine's answer @info to /info. *ret_host is set for any @info; if it names no CPUs or no memory, the
 * host is marked as unknown.
 * @nvidia_directory: NVIDIA_DIRECTORY, or another one for tests
 * @ret_host: owned by the caller, host_deinit() */
void docker_host_read(const json_t *info, const char *nvidia_directory, struct host *ret_host);
/* Writes a text that identifies the engine among all engines; "": it cannot be identified. */
void docker_engine_id(const json_t *info, char *ret_id, size_t size);
/* Whether the engine is rootless: it runs as a user in namespaces of its own, and its networks are in these
 * namespaces. Source: https://docs.docker.com/engine/security/rootless/ and answers of Podman 4.3 to /info (read
 * 2026-11-26) */
bool docker_is_rootless(const json_t *info);
