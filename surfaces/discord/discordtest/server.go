// Package discordtest is a small Discord for tests: the gateway with sessions that resume, and the few
// calls that a bot makes, with their limits, nonces and permissions. It listens on pipes, so that it
// runs inside a bubble of fake time.
package discordtest

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Who and what there is at the start.
const (
	Bot     = "1100000000000000001" // the bot's user and application
	Guild   = "1100000000000000002"
	General = "1100000000000000003" // channels of Guild
	Other   = "1100000000000000004"
	DM      = "1100000000000000005" // direct messages with Alice
	DMBob   = "1100000000000000006"
	Alice   = "1100000000000000011"
	Bob     = "1100000000000000012"
	Robot   = "1100000000000000013" // another bot
	URL     = "http://discord.test/api/v10/"
)

// Object is JSON.
type Object = map[string]any

// Message is one with its history.
type Message struct {
	ID, Channel, Author, Content, ReplyTo, Nonce string
	Buttons                                      []string // custom ids
	Pings                                        []string // users who were notified, when it was made
	Edits                                        []string // contents, oldest first
	Deleted                                      bool
	Made                                         time.Time
	Files                                        []string
	mentions                                     []string
}

// Channel is a place.
type Channel struct {
	Guild, Parent, Name                          string
	Type                                         int
	Archived, Locked, NoAccess, NoSend, OldEdits bool
	with                                         string
}

// Fault changes the outcome of calls.
type Fault struct {
	Op         string // "create", "edit", "messages", "gateway" … as Calls names them
	Skip       int    // calls that go well before
	Times      int    // calls; 0 = 1
	Status     int    // answered instead; 0 = none
	Code       int    // Discord's own
	RetryAfter float64
	Global     bool
	Lost       bool          // done, but the answer is lost
	Delay      time.Duration // before the answer
}

// Call is one that was made.
type Call struct {
	Op, Channel string
	At          time.Time
	Status      int // 0: the answer was lost
	Body        Object
}

// Server is a Discord.
type Server struct {
	Token       string        // any other is refused; "" = all are good
	Intents     int           // privileged ones that are turned on
	Heartbeat   time.Duration // of hello
	ResumeFor   time.Duration // how long a session outlives its connection
	NonceFor    time.Duration // how long a nonce is known
	Limits      bool          // 5 calls in 5 s for making, and for editing, in a channel
	Unavailable bool          // every call answers 503

	mu       sync.Mutex
	conns    chan net.Conn
	http     http.Server
	ended    chan struct{}
	served   sync.WaitGroup
	channels map[string]*Channel
	messages []*Message
	faults   []*Fault
	calls    []Call
	answers  []string // to interactions
	buckets  map[string]*bucket
	lastID   int64
	sessions []*session
	sockets  []*socket
	opened   int
}

type bucket struct {
	used int
	till time.Time
}

// New starts one.
func New() *Server {
	s := &Server{
		Heartbeat: 41250 * time.Millisecond, ResumeFor: 2 * time.Minute, NonceFor: 2 * time.Minute, Limits: true,
		conns: make(chan net.Conn), ended: make(chan struct{}), buckets: map[string]*bucket{},
		channels: map[string]*Channel{
			General: {Guild: Guild, Name: "general"}, Other: {Guild: Guild, Name: "other"}, DM: {Type: 1, with: Alice}, DMBob: {Type: 1, with: Bob},
		},
	}
	s.http.Handler = s.routes()
	s.served.Go(func() { _ = s.http.Serve(s) })
	return s
}

// Close ends it with all connections.
func (s *Server) Close() error {
	select {
	case <-s.ended:
		return nil
	default:
	}
	close(s.ended)
	s.mu.Lock()
	for _, c := range s.sockets {
		c.drop()
	}
	s.mu.Unlock()
	err := s.http.Close()
	s.served.Wait()
	return err
}

// Dial connects to it.
func (s *Server) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case s.conns <- far:
		return near, nil
	case <-s.ended:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept, Addr and Close make it its own listener.
func (s *Server) Accept() (net.Conn, error) {
	select {
	case c := <-s.conns:
		return c, nil
	case <-s.ended:
		return nil, net.ErrClosed
	}
}

// Addr is not asked for.
func (s *Server) Addr() net.Addr { return &net.IPAddr{} }

// Say is a user's message; it returns its id. With replyTo it answers another message, which mentions its author.
func (s *Server) Say(channel, user, text, replyTo string, files ...string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &Message{Channel: channel, Author: user, Content: text, ReplyTo: replyTo, Files: files}
	s.add(m, nil)
	return m.ID
}

// Change edits a user's message, Remove deletes any.
func (s *Server) Change(id, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.find(id)
	m.Content, m.Edits = text, append(m.Edits, text)
	s.mention(m, nil)
	s.dispatch("MESSAGE_UPDATE", m.Channel, s.messageJSON(m))
}

// Remove deletes a message.
func (s *Server) Remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.find(id)
	m.Deleted = true
	s.dispatch("MESSAGE_DELETE", m.Channel, Object{"id": id, "channel_id": m.Channel, "guild_id": s.channels[m.Channel].Guild})
}

// Again delivers a message once more.
func (s *Server) Again(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.find(id)
	s.dispatch("MESSAGE_CREATE", m.Channel, s.messageJSON(m))
}

