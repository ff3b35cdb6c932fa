/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/file_name.h: maps the name of an object to a safe file name from which it can be
 * recovered.
 *
 *   a/b.txt          a/b.txt           unchanged
 *   100%             100%25            '%' and control bytes are %XX
 *   .  ..  in parts  %2E  %2E%2E
 *   a//b  /a  a/     a/%2F/b  %2F/a  a/%2F     an empty part
 *   a long part      …%~/…             parts of more than 200 bytes continue in the directory "…%~"
 *
 * Two objects never have the same file. Pure. */
#include "daemon/base/text.h"

enum { FILE_PART_MAX = 200 }; /* bytes, before "%~" or another suffix; file systems allow 255 */

/* Appends the relative path, its parts separated by '/'. */
void file_name_write(struct text *path, const char *object_name);
