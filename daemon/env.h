/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/env.h: `trainyard env`: the lines that point gcloud and the client libraries here. */
#include <stdbool.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"

enum shell { SHELL_SH, SHELL_FISH, SHELL_GITHUB };

struct env_settings {
	enum shell shell;
	bool unset;
	const char *url; /* "http://127.0.0.1:8090", no slash behind it */
	/* "http://127.0.0.1:9000", where another emulator of Cloud Storage serves; NULL: this one does. */
	const char *storage_url;
	char *credentials;    /* the path of a credentials file; NULL: none */
	char *no_credentials; /* why there is none, for the reader of the lines; or NULL */
	char *grpc_roots;     /* the file of certificates for clients of gRPC; NULL: it is not served */
	char *token_file; /* the whole path of the token that callers must know; NULL: none is asked for */
	const char *project;
	const char *region;
	/* What NO_PROXY becomes; NULL where no proxy is set, which needs no exception then. */
	char *no_proxy;
};

struct config;

/* Fills all but the first two for a daemon that serves at @url on the state directory of @config, both of which must outlive
 * the settings. FAILED_PRECONDITION: the token's file is not there. */
enum status env_settings_find(const struct config *config, const char *url, struct env_settings *settings,
			      struct error *err);
void env_settings_deinit(struct env_settings *settings);
#define AUTO_ENV_SETTINGS __attribute__((cleanup(env_settings_deinit)))

/* Each variable and its value; NULL: the daemon has none for it. */
void env_each(const struct env_settings *settings,
	      void (*take)(void *arg, const char *name, const char *value), void *arg);
/* Appends the lines. Values are quoted as the shell needs it, whatever is in them. Pure. */
void env_write(struct text *text, const struct env_settings *settings);

/* @own with this machine's names added where they are missing: "a,127.0.0.1,localhost". */
char *no_proxy_extend(const char *own);

struct invocation;

/* Runs the command; the exit code. */
int env_main(struct invocation *invocation);
