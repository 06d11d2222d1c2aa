/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Reno, as crates/contend-core/src/cc/reno.rs, without HyStart. */
#include "../cc.h"

struct reno_set {
	u64 abc;
	u64 count; /* segments, acks */
	u64 hystart; /* off */
};
SETTINGS struct reno_set settings = { .abc = 0 };
#define RENO_UNLIMITED 0

struct reno {
	u8 none;
};

ENTRY void reno_start(struct reno *s, const struct window *w) {}
ENTRY void reno_every_ack(struct reno *s, u64 now, struct window *w, const struct ack *a) {}
ENTRY void reno_on_restart(struct reno *s, u64 now, struct window *w) {}

ENTRY void reno_on_ack(struct reno *s, u64 now, struct window *w, const struct ack *a)
{
	u32 acked = slow_start(w, a->acked, abc_limit(settings.abc));

	if (acked > 0)
		additive_increase(w, w->cwnd, settings.count ? 1 : acked);
}

ENTRY void reno_on_congestion(struct reno *s, u64 now, const struct window *w, const struct signal *why,
			     struct response *r)
{
	*r = reno_answer(w, why);
}
