/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/tunnel/tunnel.h: what the program tunnel and the daemon have to agree on, beside mux.h. */

enum {
	TUNNEL_PORTS_MAX = 4,
	TUNNEL_BEAT_S = 5,     /* the daemon says that it is there this often */
	TUNNEL_SILENCE_S = 30, /* the other side is gone after it */
};

/* What the program says by its exit code. From 100 on: engines use 125 to 127 themselves. */
enum tunnel_end {
	TUNNEL_LEFT = 0, /* the daemon is gone */
	TUNNEL_CALLED_WRONG = 100,
	TUNNEL_NO_PORT, /* it cannot listen at a port */
	TUNNEL_BROKEN,  /* its input or output broke, or the daemon broke the rules */
};
