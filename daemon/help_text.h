/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/help_text.h: formats --help for 80 columns, on any output. Pure. Thread: any. */
#include "daemon/base/text.h"

/* Appends one line of help: the name of an option, and its help beside it; long help continues below. */
void help_entry_write(struct text *text, const char *name, const char *help);
/* Appends paragraphs. Lines that begin with a blank stay as they are; other lines are joined and wrapped. */
void help_paragraphs_write(struct text *text, const char *paragraphs);
