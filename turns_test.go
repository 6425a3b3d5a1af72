package main

import (
	"strings"
	"testing"
	"time"
)

func TestTurnInWords(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.Local)
	soon, tomorrow := now.Add(45*time.Second), now.Add(24*time.Hour)
	busy := &reason{Why: "failure", Class: "overloaded", Status: 503, Text: "OpenAI is overloaded"}
	for want, turn := range map[string]turn{
		"queued for a worker":    {State: "queued"},
		"running":                {State: "running"},
		"done: answered":         {State: "done", Outcome: "answered"},
		"done: joined turn 0abc": {State: "done", Outcome: "merged", Merged: "0abc"},
		"retrying until 12:00:45: OpenAI is overloaded (503)":          {State: "retrying", RetryAt: &soon, Reason: busy},
		"parked until 2026-05-05 12:00:00: OpenAI is overloaded (503)": {State: "parked", RetryAt: &tomorrow, Reason: busy},
		"parked: rate_limit (429)":                                     {State: "parked", Reason: &reason{Why: "gate", Class: "rate_limit", Status: 429}},
		"re-arming 1 of 3 at 12:00:45: OpenAI is overloaded (503)":     {State: "rearming", RetryAt: &soon, Rearm: &ofCount{1, 3}, Reason: busy},
		"owed, asks again at 12:00:45: says (503)":                     {State: "owed", RetryAt: &soon, Rearm: &ofCount{3, 3}, Reason: &reason{Status: 503, Text: "says (503)"}},
		"owed: account": {State: "owed", Reason: &reason{Why: "account"}},
	} {
		if got := turn.words(now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestLength(t *testing.T) {
	for ms, want := range map[int64]string{
		0: "0 ms", 400: "400 ms", 1500: "1.5 s", 2000: "2 s", 45_000: "45 s", 65_000: "1 min 5 s", 900_000: "15 min", 12_000_000: "3 h 20 min", 100_000_000: "1 d 3 h",
	} {
		if got := length(ms); got != want {
			t.Errorf("%d: %q, want %q", ms, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	var b strings.Builder
	table(&b, [][]string{{"TURN", "STATE"}, {"ü", "x"}, {"long one", ""}})
	if want := "TURN      STATE\nü         x\nlong one\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
	if got := oneLine("a  b\nc d e f", 6); got != "a b c…" {
		t.Error(got)
	}
}

func TestTunnel(t *testing.T) {
	for _, c := range []struct{ connection, want string }{
		{"", ""},
		{"10.0.0.1 50000 10.0.0.2 22", "ssh -L 8420:127.0.0.1:8420 ada@10.0.0.2"},
		{"10.0.0.1 50000 10.0.0.2 2222", "ssh -p 2222 -L 8420:127.0.0.1:8420 ada@10.0.0.2"},
	} {
		if got := tunnel(testPlace(map[string]string{"SSH_CONNECTION": c.connection, "USER": "ada"}), "127.0.0.1:8420"); got != c.want {
			t.Errorf("%q: %q", c.connection, got)
		}
	}
}

func TestDialable(t *testing.T) {
	for in, want := range map[string]string{"127.0.0.1:8420": "127.0.0.1:8420", "0.0.0.0:80": "127.0.0.1:80", ":80": "127.0.0.1:80", "[::]:80": "127.0.0.1:80", "10.0.0.2:80": "10.0.0.2:80"} {
		if got := dialable(in); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}
