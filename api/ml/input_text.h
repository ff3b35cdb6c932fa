/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/input_text.h: the TrainingInput as the service passes it to the replicas.
 *
 * Pure. Thread: any. */
#include <jansson.h>

/* One compact JSON object: snake_case names in the order of the fields' numbers, 64-bit integers quoted, unset fields
 * absent, and the characters with a meaning in HTML (= < > & ') escaped, as observed in environments of real replicas.
 * The caller frees. */
char *input_text(const json_t *input);
