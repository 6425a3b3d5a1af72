package store

// Prune deletes turns that ended before the given moment, with all that belongs to them, in batches
// of at most limit turns; it returns how many. Turns merged into one go with it, not before, and are
// not counted. Chats without a turn left go as well, and so do as many commands of that age.
func (s *Store) Prune(before Time, limit int) (int, error) {
	n := 0
	err := s.write(before, func(f *fact) error {
		var turns []Ready
		turns, err := f.ready(nil, limit, nil, `SELECT id, conversation, retry_at, wait_ms, state FROM turns
			WHERE ended > 0 AND ended < ? AND outcome <> 'merged' ORDER BY ended LIMIT ?`, before, limit)
		if err != nil {
			return err
		}
		n = len(turns)
		for _, t := range turns {
			if err := f.pruneTurn(t); err != nil {
				return err
			}
		}
		_, err = f.exec(`DELETE FROM commands WHERE n IN (SELECT n FROM commands ORDER BY n LIMIT ?) AND at < ?`, max(limit, 0), before)
		return err
	})
	if err != nil {
		return 0, wrap("prune turns", err)
	}
	return n, nil
}

// pruneTurn deletes a turn, what was merged into it, and its chat if it was the last.
func (f *fact) pruneTurn(t Ready) error {
	var merged []ID
	err := f.each(func(r row) error {
		merged = append(merged, 0)
		return r.Scan(&merged[len(merged)-1])
	}, `SELECT id FROM events WHERE turn = ? AND turn <> id`, t.Turn)
	for _, id := range append(merged, t.Turn) {
		if err == nil {
			err = f.deleteTurn(id)
		}
	}
	if err != nil {
		return err
	}
	x, err := f.chatByID(t.Conversation)
	if err != nil {
		return err
	}
	n, err := f.exec(`DELETE FROM conversations WHERE id = ? AND NOT EXISTS (SELECT 1 FROM turns WHERE conversation = ?)`, x.ID, x.ID)
	if err != nil || n == 0 {
		return err
	}
	return f.changed(object{kind: kindRemoved, name: "chat/" + x.Key})
}

// deleteTurn deletes one turn with its own event, requests, journal and posts.
func (f *fact) deleteTurn(id ID) error {
	for _, sql := range []string{
		`DELETE FROM attempts WHERE turn = ?`,
		`DELETE FROM steps WHERE turn = ?`,
		`DELETE FROM approvals WHERE turn = ?`,
		`DELETE FROM posts WHERE turn = ?`,
		`DELETE FROM events WHERE id = ?`,
		`DELETE FROM turns WHERE id = ?`,
	} {
		if _, err := f.exec(sql, id); err != nil {
			return err
		}
	}
	return nil
}
