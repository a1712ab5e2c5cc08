package flood

import "time"

// pour calls send so many times a second, by its number, until over is closed.
func pour(rate int, over <-chan struct{}, send func(n int)) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	began, sent := time.Now(), 0
	for {
		select {
		case <-over:
			return
		case <-tick.C:
		}
		for due := int(time.Since(began).Seconds() * float64(rate)); sent < due; sent++ {
			send(sent)
		}
	}
}
