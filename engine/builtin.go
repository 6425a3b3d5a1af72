package engine

import (
	"holdfast/engine/tool"
)

// builtins are the tools that need the engine, by the name that a bot's tools have them under.
func (e *Engine) builtins() map[string]tool.Set {
	return map[string]tool.Set{
		"schedule": tool.Wakes{Set: e.setWake, List: e.listWakes, Cancel: e.cancelWake},
		"memory":   tool.Memory{Remember: e.remember, Recall: e.recall, Forget: e.forgetMemory},
		"send":     tool.Send{Places: e.sendPlaces, Say: e.sendMessage},
	}
}
