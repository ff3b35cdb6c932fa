/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/small_thread.h"

#include <signal.h>
#include <string.h>

enum { STACK_BYTES = 256 << 10 };

enum status small_thread_start(pthread_t *ret_thread, void *(*main)(void *arg), void *arg, struct error *err)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int problem;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	problem = pthread_create(ret_thread, &attributes, main, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return problem ? error_set(err, STATUS_INTERNAL, NULL, "cannot start a thread: %s",
				   strerrordesc_np(problem))
		       : STATUS_OK;
}
