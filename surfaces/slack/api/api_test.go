package api

import (
	"errors"
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
		if got := Words(c[0], "U0BOT", name); got != c[1] {
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
		if got != c.want || !errors.Is(err, c.err) && Reason(err) != Reason(c.err) {
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
