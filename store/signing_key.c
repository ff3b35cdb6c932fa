/* SPDX-License-Identifier: Apache-2.0 */
/* An RSA key in a file of PKCS #8, and JSON Web Tokens signed with it (RS256).
 * Source: RFC 8017 (RSA), RFC 5958 (PKCS #8), RFC 7468 (PEM), RFC 7515 and 7518 (signatures and their names),
 * RFC 7517 (key sets) */
#include "store/signing_key.h"

#include <nettle/asn1.h>
#include <nettle/bignum.h>
#include <nettle/rsa.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <pthread.h>
#include <sodium.h>
#include <stdbool.h>
#include <string.h>

#include "daemon/base/base64.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "store/small_file.h"

enum {
	KEY_BITS = 2048,
	FILE_BYTES_MAX = 16384, /* a key of 2048 bits takes 1.7 kB */
	JWT_BYTES_MAX = 16384,
	PEM_COLUMNS = 64,
	DER_INTEGER = 0x02,
	DER_OCTETS = 0x04,
	DER_SEQUENCE = 0x30,
	URLSAFE = sodium_base64_VARIANT_URLSAFE_NO_PADDING,
};

struct signing_key {
	char *path;
	pthread_mutex_t lock; /* of what is below while it is loaded; afterwards it does not change */
	bool loaded;
	struct rsa_public_key public;
	struct rsa_private_key private;
	char id[41];
};

struct key_pair {
	struct rsa_public_key public;
	struct rsa_private_key private;
};

static void key_pair_deinit(struct key_pair *pair)
{
	rsa_public_key_clear(&pair->public);
	rsa_private_key_clear(&pair->private);
}

#define AUTO_KEY_PAIR __attribute__((cleanup(key_pair_deinit)))

static void key_pair_init(struct key_pair *pair)
{
	rsa_public_key_init(&pair->public);
	rsa_private_key_init(&pair->private);
}

struct signing_key *signing_key_new(const char *state_dir)
{
	struct signing_key *key = calloc(1, sizeof(*key));
	struct text path AUTO_TEXT = { 0 };

	text_printf(&path, "%s/identity.key", state_dir);
	if (!key || path.failed || sodium_init() < 0) {
		free(key);
		return NULL;
	}
	key->path = text_take(&path);
	pthread_mutex_init(&key->lock, NULL);
	rsa_public_key_init(&key->public);
	rsa_private_key_init(&key->private);
	return key;
}

void signing_key_free(struct signing_key *key)
{
	if (!key)
		return;
	rsa_public_key_clear(&key->public);
	rsa_private_key_clear(&key->private);
	pthread_mutex_destroy(&key->lock);
	free(key->path);
	free(key);
}

static void random_fill(void *arg, size_t length, uint8_t *ret_bytes)
{
	(void)arg;
	randombytes_buf(ret_bytes, length);
}

/* ---- DER and PEM ---------------------------------------------------------------------------------------- */

static void der_put(struct text *text, unsigned char tag, const void *data, size_t length)
{
	text_putc(text, (char)tag);
	if (length >= 0x100) {
		text_append(text, "\x82", 1);
		text_putc(text, (char)(length >> 8));
	} else if (length >= 0x80) {
		text_append(text, "\x81", 1);
	}
	text_putc(text, (char)length);
	text_append(text, data, length);
}

static void der_put_number(struct text *text, const mpz_t number)
{
	uint8_t bytes[KEY_BITS / 8 + 1];
	size_t length = nettle_mpz_sizeinbase_256_s(number);

	if (length > sizeof(bytes)) {
		text->failed = true;
		return;
	}
	nettle_mpz_get_str_256(length, bytes, number);
	der_put(text, DER_INTEGER, bytes, length);
}

