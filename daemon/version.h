/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/version.h: the version of trainyard and of its libraries. */
#include "daemon/base/text.h"

/* Appends "trainyard 0.2.0" and a line of libraries. */
void version_write(struct text *text);
