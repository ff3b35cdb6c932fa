/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/integration/engine_relay.h: a relay to the engine that can be interrupted. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { RELAY_PAIRS = 256 };

struct relay {
	char path[100];
	int listener;
	int pairs[RELAY_PAIRS][2];
	size_t count;
	bool cut, stop;
	pthread_mutex_t lock;
	pthread_t thread;
};

/* Opens a relay at its path. */
void relay_open(struct relay *relay);
void relay_close(struct relay *relay);
/* Cuts all connections; false: accepts new ones again. */
void relay_cut(struct relay *relay, bool cut);
