package llm

import (
	"slices"
	"strings"
)

// quotaText: money or a plan's allowance. Words of offer ("add a payment method") do not count beside
// a limit over a window, which frees up by itself, and the word quota not beside a name for one.
func (r *reading) quotaText(t string, l layer, named Class) bool {
	if has(t, "limit: 0 ", "limit: 0,", "limit: 0;", "limit: 0.0", "limit 0,", "limit 0.", "limit 0 ", "limit of 0 ",
		"quota of 0 ", "limit*set to 0") && !has(t, "limit: 0 /", "limit 0 /") || spentText(t) {
		return true
	}
	if windowed(t) || r.limitsWindow(l) {
		return false
	}
	if has(t, "per month", "/ month", "/month", "monthly", "per week", "weekly", "this month", "billing period",
		"billing cycle") &&
		has(t, "limit", "quota", "allowance", "allocation", "usage", "cap ") {
		return true
	}
	if has(t, "rate limit", "rate-limit", "ratelimit") {
		return false
	}
	if has(t, "payment method", "payment instrument", "payment failed", "payment is required", "payment*declined",
		"billing is not active", "billing not active", "billing*disabled", "billing to be enabled", "billing*enabled",
		"enable billing", "billing information", "billing account*closed", "billing account*not", "problem with your billing",
		"check your billing", "billing issue", "extra usage", "subscription*required", "requires a subscription",
		"please recharge", "top up", "topup", "usage cap*reached", "credit card", "used up your", "used all your",
		"purchase*subscription", "on the free tier", "set inference limit",
		"plan does not", "subscription does not", "套餐", "充值") {
		return true
	}
	return named == Quota || named != RateLimit && has(t, "exceeded your current quota", "exceeded your quota",
		"exceeded the quota", "exceeded its quota", "exceeded your*quota", "exceeded*usage limit", "quota exceeded",
		"quota has been exceeded", "quota is exceeded", "quota exhausted", "quota has been exhausted",
		"quota is exhausted", "quota*used up", "quota is not enough", "quota not enough", "no quota", "out of quota",
		"out of*quota", "insufficient quota", "paid users", "paid plan", "for this subscription", "on your plan",
		"for your plan", "included in your plan", "usage limit", "usage quota", "usage allowance", "allowance",
		"allocation", "plan and billing", "upgrade your plan", "your plan does not", "your current plan", "plan limit",
		"plan's limit", "not included in your", "配额")
}

// spentText: money is used up or missing, in words that are no offer.
func spentText(t string) bool {
	return has(t, "insufficient*balance", "insufficient*credit", "insufficient*fund", "insufficient_quota",
		"insufficient_user_quota", "insufficient prepaid", "key limit exceeded (", "balance is too low",
		"balance too low", "balance is insufficient", "balance insufficient", "balance is not enough",
		"not enough balance", "negative balance", "no balance", "out of funds", "balance*exhausted", "balance*depleted",
		"balance has run out", "out of credit", "no credits", "have any credits", "no remaining credit",
		"not enough credit", "not have enough credit", "requires more credit", "require more credit",
		"credits required", "credits are required",
		"used all available credit", "used up all*credit", "used all*credit", "included credits", "credits*depleted",
		"credits*exhausted", "credits*expired", "credits*used up", "credits*run out", "credit limit*reached", "credit limit*exceeded",
		"exceeded your*credit", "can only afford", "spending limit", "spend limit", "spending cap", "hard limit",
		"billing limit", "monthly spend", "budget*exceeded", "exceeded budget", "exceeded*budget", "exceeds*budget",
		"over budget", "budget*exhausted", "budget*reached", "budget limit", "overdue", "arrear", "unpaid", "past due",
		"payment required", "in good standing", "free tier*exhausted", "free trial*ended", "trial*expired",
		"free quota*exhausted", "subscription*expired", "plan*expired", "package*expired", "no resource package",
		"余额不足", "欠费", "额度不足", "额度已用", "资源包", "使用上限")
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

// windowed reports whether a text names a limit over a minute, an hour or a day.
func windowed(t string) bool {
	return has(t, "per minute", "per min", "per second", "per hour", "per day", "per-minute", "per-min", "per-second",
		"per-hour", "per-day", "/minute", "/min", "/ minute", "/ min", "/second", "/sec", "/ sec", "/hour", "/ hour",
		"/day", "/ day", "perminute", "perday", "perhour", "persecond", "permin", "daily", "hourly", "(rpm)", "(tpm)",
		"(rpd)", "(tpd)", "(itpm)", "(otpm)", "(asph)", "(asd)", " rpm", " tpm", " rpd", " tpd", "requests in the last",
		"tokens in the last", "today", "24 hours", "24h", "quota exceeded for metric", "quota exceeded for quota metric",
		"每分钟", "每秒", "每小时", "每天", "每日", "今日")
}

// authText: the credential, or what it may do. Under a 404 a model "that you may have no access to"
// is an unknown model, and under a 429 access is denied for a while.
func authText(t string, status int) bool {
	if status == 429 && has(t, "too many requests", "temporarily") {
		return false
	}
	if keyText(t) || has(t, "no api key", "didn't provide an api key", "did not provide an api key", "invalid x-api-key",
		"invalid key", "key is invalid", "key has been", "authentication fail", "auth fail", "authentication error",
		"authentication required", "authentication is required", "authentication token", "re-authenticate",
		"failed to authenticate", "could not authenticate", "not authenticated", "unauthenticated",
		"invalid authentication", "authorization header", "auth credentials", "authentication credential",
		"validate credentials", "invalid token", "token invalid", "bearer token", "token has expired",
		"token is expired", "token is malformed", "token expired", "token*is expired", "security token", "session has expired",
		"signature we calculated", "signature*does not match", "signature has expired", "jwt", "unauthorized",
		"not authorized", "only authorized for use", "api secret key", "missing scope", "身份验证", "鉴权", "认证失败",
		"令牌", "密钥", "无权", "无效的api") {
		return true
	}
	if status != 429 && has(t, "provide*api key") {
		return true
	}
	if status == 404 {
		return false
	}
	if status != 429 && has(t, "access denied") {
		return true
	}
	return has(t, "does not have permission", "do not have permission", "don't have permission", "lacks permission",
		"permission denied", "insufficient permission", "missing permission",
		"has not been used in project", "account*deactivated", "account*disabled", "account*suspended", "account*locked",
		"organization*restricted", "organization*disabled", "organization has been disabled")
}

// keyText: a credential and what is wrong with it, in either order within a sentence.
func keyText(t string) bool {
	for _, what := range []string{"api key", "api_key", "api-key", "apikey", "access token", "auth token", "credential",
		"subscription key"} {
		if !has(t, what) {
			continue
		}
		for _, state := range []string{"invalid", "incorrect", "not valid", "expired", "missing", "revoked", "disabled",
			"deactivated", "not found", "required", "wrong", "unknown", "blocked", "leaked"} {
			if has(t, what+"*"+state, state+"*"+what) {
				return true
			}
		}
	}
	return false
}
