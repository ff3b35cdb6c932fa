/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/keys/signing_key.h: the RSA key that signs the emulator's identity tokens and is in its credentials file:
 * STATE/identity.key, mode 0600, made when first needed (half a second). GnuTLS signs and verifies. */
#include <jansson.h>
#include <stddef.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"
#include "daemon/base/text.h"

struct signing_key;

/* Does not read the file yet. @state_dir is copied. */
struct signing_key *signing_key_new(const char *state_dir);
void signing_key_free(struct signing_key *key);
DEFINE_AUTO(signing_key, struct signing_key *, signing_key_free)

/* Thread: any, for the functions below. If two programs make the key at once, both use the same one. */
/* A JWT (RS256) of @claims. */
enum status signing_key_sign(struct signing_key *key, const json_t *claims, struct text *ret_jwt,
			     struct error *err);
/* Reads the claims of a JWT. UNAUTHENTICATED: this key did not sign it. */
enum status signing_key_verify(struct signing_key *key, const char *jwt, json_t **ret_claims,
			       struct error *err);
/* Returns the public half as a JSON Web Key Set. */
enum status signing_key_jwks(struct signing_key *key, json_t **ret_jwks, struct error *err);
/* Returns the private half in PEM (PKCS #8), as in credentials files, and the key's id. */
enum status signing_key_pem(struct signing_key *key, struct text *ret_pem, char ret_id[41],
			    struct error *err);
