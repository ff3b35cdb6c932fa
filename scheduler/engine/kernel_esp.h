/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/kernel_esp.h: whether this machine's kernel can encrypt the packets of an overlay network. Thread: any;
 * starts a process that ends at once.
 *
 * An engine makes an encrypted overlay, and containers in it, on any kernel. Where the kernel lacks ESP (IPsec), only the
 * engine's own log says so, and every packet to another node is lost (Docker 20.10, read 2026-11-27). */
#include "daemon/base/error.h"

/* Whether the kernel can encrypt. FAILED_PRECONDITION: it cannot; the error text explains --unencrypted to the user.
 * UNAVAILABLE: this cannot be found out, because no network namespace can be made. */
enum status kernel_esp_check(struct error *err);
