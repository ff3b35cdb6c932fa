/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_context.h"

#include <errno.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"

enum { FILE_MAX_BYTES = 1024 * 1024, NAME_BYTES_MAX = 200 };

void context_deinit(struct context *context)
{
	free(context->url);
	free(context->certificates);
	*context = (struct context){ 0 };
}

char *docker_config_directory(void)
{
	const char *own = getenv("DOCKER_CONFIG"), *home = getenv("HOME");

	if (own && *own)
		return memory_strdup(own);
	return home && *home == '/' ? memory_printf("%s/.docker", home) : NULL;
}

/* Source: Docker's client 20.10: "^[a-zA-Z0-9][a-zA-Z0-9_.+-]+$" */
bool context_name_valid(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";
	const size_t length = strlen(name);

	return length > 1 && length <= NAME_BYTES_MAX && strspn(name, letters) == length &&
	       !strchr("_.+-", name[0]);
}

/* Returns NULL if the file cannot be opened, or if it is not JSON of a valid size; errno is 0 in the latter case. */
static json_t *file_parse(const char *path)
{
	FILE *file = fopen(path, "re");
	json_t *value = NULL;

	if (!file)
		return NULL;
	AUTO(string) char *text = memory_alloc(FILE_MAX_BYTES);
	const size_t length = fread(text, 1, FILE_MAX_BYTES, file);

	if (length < FILE_MAX_BYTES)
		value = json_loadb(text, length, 0, NULL);
	fclose(file);
	errno = 0;
	return value;
}

char *context_current(void)
{
	const char *named = getenv("DOCKER_CONTEXT");

	if (!named || !*named) {
		AUTO(string) char *directory = docker_config_directory();
		AUTO(string) char *path = directory ? memory_printf("%s/config.json", directory) : NULL;
		AUTO(json) json_t *config = path ? file_parse(path) : NULL;
		const char *current = json_text_at(config, "currentContext");

		return current && *current && strcmp(current, "default") != 0 ? memory_strdup(current) : NULL;
	}
	return strcmp(named, "default") != 0 ? memory_strdup(named) : NULL;
}

static char *name_hash(const char *name)
{
	unsigned char hash[crypto_hash_sha256_BYTES];
	char *hex = memory_alloc(2 * sizeof(hash) + 1);

	crypto_hash_sha256(hash, (const unsigned char *)name, strlen(name));
	return sodium_bin2hex(hex, 2 * sizeof(hash) + 1, hash, sizeof(hash));
}

enum status context_read(const char *name, struct context *ret_context, struct error *err)
{
	AUTO(string) char *directory = docker_config_directory();
	AUTO(string) char *hash = name_hash(name);
	AUTO(string)
	char *path = memory_printf("%s/contexts/meta/%s/meta.json", directory ? directory : "", hash);
	AUTO(json) json_t *meta = file_parse(path);
	const json_t *docker = json_object_get(json_object_get(meta, "Endpoints"), "docker");
	const char *url = json_text_at(docker, "Host");

	if (!meta)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "Docker's context %s cannot be read: %s: %s; `docker context ls` names those there are",
				 name, path, errno ? strerrordesc_np(errno) : "it is not JSON");
	if (!url || !*url)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "Docker's context %s names no engine (%s has no Endpoints.docker.Host)", name,
				 path);
	*ret_context = (struct context){
		.url = memory_strdup(url),
		.certificates = memory_printf("%s/contexts/tls/%s/docker", directory, hash),
		.skips_verify = json_true_at(docker, "SkipTLSVerify"),
	};
	if (access(ret_context->certificates, F_OK) != 0)
		free(TAKE(ret_context->certificates));
	return STATUS_OK;
}
