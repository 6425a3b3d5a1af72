package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// waits asks something and lets it come to wait for as long as the provider has asked.
func (t *trial) waits(ctx context.Context, text string) (question, error) {
	q, err := t.ask(text)
	if err != nil {
		return q, err
	}
	return q, t.until(ctx, patience, "the question does not come to wait", func() bool { return t.turn(q.turn).State == "parked" })
}

func checkKilledWaiting(ctx context.Context, t *trial) (string, error) {
	q, err := t.waits(ctx, "!fail 429 3s are you there?")
	if err != nil {
		return "", err
	}
	t.kill()
	if err := t.start(ctx); err != nil {
		return "", err
	}
	if got := t.turn(q.turn); got.State != "parked" {
		return "", fmt.Errorf("after the start the question is %s", got.words(time.Now()))
	}
	if _, err := t.answered(ctx, q); err != nil {
		return "", err
	}
	made := t.model.since(q.before)
	if len(made) != 2 || gap(made, 1) < 3*time.Second {
		return "", fmt.Errorf("%s were sent, the last %s after the first", counted(len(made), "request"), said(made[len(made)-1].at.Sub(made[0].at)))
	}
	return fmt.Sprintf("asked %.2f s after it was told to wait 3 s, then answered", gap(made, 1).Seconds()), nil
}

func checkKilledLate(ctx context.Context, t *trial) (string, error) {
	q, err := t.waits(ctx, "!fail 429 1s are you there?")
	if err != nil {
		return "", err
	}
	t.kill()
	if err := rest(ctx, 1500*time.Millisecond); err != nil {
		return "", err
	}
	if n := t.model.count() - q.before; n != 1 {
		return "", fmt.Errorf("%s were sent while nothing ran", counted(n-1, "request"))
	}
	begin := time.Now()
	if err := t.start(ctx); err != nil {
		return "", err
	}
	if _, err := t.answered(ctx, q); err != nil {
		return "", err
	}
	made := t.model.since(q.before)
	if len(made) != 2 {
		return "", fmt.Errorf("%s were sent, where 2 belong", counted(len(made), "request"))
	}
	return fmt.Sprintf("asked %d ms after the daemon was started, then answered", made[1].at.Sub(begin).Milliseconds()), nil
}

func checkKilledAnswering(ctx context.Context, t *trial) (string, error) {
	q, err := t.ask("count to 30")
	if err != nil {
		return "", err
	}
	err = t.until(ctx, patience, "no answer begins", func() bool {
		made := t.model.since(q.before)
		return len(made) == 1 && made[0].status == http.StatusOK && time.Since(made[0].at) > 500*time.Millisecond
	})
	if err != nil {
		return "", err
	}
	t.kill()
	if err := t.start(ctx); err != nil {
		return "", err
	}
	got, err := t.answered(ctx, q)
	if err != nil {
		return "", err
	}
	if want := got.Text; len(want) < 20 || want[:4] != "1, 2" || want[len(want)-3:] != "30." {
		return "", errors.New("the answer is not whole: " + oneLine(got.Text, 60))
	}
	return "killed after 0.5 s of the answer; then one whole answer", nil
}

func checkSentTwice(ctx context.Context, t *trial) (string, error) {
	t.chats++
	q := question{chat: fmt.Sprintf("check%d", t.chats), text: "are you there?", before: t.model.count()}
	id := rand.Text()
	first, _, err := t.say(id, q.chat, q.text)
	if err != nil {
		return "", err
	}
	t.kill()
	if err := t.start(ctx); err != nil {
		return "", err
	}
	second, known, err := t.say(id, q.chat, q.text)
	switch {
	case err != nil:
		return "", err
	case !known || second != first:
		return "", errors.New("the second one made another turn")
	}
	q.turn = first
	if _, err := t.answered(ctx, q); err != nil {
		return "", err
	}
	return "the second was known; one message, one answer", nil
}
