/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Lowers an advertised window, as `rewrite` of crates/contend-core/src/ap/window.rs. */
#ifndef CONTEND_AP_WINDOW_H
#define CONTEND_AP_WINDOW_H

#include "../arith.h"

/*
 * The window in bytes that an acknowledgment up to `ack` may offer when it offers `window` bytes in units of 1 <<
 * scale: at most `segments` of `mss` bytes. `edge` is the furthest byte offered so far; with `keep` it is not taken
 * back.
 */
INLINE u32 lowered(u64 ack, u32 window, u32 scale, u64 segments, u32 mss, u64 *edge, int keep)
{
	/* RFC 7323 §2.3. */
	u64 unit = 1ull << (scale > 14 ? 14 : scale), size = most(mss, 1);
	u64 limit = least(sat_mul(segments, size), 1 << 30), up = (limit + unit - 1) / unit * unit, w;
	u32 offered;

	/* Rounding down to units could cut off the last segment. Round up, unless this makes room for one more segment. */
	w = up < limit + size ? up : limit / unit * unit;
	if (keep)
		/* RFC 9293 §3.8.6 strongly discourages moving the right edge back. */
		w = most(w, sat_sub(*edge, ack) / unit * unit);
	w = most(w, unit);
	offered = w > U32_MAX ? window : least(w, window);
	*edge = most(*edge, ack + offered);
	return offered;
}

#endif
