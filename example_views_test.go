package strand_test

import (
	"context"
	"fmt"
	"log"

	"github.com/strandmp/strand"
)

// A column of a matrix is sent as it lies, and received as a row.
func ExampleVector() {
	err := strand.Run(context.Background(), func(ctx context.Context, w *strand.World) error {
		matrix := []float64{
			1, 2, 3,
			4, 5, 6,
		}
		column := strand.Vector[float64](2, 1, 3)
		row := make([]float64, 2)
		if _, err := w.Comm().SendrecvView(ctx, column.Of(matrix[1:]), w.Rank(), 0, strand.ViewOf(row), w.Rank(), 0); err != nil {
			return err
		}
		fmt.Println(row)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [2 5]
}

// The inner part of a grid is sent, without the border around it.
func ExampleSubarray() {
	err := strand.Run(context.Background(), func(ctx context.Context, w *strand.World) error {
		grid := []int{
			0, 0, 0, 0,
			0, 1, 2, 0,
			0, 3, 4, 0,
			0, 0, 0, 0,
		}
		inner := strand.Subarray[int]([]int{4, 4}, []int{2, 2}, []int{1, 1})
		r, err := w.Comm().IsendView(inner.Of(grid), w.Rank(), 0)
		if err != nil {
			return err
		}
		got := make([]int, 4)
		if _, _, err := strand.Recv(ctx, w.Comm(), got, w.Rank(), 0); err != nil {
			return err
		}
		fmt.Println(got)
		_, err = r.Wait(ctx)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [1 2 3 4]
}

// Some fields of structs are sent, though others can not be.
func ExampleFields() {
	type particle struct {
		Position [2]float32
		Name     string
		Mass     float64
	}
	heavy := strand.Fields[particle](2, "Mass")
	err := strand.Run(context.Background(), func(ctx context.Context, w *strand.World) error {
		all := []particle{{Name: "a", Mass: 1}, {Name: "b", Mass: 2}}
		masses := make([]float64, 2)
		if _, err := w.Comm().SendrecvView(ctx, heavy.Of(all), w.Rank(), 0, strand.ViewOf(masses), w.Rank(), 0); err != nil {
			return err
		}
		fmt.Println(masses)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [1 2]
}

// A matrix whose rows are spread over the ranks is transposed: each rank gives each other one a block of its rows.
func ExampleComm_AlltoallView() {
	err := strand.Run(context.Background(), func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		n := c.Size()
		const each = 2                       // rows of a rank
		own := make([]int64, each*each*n)    // each rows of each·n values
		turned := make([]int64, each*each*n) // the same of the transposition
		for i := range own {
			own[i] = int64(i + 1)
		}
		in, out := make([]strand.View, n), make([]strand.View, n)
		block := strand.Subarray[int64]([]int{each, each * n}, []int{each, each}, []int{0, 0})
		columns := strand.Vector[int64](each, 1, each*n).Repeat(each, 1)
		for r := range n {
			in[r], out[r] = block.Of(own[each*r:]), columns.Of(turned[each*r:])
		}
		if err := c.AlltoallView(ctx, in, out); err != nil {
			return err
		}
		fmt.Println(own, turned)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [1 2 3 4] [1 3 2 4]
}
