package llm

import (
	"slices"
	"strings"
)

// has reports whether a text in small letters holds one of the phrases. A star in a phrase stands
// for up to 80 characters of the same sentence.
func has(text string, phrases ...string) bool {
	for _, p := range phrases {
		if matches(text, p) {
			return true
		}
	}
	return false
}

func matches(text, phrase string) bool {
	head, rest, star := strings.Cut(phrase, "*")
	for {
		i := strings.Index(text, head)
		if i < 0 {
			return false
		}
		text = text[i+len(head):]
		if !star {
			return true
		}
		if matches(sentence(text[:min(len(text), 80+len(rest))]), rest) {
			return true
		}
	}
}

// sentence is a text up to the end of its first sentence.
func sentence(text string) string {
	for _, end := range []string{". ", "! ", "| ", ": "} {
		text, _, _ = strings.Cut(text, end)
	}
	return text
}

// words is what a layer says in small letters, white space folded, addresses left out (a link to
// a billing page is an offer and no reason), with a space at both ends.
func words(texts []string) string {
	var b strings.Builder
	b.WriteByte(' ')
	for _, t := range texts {
		if len(t) > 16<<10 {
			t = t[:16<<10]
		}
		for _, w := range strings.Fields(plainQuotes(strings.ToLower(t))) {
			if i := strings.Index(w, "://"); i >= 0 {
				w = "…"
			}
			b.WriteString(w)
			b.WriteByte(' ')
		}
		b.WriteString("| ")
	}
	return b.String()
}

// plainQuotes makes one apostrophe of two and drops backticks, in which some services set names.
func plainQuotes(t string) string { return strings.NewReplacer("’", "'", "`", "").Replace(t) }

// windowed reports whether a text names a limit over a minute, an hour or a day.
func windowed(t string) bool {
	return has(t, "per minute", "per min", "per second", "per hour", "per day", "per-minute", "per-min", "per-second", "per-hour",
		"per-day", "/minute", "/min", "/ minute", "/ min", "/second", "/sec", "/ sec", "/hour", "/ hour", "/day", "/ day",
		"perminute", "perday", "perhour", "persecond", "permin",
		"daily", "hourly", "(rpm)", "(tpm)", "(rpd)", "(tpd)", "(itpm)", "(otpm)", "(asph)", "(asd)",
		" rpm", " tpm", " rpd", " tpd", "requests in the last", "tokens in the last", "today", "24 hours", "24h")
}

// quotaText: money or a plan's allowance. Words of offer ("upgrade", "billing") do not count beside
// a limit over a window, which frees up by itself.
func (r *reading) quotaText(t string, l layer, named Class) bool {
	if has(t, "limit: 0 ", "limit: 0,", "limit: 0.0", "limit: 0|", "limit 0,", "limit 0.", "limit 0 ", "limit of 0 ", "quota of 0 ", "limit: 0;") {
		return true
	}
	if has(t, "insufficient balance", "insufficient credit", "insufficient fund", "insufficient_quota", "insufficient account balance",
		"insufficient_user_quota", "insufficient prepaid", "balance is too low", "balance too low", "balance is insufficient", "balance insufficient",
		"balance is not enough", "not enough balance", "negative balance", "balance exhausted", "no balance", "balance*exhausted", "balance*depleted", "balance has run out",
		"out of credit", "run out of credit", "no credits", "have any credits", "no remaining credit", "not enough credit", "requires more credit",
		"require more credit", "credits required", "credits are required", "used all available credit", "used up all*credit", "used all*credit", "included credits", "credits*depleted",
		"credits*exhausted", "credits*expired", "credits*used up", "credit limit*reached", "credit limit*exceeded", "exceeded your*credit", "can only afford",
		"spending limit", "spend limit", "spending cap", "hard limit", "billing limit", "monthly spend", "extra usage",
		"budget has been exceeded", "budget exceeded", "exceeded budget", "over budget", "budget*exceeded", "exceeds*budget", "exceeded*budget", "budget*exhausted", "budget limit",
		"overdue", "arrear", "unpaid", "past due", "payment required", "payment method", "payment instrument", "payment failed", "payment is required", "payment*declined",
		"billing is not active", "billing not active", "billing*disabled", "billing to be enabled", "billing*enabled", "enable billing", "billing account*closed", "billing account*not",
		"problem with your billing", "check your billing", "billing issue", "in good standing", "free tier*exhausted", "free trial*ended", "trial*expired", "free quota*exhausted",
		"subscription*expired", "subscription*required", "requires a subscription", "plan*expired", "package*expired", "no resource package", "please recharge", "top up", "topup", "usage cap*reached",
		"余额不足", "欠费", "额度不足", "额度已用", "额度已用尽", "资源包") {
		return true
	}
	if has(t, "per month", "/ month", "/month", "monthly", "per week", "weekly", "this month", "billing period", "billing cycle") &&
		has(t, "limit", "quota", "allowance", "allocation", "usage", "cap ") {
		return true
	}
	if windowed(t) || named == RateLimit || r.limitsWindow(l) || has(t, "rate limit", "rate-limit", "ratelimit") {
		return false
	}
	return named == Quota || has(t, "exceeded your current quota", "exceeded your quota", "exceeded the quota", "exceeded its quota", "exceeded your*quota", "exceeded*usage limit", "quota exceeded", "quota has been exceeded",
		"quota is exceeded", "quota exhausted", "quota has been exhausted", "quota is exhausted", "quota*used up", "quota is not enough", "quota not enough", "no quota", "out of quota", "out of*quota", "paid users", "paid plan", "for this subscription", "on your plan", "for your plan", "included in your plan", "insufficient quota",
		"usage limit", "usage quota", "usage allowance", "allowance", "allocation", "plan and billing", "upgrade your plan", "your plan does not", "your current plan", "plan limit", "plan's limit", "not included in your")
}

