package rest

import (
	"strconv"
	"testing"
)

// What is remembered of messages has an end, and a full memory still takes changes of what it holds.
func TestKeep(t *testing.T) {
	known := map[string]int{}
	for i := range triesKept {
		keep(known, strconv.Itoa(i), i)
	}
	if keep(known, "0", 7); len(known) != triesKept || known["0"] != 7 {
		t.Errorf("%d, %d", len(known), known["0"])
	}
	if keep(known, "one more", 1); len(known) != 1 || known["one more"] != 1 {
		t.Errorf("%d are kept", len(known))
	}
}
