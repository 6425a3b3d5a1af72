package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"holdfast/engine/llm"
)

// questions are put to whoever sits at the terminal; without anybody every default is taken.
type questions struct {
	place place
	in    *bufio.Reader
	out   io.Writer
	ask   bool
}

// errUnanswered ends an init whose input has ended.
var errUnanswered = errors.New("no answer came, so nothing was written")

// put asks until there is an answer that good takes; an empty one is def.
func (q *questions) put(question, def string, good func(string) string) (string, error) {
	for q.ask {
		fmt.Fprint(q.out, question)
		if def != "" {
			fmt.Fprintf(q.out, " [%s]", def)
		}
		fmt.Fprint(q.out, ": ")
		line, err := q.in.ReadString('\n')
		answer := strings.TrimSpace(line)
		if answer == "" {
			answer = def
		}
		why := good(answer)
		if why == "" {
			return answer, nil
		}
		if err != nil {
			fmt.Fprintln(q.out)
			return "", errUnanswered
		}
		fmt.Fprintln(q.out, why)
	}
	return def, nil
}

// knownProviders are those that need no section.
func knownProviders() []string {
	return []string{"openai", "anthropic", "openrouter", "groq", "gemini", "mistral", "deepseek", "ollama", "lmstudio", "demo"}
}

// chatPlatforms are where people can talk besides the page.
func chatPlatforms() []string { return []string{"slack", "discord", "telegram"} }

// askProvider finds out who answers: as said, else what the environment has a key for.
func (i *initCmd) askProvider(ctx context.Context, q *questions) (err error) {
	if i.Provider == "" {
		found, _ := q.place.detect(ctx)
		name, model, _ := strings.Cut(found, "/")
		def := name
		if found == demoModel {
			def = ""
		}
		if def == "" && !q.ask {
			return errors.New("no model was found: no key is in the environment, and no Ollama answers; name a provider, for example: holdfast init --provider openai")
		}
		i.Provider, err = q.put("Who answers? One of "+strings.Join(knownProviders(), ", ")+", or a name of your own", def, goodProvider)
		if err != nil {
			return err
		}
		if i.Provider == name && name == "ollama" && i.Model == "" {
			i.Model = model
		}
	}
	if why := goodProvider(i.Provider); why != "" {
		return errors.New(why)
	}
	if !slices.Contains(knownProviders(), i.Provider) && i.BaseURL == "" {
		i.BaseURL, err = q.put("Where is it? Its address, up to before /chat/completions", "", notEmpty)
		if err == nil && i.BaseURL == "" {
			err = fmt.Errorf("%s is no known provider; say where it is: --base-url https://…, or use one of %s", i.Provider, strings.Join(knownProviders(), ", "))
		}
		if err == nil && q.ask && i.KeyEnv == "" {
			i.KeyEnv, err = q.put("Which environment variable holds its key? Empty if it needs none", "", func(string) string { return "" })
		}
	}
	if _, keyVar, _ := llm.Known(i.Provider); i.KeyEnv == keyVar { // it is looked at anyway
		i.KeyEnv = ""
	}
	return err
}

func goodProvider(name string) string {
	if !goodName.MatchString(name) {
		return fmt.Sprintf("%q is no name; use 1 to 64 of A-Z a-z 0-9 _ . -", name)
	}
	return ""
}

func notEmpty(s string) string {
	if s == "" {
		return "Please write something."
	}
	return ""
}

// askModel finds out which model answers.
func (i *initCmd) askModel(ctx context.Context, q *questions) (err error) {
	if i.Model != "" {
		i.Model = strings.TrimPrefix(i.Model, i.Provider+"/")
		return nil
	}
	i.Model, err = q.put("Which model?", usualModel(ctx, q.place, i.Provider), notEmpty)
	if err == nil && i.Model == "" {
		err = fmt.Errorf("say which model of %s answers: --model NAME", i.Provider)
	}
	return err
}

// usualModel is what to begin with at a provider; "" if there is none.
func usualModel(ctx context.Context, p place, provider string) string {
	for _, d := range detectable() {
		if d.provider == provider {
			return d.model
		}
	}
	switch provider {
	case "mistral":
		return "mistral-small-latest"
	case "deepseek":
		return "deepseek-chat"
	case "ollama":
		return ollamaModel(ctx, strings.TrimSuffix(llm.OllamaURL(p.get("OLLAMA_HOST")), "/v1"))
	case "demo":
		return "demo"
	}
	return ""
}

// askSurfaces finds out where people talk.
func (i *initCmd) askSurfaces(_ context.Context, q *questions) error {
	if len(i.Surface) > 0 || !q.ask {
		return nil
	}
	answer, err := q.put("Where do people talk to it, besides the page? Any of slack, discord, telegram; empty for none", "", func(s string) string {
		for _, name := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' }) {
			if !slices.Contains(chatPlatforms(), strings.ToLower(name)) {
				return fmt.Sprintf("%q is none of them.", name)
			}
		}
		return ""
	})
	if err != nil {
		return err
	}
	for _, name := range strings.FieldsFunc(strings.ToLower(answer), func(r rune) bool { return r == ',' || r == ' ' }) {
		if !slices.Contains(i.Surface, name) {
			i.Surface = append(i.Surface, name)
		}
	}
	return nil
}

// askManifest offers Slack's manifest.
func (i *initCmd) askManifest(_ context.Context, q *questions) error {
	if i.Manifest != "" || !q.ask || !slices.Contains(i.Surface, "slack") {
		return nil
	}
	answer, err := q.put("Write a manifest from which Slack makes the app? Its file, or no", "slack-manifest.yaml", func(string) string { return "" })
	if err == nil && !strings.EqualFold(answer, "no") && !strings.EqualFold(answer, "n") {
		i.Manifest = answer
	}
	return err
}

// variable is one of the environment, and where its value comes from.
type variable struct{ name, from string }

// variables are those that the config needs.
func (i *initCmd) variables() (list []variable) {
	if i.KeyEnv != "" {
		list = append(list, variable{i.KeyEnv, "the key of " + i.Provider})
	} else if _, keyVar, _ := llm.Known(i.Provider); keyVar != "" {
		list = append(list, variable{keyVar, "the key of " + labels()[i.Provider] + ": " + keyPages()[i.Provider]})
	}
	for _, s := range i.Surface {
		switch s {
		case "slack":
			list = append(list, variable{"SLACK_APP_TOKEN", "xapp-…: https://api.slack.com/apps → your app → Basic Information → App-Level Tokens (scope connections:write)"},
				variable{"SLACK_BOT_TOKEN", "xoxb-…: https://api.slack.com/apps → your app → OAuth & Permissions → Install, then Bot User OAuth Token"})
		case "discord":
			list = append(list, variable{"DISCORD_TOKEN", "https://discord.com/developers/applications → your app → Bot → Reset Token"})
		case "telegram":
			list = append(list, variable{"TELEGRAM_TOKEN", "from https://t.me/BotFather: /newbot"})
		}
	}
	return list
}

// keyPages are where providers give out keys.
func keyPages() map[string]string {
	return map[string]string{
		"openai": "https://platform.openai.com/api-keys", "anthropic": "https://console.anthropic.com/settings/keys",
		"openrouter": "https://openrouter.ai/keys", "groq": "https://console.groq.com/keys", "gemini": "https://aistudio.google.com/apikey",
		"mistral": "https://console.mistral.ai/api-keys", "deepseek": "https://platform.deepseek.com/api_keys",
	}
}
