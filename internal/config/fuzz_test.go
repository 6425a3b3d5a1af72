package config

import "testing"

// FuzzDecode: whatever stands in the file, it is read or refused with problems that have a place,
// and what was found is found in the text.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		"", "timezone = \"Europe/Berlin\"", "[engine]\nworkers = 3\n[[bot]]\nmodels = [\"a/b\"]\n[bot.params]\nx = { y = [1, {z = 2}] }",
		"[retry]\nrearm = [\"1m\", \"2m\"]\ncooldown = { rate_limit = \"30s\" }", "a.b.'c' = '''\nx'''''\n[[l]]\n[l.m]\n[[l.n]]", "[web]\ntoken_file = \"key.txt\"",
		"x = [[[[[[{ a = 1 }]]]]]]", "\"\\u00e9\" = 1", "timezone = \"${KEY}$${\"", "[provider.\"a.b\"]\nbase_url = 1", "bot = [{ models = [1] }]",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, d := decode(text)
		for _, p := range d.Problems() {
			if p.What == "" || p.Line < 0 {
				t.Errorf("%#v", p)
			}
		}
		for _, key := range d.Keys() {
			if !d.Has(key) || Shown(key) == "" {
				t.Errorf("key %q", key)
			}
		}
	})
}
