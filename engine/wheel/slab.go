package wheel

const (
	chunkBits = 10
	chunkSize = 1<<chunkBits - 1 // nodes; with the header just below 32 KiB, a size the allocator has
	chunkMask = 1<<chunkBits - 1
	none      = int32(-1)
)

// node is an entry: 32 bytes without a pointer, so the garbage collector never looks inside.
type node struct {
	at, key    int64
	next, prev int32  // neighbours in the slot; next also links what is free
	gen        uint32 // 0 = free
	slot       uint16
}

// chunk is a block of nodes. Chunks with room form a list.
type chunk struct {
	nodes      [chunkSize]node
	free       int32 // first of the given-back nodes
	fresh      int32 // nodes from here on were never used
	live       int32
	next, prev int32
}

// slab gives out nodes by number and takes them back. A number is its chunk's place and the node's
// place in it. A chunk that becomes empty is kept if it is the only one, else given to the garbage
// collector, so memory follows what is held.
type slab struct {
	chunks []*chunk
	holes  []int32 // places in chunks that are empty
	open   int32   // first chunk with room
	empty  int     // chunks without a live node: 0 or 1
	gen    uint32  // of the node given out last; counted over all, so that no place repeats one soon
}

func newSlab() slab { return slab{open: none} }

// at is the node of a number that is in use.
func (s *slab) at(id int32) *node { return &s.chunks[id>>chunkBits].nodes[id&chunkMask] }

// find is the node of a number, if it is still of that generation.
func (s *slab) find(id int32, gen uint32) *node {
	place := int(id >> chunkBits)
	if gen == 0 || id < 0 || place >= len(s.chunks) || s.chunks[place] == nil || id&chunkMask == chunkSize {
		return nil
	}
	if n := s.at(id); n.gen == gen {
		return n
	}
	return nil
}

// take gives out a node.
func (s *slab) take() (int32, *node) {
	if s.open == none {
		s.grow()
	}
	place := s.open
	c := s.chunks[place]
	i := c.free
	if i != none {
		c.free = c.nodes[i].next
	} else {
		i = c.fresh
		c.fresh++
	}
	if c.live == 0 {
		s.empty--
	}
	if c.live++; c.live == chunkSize {
		s.close(place)
	}
	if s.gen++; s.gen == 0 {
		s.gen = 1
	}
	n := &c.nodes[i]
	n.gen = s.gen
	return place<<chunkBits | i, n
}

// give takes a node back.
func (s *slab) give(id int32, n *node) {
	place := id >> chunkBits
	c := s.chunks[place]
	n.gen, n.next = 0, c.free
	c.free = id & chunkMask
	if c.live == chunkSize {
		s.reopen(place)
	}
	if c.live--; c.live > 0 {
		return
	}
	if s.empty == 0 {
		s.empty++
		return
	}
	s.close(place)
	s.chunks[place] = nil
	s.holes = append(s.holes, place)
}

// grow makes a chunk.
func (s *slab) grow() {
	place := int32(len(s.chunks))
	if last := len(s.holes) - 1; last >= 0 {
		place, s.holes = s.holes[last], s.holes[:last]
	} else {
		s.chunks = append(s.chunks, nil)
	}
	s.chunks[place] = &chunk{free: none}
	s.empty++
	s.reopen(place)
}

// reopen puts a chunk to the front of those with room.
func (s *slab) reopen(place int32) {
	c := s.chunks[place]
	c.next, c.prev = s.open, none
	if s.open != none {
		s.chunks[s.open].prev = place
	}
	s.open = place
}

// close takes a chunk out of those with room.
func (s *slab) close(place int32) {
	c := s.chunks[place]
	if c.prev != none {
		s.chunks[c.prev].next = c.next
	} else {
		s.open = c.next
	}
	if c.next != none {
		s.chunks[c.next].prev = c.prev
	}
}
