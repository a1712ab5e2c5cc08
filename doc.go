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
// and started by "strand run -n 2 ./prog", by MPICH's mpiexec or
// by Slurm's srun --mpi=pmi2, unchanged. The transports are chosen at start, by
// flag, environment or file; see docs/PARAMETERS.md.
//
// # Semantics
//
// They are those of MPI's point-to-point communication (MPI 4.1, chapter 3). A message matches
// a receive by communicator, source and tag; a receive may leave source and tag open
// ([AnySource], [AnyTag]). Messages from one sender do not overtake each other. Any number of
// goroutines may call any method. Collective calls ([Comm.Barrier], [Comm.Bcast], [Allreduce], [Comm.Dup], [Comm.Split] and others)
// on one communicator come one after the other, as MPI demands; a second goroutine's is refused.
//
// A buffer given to an operation is the library's until the operation has ended: until the
// blocking call returns with anything but [ErrUnderway], or the request was waited for
// or tested successfully, and has not ended with that either.
//
// A call whose context has ended before it sends and takes nothing, and returns the context's
// error. A wait for requests does so too, unless what it waits for is complete: that it ends as
// ever. [Comm.Agree], [Comm.Shrink] and [Comm.Create] are made all the same, so that the next one is the others' next one. If the context ends while a call waits, the call returns the context's error:
//
//   - A blocking receive is taken back. If it has matched a message, that can be received
//     again, from its beginning. So a receive never gets a long message if each of its contexts
//     is too short for it, however often it is repeated.
//   - A send goes on, and its buffer stays the library's until the world is closed. The error
//     is ErrUnderway as well as the context's. The context's alone means that nothing was sent
//     or, from [Comm.Sendrecv], that what was sent needs its buffer no more.
//   - A request may be waited for again.
//
// A nil context is a mistake of the program: every call that takes one panics at once.
//
// # Layouts
//
// What does not lie together, as the column of a matrix, is sent as it lies: a [Layout] says which values of a slice belong to
// the message, and calls whose names end in View take what it picks.
//
// # Results
//
// Results come in the same order everywhere: the place of a request or the number of values,
// the status or the message, whether there is one, the error. Ranks in arguments, in a
// [Status] and in errors are those of the communicator; what concerns the whole world, as
// [RailReport] and [PeerFailedError.WorldRank], says so. [Comm.Translate] turns one into the
// other.
//
// # What is promised
//
// Packages strand, btl, btltest, framing, handoff, wireup, launch, param, reach, conformance,
// strandcmd, strandtest and coll are made to be imported, and CHANGELOG.md names every change that
// breaks a caller. Other packages outside of internal, such as pml and selection, are importable for
// Strand's own programs and tests, and are no promise.
package strand
