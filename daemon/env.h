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
	char *no_credentials; /* why there is no credentials file, for the user to read; NULL: no reason */
	char *grpc_endpoint;  /* "localhost:8091"; NULL: gRPC is not served */
	char *grpc_roots;     /* path of the certificates that gRPC clients must trust; NULL: gRPC is not served */
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

/* Calls @take with each variable and its value; value NULL: the variable does not apply. */
void env_each(const struct env_settings *settings,
	      void (*take)(void *arg, const char *name, const char *value), void *arg);
/* Appends the lines that set the variables, with values quoted for the shell. Pure. */
void env_write(struct text *text, const struct env_settings *settings);

/* Returns @own with the names of this machine that it lacks: "a,127.0.0.1,localhost". The caller frees. */
char *no_proxy_extend(const char *own);

struct invocation;

/* Runs `trainyard env`, and returns the exit code. */
int env_main(struct invocation *invocation);