/* RSAPrivateKey inside PrivateKeyInfo. */
static void der_private_write(struct text *der, const struct rsa_public_key *public,
			      const struct rsa_private_key *private)
{
	static const char version[] = { DER_INTEGER, 1, 0 };
	/* SEQUENCE { rsaEncryption (1.2.840.113549.1.1.1), NULL } */
	static const unsigned char algorithm[] = { DER_SEQUENCE, 13,   0x06, 9,    0x2a, 0x86, 0x48, 0x86,
						   0xf7,         0x0d, 0x01, 0x01, 0x01, 0x05, 0 };
	struct text numbers AUTO_TEXT = { 0 };
	struct text inner AUTO_TEXT = { 0 };
	struct text outer AUTO_TEXT = { 0 };

	text_append(&numbers, version, sizeof(version));
	der_put_number(&numbers, public->n);
	der_put_number(&numbers, public->e);
	der_put_number(&numbers, private->d);
	der_put_number(&numbers, private->p);
	der_put_number(&numbers, private->q);
	der_put_number(&numbers, private->a);
	der_put_number(&numbers, private->b);
	der_put_number(&numbers, private->c);
	der->failed |= numbers.failed;
	if (der->failed)
		return;
	der_put(&inner, DER_SEQUENCE, numbers.data, numbers.length);
	text_append(&outer, version, sizeof(version));
	text_append(&outer, algorithm, sizeof(algorithm));
	if (!inner.failed)
		der_put(&outer, DER_OCTETS, inner.data, inner.length);
	der->failed |= inner.failed || outer.failed;
	if (!der->failed)
		der_put(der, DER_SEQUENCE, outer.data, outer.length);
}

/* Appends base64 of @data; @variant is libsodium's. */
static void base64_put(struct text *text, const void *data, size_t length, int variant)
{
	size_t size = sodium_base64_encoded_len(length, variant);
	AUTO(string) char *encoded = malloc(size);

	if (!encoded) {
		text->failed = true;
		return;
	}
	sodium_bin2base64(encoded, size, data, length, variant);
	text_puts(text, encoded);
}

static const char pem_begin[] = "-----BEGIN PRIVATE KEY-----\n", pem_end[] = "-----END PRIVATE KEY-----\n";

static void pem_write(struct text *pem, const struct rsa_public_key *public,
		      const struct rsa_private_key *private)
{
	struct text der AUTO_TEXT = { 0 };
	struct text base64 AUTO_TEXT = { 0 };

	der_private_write(&der, public, private);
	if (!der.failed)
		base64_put(&base64, der.data, der.length, sodium_base64_VARIANT_ORIGINAL);
	if (der.failed || base64.failed) {
		pem->failed = true;
		return;
	}
	text_puts(pem, pem_begin);
	for (size_t at = 0; at < base64.length; at += PEM_COLUMNS)
		text_printf(pem, "%.*s\n", PEM_COLUMNS, base64.data + at);
	text_puts(pem, pem_end);
}

/* PrivateKeyInfo { version, algorithm, OCTET STRING { RSAPrivateKey } }; nettle checks that the numbers fit. */
static bool der_private_read(const uint8_t *der, size_t length, struct key_pair *pair)
{
	struct asn1_der_iterator at;

	return asn1_der_iterator_first(&at, length, der) == ASN1_ITERATOR_CONSTRUCTED &&
	       at.type == ASN1_SEQUENCE && asn1_der_decode_constructed_last(&at) == ASN1_ITERATOR_PRIMITIVE &&
	       at.type == ASN1_INTEGER && asn1_der_iterator_next(&at) == ASN1_ITERATOR_CONSTRUCTED &&
	       at.type == ASN1_SEQUENCE && asn1_der_iterator_next(&at) == ASN1_ITERATOR_PRIMITIVE &&
	       at.type == ASN1_OCTETSTRING &&
	       rsa_keypair_from_der(&pair->public, &pair->private, KEY_BITS, at.length, at.data) &&
	       pair->public.size == KEY_BITS / 8;
}

static bool pem_read(const char *pem, struct key_pair *pair)
{
	uint8_t der[FILE_BYTES_MAX];
	const char *data = strstr(pem, pem_begin);
	const char *end = data ? strstr(data, pem_end) : NULL;
	size_t length = 0;

	if (!end)
		return false;
	data += sizeof(pem_begin) - 1;
	return base64_decode(data, (size_t)(end - data), "\r\n", sodium_base64_VARIANT_ORIGINAL, der,
			     sizeof(der), &length) &&
	       der_private_read(der, length, pair);
}

