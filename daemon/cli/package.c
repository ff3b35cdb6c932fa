/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/package.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/cli/client.h"
#include "daemon/cli/cloud_transfer.h"
#include "daemon/cli/cloud_url.h"
#include "daemon/cli/pack.h"

#define STAGING_BUCKET "trainyard-staging"

static const char setup[] =
	"import os\n"
	"from setuptools import find_packages, setup\n"
	"\n"
	"requirements = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'requirements.txt')\n"
	"lines = open(requirements).read().splitlines() if os.path.exists(requirements) else []\n"
	"setup(name='%s', version='0.0.0', packages=find_packages(), include_package_data=True,\n"
	"      package_data={'': ['*']},\n"
	"      install_requires=[line.strip() for line in lines\n"
	"                        if line.strip() and not line.lstrip().startswith(('#', '-'))])\n";

/* A package and its place on the disk. */
struct package {
	char *root; /* the directory above the package's modules */
	char *name; /* name of the directory with the modules; NULL: the setup file in root names it */
	bool has_setup; /* the root has a setup file of its own */
};

static void package_deinit(struct package *package)
{
	free(package->root);
	free(package->name);
}

static bool has_file(const char *directory, const char *name)
{
	AUTO(string) char *path = memory_printf("%s/%s", directory, name);

	return access(path, R_OK) == 0;
}

static bool has_setup(const char *directory)
{
	return has_file(directory, "setup.py") || has_file(directory, "pyproject.toml");
}

static bool is_identifier(const char *name, size_t length)
{
	size_t i = 0;

	while (i < length && (isalnum((unsigned char)name[i]) || name[i] == '_'))
		i++;
	return length && i == length && !isdigit((unsigned char)*name);
}

static enum status package_find(const char *directory, struct package *package, struct error *err)
{
	AUTO(string) char *path = realpath(directory, NULL);
	AUTO(string) char *listed = path ? memory_printf("%s/.", path) : NULL;
	char *slash;

	if (!path || access(listed, R_OK) != 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "--package: %s: %s", directory,
				 strerror(errno));
	if (has_setup(path)) {
		package->root = TAKE(path);
		package->has_setup = true;
		return STATUS_OK;
	}
	slash = strrchr(path, '/');
	if (!is_identifier(slash + 1, strlen(slash + 1)))
		return error_set(
			err, STATUS_INVALID_ARGUMENT, NULL,
			"--package: \"%s\" cannot be the name of a Python package: use letters, digits and _",
			slash + 1);
	package->name = memory_strdup(slash + 1);
	package->root = slash == path ? memory_strdup("/") : memory_strndup(path, (size_t)(slash - path));
	package->has_setup = has_setup(package->root);
	return STATUS_OK;
}

/* Returns true if "a.b.c" is a file a/b/c.py below the root, or a package there that Python can run. */
static bool module_is_there(const struct package *package, const char *module)
{
	AUTO(string) char *path = memory_strdup(module);
	AUTO(string) char *file = NULL;
	AUTO(string) char *main_file = NULL;

	for (char *c = path; *c; c++)
		if (*c == '.')
			*c = '/';
	file = memory_printf("%s.py", path);
	main_file = memory_printf("%s/__main__.py", path);
	return has_file(package->root, file) || has_file(package->root, main_file);
}

static bool module_is_name(const char *module)
{
	for (const char *part = module;; part += strcspn(part, ".") + 1) {
		const size_t length = strcspn(part, ".");

		if (!is_identifier(part, length))
			return false;
		if (!part[length])
			return true;
	}
}

static enum status module_find(const struct package *package, const char *wanted, char **ret_module,
			       struct error *err)
{
	AUTO(string) char *task = package->name ? memory_printf("%s.task", package->name) : NULL;

	if (wanted && !module_is_name(wanted))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "--module: \"%s\" is not the name of a module such as trainer.task", wanted);
	/* With a setup file of its own, the root may have its modules anywhere, so the module is not searched. */
	if (wanted && (package->has_setup || module_is_there(package, wanted))) {
		*ret_module = memory_strdup(wanted);
		return STATUS_OK;
	}
	if (wanted)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "--module: there is no %s in %s", wanted,
				 package->root);
	if (task && module_is_there(package, task)) {
		*ret_module = TAKE(task);
		return STATUS_OK;
	}
	if (package->name && module_is_there(package, package->name)) {
		*ret_module = memory_strdup(package->name);
		return STATUS_OK;
	}
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
			 "which module of %s is to run? --module NAME, as trainer.task",
			 package->name ? package->name : package->root);
}

/* ---- the files of a package ---- */

/* Returns true for files that a package does not need: hidden files, and results of Python, builds and virtual
 * environments. */
