/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/keys/private_key.h: private keys, each in a file of its own: PKCS #8 in PEM, mode 0600, made when first needed.
 * GnuTLS generates, reads and writes them. If two programs make the same file at once, both use the same key. Thread:
 * any. */
#include <gnutls/x509.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"
#include "daemon/base/text.h"

DEFINE_AUTO(private_key, gnutls_x509_privkey_t, gnutls_x509_privkey_deinit)

/* Makes a key of @algorithm: ECDSA on P-256 takes a millisecond, RSA of 2048 bits half a second. */
enum status private_key_generate(gnutls_pk_algorithm_t algorithm, gnutls_x509_privkey_t *ret_key,
				 struct error *err);
/* Reads the key in @path, of any algorithm; if there is no file, makes one with a new key of @algorithm.
 * FAILED_PRECONDITION: the file cannot be made or read, or has no key. */
enum status private_key_load(const char *path, gnutls_pk_algorithm_t algorithm,
			     gnutls_x509_privkey_t *ret_key, struct error *err);
/* Appends the key as PEM. The same key always gives the same text. */
enum status private_key_write(gnutls_x509_privkey_t key, struct text *ret_pem, struct error *err);

static inline void datum_free(gnutls_datum_t *datum)
{
	gnutls_free(datum->data);
}

/* A datum allocated by GnuTLS. */
#define AUTO_DATUM __attribute__((cleanup(datum_free)))

/* Sets INTERNAL with the text "@what: " and GnuTLS's message for @code. */
enum status gnutls_error_set(struct error *err, int code, const char *what);
