/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/config_listen.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/base/text.h"

static bool port_read(const char *digits, uint16_t *ret_port)
{
	const size_t length = strlen(digits);
	unsigned long port;

	if (length < 1 || length > 5 || strspn(digits, "0123456789") != length)
		return false;
	port = strtoul(digits, NULL, 10);
	*ret_port = (uint16_t)port;
	return port <= UINT16_MAX;
}

bool config_listen_split(const char *listen, char ret_address[LISTEN_ADDRESS_SIZE], uint16_t *ret_port)
{
	const char *colon = strrchr(listen, ':');
	const bool bracketed = *listen == '[';
	size_t length = colon ? (size_t)(colon - listen) : 0;
	struct in6_addr scratch;

	if (length == 0 || !port_read(colon + 1, ret_port))
		return false;
	if (bracketed && (length < 3 || colon[-1] != ']'))
		return false;
	listen += bracketed;
	length -= bracketed ? 2 : 0;
	if (length >= LISTEN_ADDRESS_SIZE)
		return false;
	memcpy(ret_address, listen, length);
	ret_address[length] = '\0';
	if (!bracketed && strcasecmp(ret_address, "localhost") == 0)
		memcpy(ret_address, "127.0.0.1", sizeof("127.0.0.1"));
	return inet_pton(bracketed ? AF_INET6 : AF_INET, ret_address, &scratch) == 1;
}

const char *config_listen_path(const char *listen)
{
	static const char scheme[] = "unix:";

	return strncmp(listen, scheme, strlen(scheme)) == 0 ? listen + strlen(scheme) : NULL;
}

bool config_listen_is_local(const char *listen)
{
	char address[LISTEN_ADDRESS_SIZE];
	struct in6_addr v6;
	struct in_addr v4;
	uint16_t port;

	if (config_listen_path(listen))
		return true;
	if (!config_listen_split(listen, address, &port))
		return false;
	if (inet_pton(AF_INET, address, &v4) == 1)
		return ntohl(v4.s_addr) >> 24 == 127;
	return inet_pton(AF_INET6, address, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

void config_url_write(struct text *text, const char *address, uint16_t port)
{
	if (strcmp(address, "0.0.0.0") == 0)
		address = "127.0.0.1";
	else if (strcmp(address, "::") == 0)
		address = "::1";
	text_printf(text, strchr(address, ':') ? "http://[%s]:%u" : "http://%s:%u", address, port);
}
