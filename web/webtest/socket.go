package webtest

import (
	"net/http"
	"time"

	"github.com/gorilla/websocket"
)

func (d *Daemon) socket(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{Subprotocols: []string{"holdfast.v1"}}
	ws, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	l := &line{ws: ws}
	d.mu.Lock()
	d.conns[l] = true
	d.mu.Unlock()
	for {
		var said struct{ T, Chat, Level string }
		if ws.ReadJSON(&said) != nil {
			break
		}
		if said.T == "log" {
			d.mu.Lock()
			l.log = said.Level
			d.mu.Unlock()
			continue
		}
		d.greet(l, said.Chat)
	}
	d.mu.Lock()
	delete(d.conns, l)
	d.mu.Unlock()
}

// greet answers every hello with a snapshot.
func (d *Daemon) greet(l *line, chat string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l.chat = chat
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	page := Object{"version": "0.1.0", "bots": d.Bots, "demo": d.Demo, "public_url": "", "has": d.Has}
	if d.Visitor {
		page = Object{"version": "0.1.0", "bots": []Object{{"name": "bot", "models": []string{}}}, "demo": false, "public_url": "", "visitor": true, "codes": true}
	}
	l.send(Object{"t": "welcome", "epoch": d.epoch, "head": d.seq, "now": now, "page": page})
	chats, _ := d.latest("")
	messages, _ := d.transcript(chat, "")
	l.send(Object{
		"t": "snapshot", "seq": d.seq, "chats": chats, "chat": chat, "messages": messages, "turns": d.turnsOf(messages),
		"gates": d.objects["gate"], "alerts": d.objects["alert"], "providers": d.objects["provider"], "schedules": d.objects["schedule"],
	})
	l.send(Object{"t": "live"})
	for turn, blocks := range d.renders {
		if d.chatOf[turn] == chat {
			l.send(Object{"t": "render", "turn": turn, "chat": chat, "from": 0, "blocks": blocks})
		}
	}
}
