package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"holdfast/store"
	"holdfast/web/command"
)

// patience is what a question gets to be answered.
const patience = 12 * time.Second

// checks are what the selftest does, in this order.
func checks() []check {
	return []check{
		{"Somebody asks.", "It is answered.", checkPlain},
		{"The provider answers 503 three times.", "The question waits and is asked again, a little later each time.", checkBusy},
		{"The provider asks to wait 2 seconds (429).", "Nothing is sent before they are over.", checkStated},
		{"The connection is reset before the answer.", "It is asked again.", checkReset},
		{"The answer breaks off in the middle.", "It is asked again; one whole answer takes the place of the half one.", checkCut},
		{"The provider falls silent in the middle.", "After a while it is given up and asked again.", checkIdle},
		{"The daemon is killed (-9) while a question waits, and started again.", "The question still waits as long as the provider has asked, and is answered.", checkKilledWaiting},
		{"It is killed while a question waits, and comes back too late.", "The question is asked at once.", checkKilledLate},
		{"It is killed in the middle of an answer.", "After the start one whole answer comes.", checkKilledAnswering},
		{"It is killed right after a message, and the page sends that again.", "One message, one answer.", checkSentTwice},
		{"The provider is down. Three questions fail, and 20 more come in.", "One asks for all; when it is back, all are answered, 4 at a time.", checkDown},
		{"A waiting question is stopped.", "It ends, and nothing is sent for it any more.", checkStopped},
		{"It is killed once more, and its store is looked through.", "The store is sound; every question has one answer.", checkStore},
	}
}

// answered waits until a question is answered, and looks that its chat shows it and one answer.
func (t *trial) answered(ctx context.Context, q question) (turn, error) {
	var got turn
	err := t.until(ctx, patience, "no answer came", func() bool {
		got = t.turn(q.turn)
		return got.State == "done"
	})
	if err != nil {
		if now := t.turn(q.turn); now.ID != "" {
			err = fmt.Errorf("%w: it is %s", err, now.words(time.Now()))
		}
		return got, err
	}
	if got.Outcome != "answered" {
		return got, fmt.Errorf("it ended without an answer: %s", oneLine(got.Text, 100))
	}
	shown, err := t.transcript(q.chat)
	if err != nil {
		return got, err
	}
	if len(shown) != 2 || shown[0].Text != q.text || shown[1].Role != "bot" || shown[1].Text != got.Text {
		return got, fmt.Errorf("the chat shows %s where a question and an answer belong", counted(len(shown), "message"))
	}
	return got, nil
}

// met asks something that meets a fault, and returns the requests that it took.
func (t *trial) met(ctx context.Context, text string, statuses ...int) ([]request, error) {
	q, err := t.ask(text)
	if err != nil {
		return nil, err
	}
	if _, err := t.answered(ctx, q); err != nil {
		return nil, err
	}
	made := t.model.since(q.before)
	if len(made) != len(statuses) {
		return made, fmt.Errorf("%s were sent, where %d belong", counted(len(made), "request"), len(statuses))
	}
	for i, r := range made {
		if r.status != statuses[i] {
			return made, fmt.Errorf("request %d got status %d, where %d belongs", i+1, r.status, statuses[i])
		}
	}
	return made, nil
}

// gap is how long after the one before it a request came.
func gap(made []request, i int) time.Duration { return made[i].at.Sub(made[i-1].at) }

