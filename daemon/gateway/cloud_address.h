/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gateway/cloud_address.h: 169.254.169.254, the address of the metadata server on the cloud's machines: on job
 * networks it leads to this machine. This is a routing rule of the kernel for packets that arrive through the network's
 * device only, so the address is unchanged for the machine's own programs, which on a machine of Compute Engine reach
 * the real server. */
#include "daemon/base/error.h"

#define CLOUD_ADDRESS "169.254.169.254"

/* Leads CLOUD_ADDRESS to this machine for packets that arrive through @device. Harmless if the rule exists. A later call
 * removes the rule once the device is gone. UNAVAILABLE: the process lacks CAP_NET_ADMIN, or the kernel has no policy
 * routing. Thread: any. */
enum status cloud_address_lead(const char *device, struct error *err);
/* Removes the rules for devices that no longer exist; the next call tries failed removals again. Thread: any. */
void cloud_address_sweep(void);
