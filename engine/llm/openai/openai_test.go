package openai

import (
	"testing"

	"holdfast/engine/llm/llmtest"
)

func TestConformance(t *testing.T) {
	llmtest.Run(t, llmtest.Wire{
		New:   New,
		Path:  "/chat/completions",
		Names: []string{"openai-chat"},
		Text:  llmtest.ChatLines,
		Last:  5, // the empty line after the finish_reason, the usage, [DONE]
		Call:  llmtest.ChatCallLines,
		Whole: `{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"all at once"},"finish_reason":"stop"}],"usage":{"prompt_tokens":11,"completion_tokens":7}}`,
		Error: `data: {"error":{"message":"busy","type":"server_error","code":"server_is_overloaded"}}`,
	})
}
