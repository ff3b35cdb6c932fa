/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/tunnel/mux.c: the two ends of one stream, with in-memory connections on both sides. */
#include <stdlib.h>
#include <string.h>

#include "scheduler/engine/tunnel/mux.h"
#include "tests/unit/testing.h"

enum {
	CONNECTIONS = 2 * (MUX_STREAMS_MAX + 2),
	LONG_BYTES = 3 * MUX_WINDOW + 77,
	PEER = 0x0a010203,
	PORT = 443,
	SAID_BYTES = 5003
};

/* What a program sends on a connection, and what it received. */
struct connection {
	const uint8_t *says;
	size_t said, says_bytes;
	bool ends;    /* closes after that */
	size_t takes; /* how many bytes it accepts */
	uint8_t *reported;
	size_t told_bytes;
	bool is_broken;
	bool is_ended, is_closed, is_cut;
};

static struct connection connections[CONNECTIONS];

static long io_receive(int fd, void *data, size_t size)
{
	struct connection *connection = &connections[fd];
	const size_t left = connection->says_bytes - connection->said;
	/* A length of which no multiple is a window's size. */
	const size_t most = size < SAID_BYTES ? size : SAID_BYTES, piece = most < left ? most : left;

	assert_false(connection->is_closed);
	if (connection->is_broken)
		return MUX_BROKEN;
	if (!left)
		return connection->ends ? 0 : MUX_WOULD_WAIT;
	memcpy(data, connection->says + connection->said, piece);
	connection->said += piece;
	return (long)piece;
}

static long io_send(int fd, const void *data, size_t size)
{
	struct connection *connection = &connections[fd];
	const size_t left = connection->takes - connection->told_bytes, piece = size < left ? size : left;

	assert_false(connection->is_closed);
	if (connection->is_broken)
		return MUX_BROKEN;
	if (!piece)
		return MUX_WOULD_WAIT;
	connection->reported = realloc(connection->reported, connection->told_bytes + piece);
	memcpy(connection->reported + connection->told_bytes, data, piece);
	connection->told_bytes += piece;
	return (long)piece;
}

static void io_end(int fd)
{
	assert_false(connections[fd].is_ended);
	connections[fd].is_ended = true;
}

static void io_close(int fd, bool cut)
{
	assert_false(connections[fd].is_closed);
	connections[fd].is_closed = true;
	connections[fd].is_cut = cut;
}

static const struct mux_io io = { io_receive, io_send, io_end, io_close };

struct pair {
	struct mux accepting, dialling;
	size_t passed; /* bytes, in both directions */
};

static void mux_new(struct mux *mux, enum mux_side side)
{
	mux_init(mux, side, malloc(MUX_INBOXES_BYTES));
}

static int pair_setup(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	memset(connections, 0, sizeof(connections));
	for (size_t i = 0; i < CONNECTIONS; i++)
		connections[i].takes = SIZE_MAX;
	mux_new(&pair->accepting, MUX_ACCEPTS);
	mux_new(&pair->dialling, MUX_DIALS);
	mux_greet(&pair->accepting);
	*state = pair;
	return 0;
}

static int pair_teardown(void **state)
{
	struct pair *pair = *state;

	for (size_t i = 0; i < CONNECTIONS; i++)
		free(connections[i].reported);
	free(pair->accepting.inboxes);
	free(pair->dialling.inboxes);
	free(pair);
	return 0;
}

/* Passes bytes on in pieces of any size, each allocated exactly, so that a sanitizer finds a read beyond it. */
static bool pass(struct pair *pair, struct mux *from, struct mux *to)
{
	const uint8_t *data;
	size_t size = mux_out(from, &data), piece = size % 5000 + 1 < size ? size % 5000 + 1 : size;

	if (!size)
		return false;
	uint8_t *copy = malloc(piece);

	memcpy(copy, data, piece);
	assert_true(mux_receive(to, copy, piece));
	free(copy);
	mux_sent(from, piece);
	pair->passed += piece;
	return true;
}

/* Opens a connection; its descriptor is that of the other end plus MUX_STREAMS_MAX + 2. */
static void new_dial(struct pair *pair)
{
	struct mux_stream *stream;

	while ((stream = mux_next_new(&pair->dialling)) != NULL) {
		assert_int_equal(stream->origin.address, PEER);
		assert_int_equal(stream->origin.port, PORT);
		stream->fd = stream->origin.peer_port + MUX_STREAMS_MAX + 2;
	}
}

static void serve_all(struct mux *mux)
{
	for (size_t i = 0; i < MUX_STREAMS_MAX; i++)
		mux_serve(mux, &mux->streams[i], true, &io);
}