// said is a length as the table has it.
func said(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func checkPlain(ctx context.Context, t *trial) (string, error) {
	begin := time.Now()
	if _, err := t.met(ctx, "hello", 200); err != nil {
		return "", err
	}
	return "answered after " + said(time.Since(begin)), nil
}

func checkBusy(ctx context.Context, t *trial) (string, error) {
	made, err := t.met(ctx, "!fail 503 3 are you there?", 503, 503, 503, 200)
	if err != nil {
		return "", err
	}
	for i, least := range []time.Duration{50 * time.Millisecond, 100 * time.Millisecond, 100 * time.Millisecond} {
		if got := gap(made, i+1); got < least {
			return "", fmt.Errorf("request %d came after %d ms, too early", i+2, got.Milliseconds())
		}
	}
	return fmt.Sprintf("asked again after %d, %d and %d ms, then answered", gap(made, 1).Milliseconds(), gap(made, 2).Milliseconds(), gap(made, 3).Milliseconds()), nil
}

func checkStated(ctx context.Context, t *trial) (string, error) {
	made, err := t.met(ctx, "!fail 429 2s are you there?", 429, 200)
	if err != nil {
		return "", err
	}
	if got := gap(made, 1); got < 2*time.Second {
		return "", fmt.Errorf("asked again after %s, too early", said(got))
	}
	return fmt.Sprintf("asked again after %.2f s, then answered", gap(made, 1).Seconds()), nil
}

func checkReset(ctx context.Context, t *trial) (string, error) {
	if _, err := t.met(ctx, "!fail reset 1 are you there?", 0, 200); err != nil {
		return "", err
	}
	return "answered at the second try", nil
}

func checkCut(ctx context.Context, t *trial) (string, error) {
	if _, err := t.met(ctx, "!fail cut 1 are you there?", 200, 200); err != nil {
		return "", err
	}
	return "one whole answer, at the second try", nil
}

func checkIdle(ctx context.Context, t *trial) (string, error) {
	made, err := t.met(ctx, "!fail idle 1 are you there?", 200, 200)
	if err != nil {
		return "", err
	}
	return "given up and asked again after " + said(gap(made, 1)), nil
}

func checkDown(ctx context.Context, t *trial) (string, error) {
	if _, err := t.met(ctx, "!fail 503", 200); err != nil { // it says that it will
		return "", err
	}
	first := t.model.count()
	asked, err := t.askMany(3)
	if err != nil {
		return "", err
	}
	if err := t.until(ctx, patience, "the model does not count as down", t.down); err != nil {
		return "", err
	}
	then := t.model.count()
	more, err := t.askMany(20)
	if err != nil {
		return "", err
	}
	asked = append(asked, more...)
	if err := rest(ctx, 2*time.Second); err != nil {
		return "", err
	}
	now := t.model.count()
	t.model.atOnce()
	if err := t.heal(ctx); err != nil {
		return "", err
	}
	for _, q := range asked {
		if _, err := t.answered(ctx, q); err != nil {
			return "", err
		}
	}
	most := t.model.atOnce()
	seen := fmt.Sprintf("%d requests for the first 3, then %d for all %d in 2 s; all answered, at most %d at once", then-first, now-then, len(asked), most)
	if now-then > 10 || most > 4 {
		return "", errors.New(seen)
	}
	return seen, nil
}

// askMany lets several people ask.
func (t *trial) askMany(n int) (list []question, err error) {
	for range n {
		q, err := t.ask("are you there?")
		if err != nil {
			return nil, err
		}
		list = append(list, q)
	}
	return list, nil
}

// down tells whether the model counts as down.
func (t *trial) down() bool {
	closed, err := t.house.closedGates(time.Now())
	return err == nil && closed != ""
}

func checkStopped(ctx context.Context, t *trial) (string, error) {
	q, err := t.waits(ctx, "!fail 429 1s are you there?")
	if err != nil {
		return "", err
	}
	var done struct{}
	if err := t.house.post(order{Cmd: command.Stop, Target: q.turn}, &done); err != nil {
		return "", err
	}
	if err := rest(ctx, 1500*time.Millisecond); err != nil {
		return "", err
	}
	got := t.turn(q.turn)
	if n := t.model.count() - q.before; got.Outcome != "cancelled" || n != 1 {
		return "", fmt.Errorf("it is %s, after %s", got.words(time.Now()), counted(n, "request"))
	}
	return "stopped, and nothing was sent after", nil
}

func checkStore(ctx context.Context, t *trial) (string, error) {
	for _, id := range t.turns {
		got := t.turn(id)
		if got.State != "done" {
			return "", fmt.Errorf("turn %s is %s", id, got.words(time.Now()))
		}
	}
	t.kill()
	st, err := store.OpenReader(store.Config{Dir: t.store()})
	if err != nil {
		return "", err
	}
	defer st.Close()
	if err := st.Check(); err != nil {
		return "", err
	}
	counts, err := st.Counts()
	if err != nil {
		return "", err
	}
	all := int64(0)
	for _, n := range counts {
		all += n
	}
	if all != counts[store.Done] || int(all) != len(t.turns) {
		return "", fmt.Errorf("%d turns are stored and %d done, where %d were asked", all, counts[store.Done], len(t.turns))
	}
	return fmt.Sprintf("sound; %d questions, none lost, none twice", all), nil
}
