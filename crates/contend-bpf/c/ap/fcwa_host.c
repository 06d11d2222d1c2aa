/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Runs FCWA's arithmetic on the host: reads settings, then packets, from standard input; prints W_i after each. */
#include <stdio.h>
#include "fcwa.h"

#define FLOWS 16

/* A packet of flow `flow`: data from `seq` of `len` bytes, or an acknowledgment that moves the right edge. */
struct packet {
	u64 now, flow, up, reverse, seq, len, ack, before, edge, mss;
};

int main(void)
{
	static struct path paths[FLOWS];
	static int known[FLOWS];
	static struct fcwa_set set;
	static struct fcwa_all all;
	struct packet p;

	if (fread(&set, sizeof(set), 1, stdin) != 1)
		return 1;
	while (fread(&p, sizeof(p), 1, stdin) == 1) {
		struct path *path = &paths[p.flow % FLOWS];
		struct fcwa_count count = {};
		int becomes = 0, expire = p.now >= all.next, i;
		struct path fresh = NEW_PATH;
		u64 segments;

		if (!known[p.flow % FLOWS]) {
			known[p.flow % FLOWS] = 1;
			*path = fresh;
			path->last = p.now;
			path->up = p.up;
		}
		if (!p.reverse && p.len)
			becomes = path_sees_data(path, p.now);
		if (expire || becomes) {
			if (expire)
				all.next = p.now + set.update * MS;
			for (i = 0; i < FLOWS; i++) {
				if (expire)
					path_expires(&paths[i], p.now, set.active * MS);
				path_counts(&paths[i], &count);
			}
			fcwa_update(&all, &count, &set);
		}
		segments = fcwa_segments(path, &all, &set);
		if (!p.reverse && p.len)
			path_data(path, p.now, p.seq, p.seq + p.len, p.edge);
		else if (p.reverse)
			path_ack(path, p.now, p.ack, p.before, p.edge, p.mss);
		if (fwrite(&segments, sizeof(segments), 1, stdout) != 1)
			return 1;
		fflush(stdout);
	}
	return 0;
}
