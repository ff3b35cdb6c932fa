/* SPDX-License-Identifier: Apache-2.0 */
/* Networks, and what can be reached in them. */
#include "tests/integration/engine_contract.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/device_socket.h"
#include "tests/integration/engine_bench.h"

static void networks_asked_for_at_once_get_blocks_of_their_own(void **state)
{
	struct bench *bench = *state;
	uint32_t gateways[6];

	for (int64_t job = 1; job <= 6; job++)
		bench->engine->ops->create_network(bench->engine, job, job == 6 ? 100 : 8);
	for (int64_t job = 1; job <= 6; job++) {
		struct record ready = expect_event(bench, ENGINE_NETWORK_READY, NULL, job);

		gateways[job - 1] = ready.networks[0].reach.address;
		/* The tunnel, if there is one, takes an address. */
		assert_int_equal(ready.networks[0].capacity,
				 (job == 6 ? 125 : 61) - ready.networks[0].reach.is_carried);
		for (int64_t other = 0; other < job - 1; other++)
			assert_int_not_equal(gateways[other] & ~63u, gateways[job - 1] & ~63u);
	}
	bench->engine->ops->create_network(bench->engine, 7, 1000000);
	assert_int_equal(expect_event(bench, ENGINE_NETWORK_FAILED, NULL, 7).status,
			 STATUS_FAILED_PRECONDITION);
}

static void free_is(struct bench *bench, unsigned replicas, unsigned blocks)
{
	struct record told;

	bench->engine->ops->look_for_networks(bench->engine, replicas);
	told = expect_event(bench, ENGINE_NETWORKS_FREE, NULL, 0);
	assert_int_equal(told.status, blocks ? STATUS_OK : STATUS_RESOURCE_EXHAUSTED);
	assert_int_equal(told.free_blocks, blocks);
	assert_int_equal(strstr(told.text, "no free block") != NULL, blocks == 0);
}

/* A pool of 126 addresses has room for two blocks of eight replicas, or one of a hundred. */
static void free_blocks_are_told_as_networks_come_and_go(void **state)
{
	struct bench *bench = *state;
	static char pool[32]; /* valid until the bench is closed */

	client_close(bench);
	snprintf(pool, sizeof(pool), "198.19.%u.0/25", (unsigned)getpid() % 256);
	bench->networks = pool;
	client_open(bench, true);
	expect_event(bench, ENGINE_UP, NULL, 0);
	free_is(bench, 8, 2);
	free_is(bench, 100, 1);
	network_make(bench, 1);
	free_is(bench, 8, 1);
	free_is(bench, 100, 0);
	network_make(bench, 2);
	free_is(bench, 8, 0);
	/* Another program took the last block between the look and the creation. */
	bench->engine->ops->create_network(bench->engine, 3, 8);
	assert_int_equal(expect_event(bench, ENGINE_NETWORK_FAILED, NULL, 3).status,
			 STATUS_RESOURCE_EXHAUSTED);
	bench->engine->ops->remove_network(bench->engine, 1);
	expect_event(bench, ENGINE_NETWORK_REMOVED, NULL, 1);
	free_is(bench, 8, 1);
}

/* A server at the address that replicas are given for their gateway. */
struct gateway {
	int endpoint, hand; /* hand: descriptor of a carried network's connection, else -1 */
	uint16_t port;
};

static void carried(void *arg, int64_t key, uint16_t port, const struct sockaddr_in *peer, int fd)
{
	const struct gateway *gateway = arg;

	if (key == 1 && port == gateway->port)
		device_socket_put(gateway->hand, peer, fd);
	else
		close(fd);
}

static void gateway_open(struct bench *bench, const struct network_status *network, struct gateway *gateway)
{
	const struct connection_sink sink = { carried, gateway, 1 };

	*gateway = (struct gateway){ -1, -1, 80 };
	if (network->reach.is_carried) {
		assert_int_equal(device_socket_pair(&gateway->endpoint, &gateway->hand, NULL), STATUS_OK);
		assert_int_equal(bench->engine->ops->carry_network(bench->engine, network->job, &sink, NULL),
				 STATUS_OK);
		return;
	}
	assert_int_equal(device_socket_open(network->reach.device, network->reach.address, 0,
					    &gateway->endpoint, NULL),
			 STATUS_OK);
	gateway->port = device_socket_port(gateway->endpoint);
}

