package llm

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// variation is a failure as some service words it, beyond the corpus.
type variation struct {
	name   string
	status int
	header string // "name: value" lines
	body   string
	want   Class
	wait   string // a duration; "" = none
}

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func (v variation) answer() Answer {
	a := Answer{Status: v.status, Header: map[string][]string{}, Body: []byte(v.body), Now: noon}
	for line := range strings.Lines(v.header) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			a.Header[name] = append(a.Header[name], value)
		}
	}
	return a
}

func (v variation) check(t *testing.T, f *Failure) {
	t.Helper()
	if f.Class != v.want {
		t.Errorf("class %s, want %s", f.Class, v.want)
	}
	if f.Transient != (transient(v.want) && !f.NoRetry && !f.Certificate) {
		t.Errorf("transient %v", f.Transient)
	}
	want, err := time.ParseDuration(v.wait)
	if v.wait != "" && err != nil {
		t.Fatal(err)
	}
	if f.HasStated != (v.wait != "") || f.HasStated && (f.Stated-want).Abs() > time.Millisecond {
		t.Errorf("states %v (%v), want %q", f.Stated, f.HasStated, v.wait)
	}
}

func TestClassifyVariations(t *testing.T) {
	for _, v := range variations() {
		t.Run(v.name, func(t *testing.T) { v.check(t, Classify(v.answer())) })
	}
}

