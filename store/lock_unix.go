//go:build unix

package store

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the file for this process until it is closed; taken says that another has it.
func tryLock(f *os.File) (taken bool, err error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return true, nil
		}
		return false, err
	}
}
