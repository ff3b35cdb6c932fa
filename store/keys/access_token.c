/* SPDX-License-Identifier: Apache-2.0 */
#include "store/keys/access_token.h"

#include <sodium.h>
#include <string.h>

#include "daemon/base/base64.h"
#include "store/store.h"

/* First part of the sealed bytes, in this machine's byte order; the e-mail address and the scopes follow, each with
 * its NUL. */
struct __attribute__((packed)) head {
	uint8_t version;
	int64_t job;
	uint32_t attempt, role, index;
	int64_t expires_s;
};

enum {
	FORM_VERSION = 2,
	PLAIN_MAX = sizeof(struct head) + sizeof(((struct access_token *)0)->email) + ACCESS_TOKEN_SCOPES_MAX,
	NONCE_BYTES = crypto_secretbox_NONCEBYTES,
	SEALED_MAX = NONCE_BYTES + crypto_secretbox_MACBYTES + PLAIN_MAX,
	VARIANT = sodium_base64_VARIANT_URLSAFE_NO_PADDING,
};

static const char prefix[] = "ya29.ty-";

_Static_assert(sizeof(prefix) + sodium_base64_ENCODED_LEN(SEALED_MAX, VARIANT) <= ACCESS_TOKEN_SIZE,
	       "the longest token fits");

/* Derives a key from the secret; @word: a different one for each use of the secret. */
static void key_make(const struct store *store, const char *word,
		     unsigned char ret_key[crypto_secretbox_KEYBYTES])
{
	crypto_generichash(ret_key, crypto_secretbox_KEYBYTES, (const unsigned char *)word, strlen(word),
			   store_secret(store), 32);
}

static size_t plain_write(const struct access_token *token, unsigned char ret_plain[PLAIN_MAX])
{
	const struct head head = { FORM_VERSION, token->job,   token->attempt,
				   token->role,  token->index, token->expires_s };
	size_t email_size = strlen(token->email) + 1, scopes_size = strlen(token->scopes) + 1;

	memcpy(ret_plain, &head, sizeof(head));
	memcpy(ret_plain + sizeof(head), token->email, email_size);
	memcpy(ret_plain + sizeof(head) + email_size, token->scopes, scopes_size);
	return sizeof(head) + email_size + scopes_size;
}

/* Reads the two texts, which with their NULs must end exactly at @length. The bytes are trainyard's own, but perhaps
 * of another release. */
static bool plain_read(const unsigned char *plain, size_t length, struct access_token *ret_token)
{
	const unsigned char *at = plain + sizeof(struct head), *end = plain + length;
	const unsigned char *email_end, *scopes_end;
	struct head head;

	if (length < sizeof(head) + 2)
		return false;
	memcpy(&head, plain, sizeof(head));
	if (head.version != FORM_VERSION)
		return false;
	*ret_token = (struct access_token){
		.job = head.job, .attempt = head.attempt, .role = head.role, .index = head.index, .expires_s = head.expires_s
	};
	email_end = memchr(at, '\0', (size_t)(end - at));
	if (!email_end || (size_t)(email_end - at) >= sizeof(ret_token->email))
		return false;
	memcpy(ret_token->email, at, (size_t)(email_end - at) + 1);
	at = email_end + 1;
	scopes_end = memchr(at, '\0', (size_t)(end - at));
	if (!scopes_end || scopes_end + 1 != end || (size_t)(end - at) > sizeof(ret_token->scopes))
		return false;
	memcpy(ret_token->scopes, at, (size_t)(end - at));
	return true;
}

/* Derives the nonce from the sealed bytes: different tokens never share a nonce, and the same token always gives the
 * same text. */
static void nonce_make(const struct store *store, const unsigned char *plain, size_t length,
		       unsigned char ret_nonce[NONCE_BYTES])
{
	unsigned char key[crypto_secretbox_KEYBYTES];

	key_make(store, "access token nonce", key);
	crypto_generichash(ret_nonce, NONCE_BYTES, plain, length, key, sizeof(key));
}

enum status access_token_make(const struct store *store, const struct access_token *token,
			      char ret_text[ACCESS_TOKEN_SIZE], struct error *err)
{
	unsigned char plain[PLAIN_MAX], sealed[SEALED_MAX], key[crypto_secretbox_KEYBYTES];
	size_t length;

	if (strnlen(token->email, sizeof(token->email)) == sizeof(token->email) ||
	    strnlen(token->scopes, sizeof(token->scopes)) == sizeof(token->scopes))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "The account's name or the list of scopes is too long.");
	length = plain_write(token, plain);
	key_make(store, "access token", key);
	nonce_make(store, plain, length, sealed);
	crypto_secretbox_easy(sealed + NONCE_BYTES, plain, length, sealed, key);
	memcpy(ret_text, prefix, sizeof(prefix));
	sodium_bin2base64(ret_text + sizeof(prefix) - 1, ACCESS_TOKEN_SIZE - sizeof(prefix) + 1, sealed,
			  NONCE_BYTES + crypto_secretbox_MACBYTES + length, VARIANT);
	return STATUS_OK;
}

/* Decrypts the part after the prefix. Returns the number of bytes; 0: not a token of this state directory. */
static size_t sealed_open(const struct store *store, const char *text, unsigned char ret_plain[PLAIN_MAX])
{
	unsigned char sealed[SEALED_MAX], key[crypto_secretbox_KEYBYTES];
	size_t length = strnlen(text, ACCESS_TOKEN_SIZE), sealed_length = 0;

	if (length == ACCESS_TOKEN_SIZE ||
	    !base64_decode(text, length, NULL, VARIANT, sealed, sizeof(sealed), &sealed_length) ||
	    sealed_length <= NONCE_BYTES + crypto_secretbox_MACBYTES)
		return 0;
	key_make(store, "access token", key);
	if (crypto_secretbox_open_easy(ret_plain, sealed + NONCE_BYTES, sealed_length - NONCE_BYTES, sealed,
				       key))
		return 0;
	return sealed_length - NONCE_BYTES - crypto_secretbox_MACBYTES;
}

bool access_token_is_ours(const char *text)
{
	return strncmp(text, prefix, sizeof(prefix) - 1) == 0;
}

enum status access_token_read(const struct store *store, const char *text, int64_t now_s,
			      struct access_token *ret_token, struct error *err)
{
	unsigned char plain[PLAIN_MAX];
	struct access_token token;
	size_t length = access_token_is_ours(text) ? sealed_open(store, text + sizeof(prefix) - 1, plain) : 0;

	if (!length || !plain_read(plain, length, &token))
		return error_set(err, STATUS_UNAUTHENTICATED, NULL,
				 "This emulator did not issue the access token.");
	if (token.expires_s <= now_s)
		return error_set(err, STATUS_UNAUTHENTICATED, NULL, "The access token has expired.");
	*ret_token = token;
	return STATUS_OK;
}
