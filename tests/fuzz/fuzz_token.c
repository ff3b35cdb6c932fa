/* SPDX-License-Identifier: Apache-2.0 */
/* Access tokens and JSON Web Tokens as anybody may send them.
 *
 * What must hold beside not crashing: what is read back is what was made of the same bytes, nothing else is taken, and
 * what is refused is UNAUTHENTICATED. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/json.h"
#include "store/keys/access_token.h"
#include "store/keys/signing_key.h"
#include "store/store_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

/* Kept while the fuzzer runs; its directory is removed at once. */
static struct signing_key *key_get(void)
{
	static struct signing_key *key;
	char dir[] = "/tmp/trainyard-fuzz-XXXXXX";
	struct text path AUTO_TEXT = { 0 };
	json_t *jwks = NULL;

	if (key)
		return key;
	expect(mkdtemp(dir) != NULL);
	key = signing_key_new(dir);
	expect(signing_key_jwks(key, &jwks, NULL) == STATUS_OK);
	json_decref(jwks);
	text_printf(&path, "%s/identity.key", dir);
	expect(unlink(path.data) == 0 && rmdir(dir) == 0);
	return key;
}

static void text_try(const struct store *store, const char *text)
{
	struct access_token token;
	json_t *claims = NULL;

	expect(access_token_read(store, text, 0, &token, NULL) == STATUS_UNAUTHENTICATED);
	expect(signing_key_verify(key_get(), text, &claims, NULL) == STATUS_UNAUTHENTICATED);
	expect(!claims);
}

/* Tries the bytes as an e-mail address, and those after the first line end as scopes. */
static void fields_try(const struct store *store, const char *text)
{
	struct access_token token = { .job = (int64_t)strlen(text), .role = 3, .index = 9, .expires_s = 1 };
	size_t length = strcspn(text, "\n");
	const char *scopes = text[length] ? text + length + 1 : "";
	char made[ACCESS_TOKEN_SIZE];
	struct access_token read;

	if (length >= sizeof(token.email) || strlen(scopes) >= sizeof(token.scopes))
		return;
	memcpy(token.email, text, length);
	memcpy(token.scopes, scopes, strlen(scopes));
	expect(access_token_make(store, &token, made, NULL) == STATUS_OK);
	expect(access_token_read(store, made, 0, &read, NULL) == STATUS_OK);
	expect(memcmp(&read, &token, sizeof(read)) == 0);
}

/* Tries the bytes as claims. */
static void claims_try(const char *text, size_t size)
{
	AUTO(json) json_t *claims = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	AUTO(json) json_t *read = NULL;
	struct text jwt AUTO_TEXT = { 0 };

	if (!json_is_object(claims) || size > 8192 || signing_key_sign(key_get(), claims, &jwt, NULL))
		return;
	expect(signing_key_verify(key_get(), jwt.data, &read, NULL) == STATUS_OK);
	expect(json_is_object(read));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct store store = { .secret = "thirty-two bytes of some secret." };
	AUTO(string) char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	text_try(&store, text);
	fields_try(&store, text);
	claims_try(text, size);
	return 0;
}