// Press presses a button, Slash runs a command, as a user.
func (s *Server) Press(channel, user, customID string) {
	s.interact(3, channel, user, Object{"custom_id": customID})
}

// Slash runs a slash command.
func (s *Server) Slash(channel, user, name string) {
	s.interact(2, channel, user, Object{"name": name})
}

func (s *Server) interact(kind int, channel, user string, data Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.newID()
	o := Object{"id": id, "application_id": Bot, "type": kind, "token": "secret" + id, "channel_id": channel, "data": data}
	if g := s.channels[channel].Guild; g != "" {
		o["guild_id"], o["member"] = g, Object{"user": s.user(user), "nick": nil}
	} else {
		o["user"] = s.user(user)
	}
	s.dispatch("INTERACTION_CREATE", "", o)
}

// Answers are those to interactions, oldest first.
func (s *Server) Answers() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.answers)
}

// Put makes or changes a channel.
func (s *Server) Put(id string, change func(*Channel)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.channels[id] == nil {
		s.channels[id] = &Channel{Guild: Guild, Name: "c" + id}
	}
	change(s.channels[id])
}

// Fault is planned for the next calls of its Op.
func (s *Server) Fault(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Times = max(f.Times, 1)
	s.faults = append(s.faults, &f)
}

// Bots are the bot's messages in a channel that are not deleted, oldest first.
func (s *Server) Bots(channel string) (list []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages {
		if m.Author == Bot && m.Channel == channel && !m.Deleted {
			list = append(list, *m)
		}
	}
	return list
}

// Calls are those of an op, oldest first; "" = all.
func (s *Server) Calls(op string) (list []Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if op == "" || c.Op == op {
			list = append(list, c)
		}
	}
	return list
}

// newID grows with time. Server.mu is held, as in all that follows.
func (s *Server) newID() string {
	s.lastID = max((time.Now().UnixMilli()-1420070400000)<<22, s.lastID+1)
	return strconv.FormatInt(s.lastID, 10)
}

func (s *Server) find(id string) *Message {
	for _, m := range s.messages {
		if m.ID == id && !m.Deleted {
			return m
		}
	}
	return nil
}

func (s *Server) user(id string) Object {
	names := map[string]string{Bot: "holdfast", Alice: "alice", Bob: "bob", Robot: "robot"}
	return Object{"id": id, "username": names[id], "global_name": strings.ToUpper(names[id][:1]) + names[id][1:], "bot": id == Bot || id == Robot}
}

// add stores a message and tells of it; allowed is what it may notify, nil = everybody it names.
func (s *Server) add(m *Message, allowed Object) {
	m.ID, m.Made = s.newID(), time.Now()
	s.mention(m, allowed)
	if c := s.channels[m.Channel]; c.Archived && !c.Locked {
		c.Archived = false
	}
	s.messages = append(s.messages, m)
	s.dispatch("MESSAGE_CREATE", m.Channel, s.messageJSON(m))
}

// mention works out whom a message mentions, and whom it notifies.
func (s *Server) mention(m *Message, allowed Object) {
	m.mentions, m.Pings = nil, nil
	for _, id := range []string{Bot, Alice, Bob, Robot} {
		if strings.Contains(m.Content, "<@"+id+">") {
			m.mentions = append(m.mentions, id)
		}
	}
	if old := s.find(m.ReplyTo); old != nil && m.Author != Bot && !slices.Contains(m.mentions, old.Author) {
		m.mentions = append(m.mentions, old.Author)
	}
	parse, _ := allowed["parse"].([]any)
	users, _ := allowed["users"].([]any)
	for _, id := range m.mentions {
		if allowed == nil || slices.Contains(parse, any("users")) || slices.Contains(users, any(id)) {
			m.Pings = append(m.Pings, id)
		}
	}
	if strings.Contains(m.Content, "@everyone") && (allowed == nil || slices.Contains(parse, any("everyone"))) {
		m.Pings = append(m.Pings, "everyone")
	}
}

func (s *Server) messageJSON(m *Message) Object {
	mentions, files := []Object{}, []Object{}
	for _, id := range m.mentions {
		mentions = append(mentions, s.user(id))
	}
	for _, f := range m.Files {
		files = append(files, Object{"filename": f})
	}
	o := Object{"id": m.ID, "channel_id": m.Channel, "type": 0, "author": s.user(m.Author), "content": m.Content, "mentions": mentions,
		"attachments": files, "edited_timestamp": nil, "nonce": m.Nonce}
	if g := s.channels[m.Channel].Guild; g != "" {
		o["guild_id"], o["member"] = g, Object{"nick": nil}
	}
	if m.ReplyTo != "" {
		o["type"], o["message_reference"] = 19, Object{"message_id": m.ReplyTo}
	}
	if len(m.Edits) > 0 {
		o["edited_timestamp"] = "2026-01-01T00:00:00Z"
	}
	return o
}

func (s *Server) channelJSON(id string) Object {
	c := s.channels[id]
	o := Object{"id": id, "type": c.Type, "guild_id": c.Guild, "parent_id": c.Parent, "name": c.Name, "last_message_id": nil}
	for _, m := range s.messages {
		if m.Channel == id {
			o["last_message_id"] = m.ID
		}
	}
	return o
}

// asJSON copies a value through its JSON form.
func asJSON(v any) json.RawMessage {
	data, _ := json.Marshal(v)
	return data
}
