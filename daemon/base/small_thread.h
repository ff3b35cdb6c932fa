/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/small_thread.h: threads that may be many: a small stack, all signals blocked. */
#include <pthread.h>

#include "daemon/base/error.h"

/* INTERNAL: the system cannot start it. The thread is to be joined, or must detach itself. */
enum status small_thread_start(pthread_t *ret_thread, void *(*main)(void *arg), void *arg, struct error *err);
