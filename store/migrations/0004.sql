-- How many re-arms a conversation has had in a row: a completed turn or a person's message starts anew.
ALTER TABLE conversations ADD COLUMN rearms INTEGER NOT NULL DEFAULT 0;
UPDATE conversations SET rearms = coalesce((SELECT max(rearm_n) FROM turns WHERE conversation = conversations.id AND ended = 0), 0);

-- What the clock sends: the sections of the config, and what bots have set for themselves.
CREATE TABLE schedules (
	id        INTEGER PRIMARY KEY,
	name      TEXT    NOT NULL,             -- a bot's own have their id
	source    TEXT    NOT NULL,
	bot       TEXT    NOT NULL,
	cron      TEXT    NOT NULL,             -- '' = once
	timezone  TEXT    NOT NULL,
	prompt    TEXT    NOT NULL,
	target    TEXT    NOT NULL,             -- as the config writes it
	surface   TEXT    NOT NULL,
	channel   TEXT    NOT NULL,
	thread    TEXT    NOT NULL,
	person    TEXT    NOT NULL,
	missed    TEXT    NOT NULL,
	paused    INTEGER NOT NULL DEFAULT 0,
	next_at   INTEGER NOT NULL,             -- 0 = never again
	wait_ms   INTEGER NOT NULL,             -- of a length of time; 0 where a moment is meant
	planned   INTEGER NOT NULL,             -- when next_at was found
	last      INTEGER NOT NULL DEFAULT 0,
	last_turn INTEGER NOT NULL DEFAULT 0,
	made_by   TEXT    NOT NULL              -- the call that has set it; '' = the config
) STRICT;
CREATE UNIQUE INDEX schedules_name ON schedules (name);
CREATE UNIQUE INDEX schedules_made_by ON schedules (made_by) WHERE made_by <> '';
CREATE INDEX schedules_due ON schedules (next_at) WHERE next_at <> 0 AND paused = 0;
CREATE INDEX schedules_over ON schedules (planned) WHERE next_at = 0 AND source = 'bot';
CREATE INDEX schedules_place ON schedules (channel, surface, thread, bot) WHERE source = 'bot';

-- What bots have been asked to remember; person '' = for everybody.
CREATE TABLE memories (
	id           INTEGER PRIMARY KEY,
	bot          TEXT    NOT NULL,
	person       TEXT    NOT NULL,
	text         TEXT    NOT NULL,
	at           INTEGER NOT NULL,
	conversation INTEGER NOT NULL           -- where it was said
) STRICT;
CREATE UNIQUE INDEX memories_text ON memories (bot, person, text);
CREATE INDEX memories_owner ON memories (bot, person, id);
CREATE VIRTUAL TABLE memories_words USING fts5 (text, content = 'memories', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3');
