package mg

// around adds up, for each point of a row, its four nearest neighbours in the other two dimensions, and
// the four diagonal ones.
func around(c *cube, j, k int, near, diagonal []float64) {
	n := c.n[0]
	near, diagonal = near[:n], diagonal[:n]
	a, b, d, e := c.row(j-1, k)[:n], c.row(j+1, k)[:n], c.row(j, k-1)[:n], c.row(j, k+1)[:n]
	f, g, h, i := c.row(j-1, k-1)[:n], c.row(j+1, k-1)[:n], c.row(j-1, k+1)[:n], c.row(j+1, k+1)[:n]
	for x := range near {
		near[x] = a[x] + b[x] + d[x] + e[x]
		diagonal[x] = f[x] + g[x] + h[x] + i[x]
	}
}

// smooth adds the smoother's correction of the residual r to u (psinv).
func (s *solver) smooth(r, u *cube) {
	c0, c1, c2 := s.smoother[0], s.smoother[1], s.smoother[2]
	n := u.n[0]
	near, diagonal := s.near[:n], s.diagonal[:n]
	for k := 1; k < u.n[2]-1; k++ {
		for j := 1; j < u.n[1]-1; j++ {
			around(r, j, k, near, diagonal)
			ur, rr := u.row(j, k)[:n], r.row(j, k)[:n]
			for i := 1; i < n-1; i++ {
				ur[i] += c0*rr[i] + c1*(rr[i-1]+rr[i+1]+near[i]) + c2*(diagonal[i]+near[i-1]+near[i+1])
			}
		}
	}
}

// residual sets r to v − A·u (resid). R and v may be the same.
func (s *solver) residual(u, v, r *cube) {
	const a0, a2, a3 = -8.0 / 3, 1.0 / 6, 1.0 / 12
	n := u.n[0]
	near, diagonal := s.near[:n], s.diagonal[:n]
	for k := 1; k < u.n[2]-1; k++ {
		for j := 1; j < u.n[1]-1; j++ {
			around(u, j, k, near, diagonal)
			ur, vr, rr := u.row(j, k)[:n], v.row(j, k)[:n], r.row(j, k)[:n]
			for i := 1; i < n-1; i++ {
				rr[i] = vr[i] - a0*ur[i] - a2*(diagonal[i]+near[i-1]+near[i+1]) - a3*(diagonal[i-1]+diagonal[i+1])
			}
		}
	}
}

// offsets says where the points of a coarse cube are in the fine one: point i at 2i − offset. A
// rank with a single point in a dimension of the fine one has it elsewhere.
func offsets(fine *cube) (off [3]int) {
	for d, n := range fine.n {
		if n == 3 {
			off[d] = 1
		}
	}
	return off
}

// restrict sets the points of a coarse cube to weighted means of the fine ones around them (rprj3).
func (s *solver) restrict(fine, coarse *cube) {
	off, n := offsets(fine), fine.n[0]
	near, diagonal := s.near[:n], s.diagonal[:n]
	for k := 1; k < coarse.n[2]-1; k++ {
		for j := 1; j < coarse.n[1]-1; j++ {
			around(fine, 2*j-off[1], 2*k-off[2], near, diagonal)
			f, c := fine.row(2*j-off[1], 2*k-off[2])[:n], coarse.row(j, k)
			for i := 1; i < len(c)-1; i++ {
				x := 2*i - off[0]
				c[i] = 0.5*f[x] + 0.25*(f[x-1]+f[x+1]+near[x]) + 0.125*(near[x-1]+near[x+1]+diagonal[x]) + 0.0625*(diagonal[x-1]+diagonal[x+1])
			}
		}
	}
}

// interpolate adds the values of a coarse cube, and means of them between its points, to a fine one (interp).
func (s *solver) interpolate(coarse, fine *cube) {
	off := offsets(fine)
	if off != [3]int{} {
		interpolateFew(coarse, fine, off)
		return
	}
	n := coarse.n[0]
	for k := range coarse.n[2] - 1 {
		for j := range coarse.n[1] - 1 {
			a, b, c, d := coarse.row(j, k)[:n], coarse.row(j+1, k)[:n], coarse.row(j, k+1)[:n], coarse.row(j+1, k+1)[:n]
			doubled(fine.row(2*j, 2*k), a, 1)
			sum := s.near[:n]
			for i := range sum {
				sum[i] = a[i] + b[i]
			}
			doubled(fine.row(2*j+1, 2*k), sum, 0.5)
			for i := range sum {
				sum[i] = a[i] + c[i]
			}
			doubled(fine.row(2*j, 2*k+1), sum, 0.5)
			for i := range sum {
				sum[i] = a[i] + b[i] + c[i] + d[i]
			}
			doubled(fine.row(2*j+1, 2*k+1), sum, 0.25)
		}
	}
}

// doubled adds a coarse row, weighted, to a fine one of twice as many points, and means between its points.
func doubled(fine, coarse []float64, weight float64) {
	half := weight / 2
	for ; len(coarse) >= 2 && len(fine) >= 2; coarse, fine = coarse[1:], fine[2:] {
		fine[0] += weight * coarse[0]
		fine[1] += half * (coarse[0] + coarse[1])
	}
}

// interpolateFew is interpolate for fine cubes that have a single point in a dimension. Each fine point is
// between the coarse ones of a box, at one of them, or in the middle of two, in each dimension.
func interpolateFew(coarse, fine *cube, off [3]int) {
	for between := range 8 {
		mid := [3]int{between & 1, between >> 1 & 1, between >> 2}
		var lo, shift [3]int
		weight := 1.0
		for d := range 3 {
			if mid[d] == 1 {
				weight /= 2
				shift[d] = 1 - off[d]
			} else {
				lo[d], shift[d] = off[d], -off[d]
			}
		}
		for k := lo[2]; k < coarse.n[2]-1; k++ {
			for j := lo[1]; j < coarse.n[1]-1; j++ {
				f := fine.row(2*j+shift[1], 2*k+shift[2])
				for i := lo[0]; i < coarse.n[0]-1; i++ {
					f[2*i+shift[0]] += weight * corners(coarse, [3]int{i, j, k}, mid)
				}
			}
		}
	}
}

// corners adds up the points of a box that is one or two points wide.
func corners(c *cube, at, wide [3]int) (sum float64) {
	for k := at[2]; k <= at[2]+wide[2]; k++ {
		for j := at[1]; j <= at[1]+wide[1]; j++ {
			for _, v := range c.row(j, k)[at[0] : at[0]+wide[0]+1] {
				sum += v
			}
		}
	}
	return sum
}
