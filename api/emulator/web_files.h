/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/web_files.h: the files for browsers, part of the program. */
#include "daemon/base/embedded_file.h"

extern const struct embedded_file web_shell_files[];
