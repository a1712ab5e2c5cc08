// What docs/results/patterns does, with MPI.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	int rank, ranks;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	char *pattern = argv[1];
	int size = atoi(argv[2]), count = atoi(argv[3]), write = argc > 4;
	char *out = malloc(size), *in = malloc(size);
	memset(out, 1, size);
	memset(in, 2, size);
	double began = 0;
	for (int i = 0; i < count + count / 4; i++) {
		if (i == count / 4)
			began = MPI_Wtime();
		for (int j = 0; write && j < size; j += 64)
			out[j]++;
		int to = rank ^ 1, from = rank ^ 1;
		if (!strcmp(pattern, "ring")) {
			to = (rank + 1) % ranks;
			from = (rank + ranks - 1) % ranks;
		}
		if (!strcmp(pattern, "exch") || !strcmp(pattern, "ring")) {
			MPI_Sendrecv(out, size, MPI_BYTE, to, 0, in, size, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else if (!strcmp(pattern, "oneway")) {
			if (rank % 2 == 0)
				MPI_Send(out, size, MPI_BYTE, to, 0, MPI_COMM_WORLD);
			else
				MPI_Recv(in, size, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else if (rank > 0) {
			MPI_Send(out, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
			MPI_Recv(0, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			for (int k = 1; k < ranks; k++)
				MPI_Recv(in, size, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			for (int k = 1; k < ranks; k++)
				MPI_Send(0, 0, MPI_BYTE, k, 1, MPI_COMM_WORLD);
		}
	}
	double took = MPI_Wtime() - began;
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("%.2f\n", took * 1e6 / count);
	MPI_Finalize();
}
