package engine

import (
	"maps"
	"slices"
	"sync"

	"holdfast/engine/wheel"
	"holdfast/store"
)

// outbox hands posts to their surfaces and keeps the platforms' handles. A surface's failure never
// asks a model again: the post stays and is tried until it is out (N9).
//
// Every conversation with something to be delivered is a line of its own: its posts go one at a time
// and in order, and no line waits for another. A line that is under way is passed over until it ends,
// so a call that hangs holds up its own conversation and one of its surface's hands.
type outbox struct {
	posts  chan struct{} // something may have to go out
	alerts chan struct{} // … or an alert be told
	timer  wheel.Timer   // of the next try

	mu    sync.Mutex
	busy  map[store.ID]bool // lines under way
	hands map[string]int    // … by surface
	came  int               // how often something may have come to be delivered
	later bool              // something is to be tried at another time than the timer knows
	again bool              // … an alert
}

func newOutbox() outbox {
	return outbox{posts: make(chan struct{}, 1), alerts: make(chan struct{}, 1), busy: map[store.ID]bool{}, hands: map[string]int{}}
}

// poke says that anything may have to go out, a message or an alert, and at any time.
func (o *outbox) poke() {
	o.tryLater(false)
	o.come()
	nudge(o.alerts)
}

// posted says that posts have been stored. What is shown where it stands goes nowhere.
func (o *outbox) posted(posts ...store.Post) {
	if slices.ContainsFunc(posts, func(p store.Post) bool { return p.State == "pending" }) {
		o.come()
	}
}

func (o *outbox) come() {
	o.mu.Lock()
	o.came++
	o.mu.Unlock()
	nudge(o.posts)
}

// tell says that an alert has been stored that may have to be told.
func (o *outbox) tell(a store.Alert) {
	if a.Told < 2 {
		nudge(o.alerts)
	}
}

// tryLater says that a next try has been stored, of a post or of an alert: the timer is to be set anew.
func (o *outbox) tryLater(alert bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.later, o.again = true, o.again || alert
}

// triesLater reports whether that was said since it was asked for last.
func (o *outbox) triesLater() (later, alert bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	later, alert = o.later, o.again
	o.later, o.again = false, false
	return later, alert
}

// arrivals is how often something has come so far.
func (o *outbox) arrivals() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.came
}

func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// taken are the lines under way, and the surfaces that have no hand free.
func (o *outbox) taken() (busy map[store.ID]bool, full map[string]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	full = map[string]bool{}
	for surface, n := range o.hands {
		if n >= handsPerSurface {
			full[surface] = true
		}
	}
	return maps.Clone(o.busy), full
}

// take gives a line a hand; false if its surface has none free.
func (o *outbox) take(l store.Line) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.hands[l.Surface] >= handsPerSurface {
		return false
	}
	o.busy[l.Conversation] = true
	o.hands[l.Surface]++
	return true
}

// free ends a line which had nothing more to deliver when so much had come, -1 if it had. What has come for
// it meanwhile, or was passed over since its surface had no hand free, is looked for.
func (o *outbox) free(l store.Line, came int) {
	o.mu.Lock()
	again := came != o.came || o.hands[l.Surface] >= handsPerSurface
	delete(o.busy, l.Conversation)
	o.hands[l.Surface]--
	o.mu.Unlock()
	if again {
		nudge(o.posts)
	}
}
