/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/keys/authority.h: a certificate authority of a state directory: STATE/NAME.key (PKCS #8, mode 0600) and
 * STATE/NAME.crt, made when they are first needed. It is valid for one domain and names below it only (name constraints: a
 * thief of the key can impersonate no other host). GnuTLS does the work. "ca" is for the names of Cloud Storage inside job
 * networks, "local-ca" for this machine's clients of gRPC.
 *
 * Two programs that make it at once agree on one. Thread: any; a lock inside. */
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"
#include "daemon/base/text.h"

struct authority;

/* Reads nothing yet. @domain stays the caller's. */
struct authority *authority_new(const char *state_dir, const char *name, const char *domain);
void authority_free(struct authority *authority);
DEFINE_AUTO(authority, struct authority *, authority_free)

/* A new key (ECDSA on P-256, a millisecond) and a certificate of it for @names, hosts and IP addresses, good from a day before @now_s (of 1970)
 * for two years: both PEM, appended. A certificate of the authority that ends within a year is made anew first.
 * FAILED_PRECONDITION: the files cannot be made or read, or hold something else. */
enum status authority_issue(struct authority *authority, const char *const *names, size_t count,
			    int64_t now_s, struct text *ret_key, struct text *ret_certificate,
			    struct error *err);

/* A file of the certificates that a container is to trust: those of @system (the machine's own; NULL: none) and this
 * authority's: STATE/NAME/bundle.crt, its whole path appended. It is made anew, and put in the old one's place in one
 * step, when it does not say so. Errors as above. */
enum status authority_bundle(struct authority *authority, const char *system, int64_t now_s,
			     struct text *ret_path, struct error *err);

/* Where distributions keep the machine's own certificates, or NULL where there are none. */
const char *authority_system_bundle(void);
/* "GnuTLS 3.7.9" is appended. */
void authority_versions_write(struct text *text);
