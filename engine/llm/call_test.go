package llm

import "testing"

func TestArguments(t *testing.T) {
	for in, want := range map[string]string{
		"":            "{}",
		" \n":         "{}",
		"null":        "{}",
		" null ":      "{}",
		`{"a": null}`: `{"a": null}`,
		"[1]":         "[1]",
		"a=1":         `"a=1"`,
		"nul":         `"nul"`,
	} {
		if got := string(Arguments(in)); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}
