/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/base64.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_helper.h"

#define DOCKER_HUB "https://index.docker.io/v1/"

enum { CONFIG_MAX_BYTES = 1024 * 1024 };

void secret_free(char *secret)
{
	if (secret)
		sodium_memzero(secret, strlen(secret));
	free(secret);
}

static void json_wipe(json_t *value)
{
	const char *key;
	json_t *member;
	size_t i;

	/* The strings belong to jansson and are about to be freed, so overwriting them is safe. */
	if (json_is_string(value))
		sodium_memzero((char *)json_string_value(value), json_string_length(value));
	json_object_foreach(value, key, member)
		json_wipe(member);
	json_array_foreach(value, i, member)
		json_wipe(member);
}

static void secret_json_free(json_t *value)
{
	json_wipe(value);
	json_decref(value);
}

DEFINE_AUTO(secret_json, json_t *, secret_json_free)

#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* Splits a name into registry and repository. If the first component has a dot, a colon or a capital letter, or is
 * "localhost", it is the registry; otherwise the registry is Docker Hub. Source:
 * https://github.com/distribution/reference, splitDockerDomain() */
static void registry_split(struct image_reference *reference)
{
	const char *slash = strchr(reference->name, '/');
	size_t length = slash ? (size_t)(slash - reference->name) : 0;
	char host[REFERENCE_SIZE];

	snprintf(host, sizeof(host), "%.*s", (int)length, reference->name);
	if (!slash || (!strpbrk(host, ".:" UPPER) && strcmp(host, "localhost") != 0) ||
	    strcmp(host, "docker.io") == 0 || strcmp(host, "index.docker.io") == 0)
		snprintf(host, sizeof(host), "%s", DOCKER_HUB);
	memcpy(reference->registry, host, sizeof(host));
}

static bool can_stand_in_path(const char *image)
{
	static const char plain[] = UPPER "abcdefghijklmnopqrstuvwxyz0123456789._-/:@[]";

	return image[0] && image[0] != '/' && image[0] != '.' && strlen(image) < REFERENCE_SIZE &&
	       image[strspn(image, plain)] == '\0' && !strstr(image, "//") && !strstr(image, "/.") &&
	       image[strlen(image) - 1] != '/';
}

enum status image_reference_parse(const char *image, struct image_reference *ret_reference, struct error *err)
{
	struct image_reference reference = { .tag = "latest" };
	char *at, *colon, *slash;

	if (!can_stand_in_path(image))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "invalid reference format: %.200s",
				 image);
	reference.is_id = strncmp(image, "sha256:", 7) == 0;
	snprintf(reference.name, sizeof(reference.name), "%s", image);
	at = strchr(reference.name, '@');
	if (at) {
		*at = '\0';
		snprintf(reference.tag, sizeof(reference.tag), "%s", at + 1);
	}
	slash = strrchr(reference.name, '/');
	colon = strchr(slash ? slash : reference.name, ':');
	if (colon && !reference.is_id) {
		*colon = '\0';
		if (!at) /* with both a tag and a digest, the digest decides */
			snprintf(reference.tag, sizeof(reference.tag), "%s", colon + 1);
	}
	if (!reference.name[0] || !reference.tag[0])
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "invalid reference format: %.200s",
				 image);
	registry_split(&reference);
	*ret_reference = reference;
	return STATUS_OK;
}

static char *file_read(const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat about;
	char *content = NULL;
	ssize_t length = -1;

	if (fd < 0) {
		if (errno != ENOENT)
			error_set(err, STATUS_FAILED_PRECONDITION, NULL, "%s: %s", path,
				  strerrordesc_np(errno));
		return NULL;
	}
	if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size <= CONFIG_MAX_BYTES)
		content = memory_calloc(1, CONFIG_MAX_BYTES + 1);
	if (content)
		length = read(fd, content, CONFIG_MAX_BYTES);
	close(fd);
	if (length >= 0)
		return content;
	free(content);
	error_set(err, STATUS_FAILED_PRECONDITION, NULL, "%s: it is not a readable file of at most %d bytes",
		  path, CONFIG_MAX_BYTES);
	return NULL;
}

/* Whether a key of config.json and @registry name the same registry: "https://HOST/v1/" and "HOST" are equal. */
static bool same_registry(const char *key, const char *registry)
{
	size_t length;

	if (strcmp(key, registry) == 0)
		return true;
	if (strcmp(registry, DOCKER_HUB) == 0)
		return false;
	if (strncmp(key, "https://", 8) == 0)
		key += 8;
	else if (strncmp(key, "http://", 7) == 0)
		key += 7;
	length = strcspn(key, "/");
	return strlen(registry) == length && strncmp(key, registry, length) == 0;
}

