/* SPDX-License-Identifier: Apache-2.0 */
/* Source: RFC 7515 and 7518 (signatures and their names), RFC 7517 (key sets) */
#include "store/keys/signing_key.h"

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <pthread.h>
#include <sodium.h>
#include <stdbool.h>
#include <string.h>

#include "daemon/base/base64.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "store/keys/private_key.h"

enum {
	KEY_BITS = 2048,
	KEY_BYTES = KEY_BITS / 8,
	SHA1_BYTES = 20,
	JWT_BYTES_MAX = 16384,
	URLSAFE = sodium_base64_VARIANT_URLSAFE_NO_PADDING,
};

struct signing_key {
	char *path;
	pthread_mutex_t lock; /* protects the members below while they are loaded; later they do not change */
	bool loaded;
	gnutls_privkey_t private;
	gnutls_pubkey_t public;
	struct text modulus, exponent; /* base64url */
	char id[2 * SHA1_BYTES + 1];
};

struct signing_key *signing_key_new(const char *state_dir)
{
	struct signing_key *key = memory_calloc(1, sizeof(*key));

	key->path = memory_printf("%s/identity.key", state_dir);
	pthread_mutex_init(&key->lock, NULL);
	return key;
}

static void key_unload(struct signing_key *key)
{
	gnutls_privkey_deinit(TAKE(key->private));
	gnutls_pubkey_deinit(TAKE(key->public));
	text_deinit(&key->modulus);
	text_deinit(&key->exponent);
}

void signing_key_free(struct signing_key *key)
{
	if (!key)
		return;
	key_unload(key);
	pthread_mutex_destroy(&key->lock);
	free(key->path);
	free(key);
}

/* Fills in the public half: modulus, exponent, and the id: the SHA-1 of both, each padded to the size of the
 * modulus, as 40 hexadecimal digits, the form of Google's own ids. */
static int public_describe(struct signing_key *key)
{
	unsigned char bytes[2][KEY_BYTES] = { 0 }, digest[SHA1_BYTES] = { 0 };
	gnutls_datum_t modulus AUTO_DATUM = { 0 };
	gnutls_datum_t exponent AUTO_DATUM = { 0 };
	int code = gnutls_pubkey_export_rsa_raw2(key->public, &modulus, &exponent, GNUTLS_EXPORT_FLAG_NO_LZ);

	if (code < 0 || modulus.size > KEY_BYTES || exponent.size > KEY_BYTES)
		return code < 0 ? code : GNUTLS_E_ILLEGAL_PARAMETER;
	base64_append(&key->modulus, modulus.data, modulus.size, URLSAFE);
	base64_append(&key->exponent, exponent.data, exponent.size, URLSAFE);
	memcpy(bytes[0] + KEY_BYTES - modulus.size, modulus.data, modulus.size);
	memcpy(bytes[1] + KEY_BYTES - exponent.size, exponent.data, exponent.size);
	code = gnutls_hash_fast(GNUTLS_DIG_SHA1, bytes, sizeof(bytes), digest);
	sodium_bin2hex(key->id, sizeof(key->id), digest, sizeof(digest));
	return code;
}

static enum status key_read(struct signing_key *key, struct error *err)
{
	AUTO(private_key) gnutls_x509_privkey_t file = NULL;
	enum status rc = private_key_load(key->path, GNUTLS_PK_RSA, &file, err);
	unsigned bits = 0;
	int code;

	if (rc)
		return rc;
	if (gnutls_x509_privkey_get_pk_algorithm2(file, &bits) != GNUTLS_PK_RSA || bits != KEY_BITS ||
	    gnutls_x509_privkey_verify_params(file) < 0)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "%s does not hold an RSA key of %d bits: remove it, and the daemon makes a new one", key->path,
				 KEY_BITS);
	code = gnutls_privkey_init(&key->private);
	if (code >= 0)
		code = gnutls_privkey_import_x509(key->private, file, GNUTLS_PRIVKEY_IMPORT_COPY);
	if (code >= 0)
		code = gnutls_pubkey_init(&key->public);
	if (code >= 0)
		code = gnutls_pubkey_import_privkey(key->public, key->private, 0, 0);
	if (code >= 0)
		code = public_describe(key);
	return code < 0 ? gnutls_error_set(err, code, key->path) : STATUS_OK;
}

static enum status key_load(struct signing_key *key, struct error *err)
{
	enum status rc = STATUS_OK;

	pthread_mutex_lock(&key->lock);
	if (!key->loaded)
		rc = key_read(key, err);
	if (rc)
		key_unload(key);
	key->loaded = !rc;
	pthread_mutex_unlock(&key->lock);
	return rc;
}

