package rest

import "encoding/json"

// Edited is a message that has been changed, or of which Discord knows more now.
type Edited struct{ Message }

// Deleted is a message that is no more; it has its ids alone.
type Deleted struct{ Message }

// Decode reads an event of the gateway as a Ready, Guild, Channel, Message, Edited, Deleted or
// Interaction; nil if it is of another type. The error is that of an event that cannot be read.
func Decode(kind string, data json.RawMessage) (any, error) {
	switch kind {
	case "READY":
		return decode[Ready](data)
	case "GUILD_CREATE":
		return decode[Guild](data)
	case "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE":
		return decode[Channel](data)
	case "MESSAGE_CREATE":
		return decode[Message](data)
	case "MESSAGE_UPDATE":
		return decode[Edited](data)
	case "MESSAGE_DELETE":
		return decode[Deleted](data)
	case "INTERACTION_CREATE":
		return decode[Interaction](data)
	}
	return nil, nil
}

func decode[T any](data json.RawMessage) (any, error) {
	var v T
	err := json.Unmarshal(data, &v)
	return v, err
}
