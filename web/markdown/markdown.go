// Package markdown turns what a model or a person wrote into HTML that is safe to put into the page.
//
// The dialect is GitHub's: tables, task lists, strikethrough, bare links. Raw HTML is no part of it
// and is shown as the text it is; an image is shown as a link, since loading one would let a model
// that was talked into it tell a stranger's server what it has read. What comes out goes through an
// own policy besides: a fault in one of the two still finds the other closed.
package markdown

import (
	"bufio"
	"bytes"
	"errors"
	"html"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Renderer holds the parser and the policy; safe for concurrent use.
type Renderer struct {
	md     goldmark.Markdown
	policy *bluemonday.Policy
}

// New makes a Renderer.
func New() *Renderer {
	p := parser.NewParser(
		parser.WithBlockParsers(blockParsers()...),
		parser.WithInlineParsers(inlineParsers()...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
	md := goldmark.New(
		goldmark.WithParser(p),
		goldmark.WithExtensions(
			extension.Strikethrough, extension.TaskList, extension.Linkify,
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
		),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(imageAsLink{}, 1))),
	)
	return &Renderer{md: md, policy: policy()}
}

// blockParsers are goldmark's own without the one for raw HTML, so that it stays text.
func blockParsers() []util.PrioritizedValue {
	return []util.PrioritizedValue{
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(parser.NewListParser(), 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(parser.NewBlockquoteParser(), 800),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	}
}

func inlineParsers() []util.PrioritizedValue {
	return []util.PrioritizedValue{
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(parser.NewLinkParser(), 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewEmphasisParser(), 500),
	}
}

// policy allows what the dialect can make and nothing else. Links lead out by http, https or mailto.
func policy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "li", "blockquote", "pre", "code",
		"em", "strong", "del", "table", "thead", "tbody", "tr")
	p.AllowAttrs("start").Matching(regexp.MustCompile(`^[0-9]{1,9}$`)).OnElements("ol")
	p.AllowElements("ol", "th", "td")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|center|right)$`)).OnElements("th", "td")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^language-[A-Za-z0-9_+#.-]{1,40}$`)).OnElements("code")
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^checkbox$`)).OnElements("input")
	p.AllowAttrs("checked", "disabled").Matching(regexp.MustCompile(`^$`)).OnElements("input")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(false)
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
}

// Blocks renders a text block by block: one string for each top-level block.
func (r *Renderer) Blocks(markdown string) []string {
	blocks, _ := r.blocks([]byte(markdown))
	return blocks
}

// HTML renders a whole text.
func (r *Renderer) HTML(markdown string) string {
	source := []byte(markdown)
	return r.render(source, r.md.Parser().Parse(text.NewReader(source)))
}

// blocks also says at which byte the last block's first line begins; -1 if that is not known.
func (r *Renderer) blocks(source []byte) (blocks []string, last int) {
	doc := r.md.Parser().Parse(text.NewReader(source))
	last = -1
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() == ast.KindLinkReferenceDefinition {
			continue
		}
		blocks = append(blocks, r.render(source, n))
		if start := lineStart(source, n); start > last {
			last = start
		} else if len(blocks) > 1 {
			last = -1
		}
	}
	return blocks, last
}

// render gives a node's HTML as far as the policy lets it through.
func (r *Renderer) render(source []byte, n ast.Node) string {
	var buf bytes.Buffer
	w := bufio.NewWriterSize(&buf, 512)
	if err := errors.Join(r.md.Renderer().Render(w, source, n), w.Flush()); err != nil {
		return "<pre>" + html.EscapeString(string(source)) + "</pre>" // shown as it was written
	}
	return strings.TrimSpace(r.policy.SanitizeReader(&buf).String())
}

// lineStart is where the first line of a block begins, or -1.
func lineStart(source []byte, n ast.Node) int {
	pos := n.Pos()
	if n.Kind() == extast.KindTable {
		pos = tableStart(n) // its own is that of the paragraph it was cut from
	}
	if pos < 0 || pos > len(source) {
		return -1
	}
	return bytes.LastIndexByte(source[:pos], '\n') + 1
}

// tableStart is the position of the first cell, or -1.
func tableStart(table ast.Node) int {
	for n := table; n != nil && n.Type() == ast.TypeBlock; n = n.FirstChild() {
		if n != table && n.Lines().Len() > 0 {
			return n.Lines().At(0).Start
		}
	}
	return -1
}

// Plain shows a person's message as it was typed: nothing in it is markup.
func Plain(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), "\r\n", "\n")
	return "<p>" + strings.ReplaceAll(html.EscapeString(s), "\n", "<br>") + "</p>"
}

// imageAsLink shows an image as a link with its description.
type imageAsLink struct{}

func (imageAsLink) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindImage, renderImage)
}

func renderImage(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.Image)
	if !entering {
		_, err := w.WriteString("</a>")
		return ast.WalkContinue, err
	}
	href := util.EscapeHTML(util.URLEscape(n.Destination, true))
	if _, err := w.WriteString(`<a href="` + string(href) + `">`); err != nil {
		return ast.WalkStop, err
	}
	if !n.HasChildren() {
		if _, err := w.Write(util.EscapeHTML(n.Destination)); err != nil {
			return ast.WalkStop, err
		}
	}
	return ast.WalkContinue, nil
}