static json_t *entry_find(const json_t *object, const char *registry)
{
	json_t *exact = json_object_get(object, registry);
	const char *key;
	json_t *value;

	if (exact)
		return exact;
	json_object_foreach((json_t *)object, key, value)
		if (same_registry(key, registry))
			return value;
	return NULL;
}

/* Returns {"username":…,"password":…,"identitytoken":…,"serveraddress":…} as base64url; NULL: one of the values is
 * not UTF-8. */
static char *header_make(const char *username, const char *password, const char *token, const char *registry)
{
	AUTO(secret_json)
	json_t *object = json_pack("{ss* ss* ss* ss}", "username", username, "password", password,
				   "identitytoken", token, "serveraddress", registry);
	AUTO(secret) char *text = NULL;
	size_t size;

	if (!object)
		return NULL;
	text = json_dumps(object, JSON_COMPACT);
	size = sodium_base64_encoded_len(strlen(text), sodium_base64_VARIANT_URLSAFE);
	return sodium_bin2base64(memory_alloc(size), size, (const unsigned char *)text, strlen(text),
				 sodium_base64_VARIANT_URLSAFE);
}

/* "auth" is base64 of "USER:PASSWORD". */
static char *header_of_auth(const char *auth, const char *token, const char *registry)
{
	size_t size = strlen(auth) + 1, length = 0;
	AUTO(secret) char *plain = memory_calloc(1, size);
	char *colon, *header;

	if (!base64_decode(auth, strlen(auth), "\r\n", sodium_base64_VARIANT_ORIGINAL, plain, size - 1,
			   &length))
		return NULL;
	colon = strchr(plain, ':');
	if (!colon)
		return NULL;
	*colon = '\0';
	header = header_make(plain, token ? NULL : colon + 1, token, registry);
	sodium_memzero(colon + 1, strlen(colon + 1));
	*colon = ':';
	return header;
}

static enum status header_of_entry(const json_t *entry, const char *registry, char **ret_header,
				   struct error *err)
{
	const char *auth = json_text_at(entry, "auth");
	const char *token = json_text_at(entry, "identitytoken");
	const char *username = json_text_at(entry, "username");

	if (token && !*token)
		token = NULL;
	if (auth && *auth)
		*ret_header = header_of_auth(auth, token, registry);
	else if (token || username)
		*ret_header = header_make(username, json_text_at(entry, "password"), token, registry);
	else
		return STATUS_OK; /* an empty entry has no credentials: they are in a credential store */
	if (!*ret_header)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "config.json: the auth of %s is not base64 of USER:PASSWORD in UTF-8",
				 registry);
	return STATUS_OK;
}

/* Reads the answer of a credential helper: {"ServerURL":…,"Username":…,"Secret":…}. With the user "<token>", the
 * secret is an identity token. Source: https://github.com/docker/docker-credential-helpers (read 2026-11-20) */
static enum status header_of_helper(const char *helper, const char *registry, int stop_fd, char **ret_header,
				    struct error *err)
{
	AUTO(secret) char *output = NULL;
	enum status rc = credential_helper_run(helper, registry, stop_fd, &output, err);
	const char *username, *secret;

	if (rc)
		return rc == STATUS_NOT_FOUND ? STATUS_OK : rc;
	AUTO(secret_json) json_t *answer = json_parse_foreign(output, strlen(output), 0, NULL);
	username = json_text_at(answer, "Username");
	secret = json_text_at(answer, "Secret");
	if (!username || !secret)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "docker-credential-%s answered without a user and a secret for %s", helper,
				 registry);
	if (strcmp(username, "<token>") == 0)
		*ret_header = header_make(NULL, NULL, secret, registry);
	else
		*ret_header = header_make(username, secret, NULL, registry);
	return STATUS_OK;
}

enum status registry_credentials_find(const char *config_dir, const char *registry, int stop_fd,
				      char **ret_header, struct error *err)
{
	AUTO(string) char *path = memory_printf("%s/config.json", config_dir);
	const char *helper;
	char *header = NULL;
	enum status rc = STATUS_OK;

	struct error problem AUTO_ERROR = { 0 };
	AUTO(secret) char *content = file_read(path, &problem);
	AUTO(secret_json)
	json_t *config = content ? json_parse_foreign(content, strlen(content), 0, NULL) : NULL;

	if (problem.status)
		return error_move(err, &problem);
	if (content && !json_is_object(config))
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "%s is not a JSON object", path);
	helper = json_string_value(entry_find(json_object_get(config, "credHelpers"), registry));
	if (!helper)
		helper = json_text_at(config, "credsStore");
	if (helper && *helper)
		rc = header_of_helper(helper, registry, stop_fd, &header, err);
	if (!rc && !header)
		rc = header_of_entry(entry_find(json_object_get(config, "auths"), registry), registry,
				     &header, err);
	if (!rc)
		*ret_header = header;
	return rc;
}
