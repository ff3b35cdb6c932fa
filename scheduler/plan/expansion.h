/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/expansion.h: $(NAME) in what a client gives its containers, as Kubernetes fills it in.
 *
 *   $(NAME)    the variable's value, itself not looked at again; as it is when there is none of that name
 *   $$(NAME)   $(NAME), whatever that is: two dollars are one
 *   $NAME, ${NAME}, $( without an end    as they are
 *
 * Pure. Source: https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/,
 * https://github.com/kubernetes/kubernetes/tree/master/third_party/forked/golang/expansion (read 2026-11-22) */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/text.h"

/* Appends @word to @ret_text, expanded over @environment: an array of "NAME=value", the last of a name counts.
 * False when it would reach @limit bytes, its NUL included. */
bool text_expand(const char *word, const json_t *environment, size_t limit, struct text *ret_text);

/* Puts "NAME=value" in the place of the variable of that name, or at the end. */
void environment_set(json_t *environment, const char *variable);