/* Appends the signature of the text in @jwt. */
static enum status signature_append(const struct signing_key *key, struct text *jwt, struct error *err)
{
	const gnutls_datum_t data = { (unsigned char *)jwt->data, (unsigned)jwt->length };
	gnutls_datum_t signature AUTO_DATUM = { 0 };
	int code = gnutls_privkey_sign_data2(key->private, GNUTLS_SIGN_RSA_SHA256, 0, &data, &signature);

	if (code < 0)
		return gnutls_error_set(err, code, key->path);
	text_putc(jwt, '.');
	base64_append(jwt, signature.data, signature.size, URLSAFE);
	return STATUS_OK;
}

enum status signing_key_sign(struct signing_key *key, const json_t *claims, struct text *ret_jwt,
			     struct error *err)
{
	struct text header AUTO_TEXT = { 0 };
	struct text payload AUTO_TEXT = { 0 };
	struct text jwt AUTO_TEXT = { 0 };
	enum status rc = key_load(key, err);

	if (rc)
		return rc;
	text_printf(&header, "{\"alg\":\"RS256\",\"kid\":\"%s\",\"typ\":\"JWT\"}", key->id);
	json_write(&payload, claims);
	base64_append(&jwt, header.data, header.length, URLSAFE);
	text_putc(&jwt, '.');
	base64_append(&jwt, payload.data, payload.length, URLSAFE);
	rc = signature_append(key, &jwt, err);
	if (!rc)
		text_append(ret_jwt, jwt.data, jwt.length);
	return rc;
}

/* Decodes a part of a JWT: a JSON object in base64url. NULL: it is not one. */
static json_t *part_read(const char *data, size_t length)
{
	char text[JWT_BYTES_MAX];
	size_t text_length = 0;

	if (!base64_decode(data, length, NULL, URLSAFE, text, sizeof(text), &text_length))
		return NULL;
	return json_loadb(text, text_length, JSON_REJECT_DUPLICATES, NULL);
}

static bool header_fits(const char *data, size_t length)
{
	AUTO(json) json_t *header = part_read(data, length);
	const char *algorithm = json_text_at(header, "alg");

	return algorithm && strcmp(algorithm, "RS256") == 0;
}

static bool signature_fits(const struct signing_key *key, const char *jwt, const char *dot)
{
	unsigned char bytes[KEY_BYTES];
	const gnutls_datum_t data = { (unsigned char *)jwt, (unsigned)(dot - jwt) },
			     signature = { bytes, sizeof(bytes) };
	size_t length = 0;

	return base64_decode(dot + 1, strlen(dot + 1), NULL, URLSAFE, bytes, sizeof(bytes), &length) &&
	       length == sizeof(bytes) &&
	       gnutls_pubkey_verify_data2(key->public, GNUTLS_SIGN_RSA_SHA256, 0, &data, &signature) >= 0;
}

enum status signing_key_verify(struct signing_key *key, const char *jwt, json_t **ret_claims,
			       struct error *err)
{
	const char *first = strnlen(jwt, JWT_BYTES_MAX) < JWT_BYTES_MAX ? strchr(jwt, '.') : NULL;
	const char *second = first ? strchr(first + 1, '.') : NULL;
	AUTO(json) json_t *claims = NULL;
	enum status rc = key_load(key, err);

	if (rc)
		return rc;
	if (second && header_fits(jwt, (size_t)(first - jwt)) && signature_fits(key, jwt, second))
		claims = part_read(first + 1, (size_t)(second - first) - 1);
	if (!json_is_object(claims))
		return error_set(err, STATUS_UNAUTHENTICATED, NULL, "Invalid JWT Signature.");
	*ret_claims = TAKE(claims);
	return STATUS_OK;
}

enum status signing_key_jwks(struct signing_key *key, json_t **ret_jwks, struct error *err)
{
	enum status rc = key_load(key, err);
	json_t *jwks;

	if (rc)
		return rc;
	jwks = json_pack("{s:[{s:s, s:s, s:s, s:s, s:s, s:s}]}", "keys", "kty", "RSA", "alg", "RS256", "use",
			 "sig", "kid", key->id, "n", key->modulus.data, "e", key->exponent.data);
	*ret_jwks = jwks;
	return STATUS_OK;
}

enum status signing_key_pem(struct signing_key *key, struct text *ret_pem, char ret_id[41], struct error *err)
{
	AUTO(private_key) gnutls_x509_privkey_t file = NULL;
	enum status rc = key_load(key, err);
	int code = rc ? 0 : gnutls_privkey_export_x509(key->private, &file);

	if (rc)
		return rc;
	if (code < 0)
		return gnutls_error_set(err, code, key->path);
	memcpy(ret_id, key->id, sizeof(key->id));
	return private_key_write(file, ret_pem, err);
}
