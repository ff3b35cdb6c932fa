/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_credentials.h: parses image references, and finds a registry's credentials.
 *
 * Credentials come from the config.json of the docker command line: credHelpers, credsStore, auths. They are wiped from
 * memory after use, and never logged.
 * Source: https://docs.docker.com/reference/cli/docker/login/#credential-stores (read 2026-11-20) */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

enum { REFERENCE_SIZE = 512 };

struct image_reference {
	char registry
		[REFERENCE_SIZE];  /* key in config.json: "https://index.docker.io/v1/", or "HOST[:PORT]" */
	char name[REFERENCE_SIZE]; /* without tag and digest, as it was written */
	char tag[REFERENCE_SIZE];  /* tag or digest; "latest" if it has neither */
	bool is_id;                /* "sha256:…": an image id, which registries do not have */
};

/* Parses an image reference. INVALID_ARGUMENT: @image cannot be part of a path of the API. The engine checks the
 * rest. */
enum status image_reference_parse(const char *image, struct image_reference *ret_reference,
				  struct error *err);

/* Overwrites the text in memory, then frees it. */
void secret_free(char *secret);
DEFINE_AUTO(secret, char *, secret_free)

/* The value of X-Registry-Auth for @registry: base64url of JSON. *ret_header is NULL if config.json does not exist or
 * has no entry for it. Runs docker-credential-X if config.json says so, for up to 30 s, so call this on a thread of its
 * own; when @stop_fd becomes readable, it ends early with CANCELLED.
 * Outcomes: FAILED_PRECONDITION: the file cannot be understood, or the helper failed.
 * Thread: any. */
enum status registry_credentials_find(const char *config_dir, const char *registry, int stop_fd,
				      char **ret_header, struct error *err);
