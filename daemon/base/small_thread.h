/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/small_thread.h: threads that may be many: a small stack, all signals blocked. */
#include <pthread.h>

#include "daemon/base/error.h"

/* Starts a thread. The caller must join it, or the thread must detach itself. INTERNAL: the system cannot start it. */
enum status small_thread_start(pthread_t *ret_thread, void *(*main)(void *arg), void *arg, struct error *err);
