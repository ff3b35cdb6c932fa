/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_context.h: reads the contexts of Docker's client: named engines, kept in its configuration directory.
 *
 *   config.json                                 "currentContext": the one in use
 *   contexts/meta/SHA256-OF-NAME/meta.json      "Endpoints": {"docker": {"Host": URL, "SkipTLSVerify": false}}
 *   contexts/tls/SHA256-OF-NAME/docker/         ca.pem, cert.pem, key.pem
 *
 * Source: https://docs.docker.com/engine/manage-resources/contexts/ and files made by Docker 20.10 (read 2026-11-26).
 * Thread: any. */
#include <stdbool.h>

#include "daemon/base/error.h"

struct context {
	char *url;          /* "tcp://build:2376" */
	char *certificates; /* the directory with the context's TLS files; NULL: it has none */
	bool skips_verify;  /* the engine's certificate is not verified */
};

void context_deinit(struct context *context);
#define AUTO_CONTEXT __attribute__((cleanup(context_deinit)))

/* The directory of Docker's configuration: $DOCKER_CONFIG, or ~/.docker; NULL: neither variable is set. The caller
 * frees it. */
char *docker_config_directory(void);
bool context_name_valid(const char *name);
/* The name of the context in use, from DOCKER_CONTEXT or config.json; NULL: the default context, which has no files.
 * The caller frees it. */
char *context_current(void);
/* Reads a context's files. FAILED_PRECONDITION: there is no such context, it cannot be read, or it names no Docker
 * engine. */
enum status context_read(const char *name, struct context *ret_context, struct error *err);
