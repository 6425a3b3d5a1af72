package llmtest

// Messages answers a streamed text on the messages wire of Anthropic, in the pieces given.
func Messages(pieces ...string) Reply { return Stream(MessagesLines(pieces...), "eof") }

// MessagesLines are the lines of such a stream. The usage is 11 tokens in, 7 out.
func MessagesLines(pieces ...string) []string {
	lines := append(messagesBegin(), named("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`)...)
	for _, p := range pieces {
		lines = append(lines, named("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":`+quote(p)+`}`)...)
	}
	return append(lines, messagesEnd("end_turn")...)
}

// MessagesCallLines are the lines of a stream with one tool call, its arguments in two pieces.
func MessagesCallLines(id, name, arguments string) []string {
	half := len(arguments) / 2
	lines := append(messagesBegin(), named("content_block_start", `"index":0,"content_block":{"type":"tool_use","id":`+quote(id)+`,"name":`+quote(name)+`,"input":{}}`)...)
	for _, p := range []string{"", arguments[:half], arguments[half:]} {
		lines = append(lines, named("content_block_delta", `"index":0,"delta":{"type":"input_json_delta","partial_json":`+quote(p)+`}`)...)
	}
	return append(lines, messagesEnd("tool_use")...)
}

func messagesBegin() []string {
	lines := named("message_start", `"message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"usage":{"input_tokens":2,"cache_creation_input_tokens":4,"cache_read_input_tokens":5,"output_tokens":1}}`)
	return append(lines, named("ping", "")...)
}

func messagesEnd(reason string) []string {
	lines := named("content_block_stop", `"index":0`)
	lines = append(lines, named("message_delta", `"delta":{"stop_reason":`+quote(reason)+`,"stop_sequence":null},"usage":{"output_tokens":7}`)...)
	return append(lines, named("message_stop", "")...)
}

// named are the lines of one event.
func named(name, rest string) []string {
	if rest != "" {
		rest = "," + rest
	}
	return []string{"event: " + name, `data: {"type":"` + name + `"` + rest + "}", ""}
}
