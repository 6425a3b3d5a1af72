package tool

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
	"unicode/utf8"
)

const (
	longestFile = 1 << 20   // bytes of a file that is written or read
	allFiles    = 100 << 20 // bytes of all files of a bot
	mostFiles   = 5000      // of a bot, directories included
	mostListed  = 500       // entries of one answer
	filePage    = 24 << 10  // bytes of a file in one answer
)

// unfinished is how files begin that are being written.
const unfinished = ".holdfast-"

// files is the built-in files: a bot's own directory, which nothing leads out of: paths and symbolic
// links end at its root (os.Root).
type files struct {
	dir func(bot string) string
}

// NewFiles is the built-in files; dir is a bot's directory, "" if it has none. It is made when it is
// first used.
func NewFiles(dir func(bot string) string) Set {
	f := files{dir}
	where := `"path":{"type":"string","description":"A path inside your directory, such as notes/today.md."}`
	tool := func(s Spec, do func(*os.Root, fileArguments) (string, error)) Tool {
		return act{s, plainly(func(_ context.Context, c Call, in fileArguments) (string, error) { return f.with(c.By.Bot, in, do) })}
	}
	return Fixed{
		tool(Spec{Name: "files_list", Title: "List files", ReadOnly: true,
			Description: "Lists one directory of your own file space: names, sizes, times. Directories end with a slash.",
			Schema:      json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"A directory inside your file space. Left out: the top."}}}`),
		}, list),
		tool(Spec{Name: "files_read", Title: "Read a file", ReadOnly: true,
			Description: "Reads a text file of your own file space. A long one comes in pages: go on with the offset that the answer names.",
			Schema:      json.RawMessage(`{"type":"object","properties":{` + where + `,"offset":{"type":"integer","minimum":0,"description":"Bytes to leave out at the beginning."}},"required":["path"]}`),
		}, read),
		tool(Spec{Name: "files_write", Title: "Write a file", Idempotent: true, Destructive: true,
			Description: "Writes a whole text file of your own file space, at most 1 MB. One that is there is replaced; missing directories are made.",
			Schema:      json.RawMessage(`{"type":"object","properties":{` + where + `,"text":{"type":"string","description":"The whole new content."}},"required":["path","text"]}`),
		}, write),
		tool(Spec{Name: "files_delete", Title: "Delete a file", Idempotent: true, Destructive: true,
			Description: "Deletes a file or an empty directory of your own file space.",
			Schema:      json.RawMessage(`{"type":"object","properties":{` + where + `},"required":["path"]}`),
		}, remove),
	}
}

// fileArguments are those of all four tools.
type fileArguments struct {
	Path   string  `json:"path"`
	Offset int     `json:"offset"`
	Text   *string `json:"text"`
}

// with opens the bot's directory for one call.
func (f files) with(bot string, in fileArguments, do func(*os.Root, fileArguments) (string, error)) (string, error) {
	in.Path = path.Clean(strings.TrimLeft(strings.ReplaceAll(in.Path, `\`, "/"), "/"))
	dir := f.dir(bot)
	if dir == "" {
		return "", errors.New("this bot has no directory; its owner must set files_dir")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("the directory cannot be made: %w", bare(err))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("the directory cannot be opened: %w", bare(err))
	}
	defer root.Close()
	text, err := do(root, in)
	if err != nil {
		return "", fmt.Errorf("%s: %w", in.Path, bare(err))
	}
	return text, nil
}

// bare is an error without the host's paths, which are no business of the model's.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

func list(root *os.Root, in fileArguments) (string, error) {
	entries, err := fs.ReadDir(root.FS(), in.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("there is no such directory")
	} else if err != nil {
		return "", err
	}
	var b strings.Builder
	shown := 0
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || strings.HasPrefix(e.Name(), unfinished) {
			continue // gone meanwhile, or not there yet
		}
		if shown++; shown > mostListed {
			fmt.Fprintf(&b, "[and more: the directory has %d entries]\n", len(entries))
			break
		}
		changed := info.ModTime().Format("2006-01-02 15:04")
		switch {
		case info.IsDir():
			fmt.Fprintf(&b, "%s/  %s\n", e.Name(), changed)
		case info.Mode().IsRegular():
			fmt.Fprintf(&b, "%s  %d bytes  %s\n", e.Name(), info.Size(), changed)
		default:
			fmt.Fprintf(&b, "%s  (no regular file)  %s\n", e.Name(), changed)
		}
	}
	if b.Len() == 0 {
		return "(The directory is empty.)", nil
	}
	return b.String(), nil
}

func read(root *os.Root, in fileArguments) (string, error) {
	info, err := root.Stat(in.Path) // before it is opened: to open a pipe is to wait
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", errors.New("there is no such file")
	case err != nil:
		return "", err
	case info.IsDir():
		return "", errors.New("is a directory; files_list shows it")
	case !info.Mode().IsRegular():
		return "", errors.New("is no regular file")
	case info.Size() > longestFile:
		return "", fmt.Errorf("has %d bytes; at most %d can be read", info.Size(), longestFile)
	}
	file, err := root.Open(in.Path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, longestFile))
	if err != nil {
		return "", err
	}
	if !utf8.Valid(text) {
		return "", fmt.Errorf("is no text but %s with %d bytes", http.DetectContentType(text), len(text))
	}
	if len(text) == 0 {
		return "(The file is empty.)", nil
	}
	return page(string(text), in.Offset, filePage)
}

// write replaces a file as a whole: a crash leaves the old one or the new one.
func write(root *os.Root, in fileArguments) (string, error) {
	switch {
	case in.Text == nil:
		return "", errors.New("text is missing")
	case len(*in.Text) > longestFile:
		return "", fmt.Errorf("the text has %d bytes; at most %d are written", len(*in.Text), longestFile)
	case in.Path == "." || strings.HasPrefix(path.Base(in.Path), unfinished):
		return "", errors.New("is no name for a file")
	}
	if info, err := root.Lstat(in.Path); err == nil && info.IsDir() {
		return "", errors.New("is a directory")
	}
	if err := room(root, len(*in.Text)); err != nil {
		return "", err
	}
	if err := root.MkdirAll(path.Dir(in.Path), 0o700); err != nil {
		return "", err
	}
	part := path.Join(path.Dir(in.Path), unfinished+rand.Text())
	if err := fill(root, part, *in.Text); err != nil {
		return "", errors.Join(err, bare(root.Remove(part)))
	}
	if err := root.Rename(part, in.Path); err != nil {
		return "", errors.Join(bare(err), bare(root.Remove(part)))
	}
	return fmt.Sprintf("Written: %s, %d bytes.", in.Path, len(*in.Text)), nil
}

// fill writes a new file through to the disk.
func fill(root *os.Root, name, text string) error {
	file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return bare(err)
	}
	_, err = io.WriteString(file, text)
	return errors.Join(err, file.Sync(), file.Close())
}

// room refuses what would make the bot's directory too large.
func room(root *os.Root, more int) error {
	bytes, count := int64(more), 1
	err := fs.WalkDir(root.FS(), ".", func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		count++
		return nil
	})
	switch {
	case err != nil:
		return bare(err)
	case bytes > allFiles:
		return fmt.Errorf("the directory is full: all files together may have %d bytes; delete some first", allFiles)
	case count > mostFiles:
		return fmt.Errorf("the directory is full: there may be %d files; delete some first", mostFiles)
	}
	return nil
}

func remove(root *os.Root, in fileArguments) (string, error) {
	if in.Path == "." {
		return "", errors.New("is no name for a file")
	}
	switch err := root.Remove(in.Path); {
	case errors.Is(err, fs.ErrNotExist):
		return in.Path + " is not there.", nil
	case err != nil:
		return "", err
	}
	return "Deleted: " + in.Path + ".", nil
}
