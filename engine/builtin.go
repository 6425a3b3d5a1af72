package engine

import (
	"maps"

	"holdfast/engine/tool"
)

// withBuiltins adds them to the sets that main has built.
func (e *Engine) withBuiltins(sets map[string]tool.Set) map[string]tool.Set {
	all := e.builtins()
	maps.Copy(all, sets)
	return all
}

// builtins are the tools that need the engine, by the name that a bot's list of tools has them under.
func (e *Engine) builtins() map[string]tool.Set {
	return map[string]tool.Set{
		"schedule": tool.Wakes{Set: e.setWake, List: e.listWakes, Cancel: e.cancelWake},
		"memory":   tool.Memory{Remember: e.remember, Recall: e.recall, Forget: e.forgetMemory},
		"send":     tool.Send{Places: e.sendPlaces, Say: e.sendMessage},
	}
}
