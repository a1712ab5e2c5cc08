//go:build !race

package interop

// thorough is how many bytes CI sends each way with loss.
const thorough = 100 << 20
