package markdown

import (
	"slices"
	"strings"
	"testing"
)

// S4: model text cannot inject HTML or load anything.
func TestModelTextCannotInjectS4(t *testing.T) {
	r := New()
	for _, c := range []struct{ name, in, want string }{
		{"script", `<script>alert(1)</script>`, `<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>`},
		{"inline html", `a <b onclick="x()">b</b>`, `<p>a &lt;b onclick=&#34;x()&#34;&gt;b&lt;/b&gt;</p>`},
		{"html block", "<div>\n**x**\n</div>", "<p>&lt;div&gt;\n<strong>x</strong>\n&lt;/div&gt;</p>"},
		{"comment", `a <!-- b --> c`, `<p>a &lt;!-- b --&gt; c</p>`},
		{"img tag", `<img src=x onerror=alert(1)>`, `<p>&lt;img src=x onerror=alert(1)&gt;</p>`},
		{"image", `![a chart](https://evil.example/p.png?q=1)`, `<p><a href="https://evil.example/p.png?q=1" rel="nofollow noopener" target="_blank">a chart</a></p>`},
		{"image without words", `![](https://evil.example/p.png)`, `<p><a href="https://evil.example/p.png" rel="nofollow noopener" target="_blank">https://evil.example/p.png</a></p>`},
		{"image data", `![x](data:image/png;base64,AAAA)`, `<p>x</p>`},
		{"link", `[a](https://a.example "t")`, `<p><a href="https://a.example" rel="nofollow noopener" target="_blank">a</a></p>`},
		{"javascript link", `[a](javascript:alert(1))`, `<p>a</p>`},
		{"javascript in capitals", `[a](JaVaScRiPt:alert(1))`, `<p>a</p>`},
		{"javascript with a tab", "[a](java&#x09;script:alert(1))", `<p>a</p>`},
		{"vbscript", `[a](vbscript:x)`, `<p>a</p>`},
		{"data link", `[a](data:text/html;base64,PHNjcmlwdD4=)`, `<p>a</p>`},
		{"file link", `[a](file:///etc/passwd)`, `<p>a</p>`},
		{"relative link", `[a](/logout)`, `<p>a</p>`},
		{"protocol-relative link", `[a](//evil.example/x)`, `<p>a</p>`},
		{"autolink javascript", `<javascript:alert(1)>`, `<p>javascript:alert(1)</p>`},
		{"autolink", `<https://a.example>`, `<p><a href="https://a.example" rel="nofollow noopener" target="_blank">https://a.example</a></p>`},
		{"bare link", `see https://a.example/b.`, `<p>see <a href="https://a.example/b" rel="nofollow noopener" target="_blank">https://a.example/b</a>.</p>`},
		{"quote in a link", `[a](https://a.example/"onmouseover="x)`, `<p><a href="https://a.example/%22onmouseover=%22x" rel="nofollow noopener" target="_blank">a</a></p>`},
		{"reference link", "[a][1]\n\n[1]: javascript:alert(1)", `<p>a</p>`},
		{"code", "```go\nx := \"<b>\"\n```", "<pre><code class=\"language-go\">x := &#34;&lt;b&gt;&#34;\n</code></pre>"},
		{"code language that injects", "```go\"><script>\nx\n```", "<pre><code>x\n</code></pre>"},
		{"inline code", "`<b>`", "<p><code>&lt;b&gt;</code></p>"},
		{"heading has no id", `# a`, `<h1>a</h1>`},
		{"attributes are text", `# a {onclick=x}`, `<h1>a {onclick=x}</h1>`},
		{"zero byte", "a\x00b", "<p>a\ufffdb</p>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := r.HTML(c.in); got != c.want {
				t.Errorf("HTML(%q)\n got %s\nwant %s", c.in, got, c.want)
			}
		})
	}
}

