/* SPDX-License-Identifier: Apache-2.0 */
#include "store/page_token.h"
#include "daemon/base/base64.h"
#include "daemon/base/memory.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAC_BYTES = crypto_generichash_BYTES_MIN,               /* 16 */
	FIXED_BYTES = sizeof(((struct page_mark *)0)->numbers), /* in this machine's byte order */
	BODY_BYTES_MAX = FIXED_BYTES + PAGE_NAME_MAX,
};

static void mac_make(const struct page_key *key, const char *bound_to, size_t bound_length,
		     const unsigned char *body, size_t body_length, unsigned char ret_mac[MAC_BYTES])
{
	crypto_generichash_state state;
	const uint64_t length = bound_length;

	crypto_generichash_init(&state, key->bytes, sizeof(key->bytes), MAC_BYTES);
	crypto_generichash_update(&state, (const unsigned char *)&length, sizeof(length));
	crypto_generichash_update(&state, (const unsigned char *)bound_to, bound_length);
	crypto_generichash_update(&state, body, body_length);
	crypto_generichash_final(&state, ret_mac, MAC_BYTES);
}

char *page_token_write(const struct page_key *key, const char *bound_to, size_t bound_length,
		       const struct page_mark *mark)
{
	unsigned char bytes[MAC_BYTES + BODY_BYTES_MAX];
	unsigned char *body = bytes + MAC_BYTES;
	size_t name_length = strnlen(mark->name, PAGE_NAME_MAX);
	size_t body_length = FIXED_BYTES + name_length;
	size_t token_size =
		sodium_base64_ENCODED_LEN(MAC_BYTES + body_length, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	char *token;

	if (name_length == PAGE_NAME_MAX)
		return NULL;
	token = memory_alloc(token_size);
	memcpy(body, mark->numbers, FIXED_BYTES);
	memcpy(body + FIXED_BYTES, mark->name, name_length);
	mac_make(key, bound_to, bound_length, body, body_length, bytes);
	return sodium_bin2base64(token, token_size, bytes, MAC_BYTES + body_length,
				 sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

enum status page_token_read(const struct page_key *key, const char *bound_to, size_t bound_length,
			    const char *token, struct page_mark *ret_mark, struct error *err)
{
	unsigned char bytes[MAC_BYTES + BODY_BYTES_MAX];
	unsigned char mac[MAC_BYTES];
	const unsigned char *body = bytes + MAC_BYTES;
	size_t length = 0;

	if (!base64_decode(token, strlen(token), NULL, sodium_base64_VARIANT_URLSAFE_NO_PADDING, bytes,
			   sizeof(bytes), &length) ||
	    length < MAC_BYTES + FIXED_BYTES || length >= sizeof(bytes))
		return error_set(err, STATUS_INVALID_ARGUMENT, "page_token", "The page token is malformed.");
	length -= MAC_BYTES;
	mac_make(key, bound_to, bound_length, body, length, mac);
	if (sodium_memcmp(mac, bytes, MAC_BYTES) != 0)
		return error_set(
			err, STATUS_INVALID_ARGUMENT, "page_token",
			"The page token does not belong to this request; all other fields must stay as they were.");
	*ret_mark = (struct page_mark){ 0 };
	memcpy(ret_mark->numbers, body, FIXED_BYTES);
	memcpy(ret_mark->name, body + FIXED_BYTES, length - FIXED_BYTES);
	return STATUS_OK;
}
