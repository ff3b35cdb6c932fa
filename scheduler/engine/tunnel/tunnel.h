/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/tunnel/tunnel.h: constants that the program tunnel and the daemon share, besides mux.h. */

enum {
	TUNNEL_PORTS_MAX = 4,
	TUNNEL_BEAT_S = 5,     /* the daemon sends a BEAT this often */
	TUNNEL_SILENCE_S = 30, /* after this time without a byte, the other side counts as gone */
};

/* The exit codes of the program. They begin at 100, because engines use 125 to 127 themselves. */
enum tunnel_end {
	TUNNEL_LEFT = 0, /* the daemon is gone */
	TUNNEL_CALLED_WRONG = 100,
	TUNNEL_NO_PORT, /* the program cannot listen at a port */
	TUNNEL_BROKEN,  /* the program's input or output broke, or the daemon broke the rules of mux.h */
};
