package store

// Usage is a count per day that a limit goes by: a provider's requests, a bot's tokens, a person's messages.
type Usage struct {
	Day  string // 2006-01-02 in the configured time zone
	Name string
	N    int64
}

// use counts it up.
func (f *fact) use(u Usage) error {
	if u.Name == "" || u.N == 0 {
		return nil
	}
	return f.must(`INSERT INTO usage (day, name, n) VALUES (?, ?, ?) ON CONFLICT (day, name) DO UPDATE SET n = n + excluded.n`, u.Day, u.Name, u.N)
}

// UsageOn reads a day's counts by name.
func (s *Store) UsageOn(day string) (counts map[string]int64, err error) {
	counts = map[string]int64{}
	err = s.read(func(c *conn) error {
		return c.each(func(r row) error {
			var name string
			var n int64
			err := r.Scan(&name, &n)
			counts[name] = n
			return err
		}, `SELECT name, n FROM usage WHERE day = ?`, day)
	})
	return counts, wrap("read usage", err)
}

// WaitingOf counts the waiting turns of a person, over all conversations; those that wait for an approval
// aside, which keep nobody waiting.
func (s *Store) WaitingOf(person string) (n int, err error) {
	err = s.read(func(c *conn) error {
		return c.one(`SELECT count(*) FROM turns WHERE person = ? AND ended = 0 AND state IN ('retrying', 'parked', 'rearming', 'owed') AND reason_why <> 'approval'`, person).Scan(&n)
	})
	return n, wrap("count a person's waiting turns", err)
}

// Tokens is what a bot has used of a model on a day.
type Tokens struct {
	Day      string // 2006-01-02 in the configured time zone
	Bot      string
	Model    string // PROVIDER/MODEL
	Requests int64  // that were answered
	In, Out  int64
}

func (f *fact) addTokens(n Tokens) error {
	return f.must(`INSERT INTO tokens (day, bot, model, requests, tokens_in, tokens_out) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (day, bot, model) DO UPDATE SET requests = requests + excluded.requests, tokens_in = tokens_in + excluded.tokens_in, tokens_out = tokens_out + excluded.tokens_out`,
		n.Day, n.Bot, n.Model, n.Requests, n.In, n.Out)
}

// TokensSince reads what was used from a day on, the newest day first.
func (s *Store) TokensSince(day string) (list []Tokens, err error) {
	err = s.read(func(c *conn) error {
		return c.each(func(r row) error {
			var n Tokens
			err := r.Scan(&n.Day, &n.Bot, &n.Model, &n.Requests, &n.In, &n.Out)
			list = append(list, n)
			return err
		}, `SELECT day, bot, model, requests, tokens_in, tokens_out FROM tokens WHERE day >= ? ORDER BY day DESC, bot, model`, day)
	})
	return list, wrap("read tokens", err)
}
