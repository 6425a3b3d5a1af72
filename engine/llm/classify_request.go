package llm

import "strings"

// tooLargeText: this request can never pass as it is. Too many tokens under a 429, or with a word of
// waiting, are those of a window.
func tooLargeText(t string, status int) bool {
	if has(t, "max_tokens", "max_completion_tokens", "max_output_tokens", "output tokens") && !has(t, "context",
		"prompt", "input", "request too large", "message") {
		return false // a parameter is too large, not the request
	}
	if n := number(t, "string with maximum length"); n > 0 {
		return n > 5000 // else a name or an id is too long, not the request
	}
	if requested, limit := number(t, "requested"), number(t, "limit"); requested > limit && limit > 0 && has(t,
		"token") && !has(t, "limit reached*used") {
		return true
	}
	if used, requested, limit := number(t, "used"), number(t, "requested"), number(t, "limit"); used >= 0 && limit > 0 && requested > limit {
		return true
	}
	if status == 429 && has(t, "time frame", "timeframe", "time window", "time period", "wait") {
		return false
	}
	if status != 429 && has(t, "too many tokens") && !has(t, "wait", "per ", "try again", "throttl") {
		return true
	}
	return has(t, "context length", "context window", "context size", "context_length", "context limit",
		"maximum context", "max context", "model's context", "context is too long", "context too long",
		"context length*exceed", "prompt is too long", "prompt too long", "prompt is too large", "prompt too large",
		"prompt exceeds", "prompt length*exceed", "prompt token count*exceed", "prompt tokens*exceed",
		"input is too long", "input too long", "input is too large", "input too large", "input length*exceed",
		"input tokens*exceed", "input token*exceed", "inputs tokens*must be <=", "input*exceeds the limit",
		"range of input length", "maximum input length", "max input", "maximum prompt length",
		"maximum number of tokens", "maximum number of input tokens", "max number of tokens", "maximum token limit",
		"maximum token length", "maximum tokens allowed", "exceeded model token limit", "model token limit",
		"exceeds the model's maximum", "exceeds model's maximum", "exceeds the max length", "exceeds max length",
		"exceeds maximum length", "maximum allowed length", "longer than the maximum", "longer than the model",
		"token count*exceed", "tokens exceeds", "tokens exceed the", "number of tokens*exceed", "cannot exceed*tokens",
		"total number of tokens in the prompt", "request too large", "request is too large", "request entity too large",
		"request body too large", "request body is too large", "body too large", "payload too large",
		"content too large", "entity too large", "message too large", "message is too large", "request_too_large",
		"request exceeds the maximum size", "request exceeds the maximum allowed",
		"request exceeds the maximum number", "exceeds the maximum size", "exceeds the maximum allowed size",
		"maximum request size", "request size limit", "request size exceeds", "payload size exceeds",
		"exceeds the limit of*bytes", "larger than the maximum", "larger than the limit", "too large for model",
		"too long for model", "too long for this model", "too long for requested model",
		"tokens must be reduced",
		"reduce your message size", "reduce the length of", "shorten your", "messages too long",
		"conversation is too long", "text is too long", "text too long", "too many images", "max_seq_len", "n_ctx",
		"cannot truncate prompt",
		"token count*only supports up to", "must have less than*tokens", "max tokens allowed", "tokens too long",
		"mb maximum", "expected maxlength", "超长", "超过最大", "超出最大", "上下文长度", "上下文过长", "上下文超", "压缩上下文", "输入过长", "内容过长",
		"文本过长")
}

// overLong tells wordings that nobody has listed: something of the request is measured, and it is
// over the measure. Only the statuses of a bad request count, so that a window is not meant.
func overLong(t string, status int) bool {
	if status != 400 && status != 413 && status != 422 || windowed(t) || has(t, "rate limit", "quota", "wait ",
		"max_tokens", "max_completion_tokens", "maximum tokens", "output tokens", "output_tokens",
		"completion tokens", "budget") {
		return false
	}
	return has(t, "token", "context", "prompt length", "input length", "message length", "conversation") &&
		has(t, "too long", "too large", "too many", "exceed", "longer than", "larger than", "is greater than", "more than max", "more tokens than",
			"must be less", "must be <=", "must have less", "at most", "up to", "overflow")
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

// placeText: this place is not served. It is told from a missing right, since services begin both
// with the same words ("access denied").
func placeText(t string) bool {
	return has(t, "country, region", "country or region", "your country", "your region", "location*not supported",
		"region*not supported", "country*not supported", "territory not supported", "not available in your",
		"unsupported_country", "unsupported countr", "not supported in your", "banned the country")
}

// refusedText: the provider will not serve this request. Only texts that a status which says
// otherwise (401, 403, 429, 5xx, 200) must give way to; any other 4xx is refused anyway.
func refusedText(t string, status int) bool {
	t = strings.ReplaceAll(t, "fair usage policy", "fair use") // a matter of how often, not of what
	if has(t, "content policy", "content management policy", "content_policy", "content policies", "usage policy",
		"usage policies", "safety system", "safety filter", "content filter", "content_filter", "flagged",
		"requires moderation", "moderation", "inappropriate content", "prohibited content", "prohibited_content",
		"responsible ai", "violates", "violating", "blocked by*policy", "blocked by*filter", "blocked by*safety",
		"blocked by*guardrail", "usage guidelines", "sensitive content", "sensitive information", "new_sensitive",
		"unsafe content", "invalid schema", "invalid tool schema", "tool schema",
		"input_schema", "invalid json schema", "invalid function", "function schema", "tools.*schema",
		"schema*is not valid", "违规", "敏感内容", "不安全") {
		return true
	}
	switch {
	case status == 401 || status == 403 || status == 407 || status == 200:
		return has(t, "model*does not exist", "model*not found", "unknown model", "no such model",
			"model*not supported", "does not support", "unsupported parameter", "unsupported value", "model*deprecated",
			"model*decommissioned", "no endpoints found", "have been blocked", "banned your",
			"invalid request", "bad request", "invalid parameter", "invalid params", "is not a valid model",
			"extra inputs are not permitted", "tool use")
	case status >= 500:
		return has(t, "model*does not exist", "unknown model", "no such model", "is not a valid model",
			"model*not supported", "does not support")
	}
	return false
}
