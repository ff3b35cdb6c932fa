/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* trainer.h: declarations shared by the five files of the digits trainer.
 *
 *   trainer.c     flags and the three roles: start reading here
 *   cluster.c     this replica's role and its peers, from CLUSTER_SPEC
 *   wire.c        frames over TCP
 *   parameters.c  the parameter server, and the client that master and workers use
 *   model.c       the network and its gradient, the data, the model file
 */
#include <stdint.h>
#include <stdio.h>

/* Ends the process with one line on stderr. Status 1: training failed; 2: wrong flags. */
_Noreturn void die(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* calloc that dies instead of returning NULL. The caller owns the zeroed memory. */
void *allocate(size_t count, size_t size);
double now_s(void); /* seconds on a clock that only goes forward */
void pause_ms(unsigned ms);

/* ---- cluster.c ---------------------------------------------------------------------------------- */

enum role { ROLE_MASTER, ROLE_WORKER, ROLE_PS, ROLE_COUNT };
enum { MAX_TASKS = 256 }; /* per role */

extern const char *const role_names[ROLE_COUNT];

struct cluster {
	char *addresses[ROLE_COUNT][MAX_TASKS]; /* "host:port" */
	unsigned count[ROLE_COUNT];
	enum role role; /* this task's own role and index */
	unsigned index;
};

/* Fills @cluster from the JSON text @spec (the value of CLUSTER_SPEC); NULL means a master that is
 * alone. Dies on a spec that makes no sense. There is no deinit: a process is one task. */
void cluster_init(struct cluster *cluster, const char *spec);

/* The tasks that hold the parameters: every ps or, in a cluster without one, the master. */
enum role cluster_holder_role(const struct cluster *cluster);
const char *cluster_own_address(const struct cluster *cluster);

/* Master and workers train: the master is trainer 0, worker N is trainer N + 1. */
unsigned cluster_trainer_count(const struct cluster *cluster);
unsigned cluster_trainer_index(const struct cluster *cluster);

/* ---- wire.c ------------------------------------------------------------------------------------- */

/* A frame is a kind, a count, and so many 32-bit words, all in network byte order; a float travels as
 * the word that holds its bits. Requests of a trainer, and the holder's answers: */
enum frame_kind {
	FRAME_HELLO = 1, /* magic, role, index                   -> OK */
	FRAME_INIT,      /* the first values, from the master    -> OK */
	FRAME_PULL,      /*                                      -> VALUES or NOT_READY */
	FRAME_PUSH,      /* a gradient                           -> VALUES, with it applied */
	FRAME_ROLL,      /*                                      -> ROLL: an attendance per worker */
	FRAME_BYE,       /* "my share is done"                   -> OK */
	FRAME_OK,
	FRAME_VALUES,
	FRAME_NOT_READY, /* the master has not sent INIT yet */
};

enum { WIRE_MAGIC = 0x54594431 /* "TYD1" */, MAX_VALUES = 1 << 19 };

int wire_listen(const char *address);                     /* a socket; or dies */
int wire_accept(int listener);                            /* a socket, or -1 */
int wire_connect(const char *address, double deadline_s); /* a socket, or -1: see wire_error() */
const char *wire_error(void);                             /* why the last call failed */
int frame_send(int fd, enum frame_kind kind, const void *words, uint32_t count); /* 0, or -1 */
/* Receives one frame into @words, which has room for @capacity words; a longer frame is an error.
 * Returns its kind, or -1. */
int frame_receive(int fd, void *words, uint32_t capacity, uint32_t *ret_count);

/* ---- parameters.c ------------------------------------------------------------------------------- */

enum attendance { WORKER_ABSENT, WORKER_TRAINING, WORKER_DONE, WORKER_LOST };

struct shard;
struct shard *shard_new(const struct cluster *cluster, float learning_rate);
void shard_serve(struct shard *shard); /* on the task's own address; never returns */
void shard_serve_in_background(struct shard *shard);

/* A trainer's access to all parameters, wherever they are. Every call dies when a holder vanishes. */
struct parameters {
	const struct cluster *cluster;
	struct shard *local; /* set: they are in this process, and there are no sockets */
	int sockets[MAX_TASKS];
	uint32_t count;    /* of values, over all holders */
	double deadline_s; /* until when a peer may be missing */
};

void parameters_open(struct parameters *p, const struct cluster *cluster, struct shard *local, uint32_t count,
		     double deadline_s);
void parameters_hand_out(struct parameters *p, const float *values); /* the master, once */
void parameters_pull(struct parameters *p, float *ret_values);       /* waits for the hand-out */
void parameters_step(struct parameters *p, const float *gradient, float *ret_values);
void parameters_roll(struct parameters *p, uint32_t ret_attendance[MAX_TASKS]);
void parameters_close(struct parameters *p);

/* ---- model.c ------------------------------------------------------------------------------------ */

enum { PIXELS = 64, DIGITS = 10, MAX_HIDDEN = 4096 };

struct image {
	float pixels[PIXELS]; /* 0 to 1 */
	unsigned digit;
};

struct image *images_read(const char *path, size_t *ret_count); /* dies on a bad row; the caller frees */

/* The image moved by one pixel at most in each direction, at random: additional training data. */
struct image image_shifted(const struct image *image, uint64_t *random);

/* Pixels -> hidden units (ReLU) -> digits (softmax). All weights are one array of floats:
 * hidden x 64 weights, hidden biases, 10 x hidden weights, 10 biases. */
uint32_t model_size(unsigned hidden);
float *model_new(unsigned hidden, uint64_t *random);
unsigned model_predict(const float *model, unsigned hidden, const float pixels[PIXELS],
		       float ret_odds[DIGITS]);
/* Adds the gradient at one image, times @weight, to @gradient. Returns the loss there. */
float model_gradient(const float *model, unsigned hidden, const struct image *image, float weight,
		     float *gradient);

struct score {
	double loss; /* mean cross entropy */
	size_t right, count;
};
struct score model_score(const float *model, unsigned hidden, const struct image *images, size_t count);

/* The file: "TYDIGIT1", then hidden and the weights as 32-bit words in network byte order. */
unsigned char *model_to_bytes(const float *model, unsigned hidden, size_t *ret_bytes);
void bytes_write(const char *path, const unsigned char *bytes, size_t count);
uint32_t bytes_checksum(const unsigned char *bytes, size_t count); /* as cksum(1) prints it */
void bytes_print_base64(const unsigned char *bytes, size_t count);
float *model_read(const char *path, unsigned *ret_hidden);

uint64_t random_next(uint64_t *random);
