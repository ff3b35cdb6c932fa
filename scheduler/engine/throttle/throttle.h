/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/throttle/throttle.h: what the program throttle says by its exit code. */

/* From 100 on: engines use 125 to 127 themselves. */
enum throttle_end {
	THROTTLE_DONE = 0,
	THROTTLE_CALLED_WRONG = 100,
	THROTTLE_NO_NETLINK,   /* there is no socket to speak to the kernel */
	THROTTLE_NO_INTERFACE, /* the container has no eth0 */
	THROTTLE_FORBIDDEN,    /* without CAP_NET_ADMIN, or by the engine's machine */
	THROTTLE_NO_BUCKET,    /* the kernel takes no queue of kind tbf */
	THROTTLE_NO_DEVICE,    /* no device of kind ifb */
	THROTTLE_NO_REDIRECT,  /* no ingress queue, u32 filter or mirred action */
	THROTTLE_STAYS,        /* what was set cannot be taken away */
};
