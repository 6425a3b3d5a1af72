package markdown

import "bytes"

// Stream renders a text that grows. Blocks that another block has followed are rendered once and
// kept; only the open tail is rendered again with each call. Not for concurrent use.
//
// What a later line does to an earlier block, which only link definitions can, shows in the settled
// message, which is rendered as a whole.
type Stream struct {
	r      *Renderer
	closed []string // blocks that will not change
	stable string   // the text they were made from
	shown  int      // blocks there were after the last call
}

// Stream starts one.
func (r *Renderer) Stream() *Stream { return &Stream{r: r} }

// Next renders the text so far. From the index from on blocks differ from the last call's; a text
// that does not continue the last one starts anew at 0. The slice is the caller's to keep.
func (s *Stream) Next(text string) (blocks []string, from int) {
	if len(text) < len(s.stable) || text[:len(s.stable)] != s.stable {
		s.closed, s.stable = nil, ""
	}
	from = min(len(s.closed), s.shown)
	tail := []byte(text[len(s.stable):])
	fresh, last := s.r.blocks(tail)
	blocks = make([]string, 0, len(s.closed)+len(fresh))
	blocks = append(append(blocks, s.closed...), fresh...)
	// The last block keeps its beginning only once its first line is whole: "*" may become "**".
	if last > 0 && len(fresh) > 1 && bytes.IndexByte(tail[last:], '\n') >= 0 {
		s.closed = blocks[: len(blocks)-1 : len(blocks)-1]
		s.stable = text[:len(s.stable)+last]
	}
	s.shown = len(blocks)
	return blocks, from
}

// Open is how many bytes the next call renders again at least: what a frame costs grows with it.
func (s *Stream) Open(text string) int { return max(0, len(text)-len(s.stable)) }
