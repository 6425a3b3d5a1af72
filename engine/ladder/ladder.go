// Package ladder decides what happens after a failed request: pure functions of plain values, no
// I/O and no clock.
//
// A failed request falls from rung to rung, and the first that applies decides:
//
//	ends at once   refused, not to be retried, certificate, too large twice, deadline, canceled, unclassified
//	ceiling        max_requests is reached: owed
//	L1 resend      the same bytes again, inside the same send
//	L3 fallback    the next usable model, at once
//	account        auth or quota without a fallback: owed
//	stated limits  stated_wait_mode = "end", stated_wait_max
//	one-shot       a re-armed or owed send has no further try in its run: L6, L7
//	L4 wait        in process, same model
//	L5 park        as a row, within the horizon
//	L4's rest      past the horizon, once
//	L6 re-arm      sent again much later
//	L7 owed        kept until something wakes it; with nothing of all this: the end
//
// (L2 is the classification that made the Failure.) What is remembered lies in an Episode, which is
// stored with the turn, a Run, which is not, and a Gate, which is shared by all turns of a model.
// Judge takes one failure through the gate and the ladder.
package ladder

import "time"

// Action is what a decision asks the engine to do.
type Action string

const (
	Resend   Action = "resend"   // L1: the same bytes again after Wait, inside the same send
	Fallback Action = "fallback" // L3: the next usable model at once; Cooldown is set on this one
	Wait     Action = "wait"     // L4: in process, same model
	Park     Action = "park"     // L5: as a row until Wait is over
	Rearm    Action = "rearm"    // L6
	Owe      Action = "owe"      // L7
	End      Action = "end"      // terminal text
	Trim     Action = "trim"     // too large: leave the oldest messages out and send once more
)

// Failure is a classified provider failure, as far as the ladder cares.
type Failure struct {
	Class     string // the words of llm.Class
	Status    int    // 0 without an HTTP answer
	Transient bool
	Stated    time.Duration // the wait the provider stated
	HasStated bool          // 0 is a statement
	Begun     bool          // a 200's headers had come: not resent by L1 (T3, T9)
	Silent    bool          // no byte in time (class timeout of ours): not resent by L1
}

// Episode is what must be remembered from an episode's first failed request to its end; it is
// stored with the turn as JSON.
type Episode struct {
	Parks    int                      `json:"parks,omitzero"`
	Backoff  time.Duration            `json:"backoff,omitzero"`  // sum of own back-off waits (L1, L4, L5), against park_horizon
	Requests int                      `json:"requests,omitzero"` // against max_requests; counted by the engine, before Decide
	Stated   map[string]time.Duration `json:"stated,omitempty"`  // PROVIDER/MODEL → sum of its stated waits
	Resumed  bool                     `json:"resumed,omitzero"`  // a run of it has ended: L1 is over. Set by a Park, Rearm or Owe; where a run ends otherwise (crash, gate) by the engine
	Spent    bool                     `json:"spent,omitzero"`    // the horizon is passed: being down no longer keeps its sends back
	Trimmed  bool                     `json:"trimmed,omitzero"`
	Halved   map[string]bool          `json:"halved,omitempty"` // models asked at half a stated wait (stated_wait_early)
	Early    bool                     `json:"early,omitzero"`   // the wait now planned ends inside a hold on purpose: its send may pass it
}

// Last reports whether the request that Requests has just counted was the last that max_requests allows.
func (e Episode) Last(c Config) bool { return c.MaxRequests > 0 && e.Requests >= c.MaxRequests }

// Run is what is remembered of one run, in memory only. The zero value is a run that has not begun.
type Run struct {
	Waits map[string]int  // PROVIDER/MODEL → L4 waits made on it in this run
	Tried map[string]bool // models left by L3 in this run
}

// Situation is everything else a decision rests on.
type Situation struct {
	Now         time.Time
	Model       string        // PROVIDER/MODEL of the failed request
	FailFast    bool          // lane
	Durable     bool          // [engine] durable
	FallbackOK  bool          // a usable fallback exists (L3's definition, judged by the engine)
	Resends     int           // L1 resends made in this send
	Waited      time.Duration // retry waits of this run so far (fail-fast lane's sum)
	Remaining   time.Duration // until the turn's deadline; <= 0 = passed
	GateUntil   time.Time     // end of the gate's closing after this failure was counted; zero = open
	GateHold    bool          // … and it is a hold, not only down
	Asked       bool          // this send waited at the gate and asks for all: one request, no resends. A resend that waits out its own hold is not one
	AskedDown   bool          // … at a gate that was down
	OneShot     bool          // a re-armed or owed turn's run before a step has completed
	Owed        bool          // … of an owed turn
	Rearms      int           // re-arms made so far (the conversation's count)
	CanRearm    bool          // a durable-lane turn whose answer's place is certain (R3, R6)
	LastRequest bool          // Requests has reached max_requests; not looked at for an owed turn
}

// Decision is the ladder's answer.
type Decision struct {
	Do       Action
	Rung     string        // "L1", "L3" … "L7"; "" for End and Trim
	Wait     time.Duration // planned wait from Situation.Now, whole milliseconds. Owe: 0 = not known
	From     string        // "backoff" | "retry-after" | "gate" | "rearm"; "" without a wait
	N, Max   int           // this rung's wait, from 1, and its limit (0 = none): the log line's attempt and max
	Cooldown time.Duration // Fallback, and an account's failure: how long the model is passed over
	Why      string        // End, Owe: "refused" | "no_retry" | "certificate" | "too_large" | "deadline" | "canceled" | "unclassified" | "stated_wait" | "max_requests" | "account" | "spent" | "busy"
	Episode  Episode       // to be stored
	Run      Run           // to be kept
}
