/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/given_file.h: files and directories of this machine that replicas can read. */
#include "daemon/base/error.h"

enum given_kind { GIVEN_FILE, GIVEN_DIRECTORY };

/* Finds the absolute path of @path without links; the caller frees. @option: the option's name, for the error.
 * INVALID_ARGUMENT: the file does not exist, is of another kind, cannot be read, or its path has a ':', which engines
 * use as a separator. */
enum status given_file_find(const char *option, const char *path, enum given_kind kind, char **ret_path,
			    struct error *err);
