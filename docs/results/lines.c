/*
 * How long a message takes from one process to another through a ring in shared memory, half a round trip, by how
 * it is written there: docs/decisions/0084-whole-lines.md.
 *
 *	gcc -O2 -mavx2 -o /tmp/lines docs/results/lines.c && for how in string vector; do /tmp/lines $how 65536; done
 *
 * string: string moves, REP MOVSB; vector: stores of 32 bytes, as Go's copy; memcpy: the C library's. A message goes in
 * four pieces of 32 KB at most; one of 8 bytes tells how far the two processors are from each other.
 */
#define _GNU_SOURCE
#include <immintrin.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { slots = 256, store = 256 << 10 };
struct way {
	struct { volatile uint64_t word; char rest[120]; } slot[slots];
	volatile uint64_t head;
	char rest[120];
	char store[store];
};

static void put(char how, char *to, const char *from, size_t n) {
	if (how == 's')
		__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)::"memory");
	else if (how == 'm' || n % 32)
		memcpy(to, from, n);
	else
		for (size_t i = 0; i < n; i += 32)
			_mm256_storeu_si256((void *)(to + i), _mm256_loadu_si256((void *)(from + i)));
}

int main(int argc, char **argv) {
	if (argc != 3 || !strchr("svm", argv[1][0]) || atol(argv[2]) < 8) {
		fprintf(stderr, "usage: %s string|vector|memcpy BYTES\n", argv[0]);
		return 2;
	}
	size_t size = atol(argv[2]), piece = size / 4 > 32 << 10 ? 32 << 10 : size >= 8 << 10 ? size / 4 : size, pieces = size / piece;
	int rounds = 200000000 / (size + 2000);
	struct way *w = mmap(0, 2 * sizeof *w, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memset(w, 0, 2 * sizeof *w);
	char *buffer = aligned_alloc(4096, (size + 4095) & ~4095UL);
	int second = fork() == 0;
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(second, &set);
	sched_setaffinity(0, sizeof set, &set);
	struct way *out = &w[second], *in = &w[!second];
	uint64_t written = 0, read = 0, most = store / piece < slots ? store / piece : slots;
	struct timespec from, to;
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int r = 0; r < 2 * rounds; r++) {
		if (r % 2 == second) {
			memset(buffer, r, size);
			for (size_t i = 0; i < pieces; i++) {
				while (written - out->head >= most)
					_mm_pause();
				put(argv[1][0], out->store + written % most * piece, buffer + i * piece, piece);
				written++;
				out->slot[written % slots].word = written;
			}
		} else {
			for (size_t i = 0; i < pieces; i++) {
				read++;
				while (in->slot[read % slots].word != read)
					_mm_pause();
				memcpy(buffer + i * piece, in->store + (read - 1) % most * piece, piece);
				in->head = read;
			}
		}
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	if (!second) {
		wait(0);
		printf("%s %zu bytes: %.2f us\n", argv[1], size, ((to.tv_sec - from.tv_sec) * 1e6 + (to.tv_nsec - from.tv_nsec) / 1e3) / rounds / 2);
	}
	return 0;
}
