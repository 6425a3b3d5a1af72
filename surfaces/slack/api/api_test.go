package api

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"
)

func TestWords(t *testing.T) {
	name := func(id string) string { return map[string]string{"U0ALICE": "alice"}[id] }
	for _, c := range [][2]string{
		{"<@U0BOT> !stop", "!stop"},
		{"<@U0BOT|ada>: hi <@U0BOT>", "hi"},
		{"ask <@U0BOT> or <@U0ALICE>", "ask @you or @alice"},
		{"a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"},
		{
			"see <https://example.org/x?a=1&amp;b=2> and <http://example.org|example.org> and <https://example.org|the page>",
			"see https://example.org/x?a=1&b=2 and http://example.org and the page (https://example.org)",
		},
		{"<mailto:a@b.org|a@b.org> in <#C01|general>, <!here> <!subteam^S1|@crew> <!date^1^{time}|noon>", "a@b.org in #general, @here @crew @noon"},
		{"<@U0BOT>", ""},
	} {
		if got := words(c[0], "U0BOT", name); got != c[1] {
			t.Errorf("%q: %q, want %q", c[0], got, c[1])
		}
	}
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Verdict
	}{
		{errors.New("connection reset"), Unsure},
		{slack.StatusCodeError{Code: 503}, Unsure},
		{slack.SlackErrorResponse{Err: "internal_error"}, Unsure},
		{&slack.RateLimitedError{RetryAfter: 7 * time.Second}, Later},
		{slack.SlackErrorResponse{Err: "rate_limited"}, Later},
		{slack.SlackErrorResponse{Err: "token_revoked"}, Mend},
		{slack.SlackErrorResponse{Err: "missing_scope"}, Mend},
		{slack.SlackErrorResponse{Err: "messages_tab_disabled"}, Mend},
		{slack.SlackErrorResponse{Err: "restricted_action_read_only_channel"}, Mend},
		{slack.SlackErrorResponse{Err: "message_not_found"}, Never},
		{slack.SlackErrorResponse{Err: "cant_update_message"}, Never},
		{slack.SlackErrorResponse{Err: "edit_window_closed"}, Never},
		{slack.SlackErrorResponse{Err: "is_inactive"}, Never},
		{slack.SlackErrorResponse{Err: "is_archived"}, Never},
		{slack.SlackErrorResponse{Err: "not_in_channel"}, Never},
	} {
		got, err := Judge(c.err)
		if got != c.want || !errors.Is(err, c.err) && reason(err) != reason(c.err) {
			t.Errorf("%v: %v (%v), want %v", c.err, got, err, c.want)
		}
		if _, limited := errors.AsType[*Limited](err); limited != (got == Later) {
			t.Errorf("%v: a Limited is %v", c.err, limited)
		}
	}
}

func TestManifestNamesEveryScope(t *testing.T) {
	m := Manifest(`A "bot"`)
	for _, s := range scopes() {
		if !strings.Contains(m, "      - "+s[0]+"\n") {
			t.Errorf("%s is missing", s[0])
		}
	}
	if !strings.Contains(m, `name: "A \"bot\""`) || !strings.Contains(m, "socket_mode_enabled: true") || !strings.Contains(m, "messages_tab_read_only_enabled: false") {
		t.Error(m)
	}
}

// A limit of Slack's holds its method and no other.
func TestLimitHoldsItsMethod(t *testing.T) {
	p := newPace()
	limited := &slack.RateLimitedError{RetryAfter: 7 * time.Second}
	if err := p.met(methodUpdate, limited); err != error(limited) {
		t.Errorf("met hands through %v", err)
	}
	if err := p.turn(methodPost, "C1", "p1", postGap, 0); err != nil {
		t.Errorf("posting: %v", err)
	}
	l, ok := errors.AsType[*Limited](p.turn(methodUpdate, "", "p2", updateGap, updateBurst))
	if !ok || l.After < 6*time.Second || l.After > 7*time.Second {
		t.Errorf("updating: %v", l)
	}
}

// A message is looked for before it is made again, unless every try so far was surely refused.
func TestRefusals(t *testing.T) {
	refused, lost := error(slack.SlackErrorResponse{Err: "not_in_channel"}), errors.New("connection reset")
	for name, c := range map[string]struct {
		tries []error // of this process, in order
		again bool    // before them another process has tried
		want  bool    // surely not made
	}{
		"nothing tried":                 {nil, false, false},
		"refused":                       {[]error{refused}, false, true},
		"refused twice":                 {[]error{refused, refused}, false, true},
		"limited":                       {[]error{&Limited{After: time.Second, Err: lost}}, false, true},
		"the answer was lost":           {[]error{lost}, false, false},
		"refused, then lost":            {[]error{refused, lost}, false, false},
		"lost, then refused":            {[]error{lost, refused}, false, false},
		"refused, then made":            {[]error{refused, nil}, false, false},
		"another process, then refused": {[]error{refused}, true, false},
	} {
		r := refusals{all: map[string]bool{}}
		for i, err := range c.tries {
			r.note("p1", Try{Again: c.again || i > 0}, err)
		}
		if got := r.has("p1"); got != c.want || r.has("p2") {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	r := refusals{all: map[string]bool{}}
	for i := range refusalsKept + 1 {
		r.note(strconv.Itoa(i), Try{}, refused)
	}
	if len(r.all) != 1 || !r.has(strconv.Itoa(refusalsKept)) {
		t.Errorf("%d are remembered", len(r.all))
	}
}

// A client that sends a message twice makes one of it (S1); what is remembered has an end.
func TestSentTwice(t *testing.T) {
	var s Sent
	s.Add(Event{Sent: "a", TS: "1"})
	s.Add(Event{TS: "9"})
	for e, want := range map[*Event]bool{{Sent: "a", TS: "2"}: true, {Sent: "a", TS: "1"}: false, {Sent: "b", TS: "2"}: false, {TS: "2"}: false} {
		if got := s.Again(*e); got != want {
			t.Errorf("%+v: %v", e, got)
		}
	}
	for i := range sentKept {
		s.Add(Event{Sent: "n" + strconv.Itoa(i), TS: "3"})
	}
	if len(s.ids) != sentKept || len(s.ts) != sentKept || s.Again(Event{Sent: "a", TS: "2"}) || !s.Again(Event{Sent: "n0", TS: "2"}) {
		t.Errorf("%d and %d are remembered", len(s.ids), len(s.ts))
	}
}

// A reader is never told a time earlier than it is.
func TestClock(t *testing.T) {
	at := time.Now().Add(time.Hour).Truncate(time.Minute)
	for _, d := range []time.Duration{0, time.Nanosecond, time.Second - 1} {
		want := at
		if d > 0 {
			want = at.Add(time.Second)
		}
		if got := Clock(at.Add(d)); got != fmt.Sprintf("<!date^%d^{time}|%s>", want.Unix(), want.UTC().Format("15:04 UTC")) {
			t.Errorf("%s later: %s", d, got)
		}
	}
	late := at.Add(48 * time.Hour)
	if got := Clock(late); got != fmt.Sprintf("<!date^%d^{date_short_pretty} {time}|%s>", late.Unix(), late.UTC().Format("2 Jan 15:04 UTC")) {
		t.Error(got)
	}
}
