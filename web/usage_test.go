package web

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"holdfast/engine"
	"holdfast/store"
)

// What was used stands per day, bot and model, with its cost where there is a price; a turn tells its own.
func TestUsage(t *testing.T) {
	g := newRig(t, nil)
	g.currency, g.prices = "EUR", pricesOf([]engine.Price{{Model: "p/m", Input: 2, Output: 10}})
	a, err := g.store.Admit(store.Admission{At: store.At(time.Now()), Bot: "ada", Key: "1", Kind: "message", Surface: "web", Channel: "c1", Person: "owner", Text: "x", Lane: "durable"})
	if err != nil {
		t.Fatal(err)
	}
	today := time.Now().In(g.location).Format(time.DateOnly)
	for i, model := range []string{"p/m", "p/m", "p/other"} {
		n, err := g.store.BeginRequest(store.Begin{Turn: a.Turn, At: store.At(time.Now()), Send: i + 1, NewSend: true, Model: model, Messages: 1})
		if err == nil {
			_, err = g.store.StepTurn(store.Stepped{Turn: a.Turn, At: store.At(time.Now()), Told: store.Told{
				Attempt: &store.AttemptEnd{N: n, StatedMS: -1, Outcome: "ok", TokensIn: 1000, TokensOut: 100},
				Tokens:  &store.Tokens{Day: today, Bot: "ada", Model: model, Requests: 1, In: 1000, Out: 100},
			}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	status, _, body := g.do(t, request{method: "GET", path: "/api/v1/usage?days=1", token: testToken})
	var got struct {
		Days     []usageJSON
		Currency string
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 || len(got.Days) != 2 || got.Currency != "EUR" {
		t.Fatalf("%d %s", status, body)
	}
	if d := got.Days[0]; d.Model != "p/m" || d.Requests != 2 || d.TokensIn != 2000 || d.TokensOut != 200 || d.Cost == nil || *d.Cost != 0.006 || got.Days[1].Cost != nil {
		t.Errorf("%s", body)
	}
	var whole struct{ Usage spentJSON }
	_, _, body = g.do(t, request{method: "GET", path: "/api/v1/turns/" + a.Turn.String(), token: testToken})
	if err := json.Unmarshal([]byte(body), &whole); err != nil || whole.Usage.TokensIn != 3000 || whole.Usage.Cost != nil {
		t.Errorf("%s", body)
	}
	if status, _, _ := g.do(t, request{method: "GET", path: "/api/v1/usage?days=0", token: testToken}); status != 400 {
		t.Errorf("days=0: %d", status)
	}
}

// What a person approves is shown whole, however long it is.
func TestApprovalIsShownWhole(t *testing.T) {
	long := `{"text":"` + strings.Repeat("x", 3*callShown) + `"}`
	got := showApproval(&engine.ApprovalShape{ID: 1, Kind: "approval", Calls: []engine.AskedCall{{Key: "k", Name: "write", Arguments: long}}})
	if len(got.Calls) != 1 || got.Calls[0].Args != long || got.Calls[0].Title != "write" {
		t.Errorf("%d of %d bytes", len(got.Calls[0].Args), len(long))
	}
}
