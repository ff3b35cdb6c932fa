/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/small_thread.h: threads of which there may be many: a small stack, no signals. */
#include <pthread.h>

#include "daemon/base/error.h"

/* INTERNAL: the machine has no room for it. To be joined, or detached by itself. */
enum status small_thread_start(pthread_t *ret_thread, void *(*main)(void *arg), void *arg, struct error *err);
