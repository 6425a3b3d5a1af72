//go:build !race

package main

import (
	"bufio"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What the program weighs. A step of a twentieth, up or down, is to be looked at and then noted here.
const (
	binarySize = 21_410_000 // bytes, stripped, linux/amd64
	pageSize   = 224_300    // bytes of web/dist
	startBytes = 3_300_000  // allocated until it is ready, the test's own questions included
	startCount = 36_600     // … in so many pieces
)

// stepped fails on a step of more than a twentieth against a figure noted above.
func stepped(t *testing.T, what string, got, noted float64) {
	t.Helper()
	t.Logf("%s: %.0f, noted %.0f (%+.1f %%)", what, got, noted, 100*(got/noted-1))
	if got > noted*1.05 || got < noted*0.95 {
		t.Errorf("%s is %.0f, and %.0f is noted: look why, and note it in this file if that is right", what, got, noted)
	}
}

func TestFiguresOfSize(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "holdfast")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", bin, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(bin)
	if err != nil {
		t.Fatal(err)
	}
	stepped(t, "the binary", float64(info.Size()), binarySize)
	if info.Size() > 25_000_000 {
		t.Errorf("the binary has %d bytes, want at most 25 MB", info.Size())
	}
	page := int64(0)
	err = filepath.WalkDir("web/dist", func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		page += info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	stepped(t, "the page", float64(page), pageSize)
}

// A start takes at most 100 ms until the daemon is ready, and then it holds at most 30 MB. Other
// programs take time too, so of the times the best of nine counts. What a start allocates does not
// depend on the machine's mood, so a step in it tells of a start that has become slower.
func TestFiguresOfStart(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	p := newProcess(t, "[[bot]]\nmodels = [\"demo/demo\"]\n")
	var took []time.Duration
	var resident, bytes, count []float64
	for range 9 {
		began := time.Now()
		p.start("")
		p.until("ready", 20*time.Second, p.ready)
		took = append(took, time.Since(began))
		resident = append(resident, p.resident())
		m := p.metrics()
		bytes, count = append(bytes, m["go_memstats_alloc_bytes_total"]), append(count, m["go_memstats_mallocs_total"])
		p.kill()
	}
	for _, list := range [][]float64{resident, bytes, count} {
		slices.Sort(list)
	}
	slices.Sort(took)
	t.Logf("ready after %v at best, %v at the median; %.1f MB resident", took[0].Round(time.Millisecond/10), took[4].Round(time.Millisecond/10), resident[4])
	if took[0] > 100*time.Millisecond {
		t.Errorf("ready after %v at best, want at most 100 ms", took[0])
	}
	if resident[4] > 30 {
		t.Errorf("an idle daemon holds %.1f MB, want at most 30", resident[4])
	}
	stepped(t, "bytes allocated by a start", bytes[4], startBytes)
	stepped(t, "allocations of a start", count[4], startCount)
}

// metrics are what /metrics says, names without labels alone.
func (p *process) metrics() map[string]float64 {
	p.t.Helper()
	req, _ := http.NewRequest(http.MethodGet, p.url+"/metrics", nil)
	req.Header.Set("Authorization", "Bearer test-token-0123456789")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	m := map[string]float64{}
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			m[name] = v
		}
	}
	return m
}

// status is a line of /proc/PID/status or of one of its threads, as a number.
func status(t *testing.T, path, key string) float64 {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		return 0 // a thread that has ended
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, key+":"); ok {
			v, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("%s has no %s", path, key)
	return 0
}

// resident is the memory that the daemon holds, in MB.
func (p *process) resident() float64 {
	return status(p.t, fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid), "VmRSS") * 1024 / 1e6
}
