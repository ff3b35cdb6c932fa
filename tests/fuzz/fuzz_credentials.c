/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in the docker command line's config.json: any bytes, asked for one registry. No helper is run: a file that may
 * name one is left out.
 *
 * What must hold beside not crashing: what is found is what a registry is sent, and names that registry alone; what is wrong
 * is told. Fails with: header_make() with the other base64: the seed url_safe. */
#include <fcntl.h>
#include <jansson.h>
#include <sodium.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/json.h"
#include "scheduler/engine/docker_credentials.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REGISTRY "r.io:5000"

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static char directory[] = "/dev/shm/credentials-XXXXXX", path[64];

static void directory_remove(void)
{
	unlink(path);
	rmdir(directory);
}

static void directory_make(void)
{
	if (path[0])
		return;
	expect(mkdtemp(directory) && atexit(directory_remove) == 0);
	snprintf(path, sizeof(path), "%s/config.json", directory);
}

static void file_write(const uint8_t *data, size_t size)
{
	int fd;

	directory_make();
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	expect(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
}

static void header_check(const char *header)
{
	const size_t size = strlen(header);
	AUTO(string) char *text = calloc(1, size + 1);
	size_t length = 0;

	expect(text && sodium_base642bin((unsigned char *)text, size, header, size, NULL, &length, NULL,
					 sodium_base64_VARIANT_URLSAFE) == 0);
	AUTO(json) json_t *sent = json_loadb(text, length, 0, NULL);
	const char *address = json_text_at(sent, "serveraddress");

	expect(address && strcmp(address, REGISTRY) == 0);
	expect(json_text_at(sent, "username") || json_text_at(sent, "identitytoken"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err AUTO_ERROR = { 0 };
	AUTO(secret) char *header = NULL;
	enum status rc;

	/* "credsStore" and "credHelpers" in any spelling. */
	if (size && (memmem(data, size, "cred", 4) || memmem(data, size, "\\u", 2)))
		return 0;
	file_write(data, size);
	rc = registry_credentials_find(directory, REGISTRY, -1, &header, &err);
	expect(rc == STATUS_OK || (rc == STATUS_FAILED_PRECONDITION && err.text && !header));
	if (header)
		header_check(header);
	return 0;
}
