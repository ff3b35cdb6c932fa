/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/keys/authority.h: a certificate authority of a state directory: STATE/NAME.key (PKCS #8, mode 0600) and
 * STATE/NAME.crt, made when first needed. It is valid only for one domain and names below it (name constraints), so a
 * stolen key cannot impersonate other hosts. Uses GnuTLS. "ca" is for the names of Cloud Storage inside job networks,
 * "local-ca" for gRPC clients of this machine.
 *
 * If two programs make it at once, both use the same one. Thread: any; a lock inside. */
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"
#include "daemon/base/text.h"

struct authority;

/* Reads no file yet. @domain stays the caller's. */
struct authority *authority_new(const char *state_dir, const char *name, const char *domain);
void authority_free(struct authority *authority);
DEFINE_AUTO(authority, struct authority *, authority_free)

/* A new key (ECDSA on P-256, a millisecond) and a certificate for @names, hosts and IP addresses, valid from a day
 * before @now_s (since 1970) for two years: both PEM, appended. If the authority's own certificate ends within a year,
 * it is renewed first. FAILED_PRECONDITION: the files cannot be made or read, or have other contents. */
enum status authority_issue(struct authority *authority, const char *const *names, size_t count,
			    int64_t now_s, struct text *ret_key, struct text *ret_certificate,
			    struct error *err);

/* A file with the certificates that a container is to trust: those of @system (the machine's own; NULL: none) and this
 * authority's: STATE/NAME/bundle.crt; its absolute path is appended. It is replaced atomically if its contents differ.
 * Errors as above. */
enum status authority_bundle(struct authority *authority, const char *system, int64_t now_s,
			     struct text *ret_path, struct error *err);

/* The file with the machine's own certificates, at one of the usual paths of distributions; NULL: none. */
const char *authority_system_bundle(void);
/* Appends "GnuTLS 3.7.9". */
void authority_versions_write(struct text *text);

/* A new key and a certificate of it that no authority has signed, valid for 15 years: for two programs that each trust the
 * other's alone. Both PEM, appended. INTERNAL: GnuTLS cannot make them. */
enum status certificate_self_signed(const char *name, int64_t now_s, struct text *ret_key,
				    struct text *ret_certificate, struct error *err);