/* ---- the file ------------------------------------------------------------------------------------------- */

/* NOT_FOUND: there is no file. */
static enum status file_read(const char *path, struct key_pair *pair, struct error *err)
{
	struct text pem AUTO_TEXT = { 0 };
	enum status rc = small_file_read(path, FILE_BYTES_MAX, &pem, err);

	if (rc)
		return rc;
	if (!pem.length || !pem_read(pem.data, pair))
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "%s holds no RSA key of %d bits; remove it, and another is made", path,
				 KEY_BITS);
	return STATUS_OK;
}

static enum status file_make(const char *path, struct error *err)
{
	struct text pem AUTO_TEXT = { 0 };
	struct key_pair pair AUTO_KEY_PAIR;

	key_pair_init(&pair);
	mpz_set_ui(pair.public.e, 65537);
	if (!rsa_generate_keypair(&pair.public, &pair.private, NULL, random_fill, NULL, NULL, KEY_BITS, 0))
		return error_set(err, STATUS_INTERNAL, NULL, "no RSA key could be made");
	pem_write(&pem, &pair.public, &pair.private);
	return pem.failed ? error_no_memory(err) : small_file_place(path, &pem, 0600, PLACE_FIRST, err);
}

/* SHA-1 of the public key's modulus and exponent: 40 hexadecimal digits, as Google's own ids are. */
static void id_make(const struct rsa_public_key *public, char ret_id[41])
{
	struct sha1_ctx hash;
	uint8_t bytes[KEY_BITS / 8], digest[SHA1_DIGEST_SIZE];

	sha1_init(&hash);
	nettle_mpz_get_str_256(sizeof(bytes), bytes, public->n);
	sha1_update(&hash, sizeof(bytes), bytes);
	nettle_mpz_get_str_256(sizeof(bytes), bytes, public->e);
	sha1_update(&hash, sizeof(bytes), bytes);
	sha1_digest(&hash, sizeof(digest), digest);
	sodium_bin2hex(ret_id, 41, digest, sizeof(digest));
}

static enum status key_read(struct signing_key *key, struct error *err)
{
	struct key_pair pair AUTO_KEY_PAIR;
	enum status rc;

	key_pair_init(&pair);
	rc = file_read(key->path, &pair, err);
	if (rc == STATUS_NOT_FOUND) {
		rc = file_make(key->path, err);
		if (!rc)
			rc = file_read(key->path, &pair, err);
	}
	if (rc)
		return rc;
	mpz_swap(key->public.n, pair.public.n);
	mpz_swap(key->public.e, pair.public.e);
	mpz_swap(key->private.d, pair.private.d);
	mpz_swap(key->private.p, pair.private.p);
	mpz_swap(key->private.q, pair.private.q);
	mpz_swap(key->private.a, pair.private.a);
	mpz_swap(key->private.b, pair.private.b);
	mpz_swap(key->private.c, pair.private.c);
	key->public.size = pair.public.size;
	key->private.size = pair.private.size;
	id_make(&key->public, key->id);
	return STATUS_OK;
}

static enum status key_load(struct signing_key *key, struct error *err)
{
	enum status rc = STATUS_OK;

	pthread_mutex_lock(&key->lock);
	if (!key->loaded)
		rc = key_read(key, err);
	key->loaded = key->loaded || rc == STATUS_OK;
	pthread_mutex_unlock(&key->lock);
	return rc;
}

/* ---- tokens --------------------------------------------------------------------------------------------- */

static void digest_make(const char *data, size_t length, uint8_t ret_digest[SHA256_DIGEST_SIZE])
{
	struct sha256_ctx hash;

	sha256_init(&hash);
	sha256_update(&hash, length, (const uint8_t *)data);
	sha256_digest(&hash, SHA256_DIGEST_SIZE, ret_digest);
}

/* Appends the signature of what @jwt holds. */
static enum status signature_put(const struct signing_key *key, struct text *jwt, struct error *err)
{
	uint8_t digest[SHA256_DIGEST_SIZE], bytes[KEY_BITS / 8];
	mpz_t signature;
	int made;