// limitsWindow reports whether a layer names a limit over a window outside its text.
func (r *reading) limitsWindow(l layer) bool {
	for _, w := range l.windows {
		if windowed(strings.ToLower(w)) {
			return true
		}
	}
	if slices.Contains(l.names, "resourceexhausted") {
		return true
	}
	for _, f := range r.fields {
		if f.name == "retrydelay" {
			return true
		}
	}
	return false
}

// tooLargeText: this request can never pass as it is.
func tooLargeText(t string) bool {
	if has(t, "max_tokens", "max_completion_tokens", "max_output_tokens", "output tokens") && !has(t, "context", "prompt", "input", "request too large", "message") {
		return false // a parameter is too large, not the request
	}
	if requested, limit := number(t, "requested"), number(t, "limit"); requested > limit && limit > 0 && has(t, "token") && !has(t, "limit reached*used") {
		return true
	}
	if used, requested, limit := number(t, "used"), number(t, "requested"), number(t, "limit"); used >= 0 && limit > 0 && requested > limit {
		return true
	}
	return has(t, "context length", "context window", "context size", "context_length", "context limit", "maximum context", "max context", "model's context", "context is too long", "context too long", "context length*exceed",
		"prompt is too long", "prompt too long", "prompt is too large", "prompt too large", "prompt exceeds", "prompt length*exceed", "prompt token count*exceed", "prompt tokens*exceed",
		"input is too long", "input too long", "input is too large", "input too large", "input length*exceed", "input tokens*exceed", "input token*exceed", "inputs tokens*must be <=", "input*exceeds the limit",
		"range of input length", "maximum input length", "max input", "maximum prompt length", "maximum number of tokens", "maximum number of input tokens", "max number of tokens",
		"maximum token limit", "maximum token length", "maximum tokens allowed", "exceeded model token limit", "model token limit", "exceeds the model's maximum", "exceeds model's maximum", "exceeds the max length", "exceeds max length", "exceeds maximum length", "maximum allowed length", "longer than the maximum", "longer than the model",
		"token count*exceed", "tokens exceeds", "tokens exceed the", "number of tokens*exceed", "cannot exceed*tokens", "total number of tokens in the prompt",
		"request too large", "request is too large", "request entity too large", "request body too large", "request body is too large", "body too large", "payload too large", "content too large", "entity too large", "message too large", "message is too large",
		"request_too_large", "request exceeds the maximum", "exceeds the maximum size", "exceeds the maximum allowed size", "maximum request size", "request size limit", "request size exceeds", "payload size exceeds", "exceeds the limit of*bytes", "larger than the maximum", "larger than the limit",
		"too large for model", "too long for model", "too long for this model", "too long for requested model", "too long. expected a string with maximum length", "string too long",
		"tokens must be reduced", "reduce your message size", "reduce the length of", "shorten your", "messages too long", "conversation is too long", "text is too long", "超过最大", "上下文长度", "输入过长", "too many images")
}

// number is the number that follows a word in a text, with commas in it or not; -1 = none.
func number(t, word string) int64 {
	for {
		i := strings.Index(t, word)
		if i < 0 {
			return -1
		}
		t = t[i+len(word):]
		s := strings.TrimLeft(t, " :=")
		n, digits := int64(0), 0
		for _, c := range s {
			if c >= '0' && c <= '9' && digits < 15 {
				n, digits = n*10+int64(c-'0'), digits+1
			} else if c != ',' || digits == 0 {
				break
			}
		}
		if digits > 0 {
			return n
		}
	}
}

