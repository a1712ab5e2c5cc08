// Package strand passes messages between the processes of a parallel program,
// over whatever networks they have.
//
// A program runs as a number of processes, its ranks, that make up a [World]. It
// is written against [Run] and a communicator ([Comm]):
//
//	func main() {
//		err := strand.Run(context.Background(), func(ctx context.Context, w *strand.World) error {
//			c := w.Comm()
//			if c.Rank() == 0 {
//				return c.Send(ctx, []byte("hello"), 1, 0)
//			}
//			buf := make([]byte, 16)
//			st, err := c.Recv(ctx, buf, 0, strand.AnyTag)
//			fmt.Printf("%s\n", buf[:st.Count])
//			return err
//		})
//		if err != nil {
//			log.Fatal(err)
//		}
//	}
//
// and started by "strand run -n 2 --btl tcp,self ./prog", by MPICH's mpiexec or
// by Slurm's srun --mpi=pmi2, unchanged. The transports are chosen at start, by
// flag, environment or file; see docs/PARAMETERS.md.
//
// # Semantics
//
// They are those of MPI's point-to-point communication (MPI 4.1, chapter 3): a
// message matches a receive by communicator, source and tag, of which a receive
// may leave source and tag open; messages from one sender do not overtake each
// other. All methods are safe for any number of goroutines. Collective calls ([Comm.Barrier],
// [Comm.Dup], [Comm.Split]) on one communicator are made by one goroutine at a time, as MPI
// demands; a second one is refused.
//
// A buffer given to an operation is the library's until the operation is
// complete: when the blocking call returns with anything but its context's
// error, or when the request was waited for or tested successfully. A context
// that ends makes a waiting call return; one that has ended before makes it do nothing. A
// blocking receive is then taken back, and the message that it has matched, if it has,
// is there to be received again; a send goes on, and its buffer stays the library's.
//
// A nil context is a mistake of the program: every call that takes one panics at once.
package strand
