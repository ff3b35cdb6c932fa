/* SPDX-License-Identifier: Apache-2.0 */
/* parameters.c: the parameter server, and the client that master and workers use.
 *
 *   trainer  -- PUSH gradient -->  holder     one such exchange per batch and holder;
 *            <-- VALUES --------              no trainer waits for another
 *
 * The values are cut into one shard per parameter server, in their order. The master hands out the
 * first values; until then a holder answers NOT_READY. A cluster without parameter servers is the
 * same with one shard inside the master, and a master that is alone needs no sockets at all. */
#include "trainer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_CONNECTIONS = 2 * MAX_TASKS, RETRY_PAUSE_MS = 50 };

struct shard {
	const struct cluster *cluster;
	float learning_rate;
	pthread_mutex_t lock; /* guards the members below */
	float *values;        /* NULL until the master has sent the values */
	uint32_t count;
	uint32_t attendance[MAX_TASKS]; /* per worker: enum attendance */
};

struct connection {
	struct shard *shard;
	int fd;
	uint32_t role, index;
	float words[MAX_VALUES]; /* the request, then the answer; touched as far as used */
};

static atomic_uint connection_count;

struct shard *shard_new(const struct cluster *cluster, float learning_rate)
{
	struct shard *shard = allocate(1, sizeof(*shard));
	shard->cluster = cluster;
	shard->learning_rate = learning_rate;
	pthread_mutex_init(&shard->lock, NULL);
	return shard;
}

static void shard_set(struct shard *shard, const float *values, uint32_t count)
{
	pthread_mutex_lock(&shard->lock);
	free(shard->values);
	shard->values = allocate(count, sizeof(float));
	memcpy(shard->values, values, count * sizeof(float));
	shard->count = count;
	pthread_mutex_unlock(&shard->lock);
}

/* Returns how many values were copied: 0 before the master has sent the values. */
static uint32_t shard_get(struct shard *shard, float *ret_values)
{
	pthread_mutex_lock(&shard->lock);
	uint32_t count = shard->count;
	if (count)
		memcpy(ret_values, shard->values, count * sizeof(float));
	pthread_mutex_unlock(&shard->lock);
	return count;
}

/* Applies the gradient in @words and replaces it by the new values. Returns 0, or -1 on a wrong count. */
static int shard_step(struct shard *shard, float *words, uint32_t count)
{
	int rc = -1;
	pthread_mutex_lock(&shard->lock);
	if (count == shard->count) {
		for (uint32_t i = 0; i < count; i++)
			words[i] = shard->values[i] -= shard->learning_rate * words[i];
		rc = 0;
	}
	pthread_mutex_unlock(&shard->lock);
	return rc;
}

static void note_attendance(struct shard *shard, const struct connection *c, enum attendance attendance)
{
	if (c->role != ROLE_WORKER)
		return;
	pthread_mutex_lock(&shard->lock);
	shard->attendance[c->index] = attendance;
	pthread_mutex_unlock(&shard->lock);
}

/* ---- the server: one thread per connection ------------------------------------------------------- */

static int receive_hello(struct connection *c)
{
	uint32_t hello[3], count;
	if (frame_receive(c->fd, hello, 3, &count) != FRAME_HELLO || count != 3 || hello[0] != WIRE_MAGIC ||
	    hello[1] > ROLE_WORKER || hello[2] >= c->shard->cluster->count[hello[1]])
		return -1;
	c->role = hello[1];
	c->index = hello[2];
	note_attendance(c->shard, c, WORKER_TRAINING);
	return frame_send(c->fd, FRAME_OK, NULL, 0);
}

