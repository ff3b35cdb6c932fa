/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/package.h: uploads a folder with Python code as a package to Cloud Storage, for a job to install and run. */
#include "daemon/base/error.h"

struct client;

/* What to pack, and where to upload it. Borrowed. */
struct package_options {
	const char *directory; /* folder with the package's modules, or with a setup.py or pyproject.toml */
	const char *
		module; /* the module to run, "trainer.task"; NULL: the package's module "task", or else its __main__ */
	const char *output; /* "gs://BUCKET/PREFIX" for the upload; NULL: a bucket of trainyard's own */
	const char *project, *job;
};

/* *ret_uri: gs:// of the package; *ret_module: the module to run. The caller frees both.
 *
 * A folder with a setup.py or a pyproject.toml is packed as these say, without hidden files, virtual environments and
 * build results; any other gets a setup.py that requires what requirements.txt lists, in the folder or beside it.
 *
 * Outcomes: INVALID_ARGUMENT: it is not a folder of Python code, or has no such module; errors of the upload. */
enum status package_stage(struct client *client, const struct package_options *options, char **ret_uri,
			  char **ret_module, struct error *err);
