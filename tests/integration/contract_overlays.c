/* SPDX-License-Identifier: Apache-2.0 */
/* Networks across the nodes of a swarm. DOCKER_HOST is the engine of a manager, TRAINYARD_TEST_GUEST the socket of
 * another node's engine. */
#include "tests/integration/engine_contract.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/device_socket.h"
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_http.h"
#include "scheduler/engine/docker_reach.h"
#include "scheduler/engine/kernel_esp.h"
#include "scheduler/engine/swarm.h"
#include "tests/integration/engine_api.h"
#include "tests/integration/engine_bench.h"

/* The bench of another node's engine, with the same instance. */
struct nodes {
	struct bench *manager, *guest;
	char socket[sizeof(engine_socket)]; /* the manager's socket */
};

static void socket_set(const char *path)
{
	snprintf(engine_socket, sizeof(engine_socket), "%s", path);
}

static struct nodes nodes_open(struct bench *manager, enum engine_networks makes)
{
	struct nodes nodes = { .manager = manager };
	void *state = NULL;

	snprintf(nodes.socket, sizeof(nodes.socket), "%s", engine_socket);
	client_close(manager);
	manager->makes = makes;
	manager->direct = true; /* relays lead to the engine at the current socket */
	client_open(manager, true);
	expect_event(manager, ENGINE_UP, NULL, 0);
	expect_event(manager, ENGINE_LISTING, NULL, 0);
	socket_set(getenv("TRAINYARD_TEST_GUEST"));
	assert_true(image_make());
	assert_int_equal(bench_open(&state), 0);
	nodes.guest = state;
	client_close(nodes.guest);
	nodes.guest->makes = ENGINE_GUEST;
	nodes.guest->direct = true;
	memcpy(nodes.guest->instance, manager->instance, sizeof(manager->instance));
	client_open(nodes.guest, true);
	expect_event(nodes.guest, ENGINE_UP, NULL, 0);
	expect_event(nodes.guest, ENGINE_LISTING, NULL, 0);
	return nodes;
}

/* The guest's replicas are removed first: a network with replicas cannot be removed. */
static void nodes_close(struct nodes *nodes)
{
	void *state = nodes->guest;

	assert_int_equal(bench_close(&state), 0);
	socket_set(nodes->socket);
}

static void welcome(void *arg, int64_t key, uint16_t port, const struct sockaddr_in *peer, int fd)
{
	uint32_t *from = arg;

	(void)key;
	(void)port;
	*from = ntohl(peer->sin_addr.s_addr);
	(void)!send(fd, "welcome\n", 8, MSG_NOSIGNAL);
	close(fd);
}

/* A worker on the guest's node prints what the gateway sends, and the master on the manager's node connects to it. */
static void replicas_talk(struct nodes *nodes, const struct network_status *network)
{
	const char *call =
		"for i in $(seq 100); do echo called | nc -w 2 cmle-worker-0 2222 && break; sleep 0.1; done";
	char script[256];

	snprintf(script, sizeof(script), "nc %u.%u.%u.%u 80 </dev/null; nc -l -p 2222",
		 network->reach.address >> 24, network->reach.address >> 16 & 255,
		 network->reach.address >> 8 & 255, network->reach.address & 255);
	replica_make(nodes->guest, &worker, network, script);
	replica_make(nodes->manager, &master, network, call);
	replica_run(nodes->guest, &worker);
	follow(nodes->guest, &worker);
	replica_run(nodes->manager, &master);
}

static void replicas_of_two_nodes_reach_each_other_and_the_daemon(void **state)
{
	struct nodes nodes = nodes_open(*state, ENGINE_OVERLAYS_PLAIN);
	const struct network_status network = network_make(nodes.manager, 1);
	uint32_t from = 0;
	const struct connection_sink sink = { welcome, &from, 1 };
	struct record listing;

	assert_true(network.reach.is_carried);
	assert_int_equal(nodes.manager->engine->ops->carry_network(nodes.manager->engine, 1, &sink, NULL),
			 STATUS_OK);
	replicas_talk(&nodes, &network);
	expect_event(nodes.guest, ENGINE_LOGS_ENDED, &worker, 1);
	assert_int_equal(expect_event(nodes.guest, ENGINE_REPLICA_EXITED, &worker, 1).replicas[0].exit_code,
			 0);
	assert_true(has_line(nodes.guest, "1:welcome\n1:called\n"));
	assert_int_equal(from, network.first + ROLE_WORKER);
	/* The network is the manager's: the manager lists it, and a guest neither lists nor makes networks. */
	listing = list(nodes.manager);
	assert_int_equal(listing.network_count, 1);
	listing = list(nodes.guest);
	assert_int_equal(listing.network_count, 0);
	assert_int_equal(listing.replica_count, 1);
	nodes.guest->engine->ops->create_network(nodes.guest->engine, 2, 4);
	assert_int_equal(expect_event(nodes.guest, ENGINE_NETWORK_FAILED, NULL, 2).status,
			 STATUS_FAILED_PRECONDITION);
	nodes_close(&nodes);
}

/* If the kernel supports ESP, it works; if not, no traffic passes between the nodes. */
static void an_encrypted_overlay_carries_what_the_kernel_can(void **state)
{
	struct nodes nodes = nodes_open(*state, ENGINE_OVERLAYS);
	const struct network_status network = network_make(nodes.manager, 1);
	const enum status can = kernel_esp_check(NULL);

	replica_make(nodes.guest, &worker, &network, "nc -l -p 2222");
	replica_make(
		nodes.manager, &master, &network,
		"for i in 1 2 3 4 5; do echo called | nc -w 2 cmle-worker-0 2222 && exit 0; done; exit 1");
	replica_run(nodes.guest, &worker);
	replica_run(nodes.manager, &master);
	assert_int_equal(expect_event(nodes.manager, ENGINE_REPLICA_EXITED, &master, 1).replicas[0].exit_code,
			 can != STATUS_OK);
	nodes_close(&nodes);
}

static enum status nodes_ask(const char *url, struct swarm *ret_swarm, struct error *err)
{
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	AUTO(http) struct http *http = NULL;
	enum status rc = docker_connect(url, &endpoint, &http, err);

	return rc ? rc : swarm_ask(http, ret_swarm, err);
}

static void a_manager_reports_the_nodes(void **state)
{
	char url[128];
	struct swarm swarm AUTO_SWARM = { 0 };
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	snprintf(url, sizeof(url), "unix://%s", engine_socket);
	assert_int_equal(nodes_ask(url, &swarm, &err), STATUS_OK);
	assert_int_equal(swarm.count, 2);
	assert_string_equal(swarm.nodes[0].name, "node-1");
	assert_true(swarm.nodes[0].is_manager && !swarm.nodes[1].is_manager);
	assert_int_equal(swarm.nodes[0].host.device_count, 2);
	assert_string_equal(swarm.nodes[0].host.devices[0], "GPU-1-0");
	assert_true(swarm.nodes[1].host.known && swarm.nodes[1].state == HOST_UP);
	snprintf(url, sizeof(url), "unix://%s", getenv("TRAINYARD_TEST_GUEST"));
	assert_int_equal(nodes_ask(url, &swarm, &err), STATUS_FAILED_PRECONDITION);
	assert_non_null(strstr(err.text, "docker node promote"));
}

const struct CMUnitTest contract_overlays[] = {
	ENGINE_TEST(replicas_of_two_nodes_reach_each_other_and_the_daemon),
	ENGINE_TEST(an_encrypted_overlay_carries_what_the_kernel_can),
	ENGINE_TEST(a_manager_reports_the_nodes),
	{ .name = NULL },
};
