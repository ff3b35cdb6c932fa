/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/forms.h: how the names of cloud things are formed, whichever API says them.
 *
 * Pure. Thread: any. */
#include <stdbool.h>

/* True when the whole of @text matches the extended regular expression. */
bool text_matches(const char *text, const char *pattern);
/* Whether lenient validation takes it for the name of a region or a machine type: lowercase letters, digits, dashes and
 * underscores, a letter first; 63 at most. */
bool is_cloud_name(const char *text);
/* True for "gs://bucket" and what is below it; with @needs_object for an object only. */
bool is_storage_path(const char *text, bool needs_object);
/* "projects/NUMBER/global/networks/NAME" */
bool is_network(const char *text);
/* An e-mail address. */
bool is_account_email(const char *text);
/* "projects/P/locations/R/keyRings/K/cryptoKeys/N" */
bool is_kms_key(const char *text);
/* "trainer.task" */
bool is_python_module(const char *text);