func TestGitHubDialect(t *testing.T) {
	r := New()
	for _, c := range []struct{ name, in, want string }{
		{"table", "| a | b |\n|:-:|--:|\n| 1 | 2 |", "<table>\n<thead>\n<tr>\n<th align=\"center\">a</th>\n<th align=\"right\">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td align=\"center\">1</td>\n<td align=\"right\">2</td>\n</tr>\n</tbody>\n</table>"},
		{"tasks", "- [x] a\n- [ ] b", "<ul>\n<li><input checked=\"\" disabled=\"\" type=\"checkbox\"> a</li>\n<li><input disabled=\"\" type=\"checkbox\"> b</li>\n</ul>"},
		{"strikethrough", "~~a~~", "<p><del>a</del></p>"},
		{"list start", "3. a", "<ol start=\"3\">\n<li>a</li>\n</ol>"},
		{"mail", "a@b.example", `<p><a href="mailto:a@b.example" rel="nofollow">a@b.example</a></p>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := r.HTML(c.in); got != c.want {
				t.Errorf("HTML(%q)\n got %s\nwant %s", c.in, got, c.want)
			}
		})
	}
}

func TestPlainIsAsTyped(t *testing.T) {
	got := Plain("  **a** <b>\r\nc & \"d\"\n")
	if want := "<p>**a** &lt;b&gt;<br>c &amp; &#34;d&#34;</p>"; got != want {
		t.Errorf("Plain = %s, want %s", got, want)
	}
}

const sample = "# Title\n\nFirst *para*\nwith a second line.\n\n- a\n\n  more of a\n- b\n  - c\n\n* other\n**bold** goes on\n\n" +
	"```go\nfunc main() {\n\n\tx := `|`\n}\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quote\n> more\n\nSetext\n===\n\n    indented\n\n    code\n\n---\n\n3. three\n4. four\n\nText\n| h |\n|---|\n| c |\n\nEnd <b>here</b> www.a.example\n"

// Every prefix, as a stream would bring it: what has been sent piecewise is what the whole text gives.
func TestStreamEqualsWhole(t *testing.T) {
	r := New()
	for _, step := range []int{1, 3, 17} {
		s := r.Stream()
		var page []string
		for n := step; n < len(sample)+step; n += step {
			prefix := sample[:min(n, len(sample))]
			blocks, from := s.Next(prefix)
			page = append(page[:from:from], blocks[from:]...)
			if !slices.Equal(page, blocks) {
				t.Fatalf("step %d at %d: what the page has differs from what the stream has", step, n)
			}
			if whole := r.Blocks(prefix); !slices.Equal(page, whole) {
				t.Fatalf("step %d, prefix %q:\n got %q\nwant %q", step, prefix, page, whole)
			}
		}
		if open := s.Open(sample); open > len(sample)/4 {
			t.Errorf("step %d: %d of %d bytes are rendered again at the end", step, open, len(sample))
		}
	}
}

// T3: when a broken stream is begun anew, what was shown is replaced.
func TestStreamBegunAnewT3(t *testing.T) {
	s := New().Stream()
	s.Next("one\n\ntwo\n\nthree\n")
	s.Next("one\n\ntwo\n\nthree\n\nfour")
	blocks, from := s.Next("other")
	if from != 0 || !slices.Equal(blocks, []string{"<p>other</p>"}) {
		t.Errorf("Next = %q from %d, want the new text from 0", blocks, from)
	}
	blocks, from = s.Next("")
	if from != 0 || len(blocks) != 0 {
		t.Errorf("Next(\"\") = %q from %d, want nothing from 0", blocks, from)
	}
}

func FuzzStream(f *testing.F) {
	f.Add(sample, 40)
	f.Add("- a\n*b", 1)
	r := New()
	f.Fuzz(func(t *testing.T, text string, step int) {
		if step < 1+len(text)/32 || len(text) > 1000 {
			t.Skip()
		}
		s := r.Stream()
		var page []string
		for n := 0; n < len(text); {
			n = min(n+step, len(text))
			blocks, from := s.Next(text[:n])
			if from > len(page) || from > len(blocks) {
				t.Fatalf("from %d, page has %d, blocks are %d", from, len(page), len(blocks))
			}
			page = append(page[:from:from], blocks[from:]...)
			if !slices.Equal(page, blocks) {
				t.Fatalf("page %q differs from blocks %q", page, blocks)
			}
		}
		for _, b := range page {
			low := strings.ToLower(b)
			if strings.Contains(low, "<script") || strings.Contains(low, "<img") || strings.Contains(low, "<iframe") || strings.Contains(low, `href="javascript`) {
				t.Fatalf("unsafe: %s", b)
			}
		}
	})
}

// The settled answer of 20 KB, once; and the same as a stream of 200 frames.
func BenchmarkWhole(b *testing.B) {
	r, text := New(), strings.Repeat(sample, 40)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.HTML(text)
	}
}

func BenchmarkStream(b *testing.B) {
	r, text := New(), strings.Repeat(sample, 40)
	for b.Loop() {
		s := r.Stream()
		for n := 0; n <= len(text); n += 100 {
			s.Next(text[:n])
		}
	}
}
