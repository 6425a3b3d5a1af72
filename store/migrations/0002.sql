-- A question asked anew cuts off the turn it supersedes and all that came after it.
ALTER TABLE turns ADD COLUMN supersedes INTEGER NOT NULL DEFAULT 0;

-- Who began a conversation: what a visitor of the page may see goes by it.
ALTER TABLE conversations ADD COLUMN person TEXT NOT NULL DEFAULT '';
UPDATE conversations SET person = coalesce((SELECT person FROM turns WHERE conversation = conversations.id ORDER BY id LIMIT 1), '');
CREATE INDEX conversations_person ON conversations (person, active) WHERE surface = 'web';
