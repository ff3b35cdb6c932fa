/* SPDX-License-Identifier: Apache-2.0 */
/* Source: RFC 5280 (certificates; 4.2.1.10: name constraints), https://www.gnutls.org/manual (read 2026-11-22) */
#include "store/keys/authority.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <pthread.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/memory.h"
#include "store/keys/private_key.h"
#include "store/small_file.h"

enum {
	CERTIFICATE_BYTES_MAX = 16384,
	BUNDLE_BYTES_MAX = 4 << 20, /* Debian's has 220 kB */
	SERIAL_BYTES = 16,
	ID_BYTES = 20,
	DAY_S = 24 * 3600,
	YEAR_S = 365 * DAY_S,
	LEAF_YEARS = 2,
	AUTHORITY_YEARS = 15,
};

struct authority {
	const char *domain;
	char *key_path, *certificate_path, *bundle_dir, *bundle_path;
	pthread_mutex_t lock; /* protects the files from this process's other threads */
};

DEFINE_AUTO(certificate, gnutls_x509_crt_t, gnutls_x509_crt_deinit)

static char *path_in(const char *state_dir, const char *name, const char *rest)
{
	struct text path AUTO_TEXT = { 0 };

	text_printf(&path, "%s/%s%s", state_dir, name, rest);
	return text_take(&path);
}

struct authority *authority_new(const char *state_dir, const char *name, const char *domain)
{
	struct authority *authority = memory_calloc(1, sizeof(*authority));

	pthread_mutex_init(&authority->lock, NULL);
	authority->domain = domain;
	authority->key_path = path_in(state_dir, name, ".key");
	authority->certificate_path = path_in(state_dir, name, ".crt");
	authority->bundle_dir = path_in(state_dir, name, "");
	authority->bundle_path = path_in(state_dir, name, "/bundle.crt");
	return authority;
}

void authority_free(struct authority *authority)
{
	if (!authority)
		return;
	pthread_mutex_destroy(&authority->lock);
	free(authority->key_path);
	free(authority->certificate_path);
	free(authority->bundle_dir);
	free(authority->bundle_path);
	free(authority);
}

/* ---- certificates ---- */

/* Sets the fields that both kinds of certificates have: the subject @name, the validity, the public key. */
static int certificate_begin(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key, const char *name,
			     int64_t now_s, int years)
{
	uint8_t serial[SERIAL_BYTES], id[ID_BYTES];
	size_t id_size = sizeof(id);
	int code = gnutls_x509_privkey_get_key_id(key, GNUTLS_KEYID_USE_SHA1, id, &id_size);

	randombytes_buf(serial, sizeof(serial));
	serial[0] = (serial[0] & 0x3f) | 0x40; /* makes the number positive and SERIAL_BYTES long */
	if (code >= 0)
		code = gnutls_x509_crt_set_version(certificate, 3);
	if (code >= 0)
		code = gnutls_x509_crt_set_serial(certificate, serial, sizeof(serial));
	if (code >= 0)
		code = gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, name,
						     (unsigned)strlen(name));
	if (code >= 0)
		code = gnutls_x509_crt_set_activation_time(certificate, (time_t)(now_s - DAY_S));
	if (code >= 0)
		code = gnutls_x509_crt_set_expiration_time(certificate,
							   (time_t)(now_s + (int64_t)years * YEAR_S));
	if (code >= 0)
		code = gnutls_x509_crt_set_key(certificate, key);
	return code < 0 ? code : gnutls_x509_crt_set_subject_key_id(certificate, id, id_size);
}

static int constraints_set(gnutls_x509_crt_t certificate, const char *domain)
{
	const gnutls_datum_t permitted = { (unsigned char *)domain, (unsigned)strlen(domain) };
	gnutls_x509_name_constraints_t constraints;
	int code = gnutls_x509_name_constraints_init(&constraints);

	if (code < 0)
		return code;
	code = gnutls_x509_name_constraints_add_permitted(constraints, GNUTLS_SAN_DNSNAME, &permitted);
	if (code >= 0)
		code = gnutls_x509_crt_set_name_constraints(certificate, constraints, 1);
	gnutls_x509_name_constraints_deinit(constraints);
	return code;
}