	digest_make(jwt->data, jwt->length, digest);
	mpz_init(signature);
	made = rsa_sha256_sign_digest_tr(&key->public, &key->private, NULL, random_fill, digest, signature);
	nettle_mpz_get_str_256(sizeof(bytes), bytes, signature);
	mpz_clear(signature);
	if (!made)
		return error_set(err, STATUS_INTERNAL, NULL, "%s: its numbers do not belong together",
				 key->path);
	text_putc(jwt, '.');
	base64_put(jwt, bytes, sizeof(bytes), URLSAFE);
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
	if (header.failed || payload.failed)
		return error_no_memory(err);
	base64_put(&jwt, header.data, header.length, URLSAFE);
	text_putc(&jwt, '.');
	base64_put(&jwt, payload.data, payload.length, URLSAFE);
	if (!jwt.failed)
		rc = signature_put(key, &jwt, err);
	if (jwt.failed)
		return error_no_memory(err);
	if (!rc)
		text_append(ret_jwt, jwt.data, jwt.length);
	return rc ? rc : ret_jwt->failed ? error_no_memory(err) : STATUS_OK;
}

/* An object from base64url, or NULL. */
static json_t *part_read(const char *data, size_t length)
{
	char text[JWT_BYTES_MAX];
	size_t text_length = 0;

	if (!base64_decode(data, length, NULL, URLSAFE, text, sizeof(text), &text_length))
		return NULL;
	return memory_json_read(text, text_length, JSON_REJECT_DUPLICATES, NULL);
}

static bool header_fits(const char *data, size_t length)
{
	AUTO(json) json_t *header = part_read(data, length);
	const char *algorithm = json_text_at(header, "alg");

	return algorithm && strcmp(algorithm, "RS256") == 0;
}

static bool signature_fits(const struct signing_key *key, const char *jwt, const char *dot)
{
	uint8_t digest[SHA256_DIGEST_SIZE], bytes[KEY_BITS / 8];
	size_t length = 0;
	mpz_t signature;
	int fits;

	if (!base64_decode(dot + 1, strlen(dot + 1), NULL, URLSAFE, bytes, sizeof(bytes), &length) ||
	    length != sizeof(bytes))
		return false;
	digest_make(jwt, (size_t)(dot - jwt), digest);
	nettle_mpz_init_set_str_256_u(signature, length, bytes);
	fits = rsa_sha256_verify_digest(&key->public, digest, signature);
	mpz_clear(signature);
	return fits;
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

static void number_put(struct text *text, const mpz_t number)
{
	uint8_t bytes[KEY_BITS / 8];
	size_t length = nettle_mpz_sizeinbase_256_u(number);

	nettle_mpz_get_str_256(length, bytes, number);
	base64_put(text, bytes, length, URLSAFE);
}

enum status signing_key_jwks(struct signing_key *key, json_t **ret_jwks, struct error *err)
{
	struct text modulus AUTO_TEXT = { 0 };
	struct text exponent AUTO_TEXT = { 0 };
	enum status rc = key_load(key, err);
	json_t *jwks;

	if (rc)
		return rc;
	number_put(&modulus, key->public.n);
	number_put(&exponent, key->public.e);
	if (modulus.failed || exponent.failed)
		return error_no_memory(err);
	jwks = json_pack("{s:[{s:s, s:s, s:s, s:s, s:s, s:s}]}", "keys", "kty", "RSA", "alg", "RS256", "use",
			 "sig", "kid", key->id, "n", modulus.data, "e", exponent.data);
	if (!jwks)
		return error_no_memory(err);
	*ret_jwks = jwks;
	return STATUS_OK;
}

enum status signing_key_pem(struct signing_key *key, struct text *ret_pem, char ret_id[41], struct error *err)
{
	enum status rc = key_load(key, err);

	if (rc)
		return rc;
	pem_write(ret_pem, &key->public, &key->private);
	if (ret_pem->failed)
		return error_no_memory(err);
	memcpy(ret_id, key->id, sizeof(key->id));
	return STATUS_OK;
}
