/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_credentials.h: image references, and what a registry wants to hear.
 *
 * Credentials come from the config.json of the docker command line: credHelpers, credsStore, auths.
 * Source: https://docs.docker.com/reference/cli/docker/login/#credential-stores (read 2026-11-20)
 * They are wiped from memory after use, and never logged. */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

enum { REFERENCE_SIZE = 512 };

struct image_reference {
	char registry
		[REFERENCE_SIZE];  /* key in config.json: "https://index.docker.io/v1/", or "HOST[:PORT]" */
	char name[REFERENCE_SIZE]; /* without tag and digest, as it was written */
	char tag[REFERENCE_SIZE];  /* or digest; "latest" when there was none */
	bool is_id;                /* "sha256:…": nothing that a registry has */
};

/* Refuses (INVALID_ARGUMENT) what could not stand in a path of the API. The engine checks the rest. */
enum status image_reference_parse(const char *image, struct image_reference *ret_reference,
				  struct error *err);

/* Wipes, then frees. */
void secret_free(char *secret);
DEFINE_AUTO(secret, char *, secret_free)

/* The value of X-Registry-Auth for @registry: base64url of JSON. NULL in *ret_header when config.json
 * has nothing for it, or is not there.
 * Runs docker-credential-X where config.json says so: may take 30 s, so this has a thread of its own;
 * @stop_fd becoming readable ends it early with CANCELLED.
 * Outcomes: FAILED_PRECONDITION: the file cannot be understood, or the helper failed.
 * Thread: any. */
enum status registry_credentials_find(const char *config_dir, const char *registry, int stop_fd,
				      char **ret_header, struct error *err);
