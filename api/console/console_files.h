/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/console/console_files.h: the files of api/console/page, compressed with gzip when the program is built. */
#include "daemon/base/embedded_file.h"

extern const struct embedded_file console_files[];