/* Names the authority after its key, so that each state directory has another name: some programs find issuers by
 * name alone. */
static int authority_describe(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key, const char *domain,
			      int64_t now_s)
{
	char name[64] = "trainyard ";
	uint8_t id[ID_BYTES];
	size_t id_size = sizeof(id);
	int code = gnutls_x509_privkey_get_key_id(key, GNUTLS_KEYID_USE_SHA1, id, &id_size);

	sodium_bin2hex(name + strlen(name), 17, id, 8);
	if (code >= 0)
		code = certificate_begin(certificate, key, name, now_s, AUTHORITY_YEARS);
	if (code >= 0)
		code = gnutls_x509_crt_set_basic_constraints(certificate, 1, 0);
	if (code >= 0)
		code = gnutls_x509_crt_set_key_usage(certificate, GNUTLS_KEY_KEY_CERT_SIGN);
	if (code >= 0)
		code = constraints_set(certificate, domain);
	return code < 0 ? code : gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0);
}

static enum status certificate_write(gnutls_x509_crt_t certificate, struct text *ret_pem, struct error *err)
{
	gnutls_datum_t pem AUTO_DATUM = { 0 };
	int code = gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &pem);

	if (code < 0)
		return gnutls_error_set(err, code, "the certificate could not be written");
	text_append(ret_pem, pem.data, pem.size);
	return STATUS_OK;
}

static bool is_of_key(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key)
{
	uint8_t ids[2][ID_BYTES];
	size_t sizes[] = { ID_BYTES, ID_BYTES };

	return gnutls_x509_privkey_get_key_id(key, GNUTLS_KEYID_USE_SHA1, ids[0], &sizes[0]) >= 0 &&
	       gnutls_x509_crt_get_key_id(certificate, GNUTLS_KEYID_USE_SHA1, ids[1], &sizes[1]) >= 0 &&
	       memcmp(ids[0], ids[1], ID_BYTES) == 0;
}

/* False: the file has no certificate, or one of another key, or one that ends too early to sign new certificates. */
static bool certificate_read(const char *path, gnutls_x509_privkey_t key, int64_t now_s,
			     gnutls_x509_crt_t certificate)
{
	struct text pem AUTO_TEXT = { 0 };
	bool there = small_file_read(path, CERTIFICATE_BYTES_MAX, &pem, NULL) == STATUS_OK;
	const gnutls_datum_t datum = { (unsigned char *)pem.data, (unsigned)pem.length };

	return there && gnutls_x509_crt_import(certificate, &datum, GNUTLS_X509_FMT_PEM) >= 0 &&
	       is_of_key(certificate, key) &&
	       gnutls_x509_crt_get_expiration_time(certificate) > now_s + LEAF_YEARS * (int64_t)YEAR_S &&
	       gnutls_x509_crt_get_activation_time(certificate) <= now_s;
}

/* Makes and stores a certificate. If two processes do so with the same key, both certificates are valid. */
static enum status certificate_make(const struct authority *authority, gnutls_x509_privkey_t key,
				    int64_t now_s, gnutls_x509_crt_t *ret_certificate, struct error *err)
{
	AUTO(certificate) gnutls_x509_crt_t certificate = NULL;
	struct text pem AUTO_TEXT = { 0 };
	int code = gnutls_x509_crt_init(&certificate);
	enum status rc;

	if (code >= 0)
		code = authority_describe(certificate, key, authority->domain, now_s);
	if (code < 0)
		return gnutls_error_set(err, code, "the certificate could not be made");
	rc = certificate_write(certificate, &pem, err);
	if (!rc)
		rc = small_file_place(authority->certificate_path, &pem, 0644, PLACE_NEW, err);
	if (!rc)
		*ret_certificate = TAKE(certificate);
	return rc;
}

/* Reads the authority's key and certificate, or makes them. Call with the lock held. */
static enum status authority_load(const struct authority *authority, int64_t now_s,
				  gnutls_x509_privkey_t *ret_key, gnutls_x509_crt_t *ret_certificate,
				  struct error *err)
{
	AUTO(private_key) gnutls_x509_privkey_t key = NULL;
	AUTO(certificate) gnutls_x509_crt_t certificate = NULL;
	enum status rc = private_key_load(authority->key_path, GNUTLS_PK_ECDSA, &key, err);