static bool leaves_out(void *arg, const char *path, bool is_directory)
{
	const char *directory = arg;
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	const char *dot = strrchr(name, '.');
	AUTO(string) char *environment = memory_printf("%s/pyvenv.cfg", path);

	return *name == '.' || (dot && (strcmp(dot, ".pyc") == 0 || strcmp(dot, ".egg-info") == 0)) ||
	       (is_directory && (strcmp(name, "__pycache__") == 0 || has_file(directory, environment)));
}

static bool leaves_out_of_project(void *arg, const char *path, bool is_directory)
{
	return leaves_out(arg, path, is_directory) ||
	       (is_directory && (strcmp(path, "build") == 0 || strcmp(path, "dist") == 0));
}

static enum status whole_pack(struct pack *pack, const struct package *package, struct error *err)
{
	return pack_directory(pack, package->root, "package", leaves_out_of_project, package->root, err);
}

/* Packs requirements.txt from the package, or from the directory above it. */
static enum status requirements_pack(struct pack *pack, const struct package *package, const char *directory,
				     struct error *err)
{
	AUTO(string) char *inside = memory_printf("%s/requirements.txt", directory);
	AUTO(string) char *beside = memory_printf("%s/requirements.txt", package->root);
	const char *path = access(inside, R_OK) == 0 ? inside : beside;

	return access(path, R_OK) == 0
		       ? pack_directory(pack, path, "package/requirements.txt", NULL, NULL, err)
		       : STATUS_OK;
}

static enum status modules_pack(struct pack *pack, const struct package *package, struct error *err)
{
	AUTO(string) char *directory = memory_printf("%s/%s", package->root, package->name);
	AUTO(string) char *inside = memory_printf("package/%s", package->name);
	AUTO(string) char *first = memory_printf("%s/__init__.py", inside);
	AUTO(string) char *script = memory_printf(setup, package->name);
	enum status rc;

	pack_text(pack, "package/setup.py", script);
	if (!has_file(directory, "__init__.py"))
		pack_text(pack, first, "");
	rc = requirements_pack(pack, package, directory, err);
	return rc ? rc : pack_directory(pack, directory, inside, leaves_out, directory, err);
}

/* ---- the package in Cloud Storage ---- */

/* Makes the bucket of trainyard's own, because with --buckets strict it does not appear on first use. */
static enum status bucket_make(struct client *client, const char *project, struct error *err)
{
	AUTO(json) json_t *bucket = json_pack("{s:s}", "name", STAGING_BUCKET);
	struct error cause AUTO_ERROR = { 0 };
	struct text path AUTO_TEXT = { 0 };
	enum status rc;

	text_puts(&path, "/storage/v1/b?project=");
	text_percent(&path, project, URL_UNRESERVED);
	rc = client_call(client, "POST", path.data, bucket, NULL, &cause);
	return !rc || rc == STATUS_ALREADY_EXISTS ? STATUS_OK : error_set(err, rc, NULL, "%s", cause.text);
}

static enum status destination_find(struct client *client, const struct package_options *options,
				    char **ret_uri, struct cloud_url *ret_url, struct error *err)
{
	const char *output = options->output ? options->output : "gs://" STAGING_BUCKET;
	const size_t length = strlen(output);
	enum status rc = STATUS_OK;

	*ret_uri = memory_printf("%.*s/packages/%s/package.tar.gz",
				 (int)(length - (length && output[length - 1] == '/')), output, options->job);
	rc = cloud_url_read(*ret_uri, ret_url, err);
	return rc || options->output ? rc : bucket_make(client, options->project, err);
}

static enum status package_upload(struct client *client, struct pack *pack, const struct cloud_url *url,
				  struct error *err)
{
	struct cloud_progress progress = { 0 };
	int64_t bytes;
	int fd;
	enum status rc = pack_finish(pack, &fd, &bytes, err);

	if (rc)
		return rc;
	cloud_progress_begin(&progress);
	progress.file_count = 1;
	progress.total_bytes = bytes;
	rc = cloud_upload(client, fd, url, &progress, err);
	cloud_progress_end(&progress);
	return rc;
}

enum status package_stage(struct client *client, const struct package_options *options, char **ret_uri,
			  char **ret_module, struct error *err)
{
	__attribute__((cleanup(package_deinit))) struct package package = { 0 };
	struct cloud_url url AUTO_CLOUD_URL = { 0 };
	AUTO(pack) struct pack *pack = NULL;
	AUTO(string) char *module = NULL;
	AUTO(string) char *uri = NULL;
	enum status rc = package_find(options->directory, &package, err);

	if (!rc)
		rc = module_find(&package, options->module, &module, err);
	if (!rc)
		rc = pack_open(true, &pack, err);
	if (!rc)
		rc = package.has_setup ? whole_pack(pack, &package, err) : modules_pack(pack, &package, err);
	if (!rc)
		rc = destination_find(client, options, &uri, &url, err);
	if (!rc)
		rc = package_upload(client, pack, &url, err);
	if (rc)
		return rc;
	*ret_uri = TAKE(uri);
	*ret_module = TAKE(module);
	return STATUS_OK;
}