/* Runs until nothing more happens. */
static void run(struct pair *pair)
{
	size_t before;

	do {
		before = pair->passed;
		serve_all(&pair->accepting);
		while (pass(pair, &pair->accepting, &pair->dialling))
			;
		new_dial(pair);
		serve_all(&pair->dialling);
		while (pass(pair, &pair->dialling, &pair->accepting))
			;
	} while (pair->passed != before);
}

static void accept_one(struct pair *pair, int fd)
{
	assert_true(mux_has_room(&pair->accepting));
	mux_accept(&pair->accepting, fd,
		   &(struct mux_origin){ .address = PEER, .port = PORT, .peer_port = (uint16_t)fd });
}

static struct connection *other_of(int fd)
{
	return &connections[fd + MUX_STREAMS_MAX + 2];
}

static uint8_t *long_text(void)
{
	uint8_t *text = malloc(LONG_BYTES);

	for (size_t i = 0; i < LONG_BYTES; i++)
		text[i] = (uint8_t)(i * 31 + i / 251);
	return text;
}

static size_t streams_count(const struct mux *mux)
{
	size_t count = 0;

	for (size_t i = 0; i < MUX_STREAMS_MAX; i++)
		count += mux->streams[i].id != 0;
	return count;
}

static void assert_told(const struct connection *connection, const uint8_t *text, size_t bytes)
{
	assert_int_equal(connection->told_bytes, bytes);
	assert_memory_equal(connection->reported, text, bytes);
}

/* Fails with: data_take() that forgets the ring's end; stream_free_if_done() after one side's CLOSE. */
static void a_connection_carries_both_ways_and_ends(void **state)
{
	struct pair *pair = *state;
	uint8_t *text = long_text();

	connections[1].says = other_of(1)->says = text;
	connections[1].says_bytes = LONG_BYTES;
	other_of(1)->says_bytes = LONG_BYTES - 5;
	connections[1].ends = other_of(1)->ends = true;
	accept_one(pair, 1);
	run(pair);
	assert_told(other_of(1), text, LONG_BYTES);
	assert_told(&connections[1], text, LONG_BYTES - 5);
	assert_true(connections[1].is_ended && connections[1].is_closed && !connections[1].is_cut);
	assert_true(other_of(1)->is_ended && other_of(1)->is_closed && !other_of(1)->is_cut);
	assert_int_equal(streams_count(&pair->accepting) + streams_count(&pair->dialling), 0);
	free(text);
}

/* Fails with: mux_serve() that closes at the peer's end. */
static void the_other_way_goes_on_after_an_end(void **state)
{
	struct pair *pair = *state;

	connections[1] = (struct connection){
		.says = (const uint8_t *)"asked", .says_bytes = 5, .ends = true, .takes = 99
	};
	accept_one(pair, 1);
	run(pair);
	assert_told(other_of(1), (const uint8_t *)"asked", 5);
	assert_true(other_of(1)->is_ended && !other_of(1)->is_closed);
	other_of(1)->says = (const uint8_t *)"answered";
	other_of(1)->says_bytes = 8;
	run(pair);
	assert_told(&connections[1], (const uint8_t *)"answered", 8);
	assert_false(connections[1].is_closed);
	other_of(1)->ends = true;
	run(pair);
	assert_true(connections[1].is_closed && other_of(1)->is_closed);
}

/* Fails with: input_take() without credit; CREDIT for what was not passed on. */
static void a_slow_reader_holds_up_its_own_connection_alone(void **state)
{
	struct pair *pair = *state;
	uint8_t *text = long_text();

	for (int fd = 1; fd <= 2; fd++) {
		connections[fd].says = text;
		connections[fd].says_bytes = LONG_BYTES;
		connections[fd].ends = true;
		accept_one(pair, fd);
	}
	other_of(1)->takes = 10;
	run(pair);
	assert_told(other_of(2), text, LONG_BYTES);
	assert_int_equal(other_of(1)->told_bytes, 10);
	assert_in_range(connections[1].said, MUX_WINDOW, MUX_WINDOW + 10);
	other_of(1)->takes = SIZE_MAX;
	run(pair);
	assert_told(other_of(1), text, LONG_BYTES);
	free(text);
}

/* Fails with: stream_close() that never cuts; CLOSE without END that ends well. */
static void a_connection_that_broke_is_cut_at_the_other_end(void **state)
{
	struct pair *pair = *state;

	accept_one(pair, 1);
	accept_one(pair, 2);
	accept_one(pair, 3);
	run(pair);
	connections[1].is_broken = other_of(2)->is_broken = true;
	run(pair);
	assert_true(other_of(1)->is_closed && other_of(1)->is_cut);
	assert_true(connections[2].is_closed && connections[2].is_cut);
	assert_false(connections[3].is_closed || other_of(3)->is_closed);
	assert_int_equal(streams_count(&pair->accepting), 1);
	mux_cut_all(&pair->dialling, &io);
	assert_true(other_of(3)->is_cut);
}

