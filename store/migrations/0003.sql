-- Tools: how many calls a turn has made, who has approved what, and where in the journal of its turn
-- a message came in that joined it later.
ALTER TABLE turns ADD COLUMN calls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN behind INTEGER NOT NULL DEFAULT 0; -- this line of the journal; 0 = before it begins

CREATE TABLE approvals (
	id      INTEGER PRIMARY KEY,
	turn    INTEGER NOT NULL,
	kind    TEXT    NOT NULL,
	asked   INTEGER NOT NULL,
	decided INTEGER NOT NULL DEFAULT 0,
	allowed INTEGER NOT NULL DEFAULT 0,
	person  TEXT    NOT NULL DEFAULT '',    -- who decided; '' = an operator at the page, or nobody: the turn ended first
	calls   BLOB    NOT NULL
) STRICT;
CREATE INDEX approvals_turn ON approvals (turn);
CREATE INDEX approvals_open ON approvals (asked) WHERE decided = 0;

-- What was used, for people who look; limits go by the table usage.
CREATE TABLE tokens (
	day        TEXT    NOT NULL,
	bot        TEXT    NOT NULL,
	model      TEXT    NOT NULL,
	requests   INTEGER NOT NULL,
	tokens_in  INTEGER NOT NULL,
	tokens_out INTEGER NOT NULL,
	PRIMARY KEY (day, bot, model)
) STRICT, WITHOUT ROWID;
