/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/deviation.h: how a job runs otherwise than it would in the cloud.
 *
 * A list is a JSON array of objects {"kind", "code", "field", "text"}. kind: see below. code: names the sort of
 * deviation in lowercase words joined by dashes ("gpu-pretended"); stable across releases. field: the path in the Job
 * as clients spell it ("trainingInput.masterConfig.imageUri"); absent if it concerns no single field. text: one whole
 * sentence. A deviation that concerns several fields alike lists them in "fields". Pure. */
#include <jansson.h>
#include <stdbool.h>

enum deviation_kind {
	DONE_OTHERWISE,    /* what the job asks for has another effect here: "DONE_OTHERWISE" */
	WITHOUT_EFFECT,    /* what the job asks for has no effect here: "WITHOUT_EFFECT" */
	REFUSED_BY_CLOUD,  /* the cloud would refuse what the job asks for: "REFUSED_BY_CLOUD" */
	IN_DOUBT_IN_CLOUD, /* the job may fail in the cloud, which cannot be checked here: "IN_DOUBT_IN_CLOUD" */
};

/* Adds a deviation. If there is one with the same code and field, nothing is added; if there is one with the same code
 * and text, @field is added to it. @field may be NULL. */
void deviation_add(json_t *list, enum deviation_kind kind, const char *code, const char *field,
		   const char *format, ...) __attribute__((format(printf, 5, 6)));
/* As deviation_add(), for deviations that exist once for each thing concerned: one with the same code and another text is
 * added as well. */
void deviation_add_another(json_t *list, enum deviation_kind kind, const char *code, const char *text);
/* Adds a deviation, even if @list has an equal one. */
void deviation_append(json_t *list, enum deviation_kind kind, const char *code, const char *text);
/* The number of deviations in @list that have @code. *ret_has: whether one of them has @text. */
size_t deviations_count(const json_t *list, const char *code, const char *text, bool *ret_has);
/* Whether an element of @list has @code and a text with this beginning. */
bool deviations_begin(const json_t *list, const char *code, const char *beginning);
/* Whether @list has the form described above. */
bool deviations_valid(const json_t *list);
/* The texts in one line, for the log: "Unlike in the cloud: … …"; NULL if the lists are empty. @second may be NULL. The
 * caller frees. */
char *deviations_line(const json_t *first, const json_t *second);
