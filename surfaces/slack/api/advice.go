package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const appsPage = "https://api.slack.com/apps"

// Lasting makes an error that no new try mends one that says what to do; nil for any other. token is
// the key of the config that was used: "app_token" or "bot_token".
func Lasting(token string, err error) error {
	if a := advice(token, reason(err)); a != "" {
		return errors.New(a)
	}
	return nil
}

// advice says what to do about an error that no new try mends; "" for any other.
func advice(token, why string) string {
	where := appsPage + " → your app → OAuth & Permissions → Bot User OAuth Token (xoxb-…)"
	if token == "app_token" {
		where = appsPage + " → your app → Basic Information → App-Level Tokens (xapp-…, with the scope connections:write)"
	}
	switch why {
	case "invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired":
		return fmt.Sprintf("Slack does not accept %s (%s): copy it anew from %s and start again", token, why, where)
	case "not_allowed_token_type":
		return fmt.Sprintf("%s is of the wrong kind (%s): the right one is at %s", token, why, where)
	case "missing_scope", "team_access_not_granted":
		if token == "app_token" {
			return fmt.Sprintf("%s lacks the scope connections:write (%s): make a new one at %s", token, why, where)
		}
		return fmt.Sprintf("the app lacks a scope (%s): add what the command doctor names at %s → your app → OAuth & Permissions → Scopes, then click Reinstall to Workspace", why, appsPage)
	}
	return ""
}

// blocked says what to do where Slack does not let the bot write; "" if that is not the trouble.
func blocked(why string) string {
	switch {
	case why == "messages_tab_disabled":
		return "let people write to the app: " + appsPage + " → your app → App Home → Show Tabs → Messages Tab, and allow messages from it"
	case strings.HasPrefix(why, "restricted_action"):
		return "an administrator of the workspace must let the app post there"
	}
	return ""
}

// scopes are what the bot token must have, and what it is good for.
func scopes() [][2]string {
	return [][2]string{
		{"app_mentions:read", "to hear mentions"}, {"chat:write", "to answer"}, {"im:history", "to read direct messages"},
		{"channels:history", "to read channels"}, {"groups:history", "to read private channels"}, {"mpim:history", "to read group messages"},
		{"users:read", "to know names"}, {"im:write", "to open direct messages"}, {"channels:read", "to catch up after a stop"},
		{"groups:read", "to catch up after a stop"}, {"im:read", "to catch up after a stop"}, {"mpim:read", "to catch up after a stop"},
	}
}

// Check asks Slack whether everything is as it must be, and returns what is not, with what to do and
// where to click; nil if all is well.
func (c *Client) Check(ctx context.Context, channels []string) (problems []string) {
	self, err := c.Self(ctx)
	switch a := advice("bot_token", reason(err)); {
	case a != "":
		problems = append(problems, a)
	case err != nil:
		return []string{fmt.Sprintf("Slack cannot be reached: %v; look at the network, or at [[slack]] api_url", err)}
	default:
		problems = append(problems, missing(self.Scopes)...)
	}
	_, err = c.Socket(ctx)
	switch a := advice("app_token", reason(err)); {
	case a != "":
		problems = append(problems, a)
	case err != nil:
		problems = append(problems, fmt.Sprintf("Socket Mode does not open (%v): switch it on at %s → your app → Socket Mode", err, appsPage))
	}
	for _, id := range channels {
		if what := c.reached(ctx, id); what != "" {
			problems = append(problems, what)
		}
	}
	return problems
}

// missing compares the scopes that were granted with those that are needed.
func missing(granted string) (problems []string) {
	if granted == "" {
		return nil
	}
	have := strings.Split(strings.ReplaceAll(granted, " ", ""), ",")
	for _, need := range scopes() {
		if !slices.Contains(have, need[0]) {
			problems = append(problems, fmt.Sprintf("the app lacks the scope %s (%s): add it at %s → your app → OAuth & Permissions → Scopes, then click Reinstall to Workspace", need[0], need[1], appsPage))
		}
	}
	return problems
}

// Manifest is the app as Slack can be told it: api.slack.com/apps → Create New App → From a manifest.
func Manifest(name string) string {
	var list strings.Builder
	for _, scope := range scopes() {
		list.WriteString("      - " + scope[0] + "\n")
	}
	return fmt.Sprintf(`display_information:
  name: %[1]q
features:
  app_home:
    home_tab_enabled: false
    messages_tab_enabled: true
    messages_tab_read_only_enabled: false
  bot_user:
    display_name: %[1]q
    always_online: true
oauth_config:
  scopes:
    bot:
%[2]ssettings:
  event_subscriptions:
    bot_events:
      - app_mention
      - message.channels
      - message.groups
      - message.im
      - message.mpim
  interactivity:
    is_enabled: true
  org_deploy_enabled: false
  socket_mode_enabled: true
  token_rotation_enabled: false
`, name, list.String())
}