/* Answers one request. Returns 0, or -1 on one that this trainer may not make. */
static int answer(struct connection *c, int kind, uint32_t count)
{
	struct shard *shard = c->shard;
	switch (kind) {
	case FRAME_INIT:
		if (c->role != ROLE_MASTER || count == 0)
			return -1;
		shard_set(shard, c->words, count);
		return frame_send(c->fd, FRAME_OK, NULL, 0);
	case FRAME_PULL:
		count = shard_get(shard, c->words);
		return frame_send(c->fd, count ? FRAME_VALUES : FRAME_NOT_READY, c->words, count);
	case FRAME_PUSH:
		if (shard_step(shard, c->words, count))
			return -1;
		return frame_send(c->fd, FRAME_VALUES, c->words, count);
	case FRAME_ROLL:
		pthread_mutex_lock(&shard->lock);
		memcpy(c->words, shard->attendance, sizeof(shard->attendance));
		pthread_mutex_unlock(&shard->lock);
		return frame_send(c->fd, FRAME_ROLL, c->words, shard->cluster->count[ROLE_WORKER]);
	case FRAME_BYE:
		note_attendance(shard, c, WORKER_DONE);
		return frame_send(c->fd, FRAME_OK, NULL, 0);
	default:
		return -1;
	}
}

static void serve_trainer(struct connection *c)
{
	int kind = FRAME_HELLO;
	while (kind != FRAME_BYE) {
		uint32_t count;
		kind = frame_receive(c->fd, c->words, MAX_VALUES, &count);
		if (kind < 0 || answer(c, kind, count))
			break;
	}
	if (kind == FRAME_BYE)
		return;
	if (c->role == ROLE_MASTER)
		die(1, "the master vanished: %s", wire_error());
	/* A worker may be restarted and connect again. The master decides about it at the end. */
	note_attendance(c->shard, c, WORKER_LOST);
	fprintf(stderr, "worker %u vanished: %s\n", c->index, wire_error());
}

static void *serve_connection(void *connection)
{
	struct connection *c = connection;
	if (receive_hello(c) == 0)
		serve_trainer(c);
	else
		fprintf(stderr, "refused a connection that did not begin like a trainer of this cluster\n");
	close(c->fd);
	free(c);
	connection_count--;
	return NULL;
}

static _Noreturn void accept_for_ever(struct shard *shard, int listener)
{
	for (;;) {
		int fd = wire_accept(listener);
		if (fd < 0) {
			pause_ms(RETRY_PAUSE_MS); /* the peer is gone already, or too many files are open */
			continue;
		}
		if (connection_count >= MAX_CONNECTIONS) {
			close(fd);
			continue;
		}
		struct connection *c = allocate(1, sizeof(*c));
		c->shard = shard;
		c->fd = fd;
		connection_count++;
		pthread_t thread;
		if (pthread_create(&thread, NULL, serve_connection, c))
			die(1, "cannot start a thread");
		pthread_detach(thread);
	}
}

void shard_serve(struct shard *shard)
{
	int listener = wire_listen(cluster_own_address(shard->cluster));
	printf("parameter server %u listens for %s\n", shard->cluster->index,
	       cluster_own_address(shard->cluster));
	accept_for_ever(shard, listener);
}

static void *serve_thread(void *shard)
{
	shard_serve(shard);
	return NULL;
}

void shard_serve_in_background(struct shard *shard)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, serve_thread, shard))
		die(1, "cannot start a thread");
	pthread_detach(thread);
}

/* ---- the client ---------------------------------------------------------------------------------- */

static unsigned holder_count(const struct parameters *p)
{
	return p->cluster->count[cluster_holder_role(p->cluster)];
}

/* The first value of shard @i; that of one past the last shard is the count. */
static uint32_t shard_start(const struct parameters *p, unsigned i)
{
	return (uint64_t)p->count * i / holder_count(p);
}

static uint32_t shard_length(const struct parameters *p, unsigned i)
{
	return shard_start(p, i + 1) - shard_start(p, i);
}

static _Noreturn void die_of_holder(const struct parameters *p, unsigned i, const char *what, const char *why)
{
	enum role role = cluster_holder_role(p->cluster);
	die(1, "%s %u (%s) %s: %s", role_names[role], i, p->cluster->addresses[role][i], what, why);
}

static void ask(struct parameters *p, unsigned i, enum frame_kind kind, const void *words, uint32_t count)
{
	if (frame_send(p->sockets[i], kind, words, count))
		die_of_holder(p, i, "vanished", wire_error());
}

