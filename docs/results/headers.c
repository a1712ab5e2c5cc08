/*
 * What a header before the payload costs over TCP: half a round trip on loopback, in which the payload is read straight into
 * its place. docs/performance/reasons.txt, tcp/pingpong.
 *
 *	gcc -O2 -Wall -o /tmp/headers docs/results/headers.c && for n in 0 44 64 128; do /tmp/headers $n 131072 3000; done
 *
 * Arguments: the bytes of the header and of the payload, round trips.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int fd;

static size_t done(ssize_t n) {
	if (n > 0 || (n < 0 && errno == EAGAIN))
		return n > 0 ? n : 0;
	perror("the connection");
	exit(1);
}

static void put(char *header, size_t h, char *payload, size_t p) {
	for (size_t at = 0; at < h + p;) {
		struct iovec v[2] = {{header + at, at < h ? h - at : 0}, {payload + (at < h ? 0 : at - h), at < h ? p : h + p - at}};
		struct msghdr m = {.msg_iov = v + (at >= h), .msg_iovlen = 1 + (at < h)};
		at += done(sendmsg(fd, &m, MSG_DONTWAIT));
	}
}

static void get(char *to, size_t n) {
	for (size_t at = 0; at < n;)
		at += done(recv(fd, to + at, n - at, MSG_DONTWAIT));
}

static int opened(void) {
	int s = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	setsockopt(s, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5);
	setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	return s;
}

int main(int argc, char **argv) {
	if (argc < 4 || atol(argv[1]) > 4096)
		return fprintf(stderr, "see the beginning of headers.c\n"), 2;
	size_t h = atol(argv[1]), p = atol(argv[2]);
	int rounds = atoi(argv[3]), listener = opened();
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t l = sizeof a;
	if (bind(listener, (void *)&a, l) || listen(listener, 1) || getsockname(listener, (void *)&a, &l))
		return perror("listen"), 1;
	int other = fork() == 0;
	cpu_set_t own;
	CPU_ZERO(&own);
	CPU_SET(other, &own);
	sched_setaffinity(0, sizeof own, &own);
	if (other) {
		fd = opened();
		if (connect(fd, (void *)&a, l))
			return perror("connect"), 1;
	} else {
		fd = accept(listener, 0, 0);
	}

	static char header[4096];
	char *out = aligned_alloc(4096, p + 4096 - p % 4096), *in = aligned_alloc(4096, p + 4096 - p % 4096);
	memset(out, 1, p);
	memset(in, 1, p);
	struct timespec from, to;
	for (int i = -100; i < rounds; i++) {
		if (i == 0)
			clock_gettime(CLOCK_MONOTONIC, &from);
		if (!other)
			put(header, h, out, p);
		get(header, h);
		get(in, p);
		if (other)
			put(header, h, out, p);
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	if (other)
		return 0;
	wait(0);
	printf("%zu and %zu bytes: %.2f us\n", h, p, ((to.tv_sec - from.tv_sec) * 1e6 + (to.tv_nsec - from.tv_nsec) / 1e3) / rounds / 2);
	return 0;
}
