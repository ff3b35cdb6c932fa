/* SPDX-License-Identifier: Apache-2.0 */
/* The first bytes of a TLS client and of an HTTP/1 client: any bytes, in pieces of any size.
 *
 * What must hold beside not crashing: a name is one that can be shown; what is complete stays what it is when more
 * comes; no client is waited for past the limit. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/client_hello.h"
#include "daemon/base/host_header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

typedef enum hello reader(const uint8_t *data, size_t length, struct client_hello *ret_hello);

static enum hello read_copy(reader *read, const uint8_t *data, size_t size, struct client_hello *hello)
{
	uint8_t *copy = calloc(1, size ? size : 1);
	enum hello result;

	if (size)
		memcpy(copy, data, size);
	result = read(copy, size, hello);
	free(copy);
	return result;
}

static void read_whole_and_parts(reader *read, const uint8_t *data, size_t size)
{
	struct client_hello hello, shorter;
	enum hello result = read_copy(read, data, size, &hello);

	expect(size < HELLO_MAX_BYTES || result != HELLO_INCOMPLETE);
	if (result == HELLO_NAMED) {
		expect(strlen(hello.name) >= 1 && strlen(hello.name) <= 253);
		expect(strspn(hello.name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == strlen(hello.name));
	} else {
		expect(!*hello.name);
	}
	/* At most sixty-four positions of a long input; all of them would take ten times as long. */
	for (size_t part = 0; part < size && part < 512; part += 1 + size / 64)
		if (read_copy(read, data, part, &shorter) == HELLO_NAMED)
			expect(result == HELLO_UNNAMED ||
			       (result == HELLO_NAMED && strcmp(hello.name, shorter.name) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_whole_and_parts(client_hello_read, data, size);
	read_whole_and_parts(host_header_read, data, size);
	return 0;
}
