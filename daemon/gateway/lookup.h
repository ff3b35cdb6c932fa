/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gateway/lookup.h: a connection to a host by its name, within a bounded time: the resolver itself has none. */
#include "daemon/base/error.h"

/* Tries each of the host's addresses. @wake: a descriptor that becomes readable when the caller is to give up.
 * The socket does not block and is the caller's. UNAVAILABLE: the name is not known, no address answers, or @limit_ms passed. */
enum status lookup_connect(const char *host, const char *port, int wake, unsigned limit_ms, int *ret_fd,
			   struct error *err);
