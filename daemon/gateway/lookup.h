/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gateway/lookup.h: connects to a host by name within a limited time, which the resolver itself does not offer. */
#include "daemon/base/error.h"

/* Connects to one of the host's addresses, trying each in turn. @wake: a descriptor that becomes readable when the
 * caller wants to give up. *ret_fd is non-blocking; the caller closes it. UNAVAILABLE: the name cannot be resolved, no
 * address answers, or @limit_ms passed. */
enum status lookup_connect(const char *host, const char *port, int wake, unsigned limit_ms, int *ret_fd,
			   struct error *err);
