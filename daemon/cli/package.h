/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/package.h: a folder with Python code as a package in Cloud Storage, which a job can install and run. */
#include "daemon/base/error.h"

struct client;

/* What is to be packed, and where it goes. Borrowed. */
struct package_options {
	const char *directory; /* of the package's modules, or one with a setup.py or pyproject.toml */
	const char *
		module; /* which one to run, as "trainer.task"; NULL: the package's "task", else its __main__ */
	const char *output; /* "gs://BUCKET/PREFIX" to stage it below; NULL: in a bucket of trainyard's */
	const char *project, *job;
};

/* *ret_uri: gs:// of the package; *ret_module: which module to run. The caller frees both.
 *
 * A folder with a setup.py or a pyproject.toml beside it is packed as these say, with all that is beside them but hidden
 * files, virtual environments and what builds leave; any other gets a setup.py that wants what requirements.txt names, in the
 * folder or beside it.
 *
 * Outcomes: INVALID_ARGUMENT: it is no folder of Python code, or there is no such module; what the daemon says of the
 * upload. */
enum status package_stage(struct client *client, const struct package_options *options, char **ret_uri,
			  char **ret_module, struct error *err);
