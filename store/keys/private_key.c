/* SPDX-License-Identifier: Apache-2.0 */
/* Source: RFC 5958 (PKCS #8), RFC 7468 (PEM), https://www.gnutls.org/manual (read 2026-11-22) */
#include "store/keys/private_key.h"

#include <sodium.h>

#include "store/small_file.h"

enum { FILE_BYTES_MAX = 16384 /* an RSA key of 2048 bits takes 1.7 kB */, RSA_BITS = 2048 };

enum status gnutls_error_set(struct error *err, int code, const char *what)
{
	return error_set(err, STATUS_INTERNAL, NULL, "%s: %s", what, gnutls_strerror(code));
}

enum status private_key_generate(gnutls_pk_algorithm_t algorithm, gnutls_x509_privkey_t *ret_key,
				 struct error *err)
{
	const unsigned bits =
		algorithm == GNUTLS_PK_RSA ? RSA_BITS : GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1);
	AUTO(private_key) gnutls_x509_privkey_t key = NULL;
	int code = gnutls_x509_privkey_init(&key);

	if (code >= 0)
		code = gnutls_x509_privkey_generate(key, algorithm, bits, 0);
	if (code < 0)
		return gnutls_error_set(err, code, "the key could not be made");
	*ret_key = TAKE(key);
	return STATUS_OK;
}

enum status private_key_write(gnutls_x509_privkey_t key, struct text *ret_pem, struct error *err)
{
	gnutls_datum_t pem AUTO_DATUM = { 0 };
	int code = gnutls_x509_privkey_export2_pkcs8(key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN, &pem);

	if (code < 0)
		return gnutls_error_set(err, code, "cannot encode the private key as PEM");
	text_append(ret_pem, pem.data, pem.size);
	sodium_memzero(pem.data, pem.size);
	return STATUS_OK;
}

static enum status key_read(const char *path, gnutls_x509_privkey_t *ret_key, struct error *err)
{
	AUTO(private_key) gnutls_x509_privkey_t key = NULL;
	struct text pem AUTO_TEXT = { 0 };
	enum status rc = small_file_read(path, FILE_BYTES_MAX, &pem, err);
	const gnutls_datum_t datum = { (unsigned char *)pem.data, (unsigned)pem.length };

	if (rc)
		return rc;
	if (gnutls_x509_privkey_init(&key) < 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "GnuTLS cannot create a private key");
	if (gnutls_x509_privkey_import(key, &datum, GNUTLS_X509_FMT_PEM) < 0)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "%s does not hold a private key: remove it, and the daemon makes a new one", path);
	*ret_key = TAKE(key);
	return STATUS_OK;
}

enum status private_key_load(const char *path, gnutls_pk_algorithm_t algorithm,
			     gnutls_x509_privkey_t *ret_key, struct error *err)
{
	AUTO(private_key) gnutls_x509_privkey_t made = NULL;
	struct text pem AUTO_TEXT = { 0 };
	enum status rc = key_read(path, ret_key, err);

	if (rc != STATUS_NOT_FOUND)
		return rc;
	rc = private_key_generate(algorithm, &made, err);
	if (!rc)
		rc = private_key_write(made, &pem, err);
	if (!rc)
		rc = small_file_place(path, &pem, 0600, PLACE_FIRST, err);
	return rc ? rc : key_read(path, ret_key, err);
}
