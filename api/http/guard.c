/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/guard.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/http/request.h"
#include "daemon/base/text.h"

enum { NAME_SIZE = 256, PORT_MAX = 65535, HOST_SHOWN_BYTES = 100 };

/* Parses "name:port" or "[v6]:port". The name is copied without brackets and without a final dot; *ret_port is
 * unchanged if there is no port. */
static bool place_take(const char *host, char name[NAME_SIZE], unsigned *ret_port)
{
	const bool bracketed = *host == '[';
	size_t length = bracketed ? strcspn(++host, "]") : strcspn(host, ":");
	const char *rest = host + length;
	unsigned port = 0;

	if (bracketed && *rest++ != ']')
		return false;
	if (*rest == ':')
		for (rest++; *rest >= '0' && *rest <= '9' && port <= PORT_MAX; rest++)
			*ret_port = port = port * 10 + (unsigned)(*rest - '0');
	if (*rest || length == 0 || length >= NAME_SIZE)
		return false;
	memcpy(name, host, length);
	name[length] = '\0';
	if (bracketed)
		return strchr(name, ':') != NULL;
	if (length > 1 && name[length - 1] == '.')
		name[length - 1] = '\0';
	return true;
}

/* The address as 16 bytes, IPv4 mapped into IPv6; false: @name is not an address. */
static bool address_read(const char *name, struct in6_addr *ret_address)
{
	char mapped[NAME_SIZE + 8];

	if (strchr(name, ':'))
		return inet_pton(AF_INET6, name, ret_address) == 1;
	snprintf(mapped, sizeof(mapped), "::ffff:%s", name);
	return inet_pton(AF_INET6, mapped, ret_address) == 1;
}

static bool address_is_loopback(const struct in6_addr *address)
{
	return IN6_IS_ADDR_LOOPBACK(address) ||
	       (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127);
}

static bool address_is_wildcard(const struct in6_addr *address)
{
	static const unsigned char zeros[4];

	return IN6_IS_ADDR_UNSPECIFIED(address) ||
	       (IN6_IS_ADDR_V4MAPPED(address) && memcmp(address->s6_addr + 12, zeros, sizeof(zeros)) == 0);
}

/* Whether an address may stand in Host. DNS rebinding needs a name, so addresses of this machine are safe. */
static bool literal_allowed(const struct guard *guard, const struct in6_addr *address)
{
	struct in6_addr own;

	if (address_is_loopback(address))
		return true;
	if (!guard->address || !address_read(guard->address, &own))
		return false;
	return address_is_wildcard(&own) || memcmp(&own, address, sizeof(own)) == 0;
}

static bool name_allowed(const struct guard *guard, const char *name)
{
	static const char suffix[] = ".localhost";
	const size_t length = strlen(name);

	if (strcasecmp(name, "localhost") == 0)
		return true;
	if (length > strlen(suffix) && strcasecmp(name + length - strlen(suffix), suffix) == 0)
		return true;
	for (const char *const *own = guard->hosts; own && *own; own++)
		if (strcasecmp(name, *own) == 0)
			return true;
	return false;
}

bool guard_host_allowed(const struct guard *guard, const char *host)
{
	char name[NAME_SIZE];
	struct in6_addr address;
	unsigned port;

	if (!place_take(host, name, &port))
		return false;
	return name_allowed(guard, name) ||
	       (address_read(name, &address) && literal_allowed(guard, &address));
}

/* True if the origin has the host and the port of the Host header. A missing port is the default port of the
 * origin's scheme, for both. */
static bool origin_is_host(const char *origin, const char *host)
{
	static const struct {
		const char *text;
		unsigned port;
	} schemes[] = { { "http://", 80 }, { "https://", 443 } };
	char name[NAME_SIZE], own_name[NAME_SIZE];

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		const size_t length = strlen(schemes[i].text);
		unsigned port = schemes[i].port, own_port = port;

		if (strncasecmp(origin, schemes[i].text, length) == 0)
			return place_take(origin + length, name, &port) &&
			       place_take(host, own_name, &own_port) && port == own_port &&
			       strcasecmp(name, own_name) == 0;
	}
	return false;
}

static bool site_is_own(const char *fetch_site)
{
	return strcasecmp(fetch_site, "none") == 0 || strcasecmp(fetch_site, "same-origin") == 0;
}