	if (rc)
		return rc;
	if (gnutls_x509_crt_init(&certificate) < 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "GnuTLS cannot create a certificate");
	if (certificate_read(authority->certificate_path, key, now_s, certificate))
		*ret_certificate = TAKE(certificate);
	else
		rc = certificate_make(authority, key, now_s, ret_certificate, err);
	if (!rc)
		*ret_key = TAKE(key);
	return rc;
}

static enum status authority_take(struct authority *authority, int64_t now_s, gnutls_x509_privkey_t *ret_key,
				  gnutls_x509_crt_t *ret_certificate, struct error *err)
{
	enum status rc;

	pthread_mutex_lock(&authority->lock);
	rc = authority_load(authority, now_s, ret_key, ret_certificate, err);
	pthread_mutex_unlock(&authority->lock);
	return rc;
}

/* ---- certificates that the authority signs ---- */

static int name_add(gnutls_x509_crt_t leaf, const char *name)
{
	unsigned char address[sizeof(struct in6_addr)];

	if (inet_pton(AF_INET, name, address) == 1)
		return gnutls_x509_crt_set_subject_alt_name(leaf, GNUTLS_SAN_IPADDRESS, address,
							    sizeof(struct in_addr), GNUTLS_FSAN_APPEND);
	if (inet_pton(AF_INET6, name, address) == 1)
		return gnutls_x509_crt_set_subject_alt_name(leaf, GNUTLS_SAN_IPADDRESS, address,
							    sizeof(struct in6_addr), GNUTLS_FSAN_APPEND);
	return gnutls_x509_crt_set_subject_alt_name(leaf, GNUTLS_SAN_DNSNAME, name, (unsigned)strlen(name),
						    GNUTLS_FSAN_APPEND);
}

static int leaf_describe(gnutls_x509_crt_t leaf, gnutls_x509_privkey_t key, const char *const *names,
			 size_t count, int64_t now_s)
{
	int code = certificate_begin(leaf, key, names[0], now_s, LEAF_YEARS);

	for (size_t i = 0; code >= 0 && i < count; i++)
		code = name_add(leaf, names[i]);
	if (code >= 0)
		code = gnutls_x509_crt_set_basic_constraints(leaf, 0, -1);
	if (code >= 0)
		code = gnutls_x509_crt_set_key_usage(leaf, GNUTLS_KEY_DIGITAL_SIGNATURE);
	return code < 0 ? code : gnutls_x509_crt_set_key_purpose_oid(leaf, GNUTLS_KP_TLS_WWW_SERVER, 0);
}

static int leaf_sign(gnutls_x509_crt_t leaf, gnutls_x509_crt_t issuer, gnutls_x509_privkey_t issuer_key)
{
	uint8_t id[ID_BYTES];
	size_t id_size = sizeof(id);
	int code = gnutls_x509_privkey_get_key_id(issuer_key, GNUTLS_KEYID_USE_SHA1, id, &id_size);

	if (code >= 0)
		code = gnutls_x509_crt_set_authority_key_id(leaf, id, id_size);
	return code < 0 ? code : gnutls_x509_crt_sign2(leaf, issuer, issuer_key, GNUTLS_DIG_SHA256, 0);
}

enum status authority_issue(struct authority *authority, const char *const *names, size_t count,
			    int64_t now_s, struct text *ret_key, struct text *ret_certificate,
			    struct error *err)
{
	AUTO(private_key) gnutls_x509_privkey_t issuer_key = NULL, key = NULL;
	AUTO(certificate) gnutls_x509_crt_t issuer = NULL, leaf = NULL;
	enum status rc = authority_take(authority, now_s, &issuer_key, &issuer, err);
	int code;

	if (!rc)
		rc = private_key_generate(GNUTLS_PK_ECDSA, &key, err);
	if (rc)
		return rc;
	code = gnutls_x509_crt_init(&leaf);
	if (code >= 0)
		code = leaf_describe(leaf, key, names, count, now_s);
	if (code >= 0)
		code = leaf_sign(leaf, issuer, issuer_key);
	if (code < 0)
		return gnutls_error_set(err, code, "the certificate could not be made");
	rc = private_key_write(key, ret_key, err);
	return rc ? rc : certificate_write(leaf, ret_certificate, err);
}