func variations() []variation {
	return []variation{
		// money and allowances
		{"deepseek balance in 200", 200, "", `{"error":{"message":"Insufficient Balance","type":"unknown_error"}}`, Quota, ""},
		{"openrouter never bought", 402, "", `{"error":{"message":"Insufficient credits. This account never purchased credits. Make sure your key is on the correct account or org","code":402}}`, Quota, ""},
		{"openrouter prompt tokens behind 402", 402, "", `{"error":{"message":"Prompt tokens limit exceeded: 69120 > 36608. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account","code":402}}`, Quota, ""},
		{"openrouter key limit", 403, "", `{"error":{"message":"Key limit exceeded (monthly limit). Manage it using https://openrouter.ai/settings/keys","code":403}}`, Quota, ""},
		{"hf included credits", 402, "", `{"error":"You have exceeded your monthly included credits for Inference Providers. Subscribe to PRO to get 20x more monthly included credits."}`, Quota, ""},
		{"ollama weekly", 429, "", `{"error":"you (someone) have reached your weekly usage limit, upgrade for higher limits: https://ollama.com/upgrade"}`, Quota, ""},
		{"ollama session", 429, "", `{"error":"you have reached your session usage limit, please wait or upgrade to continue"}`, Quota, ""},
		{"ollama hourly", 429, "", `{"error":"you've reached your hourly usage limit, please wait or upgrade to continue"}`, RateLimit, ""},
		{"zai weekly", 429, "", `{"error":{"code":"1310","message":"Weekly/Monthly Limit Exhausted. Your limit will reset at 2026-12-01 00:00:00"}}`, Quota, ""},
		{"zai five hours", 429, "", `{"error":{"code":"1316","message":"5 hour limit reached. Resets at 2026-11-29T15:00:00Z"}}`, Quota, "3h"},
		{"zai arrears", 429, "", `{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}`, Quota, ""},
		{"volcengine overdue", 403, "", `{"error":{"code":"AccountOverdueError","message":"The request failed because your account has an overdue balance.","type":"Forbidden"}}`, Quota, ""},
		{"moonshot suspended", 429, "", `{"error":{"type":"exceeded_current_quota_error","message":"Your account org-x is suspended, please check your plan and billing details"}}`, Quota, ""},
		{"dashscope free tier", 403, "", `{"code":"AllocationQuota.FreeTierOnly","message":"The free tier of the model has been exhausted. If you wish to continue access the model on a paid basis, please disable the use free tier only mode."}`, Quota, ""},
		{"minimax balance in 200", 200, "", `{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`, Quota, ""},
		{"vertex billing disabled", 403, "", `{"error":{"code":403,"message":"This API method requires billing to be enabled. Please enable billing on project #1.","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"BILLING_DISABLED","domain":"googleapis.com"}]}}`, Quota, ""},
		{"anthropic limits in stream words", 400, "", `{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified workspace API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."}}`, Quota, "36h"},
		{"cohere monthly trial", 429, "", `{"message":"You are using a Trial key, which is limited to 1000 API calls / month. Please upgrade to a Production key."}`, Quota, ""},
		{"cohere minute trial", 429, "", `{"message":"You are using a Trial key, which is limited to 10 API calls / minute. You can continue to use the Trial key for free or upgrade to a Production key with higher rate limits."}`, RateLimit, ""},
		{"openai text without code", 429, "", `{"error":{"message":"You exceeded your current quota, please check your plan and billing details."}}`, Quota, ""},
		{"gemini limit zero with delay", 429, "", `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 0, model: gemini-x\nPlease retry in 29.019961092s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"m","quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"29s"}]}}`, Quota, "29.02s"},
		{"gemini violation of zero", 429, "", `[{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier","quotaValue":"0"}]}]}}]`, Quota, ""},
		{"litellm budget crossed", 429, "", `{"error":{"message":"ExceededBudget: Crossed spend within budget: Budget has been exceeded! Current cost: 1.2, Max budget: 1.0","type":"budget_exceeded","code":"429"}}`, Quota, ""},
		{"xai message form", 429, "", `{"error":{"message":"Your team has used all available credits","code":"some-code"}}`, Quota, ""},
		{"one-api quota", 403, "", `{"error":{"message":"user quota is not enough","type":"new_api_error","code":"insufficient_user_quota"}}`, Quota, ""},
		{"copilot premium", 402, "", `You have no quota`, Quota, ""},
		{"xai no credits yet", 403, "", `{"code":"The caller does not have permission to execute the specified operation","error":"Your newly created team doesn't have any credits yet. You can purchase credits on https://console.x.ai/team/default."}`, Quota, ""},
		{"codex plan", 403, "", `{"error":{"type":"usage_not_included","message":"Upgrade to Plus to use this"}}`, Quota, ""},
		{"nim credits", 402, "", `{"status":402,"title":"Payment Required","detail":"Account 'x': Cloud credits expired - Please contact NVIDIA representatives"}`, Quota, ""},
		{"azure apim", 403, "", `{"statusCode":403,"message":"Out of call volume quota. Quota will be replenished in 04:08:41."}`, Quota, ""},
		{"bedrock service quota", 400, "x-amzn-errortype: ServiceQuotaExceededException", `{"message":"Your request exceeds the service quota for your account."}`, Quota, ""},
		{"gemini prepaid", 429, "", `{"error":{"code":429,"message":"Your prepayment credits are depleted. Please go to AI Studio to manage your project and billing.","status":"RESOURCE_EXHAUSTED"}}`, Quota, ""},
		{"chinese balance", 400, "", `{"error":{"message":"账户余额不足，请充值","code":"30001"}}`, Quota, ""},

		// windows
		{"vertex per base model", 429, "", `[{"error":{"code":429,"message":"Quota exceeded for aiplatform.googleapis.com/online_prediction_requests_per_base_model with base model: anthropic-claude. Please submit a quota increase request. https://cloud.google.com/vertex-ai/docs","status":"RESOURCE_EXHAUSTED"}}]`, RateLimit, ""},
		{"vertex dump in bytes", 429, "", "{\"error\":{\"message\":\"litellm.RateLimitError: VertexAIException - b'[{\\\\n  \\\"error\\\": {\\\\n    \\\"code\\\": 429,\\\\n    \\\"message\\\": \\\"Quota exceeded for requests per minute. Please retry in 12s.\\\",\\\\n \\\"status\\\": \\\"RESOURCE_EXHAUSTED\\\"}}]'\",\"type\":\"throttling_error\",\"code\":\"429\"}}", RateLimit, "12s"},
		{"python dict", 429, "", `{"detail":"Error code: 429 - {'error': {'message': 'Rate limit reached for m on tokens per min. Please try again in 1m3.5s.', 'type': 'tokens', 'param': None, 'code': 'rate_limit_exceeded'}}"}`, RateLimit, "63.5s"},
		{"together", 429, "", `{"id":"x","error":{"message":"You have reached the rate limit specific to this model. The maximum rate limit for this model is 0.6 queries and 10000 tokens per minute.","type":"model_rate_limit","param":null,"code":null}}`, RateLimit, ""},
		{"fireworks", 429, "", `{"error":{"object":"error","type":"invalid_request_error","code":"rate_limit_exceeded","message":"Rate limit exceeded, please try again later"}}`, RateLimit, ""},
		{"sambanova", 429, "x-ratelimit-reset-requests: 1795953630\nx-ratelimit-remaining-requests: 0", `{"error":{"code":null,"message":"Rate limit exceeded","param":null,"type":"rate_limit_exceeded"}}`, RateLimit, "30s"},
		{"zai concurrency", 429, "", `{"error":{"code":"1302","message":"High concurrency usage of this API, please reduce concurrency or contact customer service to increase limits"}}`, RateLimit, ""},
		{"dashscope allocation", 429, "", `{"code":"Throttling.AllocationQuota","message":"Allocated quota exceeded, please increase your quota limit."}`, RateLimit, ""},
		{"dashscope burst", 429, "", `{"error":{"code":"limit_burst_rate","message":"Request rate increased too quickly. To ensure system stability, please adjust your client logic to scale requests more smoothly over time.","type":"limit_burst_rate"}}`, RateLimit, ""},
		{"bedrock throttled by type", 400, "", `{"__type":"com.amazon.coral.service#ThrottlingException","message":"Too many requests, please wait before trying again."}`, RateLimit, ""},
		{"google 403 user rate", 403, "", `{"error":{"errors":[{"domain":"usageLimits","reason":"userRateLimitExceeded","message":"User Rate Limit Exceeded"}],"code":403,"message":"User Rate Limit Exceeded"}}`, RateLimit, ""},
		{"github models daily", 429, "retry-after: 60", `{"error":{"code":"RateLimitReached","message":"Rate limit of 50 per 86400s exceeded for UserByModelByDay. Please wait 60 seconds before retrying.","details":"Rate limit of 50 per 86400s exceeded"}}`, RateLimit, "1m"},
		{"cloudflare neurons a day", 429, "", `{"errors":[{"message":"AiError: you have used up your daily free allocation of 10,000 neurons, please upgrade to Cloudflare's Workers Paid plan","code":4006}],"success":false,"result":{},"messages":[]}`, RateLimit, ""},
		{"grpc number", 429, "", `{"code":8,"message":"resource exhausted","details":[]}`, RateLimit, ""},
		{"two headers of the same name", 429, "Retry-After: 3\nretry-after: 9", ``, RateLimit, "9s"},
		{"upper case ms", 429, "RETRY-AFTER-MS: 250", ``, RateLimit, "250ms"},
		{"rfc 850", 429, "Retry-After: Sunday, 29-Nov-26 12:00:05 GMT", ``, RateLimit, "5s"},
		{"asctime", 429, "Retry-After: Sun Nov 29 12:00:06 2026", ``, RateLimit, "6s"},
		{"31 days are credible", 429, "retry-after: 2678400", ``, RateLimit, "744h"},
		{"a second more is not", 429, "retry-after: 2678401", ``, RateLimit, ""},
		{"infinite", 429, "retry-after: 1e999", ``, RateLimit, ""},
		{"nan", 429, "retry-after: NaN", ``, RateLimit, ""},
		{"hex", 429, "retry-after: 0x10", ``, RateLimit, ""},
		{"a unit in the header", 429, "retry-after: 10s", ``, RateLimit, ""},
		{"past reset", 429, "x-ratelimit-reset: 1795953000\nx-ratelimit-remaining: 0", ``, RateLimit, "0s"},
		{"ietf", 429, "ratelimit-limit: 10\nratelimit-remaining: 0\nratelimit-reset: 42", ``, RateLimit, "42s"},
		{"counter at zero binds on 503", 503, "x-ratelimit-remaining-requests: 0\nx-ratelimit-reset-requests: 20s", ``, Overloaded, "20s"},
		{"no counter does not bind on 503", 503, "x-ratelimit-reset-requests: 20s", ``, Overloaded, ""},
		{"positive counter is a last resort", 429, "x-ratelimit-remaining: 3\nx-ratelimit-reset: 20\nretry-after: garbage", ``, RateLimit, "20s"},
		{"… but not beside a zero", 429, "x-ratelimit-remaining: 3\nx-ratelimit-reset: 20\nretry-after: 0", ``, RateLimit, "0s"},
		{"hours and minutes", 429, "", `{"error":{"message":"Rate limit reached. Please try again in 1h2m3.5s."}}`, RateLimit, "1h2m3.5s"},
		{"in words", 429, "", `{"error":{"message":"Too many requests. Retry after 2 minutes and 5 seconds."}}`, RateLimit, "2m5s"},
		{"about", 429, "", `{"error":{"message":"Too many requests. Try again in about 3 hours."}}`, RateLimit, "3h"},
		{"no unit", 429, "", `{"error":{"message":"Too many requests. Retry after 30"}}`, RateLimit, ""},
		{"negative", 429, "", `{"error":{"message":"Too many requests. Retry after -30 seconds"}}`, RateLimit, ""},
		{"another number", 429, "", `{"error":{"message":"Too many requests in the last 60 seconds. Try again later."}}`, RateLimit, ""},
		{"iso date", 429, "", `{"error":{"message":"Too many requests. Try again after 2026-11-29T12:10:00Z."}}`, RateLimit, "10m"},
		{"english date", 429, "", `{"error":{"message":"Usage resets at November 29, 2026 12:30 UTC; too many requests"}}`, RateLimit, "30m"},
		{"headers in the body without case", 429, "", `{"error":{"message":"Provider returned error","code":429,"metadata":{"headers":{"Retry-After":"17","x-ratelimit-remaining":"9","x-ratelimit-reset":"99"}}}}`, RateLimit, "17s"},
		{"proto duration", 429, "", `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"x","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":{"seconds":"5","nanos":500000000}}]}}`, RateLimit, "5.5s"},

		{"openai offers a payment method", 429, "", `{"error":{"message":"Rate limit reached for default-m in organization org-x on requests per min. Limit: 3 / min. Please try again in 20s. Contact us through our help center if you continue to have issues. Please add a payment method to your account to increase your rate limit. Visit https://x.test/account/billing to add a payment method.","type":"requests","param":null,"code":"rate_limit_exceeded"}}`, RateLimit, "20s"},
		{"offer of a key", 429, "", `{"error":{"message":"Free usage is rate limited. Please provide your own API key to go on.","code":429}}`, RateLimit, ""},
		{"nim", 429, "", `{"status":429,"title":"Too Many Requests","type":"urn:inference-service:problem-details:too-many-requests"}`, RateLimit, ""},
		{"hf hourly", 429, "", `{"error":"Rate limit reached. You reached free usage limit (reset hourly). Please subscribe to a plan to use the API at this rate"}`, RateLimit, ""},
		{"copilot model", 429, "", `{"error":{"message":"Sorry, you have been rate-limited.","code":"user_model_rate_limited"}}`, RateLimit, ""},
		{"twice wrapped", 500, "", `{"error":{"message":"{\"error\":{\"message\":\"{\\\"error\\\":{\\\"code\\\":429,\\\"message\\\":\\\"slow, retry in 5s\\\"}}\"}}","type":"server_error"}}`, RateLimit, "5s"},
		{"escaped once more in a message", 502, "", `{"error":{"message":"upstream said {\\\"error\\\":{\\\"type\\\":\\\"rate_limit_error\\\",\\\"message\\\":\\\"Too many requests\\\"}}"}}`, RateLimit, ""},
		{"cut dump", 500, "", `{"error":{"message":"OpenAIException - {\"error\": {\"message\": \"Rate limit reached on tokens per min. Please try again in 2s. Visit htt"}}`, RateLimit, "2s"},
		{"sse in a failed body", 429, "", "event: error\ndata: {\"error\":{\"message\":\"Rate limit reached, retry after 4 s\"}}\n\n", RateLimit, "4s"},
		{"body code under 500", 500, "", `{"error":{"code":429,"message":"x"}}`, RateLimit, ""},
		{"generic body code under 503", 503, "", `{"error":{"code":500,"message":"x"}}`, Overloaded, ""},

		// never as it is
		{"xai prompt", 400, "", `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`, TooLarge, ""},
		{"copilot", 400, "", `{"error":{"message":"prompt token count of 135233 exceeds the limit of 128000","code":"model_max_prompt_tokens_exceeded","param":"","type":""}}`, TooLarge, ""},
		{"github models body", 413, "", `{"error":{"code":"tokens_limit_reached","message":"Request body too large for gpt-4o model. Max size: 8000 tokens.","details":"Request body too large for gpt-4o model. Max size: 8000 tokens."}}`, TooLarge, ""},
		{"cohere", 400, "", `{"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292. Try using a shorter prompt."}`, TooLarge, ""},
		{"tgi", 422, "", "{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 3500 `inputs` tokens and 1000 `max_new_tokens`\",\"error_type\":\"validation\"}", TooLarge, ""},
		{"moonshot", 400, "", `{"error":{"message":"Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)","type":"invalid_request_error"}}`, TooLarge, ""},
		{"together", 422, "", "{\"error\":{\"message\":\"Input validation error: `inputs` must have less than 8192 tokens. Given: 9000; input is too long\",\"type\":\"invalid_request_error\"}}", TooLarge, ""},
		{"lm studio", 400, "", `{"error":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}`, TooLarge, ""},
		{"cerebras", 400, "", `{"message":"Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}`, TooLarge, ""},
		{"anthropic bytes", 413, "", `{"type":"error","error":{"type":"invalid_request_error","message":"Request exceeds the maximum allowed number of bytes."}}`, TooLarge, ""},
		{"more than the whole minute", 429, "", `{"error":{"message":"Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 0, Requested 41000. Please try again in 22s.","type":"tokens","code":"rate_limit_exceeded"}}`, TooLarge, "22s"},
		{"behind a 500", 500, "", `{"error":{"message":"litellm.ContextWindowExceededError: prompt is too long: 210000 tokens > 200000 maximum","type":null,"code":"500"}}`, TooLarge, ""},

		// credentials
		{"openrouter no header", 401, "", `{"error":{"message":"No auth credentials found","code":401}}`, Auth, ""},
		{"bedrock access", 403, "", `{"message":"You don't have access to the model with the specified model ID."}`, Auth, ""},
		{"groq", 401, "", `{"error":{"message":"Invalid API Key","type":"invalid_request_error","code":"invalid_api_key"}}`, Auth, ""},
		{"minimax in 200", 200, "", `{"base_resp":{"status_code":1004,"status_msg":"login fail: Please carry the API secret key in the 'Authorization' field of the request header"}}`, Auth, ""},
		{"gemini openai form", 400, "", `[{"error":{"code":400,"message":"API key expired. Please renew the API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}]`, Auth, ""},
		{"bearer realm", 401, "www-authenticate: Bearer", `Unauthorized`, Auth, ""},
		{"proxy", 407, "", ``, Auth, ""},
		{"grpc unauthenticated", 200, "", `{"code":16,"message":"no token","details":[]}`, Auth, ""},

		// will not
		{"openrouter moderation", 403, "", `{"error":{"code":403,"message":"Your chosen model requires moderation and your input was flagged","metadata":{"reasons":["violence"],"flagged_input":"api key invalid","provider_name":"OpenAI"}}}`, Refused, ""},
		{"openai project model", 403, "", "{\"error\":{\"message\":\"Project `proj_x` does not have access to model `gpt-x`\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":\"model_not_found\"}}", Refused, ""},
		{"dashscope inspection", 400, "", `{"code":"DataInspectionFailed","message":"Input data may contain inappropriate content."}`, Refused, ""},
		{"schema behind a 500", 500, "", `{"error":{"message":"tools.0.custom.input_schema: JSON schema is invalid","type":"server_error"}}`, Refused, ""},
		{"openrouter wrapped 400", 400, "", `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\n  \"error\": {\n    \"message\": \"Response input messages must contain the word 'json' in some form\",\n    \"type\": \"invalid_request_error\",\n    \"param\": \"input\",\n    \"code\": null\n  }\n}","provider_name":"OpenAI"}}}`, Refused, ""},
		{"image fetch timed out", 400, "", `{"error":{"message":"Timeout while downloading https://x.test/a.png.","type":"invalid_request_error","param":null,"code":"invalid_image_url"}}`, Refused, ""},
		{"cloudflare block", 403, "content-type: text/html", `<!DOCTYPE html><html><head><title>Attention Required! | Cloudflare</title></head><body><h1>Sorry, you have been blocked</h1></body></html>`, Refused, ""},
		{"output tokens of a parameter", 400, "", `{"error":{"message":"max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for m","type":"invalid_request_error"}}`, Refused, ""},
		{"410", 410, "", `{"error":"model was removed"}`, Refused, ""},
		{"405", 405, "", `<html><title>405 Not Allowed</title></html>`, Refused, ""},
		{"max_tokens too large", 400, "", `{"error":{"message":"max_tokens is too large: 32768. This model supports at most 16384 completion tokens, whereas you provided 32768.","type":"invalid_request_error","param":"max_tokens","code":null}}`, Refused, ""},

		// no capacity
		{"mistral tier", 429, "", `{"object":"error","message":"Service tier capacity exceeded for this model.","type":"invalid_request_error","param":null,"code":null}`, Overloaded, ""},
		{"gemini capacity", 429, "", `{"error":{"code":429,"message":"No capacity available for model gemini-x on the server","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"cloudcode-pa.googleapis.com","reason":"MODEL_CAPACITY_EXHAUSTED"}]}}`, Overloaded, ""},
		{"gemini demand", 503, "", `{"error":{"code":503,"message":"This model is currently experiencing high demand. Spikes in demand are usually temporary. Please try again later.","status":"UNAVAILABLE"}}`, Overloaded, ""},
		{"cerebras traffic", 429, "", `{"message":"We're experiencing high traffic right now! Please try again soon.","type":"too_many_requests_error","param":"queue","code":"queue_exceeded"}`, Overloaded, ""},
		{"bedrock not ready", 429, "x-amzn-errortype: ModelNotReadyException", `{"message":"The model specified in the request is not ready to serve inference requests."}`, Overloaded, ""},
		{"groq flex", 498, "", `{"error":{"message":"Flex tier capacity exceeded","type":"server_error","code":"capacity_exceeded"}}`, Overloaded, ""},
		{"envoy", 503, "", `no healthy upstream`, Overloaded, ""},
		{"wrapped overload behind 429", 429, "", `{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}","provider_name":"Anthropic"}}}`, Overloaded, ""},
		{"azure 503", 503, "", `{"error":{"code":"ServiceUnavailable","message":"The service is temporarily unable to process your request. Please try again later."}}`, Overloaded, ""},
		{"vllm starting", 503, "", `Service Unavailable`, Overloaded, ""},

		{"workers ai", 429, "", `{"errors":[{"message":"AiError: Capacity temporarily exceeded, please try again.","code":3040}],"success":false}`, Overloaded, ""},
		{"azure peak", 429, "", `{"error":{"code":"NoCapacity","message":"The system is currently experiencing high demand and cannot process your request. Your request exceeds the maximum usage size allowed during peak load."}}`, Overloaded, ""},
		{"groq over capacity", 503, "", `{"error":{"message":"m is currently over capacity. Please try again and back off exponentially.","type":"internal_server_error"}}`, Overloaded, ""},

		// time and inside
		{"bedrock model timeout", 408, "x-amzn-errortype: ModelTimeoutException", `{"message":"The request took too long to process."}`, Timeout, ""},
		{"azure apim", 408, "", `{"error":{"code":"Timeout","message":"The operation was timeout."}}`, Timeout, ""},
		{"behind a 500", 500, "", `{"error":{"message":"litellm.Timeout: Request timed out.","type":null}}`, Timeout, ""},
		{"cloudflare 522", 522, "", `error code: 522`, Timeout, ""},
		{"cloudflare 521", 521, "", `error code: 521`, Server, ""},
		{"bedrock model error", 424, "x-amzn-errortype: ModelErrorException", `{"message":"The system encountered an unexpected error during processing. Try your request again.","originalStatusCode":500}`, Server, ""},
		{"zhipu in 200", 200, "", `{"code":500,"msg":"404 NOT_FOUND","success":false}`, Server, ""},
		{"vllm dump", 500, "", `{"object":"error","message":"EngineCore encountered an issue 429 times","type":"InternalServerError","code":500}`, Server, ""},
		{"digits in words", 500, "", `{"error":{"message":"worker 429 at 10.0.4.29 gave up (503 tries)"}}`, Server, ""},
		{"599", 599, "", ``, Server, ""},

		// nothing of these
		{"redirect", 302, "location: https://x.test/login", `<html>moved</html>`, Unclassified, ""},
		{"other json", 200, "", `{"status":"ok"}`, Unclassified, ""},
		{"null", 200, "", `null`, Unclassified, ""},
		{"words", 200, "", `OK`, Unclassified, ""},
		{"499", 499, "", `{"error":{"code":499,"message":"The operation was cancelled.","status":"CANCELLED"}}`, Canceled, ""},
	}
}

