package gateway

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gorilla/websocket"
)

// Fatal is an end that no new try mends; its text says what to do and where.
type Fatal struct {
	Code int // the close code
	What string
}

func (f *Fatal) Error() string { return f.What }

// where is where bots are set up.
const where = "https://discord.com/developers/applications → the application → Bot"

// Close codes with a meaning of their own.
const (
	BadToken  = 4004
	NoContent = 4014 // the Message Content intent is not turned on
)

// ForGood is what is wrong for good behind a close code; nil for any other.
func ForGood(code int) *Fatal {
	switch code {
	case BadToken:
		return &Fatal{code, "Discord does not take the token; make a new one (" + where + " → Reset Token), write it to [[discord]] token or DISCORD_TOKEN, and start again"}
	case 4010, 4011:
		return &Fatal{code, fmt.Sprintf("the bot is in more servers than one connection may serve (close code %d); take it out of some, or run several bots", code)}
	case 4012:
		return &Fatal{code, "Discord does not speak this version of its gateway any more (close code 4012); update holdfast"}
	case 4013:
		return &Fatal{code, "Discord does not know the intents asked for (close code 4013); update holdfast"}
	case NoContent:
		return &Fatal{code, `Discord does not let the bot read all messages; turn on "Message Content Intent" (` + where + ` → Privileged Gateway Intents), or write reply = "mention" into [[bot]], and start again`}
	}
	return nil
}

// again is an end that says how to go on.
type again struct {
	why    string
	forget bool          // the session cannot be resumed
	wait   time.Duration // before the next try; below 0 = as after a failure
}

func (a *again) Error() string { return a.why }

// asked is Discord's wish for a new connection (op 7).
func asked() error { return &again{why: "Discord asked to connect anew"} }

// invalid is Discord's word on a session (op 9), which wants 1 to 5 s of silence.
func invalid(resumable bool) error {
	return &again{why: "the session is not valid", forget: !resumable, wait: time.Second + rand.N(4*time.Second)}
}

// ended reads why a connection ended.
func ended(err error) error {
	c, ok := errors.AsType[*websocket.CloseError](err)
	if !ok {
		return err
	}
	if f := ForGood(c.Code); f != nil {
		return f
	}
	return &again{why: fmt.Sprintf("Discord closed the line: %d %s", c.Code, c.Text), forget: c.Code == 4007 || c.Code == 4009, wait: -1}
}
