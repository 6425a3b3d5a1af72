package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"holdfast/engine/llm"
	"holdfast/web"
)

// reachTime is what a provider gets to answer the doctor.
const reachTime = 5 * time.Second

// lookAtProvider asks a provider for its list of models, with the key, and reads a failure as any
// other is read.
func (l *loaded) lookAtProvider(ctx context.Context, name string) finding {
	c := l.Providers[name]
	_, keyVar, _ := llm.Known(name)
	switch {
	case c.Wire == "demo":
		return finding{isWell, name, "is built in and answers without a model"}
	case keyVar != "" && c.APIKey == "" && len(c.Headers) == 0:
		return finding{isWrong, name, fmt.Sprintf("has no key: set %s, or write api_key in [provider.%s]", keyVar, name)}
	}
	begin := time.Now()
	list, f := look(ctx, c)
	took := "answers in " + length(time.Since(begin).Milliseconds())
	switch {
	case f == nil:
		return finding{isWell, name, took + unlisted(list, l.modelsOf(name))}
	case f.Status == http.StatusNotFound || f.Status == http.StatusMethodNotAllowed:
		return finding{isWell, name, took + "; it has no list of models to look at"}
	case f.Class == llm.RateLimit:
		return finding{isNoted, name, "answers, but " + f.Plain() + "; turns wait for it by themselves"}
	case f.Status == 0:
		return finding{isWrong, name, unreached(name, c, f)}
	}
	return finding{isWrong, name, fmt.Sprintf("%s (%d); %s", f.Plain(), f.Status, remedy(name, f))}
}

// remedy is what to do about an answer that is a failure. The provider's own words are not shown,
// since they may repeat a key.
func remedy(name string, f *llm.Failure) string {
	_, keyVar, _ := llm.Known(name)
	switch {
	case f.Class == llm.Auth && keyVar != "":
		return fmt.Sprintf("look at %s, or at api_key in [provider.%s]", keyVar, name)
	case f.Class == llm.Auth:
		return "look at api_key in [provider." + name + "]"
	case f.Class == llm.Quota:
		return "look at the account's plan and payments"
	case f.Transient:
		return "turns wait for it by themselves"
	}
	return "look at base_url in [provider." + name + "]"
}

// unreached says why there was no answer at all, and what to do.
func unreached(name string, c llm.Config, f *llm.Failure) string {
	why := f.Text
	if c.APIKey != "" {
		why = strings.ReplaceAll(why, c.APIKey, "…")
	}
	do := "look at the network, and at base_url in [provider." + name + "]"
	switch {
	case f.Certificate:
		do = "look at its certificate, and at this machine's clock"
	case name == "ollama" || name == "lmstudio":
		do = "start it there, or write base_url in [provider." + name + "]"
	}
	return fmt.Sprintf("%s at %s (%s); %s", f.Plain(), host(c.BaseURL), why, do)
}

// look makes the request.
func look(ctx context.Context, c llm.Config) ([]byte, *llm.Failure) {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, lookURL(c), nil)
	if err != nil {
		return nil, &llm.Failure{Class: llm.Network}
	}
	switch {
	case c.APIKey == "":
	case c.Wire == "anthropic":
		req.Header.Set("X-Api-Key", c.APIKey)
	default:
		req.Header.Set("Authorization", "Bearer "+c.APIKey)
	}
	if c.Wire == "anthropic" {
		req.Header.Set("Anthropic-Version", "2023-06-01")
	}
	for name, value := range c.Headers {
		req.Header.Set(name, value)
	}
	asked := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := asked.Do(req)
	if err != nil {
		return nil, llm.Classify(llm.Answer{Err: err, Now: time.Now()})
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 8<<20))
	if err != nil || resp.StatusCode == http.StatusOK {
		return body, nil
	}
	return nil, llm.Classify(llm.Answer{Status: resp.StatusCode, Header: resp.Header, Body: body, Now: time.Now()})
}

// lookURL is where a provider lists its models. OpenRouter does that for anybody, so there the key
// itself is asked for.
func lookURL(c llm.Config) string {
	base := strings.TrimRight(c.BaseURL, "/")
	switch {
	case c.Wire == "anthropic":
		return base + "/v1/models"
	case host(base) == "openrouter.ai":
		return base + "/key"
	}
	return base + "/models"
}

// host is the part of an address that cannot hold a secret.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "its address"
	}
	return u.Host
}

// modelsOf are a provider's models that bots use.
func (l *loaded) modelsOf(provider string) (models []string) {
	for _, b := range l.Bots {
		for _, m := range b.Models {
			if name, model, _ := strings.Cut(m, "/"); name == provider && !slices.Contains(models, model) {
				models = append(models, model)
			}
		}
	}
	return models
}

// unlisted says which models a list, in the form of the wires, does not have; "" if it is none, or
// has them all. A model may answer all the same, under another name of it.
func unlisted(list []byte, models []string) string {
	var page struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
		More bool `json:"has_more"`
	}
	if json.NewDecoder(bytes.NewReader(list)).Decode(&page) != nil || len(page.Data) == 0 || page.More {
		return ""
	}
	var not []string
	for _, m := range models {
		found := false
		for _, d := range page.Data {
			id := strings.TrimPrefix(d.ID, "models/")
			found = found || id == m || id == m+":latest"
		}
		if !found {
			not = append(not, m)
		}
	}
	if not == nil {
		return ""
	}
	return "; it does not list " + strings.Join(not, ", ") + ": is the name right?"
}

// checkable are the configured chat surfaces that can be asked what is wrong; none of them runs.
func (l *loaded) checkable() (list []checkable) {
	for _, s := range l.surfaces(web.NewLive(), quiet()) {
		if c, ok := s.(checkable); ok {
			list = append(list, c)
		}
	}
	return list
}
