/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/engine_relay.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/integration/engine_api.h"
#include "tests/unit/testing.h"

static void pair_close(struct relay *relay, size_t i)
{
	close(relay->pairs[i][0]);
	close(relay->pairs[i][1]);
	relay->count--;
	relay->pairs[i][0] = relay->pairs[relay->count][0];
	relay->pairs[i][1] = relay->pairs[relay->count][1];
}

static void relay_listen(struct relay *relay)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	unlink(relay->path);
	memcpy(address.sun_path, relay->path, sizeof(relay->path));
	relay->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(relay->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(relay->listener, 128), 0);
}

/* False: that side has ended. */
static bool bytes_move(int from, int to)
{
	static _Thread_local char piece[65536];
	ssize_t got = recv(from, piece, sizeof(piece), 0);

	return got > 0 && send_whole(to, piece, (size_t)got);
}

static void relay_obey(struct relay *relay, bool *ret_stop)
{
	pthread_mutex_lock(&relay->lock);
	*ret_stop = relay->stop;
	if ((relay->cut || relay->stop) && relay->listener >= 0) {
		close(relay->listener);
		unlink(relay->path);
		relay->listener = -1;
		while (relay->count > 0)
			pair_close(relay, 0);
	} else if (!relay->cut && !relay->stop && relay->listener < 0) {
		relay_listen(relay);
	}
	pthread_mutex_unlock(&relay->lock);
}

static void *relay_main(void *arg)
{
	struct relay *relay = arg;
	static _Thread_local struct pollfd fds[2 * RELAY_PAIRS + 1];
	bool stop = false;

	while (!stop) {
		size_t count = relay->count;
		int accepted;

		for (size_t i = 0; i < count; i++) {
			fds[2 * i] = (struct pollfd){ relay->pairs[i][0], POLLIN, 0 };
			fds[2 * i + 1] = (struct pollfd){ relay->pairs[i][1], POLLIN, 0 };
		}
		fds[2 * count] = (struct pollfd){ relay->listener, POLLIN, 0 };
		poll(fds, 2 * count + 1, 20);
		for (size_t i = count; i-- > 0;) {
			bool good = true;

			if (fds[2 * i].revents)
				good = bytes_move(relay->pairs[i][0], relay->pairs[i][1]);
			if (good && fds[2 * i + 1].revents)
				good = bytes_move(relay->pairs[i][1], relay->pairs[i][0]);
			if (!good)
				pair_close(relay, i);
		}
		if (fds[2 * count].revents && relay->count < RELAY_PAIRS &&
		    (accepted = accept4(relay->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
			relay->pairs[relay->count][0] = accepted;
			relay->pairs[relay->count][1] = socket_connect(engine_socket);
			relay->count++;
		}
		relay_obey(relay, &stop);
	}
	return NULL;
}

void relay_cut(struct relay *relay, bool cut)
{
	pthread_mutex_lock(&relay->lock);
	relay->cut = cut;
	pthread_mutex_unlock(&relay->lock);
}

void relay_open(struct relay *relay)
{
	pthread_mutex_init(&relay->lock, NULL);
	relay_listen(relay);
	assert_int_equal(pthread_create(&relay->thread, NULL, relay_main, relay), 0);
}

void relay_close(struct relay *relay)
{
	pthread_mutex_lock(&relay->lock);
	relay->stop = true;
	pthread_mutex_unlock(&relay->lock);
	pthread_join(relay->thread, NULL);
}
