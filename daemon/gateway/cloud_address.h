/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gateway/cloud_address.h: 169.254.169.254, where the cloud's machines find their metadata server: on job networks it is this
 * machine. A rule of the kernel's routing, for what comes in by the network's device alone, so that the address stays what
 * it was to the machine's own programs: on a machine of Compute Engine that is the real server. */
#include "daemon/base/error.h"

#define CLOUD_ADDRESS "169.254.169.254"

/* Harmless when it is so already. The rule goes when its device has gone, with one of the next calls: nothing listens there
 * before a gateway does. UNAVAILABLE: it takes CAP_NET_ADMIN, and a kernel with policy routing. Thread: any. */
enum status cloud_address_lead(const char *device, struct error *err);
/* Removes rules for devices that are gone; a failure is tried again the next time. Thread: any. */
void cloud_address_sweep(void);
