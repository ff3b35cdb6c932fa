/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/env.h: `trainyard env`: prints variables that make gcloud and client libraries use this daemon. */
#include <stdbool.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"

enum shell { SHELL_SH, SHELL_FISH, SHELL_GITHUB };

struct env_settings {
	enum shell shell;
	bool unset;
	const char *url; /* "http://127.0.0.1:8090", without a final slash */
	/* "http://127.0.0.1:9000" of another emulator of Cloud Storage; NULL: this daemon's */
	const char *storage_url;
	char *credentials;    /* the path of a credentials file; NULL: none */
	char *no_credentials; /* why there is none, for the user; or NULL */
	char *grpc_endpoint;  /* "localhost:8091"; NULL: gRPC is not served */
	char *grpc_roots;     /* certificates for its clients; NULL likewise */
	char *token_file;     /* absolute path of the token for callers; NULL: no token is required */
	const char *project;
	const char *region;
	/* The value for NO_PROXY; NULL: no proxy is set, so no exception is needed. */
	char *no_proxy;
};

struct config;

/* Sets all members except the first two, for a daemon at @url with the state directory of @config; both must outlive
 * the settings. Credentials that are set already stay. FAILED_PRECONDITION: the token's file does not exist. */
enum status env_settings_find(const struct config *config, const char *url, struct env_settings *settings,
			      struct error *err);
void env_settings_deinit(struct env_settings *settings);
#define AUTO_ENV_SETTINGS __attribute__((cleanup(env_settings_deinit)))

/* Passes each variable and its value; NULL: it has none. */
void env_each(const struct env_settings *settings,
	      void (*take)(void *arg, const char *name, const char *value), void *arg);
/* Appends the lines. Values are quoted for the shell as needed. Pure. */
void env_write(struct text *text, const struct env_settings *settings);

/* @own with the missing names of this machine added: "a,127.0.0.1,localhost". */
char *no_proxy_extend(const char *own);

struct invocation;

/* Runs the command; the exit code. */
int env_main(struct invocation *invocation);
