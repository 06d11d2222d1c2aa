/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Runs the controller cc/CC.h on the host: reads settings, then steps, from standard input and prints each step. */
#include <stdio.h>
#include HEADER
#include "step.h"

int main(void)
{
	static struct CC state;
	struct step s;

	if (fread(&settings, sizeof(settings), 1, stdin) != 1)
		return 1;
	while (fread(&s, sizeof(s), 1, stdin) == 1) {
		STEP(CC, &state, &s);
		if (fwrite(&s, sizeof(s), 1, stdout) != 1)
			return 1;
		fflush(stdout);
	}
	return 0;
}
