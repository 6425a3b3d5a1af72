package webtest

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"slices"
	"strings"
)

func (d *Daemon) index(w http.ResponseWriter) {
	page, err := fs.ReadFile(d.pages, "index.html")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.Write(page)
}

func (d *Daemon) login(w http.ResponseWriter, r *http.Request) {
	var body struct{ Secret string }
	if json.NewDecoder(r.Body).Decode(&body) != nil || body.Secret != "open" {
		d.refuse(w, 401, "login", "the link was used already or is too old")
		return
	}
	d.mu.Lock()
	d.out = false
	d.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func (d *Daemon) command(w http.ResponseWriter, r *http.Request) {
	var c Command
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
		d.refuse(w, 400, "bad_request", err.Error())
		return
	}
	d.mu.Lock()
	d.commands = append(d.commands, c)
	d.mu.Unlock()
	if d.OnCommand != nil {
		status, reply := d.OnCommand(c)
		if status < 0 {
			panic(http.ErrAbortHandler)
		}
		if status != 0 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			json.NewEncoder(w).Encode(reply)
			return
		}
	}
	d.reply(w, Object{"id": c.ID, "ok": true, "turn": nil, "chat": c.Args["chat"], "seq": 1, "duplicate": false})
}

func (d *Daemon) turns(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := []Object{}
	for _, t := range slices.Backward(d.objects["turn"]) {
		waits := slices.Contains([]any{"retrying", "parked", "rearming", "owed"}, t["state"])
		state := r.FormValue("state")
		if (r.FormValue("waiting") == "" || waits) && (state == "" || t["state"] == state) {
			list = append(list, t)
		}
	}
	d.reply(w, Object{"turns": list, "next": nil})
}

func (d *Daemon) turn(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.objects["turn"] {
		if t["id"] != r.PathValue("id") {
			continue
		}
		whole := Object{"attempts": d.of("attempt", t["id"]), "steps": d.of("step", t["id"]), "posts": d.of("post", t["id"])}
		for k, v := range t {
			whole[k] = v
		}
		d.reply(w, whole)
		return
	}
	d.refuse(w, 404, "not_found", "there is no turn of that id")
}

func (d *Daemon) of(kind string, turn any) []Object {
	list := []Object{}
	for _, o := range d.objects[kind] {
		if o["turn"] == turn {
			list = append(list, o)
		}
	}
	return list
}

func (d *Daemon) reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

func (d *Daemon) refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(Object{"error": Object{"code": code, "message": message}})
}

// chatsPage is how many chats a snapshot or a page of older ones has at most.
const chatsPage = 200

func (d *Daemon) chats(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	list, next := d.latest(r.FormValue("before"))
	d.reply(w, Object{"chats": list, "next": next})
}

// latest are chats, the latest active first, from before a time on, and where the next page begins.
func (d *Daemon) latest(before string) (list []Object, next any) {
	for _, c := range d.objects["chat"] {
		if before == "" || c["active"].(string) < before {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b Object) int { return strings.Compare(b["active"].(string), a["active"].(string)) })
	if len(list) > chatsPage {
		list = list[:chatsPage]
		next = list[chatsPage-1]["active"]
	}
	return list, next
}

func (d *Daemon) messages(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	list, next := d.transcript(r.PathValue("id"), r.FormValue("before"))
	d.reply(w, Object{"messages": list, "turns": d.turnsOf(list), "next": next})
}

// transcript is the end of a chat before a message, oldest first, and where the page above it ends.
func (d *Daemon) transcript(chat, before string) (list []Object, next any) {
	list = []Object{}
	for _, m := range d.objects["message"] {
		if before != "" && m["id"] == before {
			break
		}
		if m["chat"] == chat {
			list = append(list, m)
		}
	}
	if d.Messages > 0 && len(list) > d.Messages {
		list = list[len(list)-d.Messages:]
		next = list[0]["id"]
	}
	return list, next
}

// turnsOf are those that are not done, and those of messages.
func (d *Daemon) turnsOf(messages []Object) (list []Object) {
	for _, t := range d.objects["turn"] {
		if t["state"] != "done" || slices.ContainsFunc(messages, func(m Object) bool { return m["turn"] == t["id"] }) {
			list = append(list, t)
		}
	}
	return list
}

// list answers with all objects of a kind that hold what is searched for.
func (d *Daemon) list(w http.ResponseWriter, field, kind string, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := []Object{}
	for _, o := range d.objects[kind] {
		text, _ := o["text"].(string)
		if bot := r.FormValue("bot"); (bot == "" || o["bot"] == bot) && strings.Contains(text, r.FormValue("q")) {
			found = append(found, o)
		}
	}
	d.reply(w, Object{field: found, "next": nil, "currency": "EUR"})
}
