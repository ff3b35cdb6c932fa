/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/keys/authority.h: a certificate authority of a state directory: STATE/NAME.key (PKCS #8, mode 0600) and
 * STATE/NAME.crt, made when first needed. It is valid only for one domain and names below it (name constraints), so a
 * stolen key cannot impersonate other hosts. Uses GnuTLS. The daemon has two: the one with NAME "ca" is for the names
 * of Cloud Storage inside job networks, "local-ca" for gRPC clients on this machine.
 *
 * If two programs make one at once, both use the same one. Thread: any; a lock inside. */
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"
#include "daemon/base/text.h"

struct authority;

/* Does not read the files yet. @domain is borrowed. */
struct authority *authority_new(const char *state_dir, const char *name, const char *domain);
void authority_free(struct authority *authority);
DEFINE_AUTO(authority, struct authority *, authority_free)

/* Makes a key (ECDSA on P-256, takes a millisecond) and a certificate for @names, hosts and IP addresses, valid from
 * a day before @now_s (seconds since 1970) for two years. Appends both as PEM. If the authority's own certificate
 * ends within a year, it is renewed first. FAILED_PRECONDITION: the files cannot be made or read, or have other
 * contents. */
enum status authority_issue(struct authority *authority, const char *const *names, size_t count,
			    int64_t now_s, struct text *ret_key, struct text *ret_certificate,
			    struct error *err);

/* Makes STATE/NAME/bundle.crt, the file of certificates that containers trust: those of @system (the machine's own
 * file; NULL: none) and this authority's. Appends its absolute path to @ret_path. Replaces the file atomically if
 * its contents differ. Errors as above. */
enum status authority_bundle(struct authority *authority, const char *system, int64_t now_s,
			     struct text *ret_path, struct error *err);

/* Returns the path of the machine's own certificates, if one of the usual files of distributions exists; NULL: none. */
const char *authority_system_bundle(void);
/* Appends "GnuTLS 3.7.9". */
void authority_versions_write(struct text *text);

/* Makes a key and its self-signed certificate, valid for 15 years, for two programs that each trust only the other's
 * certificate. Appends both as PEM. INTERNAL: GnuTLS cannot make them. */
enum status certificate_self_signed(const char *name, int64_t now_s, struct text *ret_key,
				    struct text *ret_certificate, struct error *err);
