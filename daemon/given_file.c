/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/given_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"

enum status given_file_find(const char *option, const char *path, enum given_kind kind, char **ret_path,
			    struct error *err)
{
	AUTO(string) char *found = realpath(path, NULL);
	struct stat about;

	if (!found || access(found, R_OK) != 0 || stat(found, &about) != 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "--%s: %s: %s", option, path,
				 strerror(errno));
	if (kind == GIVEN_FILE ? !S_ISREG(about.st_mode) : !S_ISDIR(about.st_mode))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "--%s: %s is not a %s", option, path,
				 kind == GIVEN_FILE ? "file" : "directory");
	if (strchr(found, ':'))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "--%s: %s: a path with a ':' cannot be given to containers", option, found);
	*ret_path = TAKE(found);
	return STATUS_OK;
}