bool guard_network_read(const char *text, struct guard_network *ret_network)
{
	char address[INET_ADDRSTRLEN];
	const size_t length = strcspn(text, "/");
	const char *bits = text + length + 1;
	struct guard_network network;
	struct in_addr read;
	unsigned count = 0;

	if (text[length] != '/' || length >= sizeof(address) || !*bits || strlen(bits) > 2 ||
	    strspn(bits, "0123456789") != strlen(bits))
		return false;
	memcpy(address, text, length);
	address[length] = '\0';
	for (; *bits; bits++)
		count = count * 10 + (unsigned)(*bits - '0');
	if (count < 1 || count > 32 || inet_pton(AF_INET, address, &read) != 1)
		return false;
	network = (struct guard_network){ ntohl(read.s_addr), UINT32_MAX << (32 - count) };
	if (network.address & ~network.mask)
		return false;
	*ret_network = network;
	return true;
}

uint32_t guard_peer_ipv4(const struct sockaddr *peer)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	if (peer && peer->sa_family == AF_INET) {
		memcpy(&v4, peer, sizeof(v4));
		return ntohl(v4.sin_addr.s_addr);
	}
	if (!peer || peer->sa_family != AF_INET6)
		return 0;
	memcpy(&v6, peer, sizeof(v6));
	if (!IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr))
		return 0;
	memcpy(&v4.sin_addr, v6.sin6_addr.s6_addr + 12, sizeof(v4.sin_addr));
	return ntohl(v4.sin_addr.s_addr);
}

enum status guard_peer_check(const struct guard *guard, uint32_t peer, struct error *err)
{
	if (peer == 0 || guard->refused.mask == 0 || (peer & guard->refused.mask) != guard->refused.address)
		return STATUS_OK;
	return error_set(err, STATUS_PERMISSION_DENIED, NULL,
			 "Programs inside jobs may not call this address; serve --route NAME=self offers the API to them as NAME.");
}

/* Refuses the Host. The text lists the served names, so that the caller knows what to change. */
static enum status host_refuse(const struct guard *guard, const char *host, struct error *err)
{
	struct text names AUTO_TEXT = { 0 };

	text_puts(&names, "localhost, *.localhost, loopback addresses");
	if (guard->address)
		text_printf(&names, ", %s", guard->address);
	for (const char *const *own = guard->hosts; own && *own; own++)
		text_printf(&names, ", %s", *own);
	return error_set(err, STATUS_PERMISSION_DENIED, NULL,
			 "The host name of this request, \"%.*s\", is not one of trainyard's, which are %s; "
			 "`serve --host-name NAME` adds one.",
			 HOST_SHOWN_BYTES, host, names.data);
}

enum status guard_check(const struct guard *guard, const char *host, const char *origin,
			const char *fetch_site, struct error *err)
{
	if (guard->any_host)
		return STATUS_OK;
	if (host && !guard_host_allowed(guard, host))
		return host_refuse(guard, host, err);
	if ((fetch_site && !site_is_own(fetch_site)) || (origin && !(host && origin_is_host(origin, host))))
		return error_set(err, STATUS_PERMISSION_DENIED, NULL,
				 "Requests from other web sites are refused.");
	return STATUS_OK;
}

/* Source: https://fetch.spec.whatwg.org/ (CORS-safelisted request-header);
 * https://html.spec.whatwg.org/multipage/links.html (hyperlink auditing); https://www.w3.org/TR/CSP3/ (reporting) */
bool guard_type_refused(const struct guard *guard, const char *type, enum page_types taken)
{
	static const struct {
		const char *name;
		enum page_types least; /* the strictest setting that accepts the type */
	} types[] = {
		{ "application/x-www-form-urlencoded", PAGE_TYPES_ALL },
		{ "multipart/form-data", PAGE_TYPES_ALL },
		{ "text/plain", PAGE_TYPES_TEXT },
		{ "text/ping", PAGE_TYPES_ALL },
		{ "application/csp-report", PAGE_TYPES_ALL },
	};

	for (size_t i = 0; type && !guard->any_host && i < sizeof(types) / sizeof(types[0]); i++)
		if (taken < types[i].least && media_type_named(type, types[i].name))
			return true;
	return false;
}
