-- Times are milliseconds since 1970 and passed in by Go; 0 and '' mean none. Ids are store.ID.
-- No foreign keys: rows are written and deleted in whole facts, and each check would be a lookup more.

CREATE TABLE conversations (
	id      INTEGER PRIMARY KEY,
	bot     TEXT    NOT NULL,
	surface TEXT    NOT NULL,
	channel TEXT    NOT NULL,
	thread  TEXT    NOT NULL,
	title   TEXT    NOT NULL,
	created INTEGER NOT NULL,
	active  INTEGER NOT NULL               -- last message or answer
) STRICT;
CREATE UNIQUE INDEX conversations_place ON conversations (channel, surface, thread, bot);
CREATE INDEX conversations_active ON conversations (active);

CREATE TABLE events (
	id   INTEGER PRIMARY KEY,              -- also the id of the turn it made
	turn INTEGER NOT NULL,                 -- that turn, or the older one it was merged into
	bot  TEXT    NOT NULL,
	key  TEXT    NOT NULL,                 -- the platform's own id
	kind TEXT    NOT NULL,
	name TEXT    NOT NULL,
	at   INTEGER NOT NULL,
	text TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_key ON events (key, bot);
CREATE INDEX events_merged ON events (turn) WHERE turn <> id;

CREATE TABLE turns (
	id              INTEGER PRIMARY KEY,
	conversation    INTEGER NOT NULL,
	person          TEXT    NOT NULL,
	lane            TEXT    NOT NULL,
	state           TEXT    NOT NULL,
	outcome         TEXT    NOT NULL DEFAULT '',
	version         INTEGER NOT NULL DEFAULT 1,
	created         INTEGER NOT NULL,
	spoken          INTEGER NOT NULL,
	ended           INTEGER NOT NULL DEFAULT 0,  -- 0 until it is done
	messages        INTEGER NOT NULL DEFAULT 1,
	retry_at        INTEGER NOT NULL DEFAULT 0,  -- 0 unless it waits
	gate            TEXT    NOT NULL DEFAULT '', -- '' unless it waits
	wait_from       TEXT    NOT NULL DEFAULT '',
	wait_ms         INTEGER NOT NULL DEFAULT 0,
	reason_why      TEXT    NOT NULL DEFAULT '',
	reason_class    TEXT    NOT NULL DEFAULT '',
	reason_status   INTEGER NOT NULL DEFAULT 0,
	reason_provider TEXT    NOT NULL DEFAULT '',
	reason_model    TEXT    NOT NULL DEFAULT '',
	reason_text     TEXT    NOT NULL DEFAULT '',
	resumed         TEXT    NOT NULL DEFAULT '',
	first_failed    INTEGER NOT NULL DEFAULT 0,
	attempts        INTEGER NOT NULL DEFAULT 0,
	requests        INTEGER NOT NULL DEFAULT 0,
	parks           INTEGER NOT NULL DEFAULT 0,
	rearm_n         INTEGER NOT NULL DEFAULT 0,
	rearm_of        INTEGER NOT NULL DEFAULT 0,
	deaths          INTEGER NOT NULL DEFAULT 0,
	merged_into     INTEGER NOT NULL DEFAULT 0,
	model           TEXT    NOT NULL DEFAULT '',
	episode         BLOB,
	error           TEXT    NOT NULL DEFAULT '',
	text            TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX turns_conversation ON turns (conversation);
CREATE INDEX turns_open ON turns (conversation) WHERE ended = 0; -- not by state: most facts change that and would write here too
CREATE INDEX turns_state ON turns (state);
CREATE INDEX turns_person ON turns (person) WHERE ended = 0;
CREATE INDEX turns_due ON turns (retry_at) WHERE retry_at <> 0; -- not > 0, which a search would take for its own lower end
CREATE INDEX turns_gate ON turns (gate, spoken) WHERE gate <> '';
CREATE INDEX turns_ended ON turns (ended) WHERE ended > 0;

CREATE TABLE attempts (
	turn       INTEGER NOT NULL,
	n          INTEGER NOT NULL,
	send       INTEGER NOT NULL,
	at         INTEGER NOT NULL,
	model      TEXT    NOT NULL,
	status     INTEGER NOT NULL DEFAULT 0,
	class      TEXT    NOT NULL DEFAULT '',
	stated_ms  INTEGER,                    -- NULL: none was stated
	wait_ms    INTEGER NOT NULL DEFAULT 0,
	wait_from  TEXT    NOT NULL DEFAULT '',
	rung       TEXT    NOT NULL DEFAULT '',
	outcome    TEXT    NOT NULL DEFAULT '',
	request_id TEXT    NOT NULL DEFAULT '',
	ms         INTEGER NOT NULL DEFAULT 0,
	tokens_in  INTEGER NOT NULL DEFAULT 0,
	tokens_out INTEGER NOT NULL DEFAULT 0,
	error      TEXT    NOT NULL DEFAULT '',
	PRIMARY KEY (turn, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE steps (
	id   INTEGER PRIMARY KEY,
	turn INTEGER NOT NULL,
	n    INTEGER NOT NULL,
	kind TEXT    NOT NULL,
	at   INTEGER NOT NULL,
	body BLOB
) STRICT;
CREATE UNIQUE INDEX steps_turn ON steps (turn, n);

CREATE TABLE posts (
	id           INTEGER PRIMARY KEY,
	turn         INTEGER NOT NULL,
	conversation INTEGER NOT NULL,
	part         INTEGER NOT NULL,
	kind         TEXT    NOT NULL,
	state        TEXT    NOT NULL,
	handle       TEXT    NOT NULL,
	next_try     INTEGER NOT NULL,
	wait_ms      INTEGER NOT NULL,         -- from when next_try was set to next_try
	tries        INTEGER NOT NULL,
	created      INTEGER NOT NULL,
	edited       INTEGER NOT NULL,
	until        INTEGER NOT NULL,         -- the moment a notice names
	error        TEXT    NOT NULL,
	text         TEXT                      -- NULL: the turn's own text
) STRICT;
CREATE INDEX posts_turn ON posts (turn, part);
CREATE INDEX posts_conversation ON posts (conversation);
CREATE INDEX posts_pending ON posts (next_try) WHERE state IN ('pending', 'posting');

CREATE TABLE gates (
	key      TEXT    PRIMARY KEY,
	provider TEXT    NOT NULL,
	model    TEXT    NOT NULL,
	why      TEXT    NOT NULL,
	until    INTEGER NOT NULL,
	wait_ms  INTEGER NOT NULL,
	version  INTEGER NOT NULL,             -- a row gives way to a higher one only
	since    INTEGER NOT NULL,
	class    TEXT    NOT NULL,
	error    TEXT    NOT NULL,
	record   BLOB
) STRICT, WITHOUT ROWID;

CREATE TABLE commands (
	n    INTEGER PRIMARY KEY,              -- by age, for pruning
	id   TEXT    NOT NULL,
	hash BLOB    NOT NULL,
	at   INTEGER NOT NULL,
	turn INTEGER NOT NULL,
	seq  INTEGER NOT NULL,
	chat TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX commands_id ON commands (id);

-- One line per change; the newest is never deleted, so a number is never used again.
CREATE TABLE changes (
	seq  INTEGER PRIMARY KEY,
	kind INTEGER NOT NULL,                 -- see change.go
	id   INTEGER,                          -- of a row, or
	name TEXT,                             -- of anything else
	n    INTEGER,                          -- of an attempt within its turn
	at   INTEGER NOT NULL
) STRICT;

CREATE TABLE alerts (
	id       INTEGER PRIMARY KEY,
	kind     TEXT    NOT NULL,
	subject  TEXT    NOT NULL,
	since    INTEGER NOT NULL,
	raised   INTEGER NOT NULL,
	cleared  INTEGER NOT NULL DEFAULT 0,
	acked    INTEGER NOT NULL DEFAULT 0,
	text     TEXT    NOT NULL,
	told     INTEGER NOT NULL,             -- messages delivered: 1 the raising, 2 the clearing too
	next_try INTEGER NOT NULL,
	tries    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX alerts_open ON alerts (kind, subject) WHERE cleared = 0;

-- Counts per day that limits go by.
CREATE TABLE usage (
	day  TEXT    NOT NULL,
	name TEXT    NOT NULL,
	n    INTEGER NOT NULL,
	PRIMARY KEY (day, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE links (
	hash    BLOB    PRIMARY KEY,
	expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
	hash    BLOB    PRIMARY KEY,
	expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE meta (
	key   TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO meta (key, value) VALUES ('epoch', lower(hex(randomblob(16))));