/* Receives an answer of @count words at most. Returns its kind. */
static int hear(struct parameters *p, unsigned i, void *words, uint32_t count)
{
	uint32_t got;
	int kind = frame_receive(p->sockets[i], words, count, &got);
	if (kind < 0)
		die_of_holder(p, i, "vanished", wire_error());
	if (kind != FRAME_NOT_READY && got != count)
		die_of_holder(p, i, "answered wrongly", "do all replicas have the same flags?");
	return kind;
}

static void ask_each_for_ok(struct parameters *p, enum frame_kind kind)
{
	for (unsigned i = 0; i < holder_count(p); i++) {
		ask(p, i, kind, NULL, 0);
		hear(p, i, NULL, 0);
	}
}

void parameters_open(struct parameters *p, const struct cluster *cluster, struct shard *local, uint32_t count,
		     double deadline_s)
{
	memset(p, 0, sizeof(*p));
	p->cluster = cluster;
	p->local = local;
	p->count = count;
	p->deadline_s = deadline_s;
	if (local)
		return;
	if (count < holder_count(p))
		die(1, "more parameter servers than parameters");
	enum role role = cluster_holder_role(cluster);
	for (unsigned i = 0; i < holder_count(p); i++) {
		p->sockets[i] = wire_connect(cluster->addresses[role][i], deadline_s);
		if (p->sockets[i] < 0)
			die_of_holder(p, i, "cannot be reached", wire_error());
		uint32_t hello[3] = { WIRE_MAGIC, cluster->role, cluster->index };
		ask(p, i, FRAME_HELLO, hello, 3);
		hear(p, i, NULL, 0);
	}
}

void parameters_hand_out(struct parameters *p, const float *values)
{
	if (p->local) {
		shard_set(p->local, values, p->count);
		return;
	}
	for (unsigned i = 0; i < holder_count(p); i++) {
		ask(p, i, FRAME_INIT, values + shard_start(p, i), shard_length(p, i));
		hear(p, i, NULL, 0);
	}
}

void parameters_pull(struct parameters *p, float *ret_values)
{
	if (p->local) {
		shard_get(p->local, ret_values);
		return;
	}
	for (unsigned i = 0; i < holder_count(p); i++) {
		ask(p, i, FRAME_PULL, NULL, 0);
		while (hear(p, i, ret_values + shard_start(p, i), shard_length(p, i)) == FRAME_NOT_READY) {
			if (now_s() > p->deadline_s)
				die_of_holder(p, i, "has no parameters", "the master has not come");
			pause_ms(RETRY_PAUSE_MS);
			ask(p, i, FRAME_PULL, NULL, 0);
		}
	}
}

void parameters_step(struct parameters *p, const float *gradient, float *ret_values)
{
	if (p->local) {
		memcpy(ret_values, gradient, p->count * sizeof(float));
		shard_step(p->local, ret_values, p->count);
		return;
	}
	/* First ask all, then hear all: the shards work at the same time. */
	for (unsigned i = 0; i < holder_count(p); i++)
		ask(p, i, FRAME_PUSH, gradient + shard_start(p, i), shard_length(p, i));
	for (unsigned i = 0; i < holder_count(p); i++)
		hear(p, i, ret_values + shard_start(p, i), shard_length(p, i));
}

void parameters_roll(struct parameters *p, uint32_t ret_attendance[MAX_TASKS])
{
	/* Every trainer greets every holder, so the first one knows as much as the others. */
	if (p->local) {
		pthread_mutex_lock(&p->local->lock);
		memcpy(ret_attendance, p->local->attendance, sizeof(p->local->attendance));
		pthread_mutex_unlock(&p->local->lock);
		return;
	}
	ask(p, 0, FRAME_ROLL, NULL, 0);
	hear(p, 0, ret_attendance, p->cluster->count[ROLE_WORKER]);
}

void parameters_close(struct parameters *p)
{
	if (p->local)
		return;
	ask_each_for_ok(p, FRAME_BYE);
	for (unsigned i = 0; i < holder_count(p); i++)
		close(p->sockets[i]);
}