static void gateway_close(struct gateway *gateway)
{
	close(gateway->endpoint);
	if (gateway->hand >= 0)
		close(gateway->hand);
}

/* Sends one word to a client; returns the client's address. */
static uint32_t answer_once(const struct gateway *gateway)
{
	struct pollfd polled = { gateway->endpoint, POLLIN, 0 };
	const struct device_peers all = { 0 };
	struct sockaddr_in peer = { 0 };
	bool is_open;
	int fd;

	assert_int_equal(poll(&polled, 1, WAIT_S * 1000), 1);
	fd = device_socket_accept_peer(gateway->endpoint, &all, &peer, &is_open);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "welcome\n", 8), 8);
	close(fd);
	return ntohl(peer.sin_addr.s_addr);
}

static void an_internal_network_reaches_its_gateway_and_nothing_else(void **state)
{
	struct bench *bench = *state;
	struct network_status network;
	struct gateway gateway;
	char script[256];

	client_close(bench);
	bench->internal = true;
	client_open(bench, true);
	expect_event(bench, ENGINE_UP, NULL, 0);
	network = network_make(bench, 1);
	gateway_open(bench, &network, &gateway);
	snprintf(script, sizeof(script),
		 "nc %u.%u.%u.%u %u </dev/null; nc -w 2 192.0.2.1 80 </dev/null 2>/dev/null || echo cut",
		 network.reach.address >> 24, network.reach.address >> 16 & 255,
		 network.reach.address >> 8 & 255, network.reach.address & 255, gateway.port);
	replica_ask(bench, &master, &network, script, &(struct extras){ .gateway_port = gateway.port });
	expect_event(bench, ENGINE_REPLICA_CREATED, &master, 1);
	replica_run(bench, &master);
	assert_int_equal(answer_once(&gateway), network.first);
	follow(bench, &master);
	assert_int_equal(expect_event(bench, ENGINE_REPLICA_EXITED, &master, 1).replicas[0].gateway_port,
			 gateway.port);
	expect_event(bench, ENGINE_LOGS_ENDED, &master, 1);
	assert_true(has_line(bench, "1:welcome\n"));
	assert_true(has_line(bench, "1:cut\n"));
	bench->internal = false;
	client_close(bench);
	gateway_close(&gateway);
}

/* Or the route that replaces it. */
static void a_network_keeps_its_device(void **state)
{
	struct bench *bench = *state;
	struct network_status network = network_make(bench, 1);
	struct record listing = list(bench);

	assert_int_equal(if_nametoindex(network.reach.device) > 0, !network.reach.is_carried);
	assert_int_equal(listing.network_count, 1);
	assert_string_equal(listing.networks[0].reach.device, network.reach.device);
	assert_int_equal(listing.networks[0].reach.is_carried, network.reach.is_carried);
	assert_int_equal(listing.networks[0].reach.address, network.reach.address);
}

static void a_network_in_use_is_removed_once_it_is_free(void **state)
{
	struct bench *bench = *state;
	struct network_status network = network_make(bench, 1);

	replica_make(bench, &master, &network, "sleep 100");
	replica_run(bench, &master);
	bench->engine->ops->remove_network(bench->engine, 1);
	bench->engine->ops->remove_replica(bench->engine, &master);
	expect_event(bench, ENGINE_REPLICA_REMOVED, &master, 1);
	expect_event(bench, ENGINE_NETWORK_REMOVED, NULL, 1);
}

const struct CMUnitTest contract_networks[] = {
	ENGINE_TEST(networks_asked_for_at_once_get_blocks_of_their_own),
	ENGINE_TEST(free_blocks_are_told_as_networks_come_and_go),
	ENGINE_TEST(a_network_keeps_its_device),
	ENGINE_TEST(an_internal_network_reaches_its_gateway_and_nothing_else),
	ENGINE_TEST(a_network_in_use_is_removed_once_it_is_free),
	{ .name = NULL },
};
