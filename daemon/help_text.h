/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/help_text.h: how --help is laid out: 80 columns, whatever it is printed to. Pure. Thread: any. */
#include "daemon/base/text.h"

/* Appends the name of an option, and its help beside it; long help goes on below. */
void help_entry_write(struct text *text, const char *name, const char *help);
/* Appends paragraphs. Lines that begin with a blank stay as they are; others are joined and broken anew. */
void help_paragraphs_write(struct text *text, const char *paragraphs);
