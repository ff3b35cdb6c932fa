/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/version.h: which trainyard this is, and what it runs on. */
#include "daemon/base/text.h"

/* Appends "trainyard 0.2.0" and a line of libraries. */
void version_write(struct text *text);
