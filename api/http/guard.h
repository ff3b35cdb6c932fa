/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/guard.h: keeps web pages away from a daemon on the same machine.
 *
 * A page that a browser on this machine shows can send requests to localhost, and a name that its
 * owner points to 127.0.0.1 makes them look like its own. The first carry an Origin or Sec-Fetch-Site
 * header, or, of browsers that do not, a Content-Type that pages send unasked; the second a Host that nobody here
 * uses. Pure. Thread: any.
 * Source: https://www.w3.org/TR/fetch-metadata/ */
#include <stdbool.h>
#include <stdint.h>

#include "api/http/http.h"
#include "daemon/base/error.h"

struct sockaddr;

struct guard {
	const char *address;            /* what the listener is bound to, without brackets */
	const char *const *hosts;       /* further names; ends with NULL; may be NULL */
	bool any_host;                  /* guard_check() refuses nothing */
	struct guard_network {          /* guard_peer_check() refuses clients from it */
		uint32_t address, mask; /* host byte order; both 0: nobody's */
	} refused;
};

/* "10.213.0.0/16"; false when @text is none, or has bits that its mask has not. */
bool guard_network_read(const char *text, struct guard_network *ret_network);
/* The IPv4 address of @peer in host byte order, also of one mapped into IPv6; 0: another kind of address. */
uint32_t guard_peer_ipv4(const struct sockaddr *peer);
/* Outcome: PERMISSION_DENIED. */
enum status guard_peer_check(const struct guard *guard, uint32_t peer, struct error *err);

/* @host is "name", "name:port", "1.2.3.4:port" or "[::1]:port". */
bool guard_host_allowed(const struct guard *guard, const char *host);

/* Each header may be NULL. Outcome: PERMISSION_DENIED.
 * An Origin has to be the @host of this very request, port and all, by http or https: a page of another port of this
 * machine is another's. Choice: by either, for a proxy with TLS may stand before. */
enum status guard_check(const struct guard *guard, const char *host, const char *origin,
			const char *fetch_site, struct error *err);

/* Is @type one that a page sends to other sites without asking first, as a form, a ping or a report, and is not @taken?
 * What has no type passes: many clients' empty requests have none, and no form leaves it out. */
bool guard_type_refused(const struct guard *guard, const char *type, enum page_types taken);
