/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/guard.h: protects a daemon from web pages in a browser on the same machine.
 *
 * A page can send requests to localhost. A page can also have a host name that its owner points to 127.0.0.1 (DNS
 * rebinding), so that the requests look like its own. Requests of the first kind have an Origin or Sec-Fetch-Site
 * header or, in older browsers, one of the Content-Types that pages may send to other sites; requests of the second
 * kind have a Host that is not a name of this daemon. Pure. Thread: any.
 * Source: https://www.w3.org/TR/fetch-metadata/ */
#include <stdbool.h>
#include <stdint.h>

#include "api/http/http.h"
#include "daemon/base/error.h"

struct sockaddr;

struct guard {
	const char *address;            /* address of the listener, without brackets */
	const char *const *hosts;       /* further names of the daemon; ends with NULL; may be NULL */
	bool any_host;                  /* guard_check() refuses nothing */
	struct guard_network {          /* Clients from this network are refused by guard_peer_check(). */
		uint32_t address, mask; /* host byte order; both 0: no network */
	} refused;
};

/* Reads a network like "10.213.0.0/16". False: @text is not a network, or has bits outside of its mask. */
bool guard_network_read(const char *text, struct guard_network *ret_network);
/* The IPv4 address of @peer in host byte order, also if mapped into IPv6; 0: another kind of address. */
uint32_t guard_peer_ipv4(const struct sockaddr *peer);
/* Refuses a peer in the refused network, such as a program in a job. Outcome: PERMISSION_DENIED. */
enum status guard_peer_check(const struct guard *guard, uint32_t peer, struct error *err);

/* True if the Host header names this daemon. @host: "name", "name:port", "1.2.3.4:port" or "[::1]:port". */
bool guard_host_allowed(const struct guard *guard, const char *host);

/* Checks the headers of a request. Each header may be NULL. Outcome: PERMISSION_DENIED. An Origin must be the @host
 * of the same request, including the port, by http or https: another port of this machine may be another user's.
 * Choice: either scheme, because a proxy with TLS may stand in front. */
enum status guard_check(const struct guard *guard, const char *host, const char *origin,
			const char *fetch_site, struct error *err);

/* True if a page can send the type @type to other sites without a preflight, for a form, a ping or a report, unless
 * @taken accepts it. Requests without a type pass: many clients send none with an empty body, and forms always have
 * one. */
bool guard_type_refused(const struct guard *guard, const char *type, enum page_types taken);