// authText: the credential, or what it may do. Under a 404 a model "that you may have no access to"
// is an unknown model.
func authText(t string, status int) bool {
	if has(t, "api key*invalid", "invalid*api key", "incorrect api key", "api key not valid", "api key is not valid", "api key*expired", "api key*missing", "missing*api key", "no api key",
		"api key*not found", "api key*revoked", "api key*disabled", "api key*required", "didn't provide an api key", "did not provide an api key", "api_key*invalid", "invalid api_key", "wrong api key", "unknown api key", "api key*incorrect", "api key*blocked", "api key*leaked",
		"invalid x-api-key", "x-api-key header is required", "invalid subscription key", "invalid apikey", "invalid_api_key", "apikey*invalid", "invalid key", "key is invalid",
		"authentication fail", "authentication error", "authentication required", "authentication is required", "authentication token", "failed to authenticate", "could not authenticate", "not authenticated", "invalid authentication", "authorization header", "auth credentials", "authentication credential",
		"invalid credential", "invalid token", "invalid bearer", "invalid access token", "bearer token", "token has expired", "token is expired", "token expired", "token*is expired", "security token", "session has expired", "signature we calculated", "signature*does not match", "jwt",
		"unauthorized", "not authorized", "api secret key", "身份验证", "令牌", "无效的api") {
		return true
	}
	if status != 429 && has(t, "provide*api key") {
		return true
	}
	if status == 404 {
		return false
	}
	return has(t, "does not have permission", "do not have permission", "don't have permission", "lacks permission", "permission denied", "insufficient permission", "missing permission", "access denied",
		"has not been used in project", "account*deactivated", "account*disabled", "account*suspended", "organization*restricted", "organization*disabled", "organization has been disabled")
}

// refusedText: the provider will not serve this request. Only texts that a status which says
// otherwise (401, 403, 429, 5xx, 200) must give way to; any other 4xx is refused anyway.
func refusedText(t string, status int) bool {
	if has(t, "content policy", "content management policy", "content_policy", "content policies", "usage policy", "usage policies", "safety system", "safety filter", "content filter", "content_filter", "flagged", "requires moderation", "moderation",
		"inappropriate content", "prohibited content", "prohibited_content", "responsible ai", "violates", "violating", "blocked by*policy", "blocked by*filter", "blocked by*safety", "blocked by*guardrail", "usage guidelines", "sensitive content", "unsafe content",
		"country, region", "country or region", "your country", "your region", "location is not supported", "region is not supported", "region not supported", "territory not supported", "not available in your", "unsupported_country", "unsupported country", "not supported in your",
		"invalid schema", "invalid tool schema", "tool schema", "input_schema", "invalid json schema", "invalid function", "function schema", "tools.*schema", "schema*is not valid", "违规", "敏感内容", "不安全") {
		return true
	}
	switch {
	case status == 401 || status == 403 || status == 407 || status == 200:
		return has(t, "model*does not exist", "model*not found", "unknown model", "no such model", "model*not supported", "does not support", "unsupported parameter", "unsupported value", "model*deprecated", "model*decommissioned", "no endpoints found",
			"have been blocked", "banned the country", "banned your", "invalid request", "bad request", "invalid parameter", "is not a valid model", "extra inputs are not permitted", "tool use")
	case status >= 500:
		return has(t, "model*does not exist", "unknown model", "no such model", "is not a valid model", "model*not supported", "does not support")
	}
	return false
}

// transientText: what passes by itself, named by words.
func transientText(t string, status int) Class {
	client := status >= 400 && status < 500 && status != 429 && status != 408 && status != 409 && status != 498
	switch {
	case has(t, "rate limit", "rate-limit", "rate_limit", "ratelimit", "too many requests", "too many concurrent", "too many tokens", "throttl", "requests per", "tokens per", "request limit", "token limit*per", "quota*per minute", "quota*per day",
		"concurrency limit", "concurrent request", "max rpm", "max tpm", "max organization concurrency", "resource has been exhausted", "resource exhausted", "请求过多", "频率", "并发", "限流"):
		return RateLimit
	case has(t, "overload", "over capacity", "at capacity", "no capacity", "out of capacity", "lack of capacity", "insufficient capacity", "capacity*exceeded", "capacity constraint", "currently loading", "is loading", "still loading", "loading model", "being loaded", "model loading", "warming up", "cold start",
		"too busy", "server busy", "server is busy", "servers are busy", "system busy", "system is busy", "service busy", "service is busy", "model is busy", "is currently busy", "high demand", "high traffic", "heavy load", "high load", "heavy traffic", "under load",
		"pending requests exceeded", "queue is full", "queue full", "no healthy upstream", "no available server", "no available worker", "no available channel", "no available instance", "no instances available", "no server is available", "no slot", "not ready", "系统繁忙", "服务繁忙", "过载", "负载"):
		return Overloaded
	case !client && status != 429 && has(t, "temporarily unavailable", "service unavailable", "currently unavailable", "unavailable due to", "server unavailable", "is unavailable"):
		return Overloaded
	case client:
		if has(t, "request timed out", "request timeout", "deadline exceeded", "deadline expired", "gateway timeout") {
			return Timeout
		}
		return ""
	case has(t, "timed out", "timeout", "time-out", "deadline exceeded", "deadline expired", "took too long"):
		return Timeout
	}
	return ""
}
