package webtest

import (
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// Work is what the page's main thread has done since it was opened.
type Work struct {
	Busy   time.Duration // processor time: other programs on the machine do not count
	Frames int           // times that styles were computed, about one for each picture
}

// Work measures the page.
func (t *Tab) Work() (w Work) {
	t.t.Helper()
	_, err := chromedp.Call(t.ctx, performance.Enable, performance.EnableParams{TimeDomain: "threadTicks"})
	t.do("measure the page", err)
	got, err := chromedp.Call(t.ctx, performance.GetMetrics, cdp.Empty{})
	t.do("measure the page", err)
	for _, m := range got.Metrics {
		switch m.Name {
		case "ThreadTime":
			w.Busy = time.Duration(m.Value * float64(time.Second))
		case "RecalcStyleCount":
			w.Frames = int(m.Value)
		}
	}
	return w
}

// Per is the work of one frame since an earlier measurement.
func (w Work) Per(before Work) time.Duration {
	return (w.Busy - before.Busy) / time.Duration(max(1, w.Frames-before.Frames))
}
