// What the first access to a page costs, and the second: of memory that two processes have in common, as
// btl/sm makes it, with and without the pages in the process's tables before, and of memory of the process's own. Microseconds a page:
//
//	gcc -O1 -o /tmp/pages docs/results/pages.c && /tmp/pages
//
// What each line shows: which memory, what the mapping took in all, the first access, the second.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 256 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static double touch(volatile char *mem) {
  double from = now();
  for (int i = 0; i < PAGES; i++) mem[i * PAGE]++;
  return (now() - from) / PAGES;
}

static void show(const char *what, int flags, int fd) {
  double from = now();
  char *mem = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (mem == MAP_FAILED) {
    perror(what);
    exit(1);
  }
  madvise(mem, PAGES * PAGE, MADV_NOHUGEPAGE);
  double mapped = now() - from, first = touch(mem), second = touch(mem);
  printf("%-28s %8.1f %8.2f %8.3f\n", what, mapped, first, second);
  munmap(mem, PAGES * PAGE);
}

int main(void) {
  int fd = memfd_create("pages", 0);
  if (fd < 0 || ftruncate(fd, PAGES * PAGE) != 0 || posix_fallocate(fd, 0, PAGES * PAGE) != 0) {
    perror("memfd");
    return 1;
  }
  for (int round = 0; round < 3; round++) {
    show("in common", MAP_SHARED, fd);
    show("in common, in the tables", MAP_SHARED | MAP_POPULATE, fd);
    show("one's own", MAP_PRIVATE | MAP_ANONYMOUS, -1);
  }
  return 0;
}
