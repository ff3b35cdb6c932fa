/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/deviation.h: what happens to a job otherwise than it would in the cloud.
 *
 * A list is a JSON array of objects {"kind", "code", "field", "text"}: kind as below; code names the sort of
 * difference in lowercase words joined by dashes ("gpu-pretended"), the same from release to release; field is
 * the path in the Job as clients spell it ("trainingInput.masterConfig.imageUri"), absent when it concerns no
 * one field; text is one whole sentence. One that says the same of several fields has all of them in "fields". Pure. */
#include <jansson.h>
#include <stdbool.h>

enum deviation_kind {
	DONE_OTHERWISE,    /* it has another effect here: "DONE_OTHERWISE" */
	WITHOUT_EFFECT,    /* it has none here: "WITHOUT_EFFECT" */
	REFUSED_BY_CLOUD,  /* the cloud would not take it: "REFUSED_BY_CLOUD" */
	IN_DOUBT_IN_CLOUD, /* it may fail there, and cannot be checked here: "IN_DOUBT_IN_CLOUD" */
};

/* A second one with the same code and field is not added; of one with the same code and text, the field is. @field may be
 * NULL. */
void deviation_add(json_t *list, enum deviation_kind kind, const char *code, const char *field,
		   const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The same for a deviation that is there once for each thing that it is about: one with the same code and another
 * text is added beside it. */
void deviation_add_another(json_t *list, enum deviation_kind kind, const char *code, const char *text);
/* Adds one, whatever there is. */
void deviation_append(json_t *list, enum deviation_kind kind, const char *code, const char *text);
/* How many of @list have @code; *ret_has: whether one of them has @text. */
size_t deviations_count(const json_t *list, const char *code, const char *text, bool *ret_has);
/* Whether one of @list has @code and a text that begins like this. */
bool deviations_begin(const json_t *list, const char *code, const char *beginning);
/* Whether @list is one as described above. */
bool deviations_valid(const json_t *list);
/* The texts in one line, for the log: "Unlike in the cloud: … …"; NULL when there is none. @second may be NULL.
 * The caller frees. */
char *deviations_line(const json_t *first, const json_t *second);