enum status certificate_self_signed(const char *name, int64_t now_s, struct text *ret_key,
				    struct text *ret_certificate, struct error *err)
{
	AUTO(private_key) gnutls_x509_privkey_t key = NULL;
	AUTO(certificate) gnutls_x509_crt_t certificate = NULL;
	enum status rc = private_key_generate(GNUTLS_PK_ECDSA, &key, err);
	int code;

	if (rc)
		return rc;
	code = gnutls_x509_crt_init(&certificate);
	if (code >= 0)
		code = certificate_begin(certificate, key, name, now_s, AUTHORITY_YEARS);
	if (code >= 0)
		code = gnutls_x509_crt_set_basic_constraints(certificate, 0, -1);
	if (code >= 0)
		code = gnutls_x509_crt_set_key_usage(certificate, GNUTLS_KEY_DIGITAL_SIGNATURE);
	if (code >= 0)
		code = gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0);
	if (code < 0)
		return gnutls_error_set(err, code, "the certificate could not be made");
	rc = private_key_write(key, ret_key, err);
	return rc ? rc : certificate_write(certificate, ret_certificate, err);
}

/* ---- certificates that containers trust ---- */

const char *authority_system_bundle(void)
{
	/* Source: https://go.dev/src/crypto/x509/root_linux.go (read 2026-11-22) */
	static const char *const places[] = {
		"/etc/ssl/certs/ca-certificates.crt",                /* Debian, Arch, Alpine */
		"/etc/pki/tls/certs/ca-bundle.crt",                  /* Fedora */
		"/etc/ssl/ca-bundle.pem",                            /* openSUSE */
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* RHEL 7 */
		"/etc/ssl/cert.pem",                                 /* Alpine without ca-certificates */
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (access(places[i], R_OK) == 0)
			return places[i];
	return NULL;
}

static enum status bundle_write(const char *system, gnutls_x509_crt_t certificate, struct text *bundle,
				struct error *err)
{
	enum status rc = system ? small_file_read(system, BUNDLE_BYTES_MAX, bundle, err) : STATUS_OK;

	if (!rc && bundle->length && bundle->data[bundle->length - 1] != '\n')
		text_putc(bundle, '\n');
	return rc ? rc : certificate_write(certificate, bundle, err);
}

/* Writes the bundle, unless the file has these contents already. Call with the lock held. */
static enum status bundle_keep(const struct authority *authority, const struct text *bundle,
			       struct error *err)
{
	struct text old AUTO_TEXT = { 0 };

	if (mkdir(authority->bundle_dir, 0755) != 0 && errno != EEXIST)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "cannot make %s: %s",
				 authority->bundle_dir, strerror(errno));
	if (small_file_read(authority->bundle_path, BUNDLE_BYTES_MAX, &old, NULL) == STATUS_OK &&
	    old.length == bundle->length && memcmp(old.data, bundle->data, old.length) == 0)
		return STATUS_OK;
	return small_file_place(authority->bundle_path, bundle, 0644, PLACE_NEW, err);
}

enum status authority_bundle(struct authority *authority, const char *system, int64_t now_s,
			     struct text *ret_path, struct error *err)
{
	AUTO(private_key) gnutls_x509_privkey_t key = NULL;
	AUTO(certificate) gnutls_x509_crt_t certificate = NULL;
	struct text bundle AUTO_TEXT = { 0 };
	AUTO(string) char *path = NULL;
	enum status rc = authority_take(authority, now_s, &key, &certificate, err);

	if (!rc)
		rc = bundle_write(system, certificate, &bundle, err);
	if (rc)
		return rc;
	pthread_mutex_lock(&authority->lock);
	rc = bundle_keep(authority, &bundle, err);
	pthread_mutex_unlock(&authority->lock);
	if (rc)
		return rc;
	path = realpath(authority->bundle_path, NULL);
	if (!path)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "cannot find %s: %s", authority->bundle_path,
				 strerror(errno));
	text_puts(ret_path, path);
	return STATUS_OK;
}

void authority_versions_write(struct text *text)
{
	text_printf(text, "GnuTLS %s", gnutls_check_version(NULL));
}
