package web

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/store"
)

// watch runs l with one page that looks at a chat; render reads what it has to be told and takes it away.
func watch(l *Live, chat string) (c *conn, stop func()) {
	c = &conn{chat: chat, renders: map[store.ID]render{}, wake: make(chan struct{}, 1)}
	l.conns[c] = struct{}{}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { l.run(ctx); close(done) }()
	return c, func() { cancel(); <-done }
}

func (c *conn) takeRender(turn store.ID) (render, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.renders[turn]
	delete(c.renders, turn)
	return r, ok
}

func TestAtMostTenFramesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLive()
		c, stop := watch(l, "c1")
		defer stop()
		frames, text := 0, ""
		for i := range 1000 { // a token a millisecond
			text += fmt.Sprint("word", i, " ")
			l.Draft("c1", 7, text)
			time.Sleep(time.Millisecond)
			synctest.Wait()
			if _, ok := c.takeRender(7); ok {
				frames++
			}
		}
		if frames < 9 || frames > 11 {
			t.Errorf("%d frames in a second, want 10", frames)
		}
		time.Sleep(time.Second)
		r, ok := c.takeRender(7)
		if !ok || !strings.Contains(r.blocks[len(r.blocks)-1], "word999") {
			t.Errorf("the end is not shown: %v", r)
		}
	})
}

// What a page was told piecewise, some pieces skipped, is what the text gives.
func TestSkippedRendersAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLive()
		c, stop := watch(l, "c1")
		defer stop()
		var page []string
		text := ""
		for i := range 40 {
			text += fmt.Sprintf("Paragraph *%d* of some length.\n\n", i)
			l.Draft("c1", 7, text)
			time.Sleep(150 * time.Millisecond)
			if i%3 == 0 {
				r, ok := c.takeRender(7)
				if !ok || r.from > len(page) {
					t.Fatalf("step %d: from %d, the page has %d", i, r.from, len(page))
				}
				page = append(page[:r.from:r.from], r.blocks[r.from:]...)
			}
		}
		if r, ok := c.takeRender(7); ok {
			page = append(page[:r.from:r.from], r.blocks[r.from:]...)
		}
		if want := l.md.Blocks(text); !slices.Equal(page, want) {
			t.Errorf("page %q\nwant %q", page, want)
		}
	})
}

// T3: a text that is begun anew replaces what was shown; one that has ended is not shown any more.
func TestTextsBeginAnewAndEndT3(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLive()
		c, stop := watch(l, "c1")
		defer stop()
		l.Draft("c1", 7, "one\n\ntwo\n\nthree\n\nfour")
		time.Sleep(200 * time.Millisecond)
		c.takeRender(7)
		l.Working("c1", 7, true)
		l.Draft("c1", 7, "other")
		time.Sleep(200 * time.Millisecond)
		if r, ok := c.takeRender(7); !ok || r.from != 0 || !slices.Equal(r.blocks, []string{"<p>other</p>"}) {
			t.Errorf("%+v, %v, want the new text from 0", r, ok)
		}
		l.Draft("c1", 7, "other words")
		l.Working("c1", 7, false)
		time.Sleep(time.Second)
		if r, ok := c.takeRender(7); ok {
			t.Errorf("%+v after the end", r)
		}
		if len(l.texts) != 0 {
			t.Errorf("%d texts are kept", len(l.texts))
		}
	})
}

func TestNothingIsRenderedForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLive()
		c, stop := watch(l, "c1")
		defer stop()
		l.Draft("c2", 7, "text")
		time.Sleep(time.Second)
		if l.texts[7].blocks != nil {
			t.Error("a text that nobody looks at was rendered")
		}
		l.mu.Lock()
		c.setChat("c2")
		l.mu.Unlock()
		l.attach(c)
		synctest.Wait()
		if r, ok := c.takeRender(7); !ok || r.from != 0 || len(r.blocks) != 1 {
			t.Errorf("%+v, %v after turning to it", r, ok)
		}
		l.Draft("c1", 8, "left behind")
		time.Sleep(2 * forgetText)
		l.Draft("c1", 9, "fresh")
		if len(l.texts) != 1 {
			t.Errorf("%d texts are kept, want 1", len(l.texts))
		}
	})
}

// Long open blocks are rendered less often.
func TestLongBlocksAreRenderedLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLive()
		c, stop := watch(l, "c1")
		defer stop()
		text, frames := "```\n"+strings.Repeat("a line of code\n", 4<<10), 0 // 60 KB in one block
		for range 200 {
			text += "x"
			l.Draft("c1", 7, text)
			time.Sleep(10 * time.Millisecond)
			if _, ok := c.takeRender(7); ok {
				frames++
			}
		}
		if frames < 3 || frames > 6 {
			t.Errorf("%d frames in two seconds, want about 4", frames)
		}
	})
}

func TestQueueOfASlowPage(t *testing.T) {
	c := &conn{chat: "c1", renders: map[store.ID]render{}, wake: make(chan struct{}, 1)}
	for i := range queueLength {
		c.putEvents([]event{{seq: int64(i), frame: []byte("x")}, {seq: int64(i), chat: "c2", frame: []byte("x")}})
	}
	if len(c.queue) != queueLength || c.closing() != 0 {
		t.Fatalf("queue %d, code %d", len(c.queue), c.closing())
	}
	c.putEvents([]event{{seq: 1000, chat: "c1", frame: []byte("x")}})
	if c.queue != nil || c.closing() != closeSlow {
		t.Errorf("queue %d, code %d: must be cut off", len(c.queue), c.closing())
	}
}
