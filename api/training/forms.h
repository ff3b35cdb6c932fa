/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/forms.h: checks texts that name things in the cloud (a bucket, a network, a key), for AI Platform and
 * Vertex AI.
 *
 * Pure. Thread: any. */
#include <stdbool.h>

/* True when the whole of @text matches the extended regular expression. */
bool text_matches(const char *text, const char *pattern);
/* Whether lenient validation accepts @text as the name of a region or a machine type: lowercase letters, digits,
 * dashes and underscores, a letter first; at most 63. */
bool is_cloud_name(const char *text);
enum storage_path {
	STORAGE_READ,    /* "gs://bucket" and paths below it; the bucket may be Google's */
	STORAGE_OBJECT,  /* "gs://bucket/object"; the bucket may be Google's */
	STORAGE_WRITTEN, /* "gs://bucket" and paths below it; the bucket must be the user's */
};

enum { STORAGE_FAULT_SIZE = 160 };

/* Returns NULL if @text is a valid path; otherwise @ret_fault, which says what is wrong: the rest of a sentence that
 * begins with @text, such as "is not a Cloud Storage path: …" or "names a bucket that cannot be: the name is too short:
 * …". */
const char *storage_path_fault(const char *text, enum storage_path kind, char ret_fault[STORAGE_FAULT_SIZE]);
/* True if @text has the form "projects/NUMBER/global/networks/NAME". */
bool is_network(const char *text);
/* True if @text is an e-mail address. */
bool is_account_email(const char *text);
/* "projects/P/locations/R/keyRings/K/cryptoKeys/N" */
bool is_kms_key(const char *text);
/* "trainer.task" */
bool is_python_module(const char *text);
