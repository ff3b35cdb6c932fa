/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/expansion.h: replaces $(NAME) in a client's command, arguments and variables, like Kubernetes.
 *
 *   $(NAME)    the variable's value, which is not expanded again; unchanged if there is no such variable
 *   $$(NAME)   the text $(NAME): two dollars become one, and nothing is replaced
 *   $NAME, ${NAME}, $( without an end    as they are
 *
 * Pure. Source: https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/,
 * https://github.com/kubernetes/kubernetes/tree/master/third_party/forked/golang/expansion (read 2026-11-22) */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/text.h"

/* Appends @word to @ret_text, expanded with @environment: an array of "NAME=value", in which the last of equal names
 * counts. False: the text would reach @limit bytes, including its NUL. */
bool text_expand(const char *word, const json_t *environment, size_t limit, struct text *ret_text);

/* Replaces the variable of the same name by "NAME=value", or appends it. */
void environment_set(json_t *environment, const char *variable);
