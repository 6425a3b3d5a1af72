package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"holdfast/store"
	"holdfast/web/command"
)

// backupCmd copies the store. It reads the file itself, which a daemon that writes in it does not mind.
type backupCmd struct {
	File string `arg:"" help:"Where the copy goes; nothing may be there yet."`
}

func (b *backupCmd) Run(c *call) error {
	l, err := c.valid()
	if err != nil {
		return err
	}
	st, err := store.OpenReader(l.Store)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no store in %s yet, so there is nothing to back up", l.Store.Dir)
	} else if err != nil {
		return err
	}
	defer st.Close()
	switch err := st.Backup(b.File); {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s is there already, and a backup overwrites nothing; name another file", b.File)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no directory %s; make it first", filepath.Dir(b.File))
	case err != nil:
		return err
	}
	size := "the copy"
	if info, err := os.Stat(b.File); err == nil {
		size = fmt.Sprintf("%.1f MB", float64(info.Size())/1e6)
	}
	fmt.Fprintf(c.out, "%s holds the whole store (%s), without keys and logins.\n", b.File, size)
	fmt.Fprintf(c.out, "To go back to it: stop the daemon, put it in place of %s, delete holdfast.db-wal and holdfast.db-shm there, and start.\n",
		filepath.Join(l.Store.Dir, "holdfast.db"))
	fmt.Fprintf(c.out, "It then sends nothing until you say %s, or %s, since what waits in it may have been answered.\n", c.line("unpause"), c.line("cancel --waiting"))
	return nil
}

// settleRestored ends what a store from a backup had under way, besides what waits, and lets it send
// again: there is nothing left that could be answered twice.
func (s *chosen) settleRestored(c *call, house *client, say string) error {
	for _, state := range []stateName{stateName(store.Queued), stateName(store.Running)} {
		rest := chosen{filter: filter{State: state}, JSON: s.JSON}
		if err := rest.carryOut(c, house, command.Cancel, say); err != nil {
			return err
		}
	}
	if err := house.post(order{Cmd: command.Unpause}, &json.RawMessage{}); err != nil {
		return err
	}
	if !s.JSON {
		fmt.Fprintln(c.out, "The store came from a backup; nothing of it waits any more, so sending goes on.")
	}
	return nil
}
