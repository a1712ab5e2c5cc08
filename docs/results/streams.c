/*
 * How long each message of a stream takes from one process to another through a ring in shared memory, by how it is
 * written there and read: docs/decisions/0084-whole-lines.md.
 *
 *	gcc -O2 -mavx2 -o /tmp/streams docs/results/streams.c && for read in string vector; do /tmp/streams string $read 262144 65536 262144; done
 *
 * Arguments: how to write and how to read (string: string moves, REP MOVSB; vector: loads and stores of 32 bytes), the
 * bytes of a message, of a piece, of the ring.
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

enum { slots = 4096, most = 8 << 20, total = 1000000000 };
struct way {
	struct { uint64_t word; char rest[120]; } slot[slots];
	uint64_t head;
	char rest[4088];
	char store[most];
};

static void put(char how, char *to, const char *from, size_t n) {
	if (how == 's')
		__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)::"memory");
	else
		for (size_t i = 0; i < n; i += 32)
			_mm256_storeu_si256((void *)(to + i), _mm256_loadu_si256((void *)(from + i)));
}

int main(int argc, char **argv) {
	if (argc < 6 || atol(argv[5]) > most || atol(argv[5]) % atol(argv[4]) || atol(argv[3]) % atol(argv[4]) || atol(argv[4]) % 32)
		return fprintf(stderr, "see the beginning of streams.c\n"), 2;
	char write = argv[1][0], read = argv[2][0];
	size_t size = atol(argv[3]), piece = atol(argv[4]), store = atol(argv[5]);
	struct way *w = mmap(0, sizeof *w, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *buf = aligned_alloc(4096, size);
	memset(w, 0, sizeof *w);
	memset(buf, 1, size);
	int reader = fork() == 0;
	cpu_set_t own;
	CPU_ZERO(&own);
	CPU_SET(reader, &own);
	sched_setaffinity(0, sizeof own, &own);

	struct timespec from, to;
	clock_gettime(CLOCK_MONOTONIC, &from);
	uint64_t messages = total / size, at = 0;
	for (uint64_t i = 0; i < messages; i++)
		for (size_t done = 0; done < size; done += piece) {
			char *here = w->store + at % store;
			at += piece;
			uint64_t *word = &w->slot[at / piece % slots].word;
			if (reader) {
				while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != at)
					_mm_pause();
				put(read, buf + done, here, piece);
				__atomic_store_n(&w->head, at, __ATOMIC_RELEASE);
			} else {
				while (at > __atomic_load_n(&w->head, __ATOMIC_ACQUIRE) + store)
					_mm_pause();
				put(write, here, buf + done, piece);
				__atomic_store_n(word, at, __ATOMIC_RELEASE);
			}
		}
	clock_gettime(CLOCK_MONOTONIC, &to);
	if (reader)
		return 0;
	wait(0);
	double us = (to.tv_sec - from.tv_sec) * 1e6 + (to.tv_nsec - from.tv_nsec) / 1e3;
	printf("written %s, read %s: %.2f us a message of %zu\n", argv[1], argv[2], us / messages, size);
	return 0;
}