static void a_connection_that_cannot_be_made_is_cut(void **state)
{
	struct pair *pair = *state;
	struct mux_stream *stream;

	connections[1] =
		(struct connection){ .says = (const uint8_t *)"asked", .says_bytes = 5, .takes = 99 };
	accept_one(pair, 1);
	serve_all(&pair->accepting);
	while (pass(pair, &pair->accepting, &pair->dialling))
		;
	stream = mux_next_new(&pair->dialling);
	assert_non_null(stream);
	mux_refuse(stream);
	assert_null(mux_next_new(&pair->dialling));
	run(pair);
	assert_true(connections[1].is_cut);
	assert_int_equal(streams_count(&pair->accepting) + streams_count(&pair->dialling), 0);
}

static void there_are_so_many_connections_and_their_places_are_used_again(void **state)
{
	struct pair *pair = *state;

	for (int fd = 0; fd < MUX_STREAMS_MAX; fd++)
		accept_one(pair, fd);
	assert_false(mux_has_room(&pair->accepting));
	run(pair);
	assert_int_equal(streams_count(&pair->dialling), MUX_STREAMS_MAX);
	assert_false(mux_has_room(&pair->accepting));
	/* The other end still has data, which are not read any more. */
	other_of(7)->takes = 0;
	connections[7].says = (const uint8_t *)"more";
	connections[7].says_bytes = 4;
	connections[7].ends = other_of(7)->ends = true;
	run(pair);
	assert_false(mux_has_room(&pair->accepting));
	other_of(7)->takes = 4;
	run(pair);
	accept_one(pair, MUX_STREAMS_MAX);
	run(pair);
	assert_int_equal(streams_count(&pair->dialling), MUX_STREAMS_MAX);
}

/* Fails with: mux_tick() of all connections; output_give() that leaves idle alone. */
static void a_client_that_keeps_a_connection_which_is_over_loses_it(void **state)
{
	struct pair *pair = *state;

	accept_one(pair, 1);
	accept_one(pair, 2);
	other_of(1)->ends = true;
	run(pair);
	assert_true(connections[1].is_ended);
	for (unsigned i = 0; i < MUX_IDLE_TICKS; i++)
		mux_tick(&pair->dialling, &io);
	connections[1].says = (const uint8_t *)"more";
	connections[1].says_bytes = 4;
	run(pair);
	for (unsigned i = 0; i < MUX_IDLE_TICKS; i++)
		mux_tick(&pair->dialling, &io);
	run(pair);
	assert_false(connections[1].is_closed);
	mux_tick(&pair->dialling, &io);
	run(pair);
	assert_true(connections[1].is_closed && other_of(1)->is_closed);
	assert_false(connections[2].is_closed || other_of(2)->is_closed);
}

static void a_beat_is_answered(void **state)
{
	struct pair *pair = *state;

	run(pair);
	pair->dialling.is_heard = pair->accepting.is_heard = false;
	run(pair);
	assert_false(pair->accepting.is_heard);
	mux_beat(&pair->dialling);
	run(pair);
	assert_true(pair->accepting.is_heard && pair->dialling.is_heard);
}

#define HEAD(KIND, ZERO, LENGTH, ID) KIND, ZERO, (LENGTH) >> 8, (LENGTH)&255, 0, 0, 0, ID
#define GREETING                     HEAD(MUX_HELLO, 0, 8, 0), 't', 'y', 'm', 'u', 'x', 0, 0, 1
#define OPENING(ID)                  HEAD(MUX_OPEN, 0, 8, ID), 10, 1, 2, 3, 1, 187, 0, 1

