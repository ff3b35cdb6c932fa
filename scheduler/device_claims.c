/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/device_claims.h"

#include <errno.h>
#include <sodium.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"

struct claim {
	char *device;
	int fd;
};

struct device_claims {
	char *engine;
	struct claim *claims;
	size_t count;
};

struct device_claims *device_claims_new(void)
{
	struct device_claims *claims = memory_calloc(1, sizeof(*claims));

	claims->engine = memory_strdup("");
	return claims;
}

static void claim_drop(struct device_claims *claims, size_t index)
{
	close(claims->claims[index].fd);
	free(claims->claims[index].device);
	claims->claims[index] = claims->claims[--claims->count];
}

void device_claims_free(struct device_claims *claims)
{
	if (!claims)
		return;
	device_claims_keep(claims, NULL, 0);
	free(claims->claims);
	free(claims->engine);
	free(claims);
}

void device_claims_set_engine(struct device_claims *claims, const char *engine)
{
	if (strcmp(claims->engine, engine) == 0)
		return;
	device_claims_keep(claims, NULL, 0);
	free(claims->engine);
	claims->engine = memory_strdup(engine);
}

/* Names of engines and devices are longer than a socket's may be. The result is the name's length. */
static socklen_t address_make(const char *engine, const char *device, struct sockaddr_un *address)
{
	AUTO(string) char *whole = memory_printf("%s %s", engine, device);
	unsigned char hash[crypto_generichash_BYTES_MIN];
	char hex[2 * sizeof(hash) + 1];

	crypto_generichash(hash, sizeof(hash), (const unsigned char *)whole, strlen(whole), NULL, 0);
	sodium_bin2hex(hex, sizeof(hex), hash, sizeof(hash));
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "trainyard-gpu/%s", hex);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(address->sun_path + 1));
}

bool device_claims_take(struct device_claims *claims, const char *device)
{
	struct sockaddr_un address;
	socklen_t length;
	int fd;

	if (!claims->engine[0])
		return true;
	for (size_t i = 0; i < claims->count; i++)
		if (strcmp(claims->claims[i].device, device) == 0)
			return true;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	length = address_make(claims->engine, device, &address);
	if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, length) != 0) {
		const bool is_held = errno == EADDRINUSE;

		close(fd);
		return !is_held;
	}
	if (fd < 0)
		return true; /* a job is not to wait because descriptors are short */
	shutdown(fd, SHUT_RD);
	claims->claims = memory_resize(claims->claims, claims->count + 1, sizeof(*claims->claims));
	claims->claims[claims->count++] = (struct claim){ memory_strdup(device), fd };
	return true;
}

static bool is_leased(const char *device, const struct lease *leases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!leases[i].shared && strcmp(leases[i].device, device) == 0)
			return true;
	return false;
}

void device_claims_keep(struct device_claims *claims, const struct lease *leases, size_t count)
{
	for (size_t i = claims->count; i > 0; i--)
		if (!is_leased(claims->claims[i - 1].device, leases, count))
			claim_drop(claims, i - 1);
}

void device_claims_adopt(struct device_claims *claims, const struct lease *leases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!leases[i].shared && !device_claims_take(claims, leases[i].device))
			log_event(
				LOG_WARNING, "gpu-held-twice", "device=%s hint=\"%s\"", leases[i].device,
				"another trainyard of this machine has leased it, while a job of this one has it");
}
