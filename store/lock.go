package store

import (
	"fmt"
	"os"
	"path/filepath"
)

// lock makes this process the only one that writes in dir, until the file it returns is closed; the
// system lets go of it when the process ends, however it ends. The file itself stays.
func lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be written, choose another [store] dir or make it writable: %w", dir, err)
	}
	taken, err := tryLock(f)
	switch {
	case taken:
		err = fmt.Errorf("%w: %s is in use; stop that holdfast first, or give this one a [store] dir of its own", ErrLocked, dir)
	case err != nil:
		err = fmt.Errorf("lock %s: %w", f.Name(), err)
	default:
		return f, nil
	}
	_ = f.Close()
	return nil, err
}
