/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gateway/cloud_address.h: 169.254.169.254, the address of the metadata server on the cloud's machines: on job
 * networks it leads to this machine. This is a routing rule of the kernel for packets that arrive through the network's
 * device only, so the address is unchanged for the machine's own programs, which on a machine of Compute Engine reach
 * the real server. */
#include "daemon/base/error.h"

#define CLOUD_ADDRESS "169.254.169.254"

/* Harmless if the rule exists. The rule is removed after its device has gone, by one of the next calls; nothing listens
 * at the address before a gateway does. UNAVAILABLE: it needs CAP_NET_ADMIN, and a kernel with policy routing. Thread:
 * any. */
enum status cloud_address_lead(const char *device, struct error *err);
/* Removes rules for devices that are gone; a failure is tried again next time. Thread: any. */
void cloud_address_sweep(void);
