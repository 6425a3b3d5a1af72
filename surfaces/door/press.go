package door

import (
	"context"
	"time"

	"holdfast/engine"
)

// Command is what people can say to every bot, with "!" before it or as the platform's own command.
type Command struct{ Name, What string }

// Commands are those that a platform can list for people.
func Commands() []Command {
	return []Command{
		{"stop", "End what the bot is working on"},
		{"new", "Start afresh, without what was said before"},
		{"retry", "Try the last failed or waiting question again"},
		{"approve", "Let the bot do what it has asked to do"},
		{"deny", "Do not let the bot do what it has asked to do"},
		{"status", "Tell what waits, and for what"},
		{"help", "List the commands"},
	}
}

// Press carries out a button (see engine.Button.Key) and returns what to tell the one who pressed it.
func (d *Door) Press(ctx context.Context, key, who string) string {
	text, err := d.engine.Press(ctx, engine.PressedKey(key, d.Person(who)))
	if err != nil {
		d.log.Error("a button could not be obeyed", "surface", d.name, "err", err)
	}
	return text
}

// Aside answers a button or a command beside the line, also while that ends, but no longer than
// within; see Finish.
func (d *Door) Aside(ctx context.Context, within time.Duration, answer func(context.Context) error) {
	d.hands.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
		defer cancel()
		if err := answer(ctx); err != nil {
			d.log.Debug("who pressed a button could not be told", "surface", d.name, "err", err)
		}
	})
}

// Finish waits for the answers that are on their way.
func (d *Door) Finish() { d.hands.Wait() }
