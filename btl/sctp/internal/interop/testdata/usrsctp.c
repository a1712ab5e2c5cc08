// A peer for the tests, on usrsctp: one association, SCTP over UDP (RFC 6951).
//
//   usrsctp listen UDP-PORT ADDRESS,…
//   usrsctp connect UDP-PORT ADDRESS,… REMOTE-UDP-PORT REMOTE-ADDRESS,…
//
// What it does with messages service_test.go says. It ends with its association, or at the end of its input.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <usrsctp.h>

enum { inner = 5000, streams = 16, longest = 1 << 20, most = 4 };
enum { interleaving_supported = 0x1206 }; // SCTP_INTERLEAVING_SUPPORTED (RFC 8260), which usrsctp.h does not have

static uint64_t messages, bytes, sum;

static void fail(const char *what) {
	fprintf(stderr, "usrsctp: %s: %s\n", what, strerror(errno));
	_exit(1);
}

static uint64_t fnv(const uint8_t *b, size_t n) {
	uint64_t h = 14695981039346656037ull;
	for (size_t i = 0; i < n; i++)
		h = (h ^ b[i]) * 1099511628211ull;
	return h;
}

static void fill(uint8_t *b, size_t n, uint32_t seed) {
	b[0] = 's';
	for (size_t i = 1; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		b[i] = seed >> 24;
	}
}

static void put(uint8_t *b, uint64_t v) {
	for (int i = 0; i < 8; i++)
		b[i] = v >> (56 - 8 * i);
}

static uint32_t get(const uint8_t *b) { return (uint32_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3]; }

static void say(struct socket *s, uint16_t stream, uint32_t ppid, const void *b, size_t n) {
	struct sctp_sndinfo to;
	memset(&to, 0, sizeof to);
	to.snd_sid = stream;
	to.snd_ppid = ppid;
	if (usrsctp_sendv(s, b, n, NULL, 0, &to, sizeof to, SCTP_SENDV_SNDINFO, 0) < 0)
		fail("send");
}

// read_addresses reads addresses, which all have SCTP's port, and returns how many there are.
static int read_addresses(struct sockaddr_in *all, char *list) {
	int n = 0;
	for (char *one = strtok(list, ","); one && n < most; one = strtok(NULL, ",")) {
		struct sockaddr_in *a = &all[n++];
		memset(a, 0, sizeof *a);
		a->sin_family = AF_INET;
		a->sin_port = htons(inner);
		if (inet_pton(AF_INET, one, &a->sin_addr) != 1)
			fail(one);
	}
	return n;
}

static void *watch(void *unused) {
	char c;
	while (read(0, &c, 1) > 0)
		;
	_exit(0); // the test has ended
	return unused;
}

// act does what a message asks for.
static void act(struct socket *s, uint16_t stream, uint32_t ppid, uint8_t *b, size_t n) {
	switch (b[0]) {
	case 'e':
		say(s, stream, ppid, b, n);
		break;
	case 's':
		messages++, bytes += n, sum += fnv(b, n);
		break;
	case 'r': {
		uint8_t r[25] = {'r'};
		put(r + 1, messages), put(r + 9, bytes), put(r + 17, sum);
		say(s, 0, ppid, r, sizeof r);
		break;
	}
	case 'g': {
		uint32_t count = get(b + 1), size = get(b + 5), over = b[9];
		uint8_t *m = malloc(size);
		for (uint32_t i = 0; i < count; i++) {
			fill(m, size, i);
			say(s, 1 + i % over, htonl(7), m, size);
		}
		free(m);
		break;
	}
	case 'a': {
		struct linger l = {1, 0};
		usrsctp_setsockopt(s, SOL_SOCKET, SO_LINGER, &l, sizeof l);
		usrsctp_close(s);
		usleep(200000); // the packet leaves
		_exit(0);
	}
	case 'q':
		usrsctp_shutdown(s, SHUT_WR);
		break;
	}
}

static void serve(struct socket *s) {
	static uint8_t piece[longest], whole[streams][longest];
	static size_t have[streams];
	for (;;) {
		struct sockaddr_in from;
		socklen_t fromlen = sizeof from;
		struct sctp_rcvinfo info;
		socklen_t infolen = sizeof info;
		unsigned type = 0;
		int flags = 0;
		ssize_t n = usrsctp_recvv(s, piece, sizeof piece, (struct sockaddr *)&from, &fromlen, &info, &infolen, &type, &flags);
		if (n <= 0)
			return;
		uint16_t stream = info.rcv_sid;
		if (stream >= streams || have[stream] + n > longest)
			fail("a message");
		memcpy(whole[stream] + have[stream], piece, n);
		have[stream] += n;
		if (!(flags & MSG_EOR))
			continue;
		act(s, stream, info.rcv_ppid, whole[stream], have[stream]);
		have[stream] = 0;
	}
}

int main(int argc, char **argv) {
	if (argc < 4)
		return 2;
	usrsctp_init(atoi(argv[2]), NULL, NULL);
	usrsctp_sysctl_set_sctp_blackhole(2);
	usrsctp_sysctl_set_sctp_rto_min_default(100);
	usrsctp_sysctl_set_sctp_rto_initial_default(200);
	usrsctp_sysctl_set_sctp_rto_max_default(1000);
	usrsctp_sysctl_set_sctp_heartbeat_interval_default(200);
	usrsctp_sysctl_set_sctp_path_rtx_max_default(2);
	usrsctp_sysctl_set_sctp_sendspace(1 << 20);
	usrsctp_sysctl_set_sctp_recvspace(1 << 20);
	struct socket *s = usrsctp_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
	if (!s)
		fail("socket");
	int on = 1, interleave = 2; // pieces of a message may come between those of others: I-DATA needs that
	usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_RECVRCVINFO, &on, sizeof on);
	usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_NODELAY, &on, sizeof on);
	usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_FRAGMENT_INTERLEAVE, &interleave, sizeof interleave);
	struct sctp_assoc_value idata = {SCTP_FUTURE_ASSOC, 1};
	if (usrsctp_setsockopt(s, IPPROTO_SCTP, interleaving_supported, &idata, sizeof idata) < 0)
		fail("I-DATA");
	struct sctp_initmsg init = {streams, streams, 0, 0};
	usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_INITMSG, &init, sizeof init);
	struct sockaddr_in here[most], there[most];
	int n = read_addresses(here, argv[3]);
	if (usrsctp_bindx(s, (struct sockaddr *)here, n, SCTP_BINDX_ADD_ADDR) < 0)
		fail("bind");
	pthread_t t;
	pthread_create(&t, NULL, watch, NULL);
	if (!strcmp(argv[1], "listen")) {
		if (usrsctp_listen(s, 1) < 0)
			fail("listen");
		puts("ready");
		fflush(stdout);
		if (!(s = usrsctp_accept(s, NULL, NULL)))
			fail("accept");
	} else {
		struct sctp_udpencaps over;
		memset(&over, 0, sizeof over);
		over.sue_address.ss_family = AF_INET;
		over.sue_port = htons(atoi(argv[4]));
		if (usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_REMOTE_UDP_ENCAPS_PORT, &over, sizeof over) < 0)
			fail("encapsulation");
		puts("ready");
		fflush(stdout);
		n = read_addresses(there, argv[5]);
		if (usrsctp_connectx(s, (struct sockaddr *)there, n, NULL) < 0)
			fail("connect");
	}
	serve(s);
	usrsctp_close(s);
	usleep(300000); // the end of the handshake leaves
	return 0;
}