func TestClassifyStreams(t *testing.T) {
	chunk := `data: {"choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}]}`
	for name, c := range map[string]struct {
		lines string
		end   string
		want  Class
		wait  string
	}{
		"bare json at the end":        {chunk + "\n\n{\"error\":{\"message\":\"Overloaded\",\"type\":\"overloaded_error\"}}", "eof", Overloaded, ""},
		"bare json on several lines":  {chunk + "\n\n{\n  \"error\": {\n    \"code\": 429,\n    \"message\": \"try again in 3s\"\n  }\n}", "eof", RateLimit, "3s"},
		"event error in words":        {chunk + "\n\nevent: error\ndata: upstream request timeout\n", "eof", Timeout, ""},
		"error inside a choice":       {`data: {"choices":[{"index":0,"delta":{},"error":{"code":502,"message":"Upstream idle"},"finish_reason":"error"}]}` + "\n", "eof", Server, ""},
		"error before idle":           {`data: {"error":{"code":"529","message":"x"}}` + "\n", "idle", Overloaded, ""},
		"the model talks of errors":   {`data: {"choices":[{"delta":{"content":"{\"error\":{\"code\":429}}"},"finish_reason":null}]}` + "\n", "eof", Network, ""},
		"done alone":                  {"data: [DONE]\n", "eof", Network, ""},
		"finish error":                {`data: {"choices":[{"delta":{},"finish_reason":"error"}]}` + "\n\ndata: [DONE]\n", "eof", Server, ""},
		"refusal":                     {`data: {"choices":[{"delta":{"refusal":"I cannot help with that"},"finish_reason":null}]}` + "\n\n" + `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n", "eof", Refused, ""},
		"anthropic refusal":           {"event: message_delta\n" + `data: {"type":"message_delta","delta":{"stop_reason":"refusal"}}` + "\n\nevent: message_stop\n" + `data: {"type":"message_stop"}` + "\n", "eof", Refused, ""},
		"gemini safety":               {`data: {"candidates":[{"finishReason":"SAFETY"}]}` + "\n", "eof", Refused, ""},
		"deepseek resource":           {`data: {"choices":[{"delta":{},"finish_reason":"insufficient_system_resource"}]}` + "\n", "eof", Overloaded, ""},
		"null error":                  {`data: {"choices":[{"delta":{"content":"a"}}],"error":null}` + "\n", "reset", Network, ""},
		"string error":                {`data: {"error":"model runner has unexpectedly stopped"}` + "\n", "eof", Server, ""},
		"generic rate limit":          {`data: {"type":"error","error":{"type":"rate_limit_error","message":"slow"}}` + "\n", "eof", RateLimit, ""},
		"invalid request inside":      {`data: {"error":{"type":"invalid_request_error","message":"no"}}` + "\n", "eof", Refused, ""},
		"multi-line data":             {"data: {\"error\":\ndata: {\"type\":\"overloaded_error\",\ndata: \"message\":\"Overloaded\"}}\n", "eof", Overloaded, ""},
		"error line in words":         {"error: out of memory\n", "eof", Server, ""},
		"google list":                 {`data: [{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"x","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"4s"}]}}]` + "\n", "eof", RateLimit, "4s"},
		"reset headers on a 200":      {chunk + "\n", "reset", Network, ""},
		"context window by the model": {`data: {"error":{"message":"the prompt exceeds the context window","code":"500"}}` + "\n", "eof", TooLarge, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := Answer{Status: 200, Stream: strings.Split(c.lines, "\n"), End: c.end, Now: noon,
				Header: map[string][]string{"X-Ratelimit-Reset-Requests": {"30s"}, "X-Ratelimit-Remaining-Requests": {"7"}}}
			f := Classify(a)
			variation{want: c.want, wait: c.wait}.check(t, f)
			if !f.Begun || f.Status != 200 {
				t.Errorf("%+v", f)
			}
		})
	}
}

func TestClassifyNetwork(t *testing.T) {
	for text, want := range map[string]struct {
		class Class
		cert  bool
	}{
		`Post "https://x.test/v1": dial tcp: lookup x.test: no such host`:                                                {Network, false},
		`Post "https://x.test/v1": dial tcp 1.2.3.4:443: connect: connection timed out`:                                  {Timeout, false},
		`Post "https://x.test/v1": net/http: TLS handshake timeout`:                                                      {Timeout, false},
		`Post "https://x.test/v1": dial tcp: lookup x.test: i/o timeout`:                                                 {Timeout, false},
		`Post "https://x.test/v1": http2: timeout awaiting response headers`:                                             {Timeout, false},
		`Post "https://x.test/v1": http2: client connection lost`:                                                        {Network, false},
		`Post "https://x.test/v1": write tcp 1.2.3.4:1->5.6.7.8:2: write: broken pipe`:                                   {Network, false},
		`stream error: stream ID 5; CANCEL; received from peer`:                                                          {Network, false},
		`Post "https://x.test/v1": http: server gave HTTP response to HTTPS client`:                                      {Network, true},
		`Post "https://x.test/v1": tls: failed to verify certificate: x509: certificate has expired or is not yet valid`: {Network, true},
		`Post "ftp://x.test/v1": unsupported protocol scheme "ftp"`:                                                      {Network, true},
		`Post "https://x.test/v1": remote error: tls: certificate required`:                                              {Network, true},
		`Post "https://x.test/v1": proxyconnect tcp: dial tcp 10.0.0.1:3128: connect: connection refused`:                {Network, false},
		`Post "https://x.test/v1": Proxy Authentication Required`:                                                        {Auth, false},
		`Post "https://x.test/v1": net/http: request canceled`:                                                           {Canceled, false},
		`Post "https://x.test/v1": net/http: request canceled (Client.Timeout exceeded while awaiting headers)`:          {Timeout, false},
		`Post "https://x.test/v1": dial tcp 1.2.3.4:443: connect: network is unreachable`:                                {Network, false},
		`Post "https://x.test/v1": dial tcp 1.2.3.4:443: connect: no route to host`:                                      {Network, false},
	} {
		f := Classify(Answer{Err: errors.New(text)})
		if f.Class != want.class || f.Certificate != want.cert || f.Transient != (transient(want.class) && !want.cert) || f.HasStated || f.Status != 0 {
			t.Errorf("%s: %+v, want %+v", text, f, want)
		}
		if strings.Contains(f.Text, "x.test/v1") {
			t.Errorf("%s: the address is still there: %s", text, f.Text)
		}
	}
}

// F14: the limit that the provider states.
func TestLimit(t *testing.T) {
	for body, want := range map[string]int64{
		`{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 150320 tokens.","code":"context_length_exceeded"}}`: 128000,
		`{"error":{"message":"prompt is too long: 204290 tokens > 200000 maximum"}}`:                                                                                       200000,
		`{"error":{"message":"input length and max_tokens exceed context limit: 190402 + 21333 > 200000, decrease"}}`:                                                      200000,
		`{"error":{"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048576)."}}`:                                                  1048576,
		`{"error":{"message":"request (13392 tokens) exceeds the available context size (8192 tokens), try increasing it","n_ctx":8192}}`:                                  8192,
		`{"error":{"message":"Range of input length should be [1, 129024]"}}`:                                                                                              129024,
		`{"message":"Prompt contains 40005 tokens and 0 draft tokens, too large for model with 32768 maximum context length"}`:                                             32768,
		`{"error":{"message":"Request too large for m on tokens per min (TPM): Limit 30000, Requested 30601."}}`:                                                           30000,
		`{"error":{"message":"Your request exceeded model token limit: 131072 (requested: 140000)"}}`:                                                                      131072,
		`{"error":{"message":"Input is too long for requested model."}}`:                                                                                                   0,
		`{"error":{"message":"Request exceeds the maximum size of 33554432 bytes"}}`:                                                                                       0,
	} {
		f := Classify(Answer{Status: 400, Body: []byte(body)})
		if f.Class != TooLarge || f.Limit != want {
			t.Errorf("%s: %s, limit %d, want %d", body, f.Class, f.Limit, want)
		}
	}
}