/* Each is at a limit, so that the rest of the message would be valid. */
static const struct {
	const char *what;
	uint8_t data[64];
	size_t bytes;
} wrongs[] = {
	{ "no greeting", { OPENING(1) }, 8 },
	{ "another protocol", { HEAD(MUX_HELLO, 0, 8, 0), 't', 'y', 'm', 'u', 'x', 0, 0, 2 }, 16 },
	{ "two greetings", { GREETING, GREETING }, 24 },
	{ "no kind", { GREETING, HEAD(0, 0, 0, 1) }, 24 },
	{ "another kind", { GREETING, HEAD(MUX_CLOSE + 1, 0, 0, 1) }, 24 },
	{ "no zero", { GREETING, HEAD(MUX_OPEN, 1, 8, 1) }, 24 },
	{ "a number of a beat", { GREETING, HEAD(MUX_BEAT, 0, 0, 1) }, 24 },
	{ "a long beat", { GREETING, HEAD(MUX_BEAT, 0, 1, 0) }, 24 },
	{ "number 0", { GREETING, OPENING(0) }, 24 },
	{ "a number left out", { GREETING, OPENING(2) }, 32 },
	{ "a number again", { GREETING, OPENING(1), OPENING(1) }, 48 },
	{ "a short opening", { GREETING, HEAD(MUX_OPEN, 0, 7, 1) }, 24 },
	{ "data of none", { GREETING, OPENING(1), HEAD(MUX_DATA, 0, 1, 2) }, 40 },
	{ "no data", { GREETING, OPENING(1), HEAD(MUX_DATA, 0, 0, 1) }, 40 },
	{ "too much data", { GREETING, OPENING(1), HEAD(MUX_DATA, 0, MUX_PAYLOAD_MAX + 1, 1) }, 40 },
	{ "data after the end",
	  { GREETING, OPENING(1), HEAD(MUX_END, 0, 0, 1), HEAD(MUX_DATA, 0, 1, 1) },
	  48 },
	{ "two ends", { GREETING, OPENING(1), HEAD(MUX_END, 0, 0, 1), HEAD(MUX_END, 0, 0, 1) }, 48 },
	{ "two closes", { GREETING, OPENING(1), HEAD(MUX_CLOSE, 0, 0, 1), HEAD(MUX_CLOSE, 0, 0, 1) }, 48 },
	{ "too much credit", { GREETING, OPENING(1), HEAD(MUX_CREDIT, 0, 4, 1), 0, 0, 0, 1 }, 44 },
	{ "credit without a number", { GREETING, OPENING(1), HEAD(MUX_CREDIT, 0, 2, 1) }, 40 },
};

/* Fails with: any condition of head_take(), open_take(), credit_take() and end_take() left out. */
static void what_no_rule_allows_breaks_the_stream(void **state)
{
	struct pair *pair = *state;

	for (size_t i = 0; i < COUNT_OF(wrongs); i++) {
		struct mux *mux = &pair->dialling;
		uint8_t *inboxes = mux->inboxes;

		mux_init(mux, MUX_DIALS, inboxes);
		for (size_t at = 0; at + 1 < wrongs[i].bytes; at++)
			if (!mux_receive(mux, wrongs[i].data + at, 1))
				fail_msg("%s: byte %zu", wrongs[i].what, at);
		if (mux_receive(mux, wrongs[i].data + wrongs[i].bytes - 1, 1))
			fail_msg("%s", wrongs[i].what);
	}
}

static void the_other_side_neither_greets_nor_opens(void **state)
{
	static const uint8_t hello[] = { GREETING }, opening[] = { OPENING(1) };
	struct pair *pair = *state;

	assert_false(mux_receive(&pair->accepting, hello, sizeof(hello)));
	mux_init(&pair->accepting, MUX_ACCEPTS, pair->accepting.inboxes);
	assert_false(mux_receive(&pair->accepting, opening, sizeof(opening)));
}

/* Fails with: stream_allows() that counts the inbox alone. */
static void more_data_than_was_granted_breaks_the_stream(void **state)
{
	static const uint8_t opening[] = { GREETING, OPENING(1) };
	static const uint8_t head[] = { HEAD(MUX_DATA, 0, MUX_PAYLOAD_MAX, 1) };
	static const uint8_t last[] = { HEAD(MUX_DATA, 0, 1, 1) };
	struct pair *pair = *state;
	struct mux *mux = &pair->dialling;
	uint8_t *data = calloc(1, MUX_PAYLOAD_MAX);

	assert_true(mux_receive(mux, opening, sizeof(opening)));
	for (size_t i = 0; i < MUX_WINDOW / MUX_PAYLOAD_MAX; i++) {
		assert_true(mux_receive(mux, head, sizeof(head)));
		assert_true(mux_receive(mux, data, MUX_PAYLOAD_MAX));
	}
	free(data);
	/* Some bytes were passed on, but no credit was granted for them yet. */
	mux_next_new(mux)->fd = 1;
	connections[1].takes = 100;
	serve_all(mux);
	assert_int_equal(connections[1].told_bytes, 100);
	assert_false(mux_receive(mux, last, sizeof(last)));
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, pair_setup, pair_teardown)

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_connection_carries_both_ways_and_ends),
		TEST(the_other_way_goes_on_after_an_end),
		TEST(a_slow_reader_holds_up_its_own_connection_alone),
		TEST(a_connection_that_broke_is_cut_at_the_other_end),
		TEST(a_connection_that_cannot_be_made_is_cut),
		TEST(there_are_so_many_connections_and_their_places_are_used_again),
		TEST(a_client_that_keeps_a_connection_which_is_over_loses_it),
		TEST(a_beat_is_answered),
		TEST(what_no_rule_allows_breaks_the_stream),
		TEST(the_other_side_neither_greets_nor_opens),
		TEST(more_data_than_was_granted_breaks_the_stream),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("mux", tests, NULL, NULL);
}
