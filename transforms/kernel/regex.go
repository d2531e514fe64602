package kernel

import (
	"errors"
	"fmt"
	"math"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// Pattern finds the tokens of a text by a regular expression, as the token_pattern of CountVectorizer. It reuses its memory
// for the next text, and is for one goroutine.
//
// The syntax is that of Go's package regexp (RE2), so the time is linear in the text and there are no backreferences or
// lookaround. Unlike there, \w, \d, \s, \b and their opposites mean what they mean in Python's re: they know all of Unicode,
// not only ASCII. That is why the pattern is run here: package regexp compiles it, but its \b is fixed.
type Pattern struct {
	insts  []inst
	start  int32
	group  bool      // the token is the text of the group, not that of the match
	looks  bool      // there are conditions on the text around a position
	first  [128]bool // ASCII characters that may start a match
	before bool      // a word character is before pos

	// The state of a search. Threads are in the order of preference.
	pos           int
	flags         syntax.EmptyOp
	rune          rune // at pos; -1 at the end
	current, next []thread
	seen          []uint64 // by instruction: the last generation in which a thread was there
	generation    uint64
	best          thread
	end           int // of the best match
}

// inst is an instruction with the ASCII characters that it matches.
type inst struct {
	*syntax.Inst
	ascii [2]uint64
}

// thread is a position in the program, with the places in the text where the match and the group started and the group ended.
type thread struct{ pc, start, from, to int32 }

// maxInstructions bounds the time that a byte of text takes.
const maxInstructions = 10_000

// CompilePattern returns a pattern. It is invalid if it can match the empty string, or has more than one group: if there is
// one, its text is the token. A leading (?u), which Python ignores, is ignored.
func CompilePattern(pattern string) (*Pattern, error) {
	if pattern == "" {
		return nil, errors.New("the pattern is missing; write regex:PATTERN, such as regex:[a-z]+")
	}
	translated, err := translate(pattern)
	if err != nil {
		return nil, err
	}
	re, err := syntax.Parse(translated, syntax.Perl)
	if err != nil {
		return nil, explain(err)
	}
	if re.MaxCap() > 1 {
		return nil, fmt.Errorf("the pattern has %d capturing groups, but at most one is allowed: its text is the token; write (?:…) for the others", re.MaxCap())
	}
	if leastLength(re) == 0 {
		return nil, errors.New("the pattern can match the empty string, which is not a token; write + instead of *, for example")
	}
	program, err := syntax.Compile(re.Simplify())
	if err != nil {
		return nil, explain(err)
	}
	if len(program.Inst) > maxInstructions {
		return nil, fmt.Errorf("the pattern is too large: it has %d instructions, at most %d are allowed; reduce its {n,m}", len(program.Inst), maxInstructions)
	}
	p := &Pattern{start: int32(program.Start), group: re.MaxCap() == 1, seen: make([]uint64, len(program.Inst))}
	for i := range program.Inst {
		in := inst{Inst: &program.Inst[i]}
		if in.consumes() {
			for c := range rune(utf8.RuneSelf) {
				if in.MatchRune(c) {
					in.ascii[c>>6] |= 1 << (c & 63)
				}
			}
		}
		p.looks = p.looks || in.Op == syntax.InstEmptyWidth
		p.insts = append(p.insts, in)
	}
	p.flags = math.MaxUint8
	for c := range rune(utf8.RuneSelf) {
		p.rune = c
		p.generation++
		p.follow(thread{pc: p.start})
		p.first[c] = len(p.next) > 0
		p.next = p.next[:0]
	}
	return p, nil
}

func (i inst) consumes() bool {
	switch i.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	}
	return false
}

func (i inst) matches(r rune) bool {
	switch {
	case r < 0:
		return false
	case r < utf8.RuneSelf:
		return i.ascii[r>>6]>>(r&63)&1 != 0
	case i.Op == syntax.InstRune, i.Op == syntax.InstRune1:
		return i.MatchRune(r)
	}
	return true
}

func explain(err error) error {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return err
	}
	expr := e.Expr
	if len(expr) > 40 {
		expr = expr[:40] + "…"
	}
	text := fmt.Sprintf("%s: %s", e.Code, expr)
	for _, prefix := range []string{"(?=", "(?!", "(?<", `\1`, "(?P="} {
		if strings.HasPrefix(e.Expr, prefix) {
			text += "; lookaround and backreferences are not supported (the syntax is RE2)"
			break
		}
	}
	return errors.New(strings.ToValidUTF8(text, "\ufffd"))
}

// leastLength returns the number of characters of the shortest match, at most 1.
func leastLength(re *syntax.Regexp) int {
	least := func(i int) int { return leastLength(re.Sub[i]) }
	switch re.Op {
	case syntax.OpLiteral, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpNoMatch:
		return 1
	case syntax.OpCapture, syntax.OpPlus:
		return least(0)
	case syntax.OpRepeat:
		return min(re.Min, least(0))
	case syntax.OpConcat:
		longest := 0
		for i := range re.Sub {
			longest = max(longest, least(i))
		}
		return longest
	case syntax.OpAlternate:
		shortest := 1
		for i := range re.Sub {
			shortest = min(shortest, least(i))
		}
		return shortest
	}
	return 0
}

// find returns the first match that starts at or after a position, and where it ends. The token is empty if the group
// is, or is not part of the match.
func (p *Pattern) find(text []byte, at int) (token [2]int, end int, found bool) {
	p.before = false
	if at > 0 {
		r, _ := utf8.DecodeLastRune(text[:at])
		p.before = isWordCharacter(r)
	}
	p.current = p.current[:0]
	p.pos = at
	for {
		if !found && len(p.current) == 0 {
			p.skip(text)
		}
		size := 0
		if p.rune = -1; p.pos < len(text) {
			if p.rune, size = rune(text[p.pos]), 1; p.rune >= utf8.RuneSelf {
				p.rune, size = utf8.DecodeRune(text[p.pos:])
			}
		}
		isWord := false
		if p.looks {
			isWord = p.rune >= 0 && isWordCharacter(p.rune)
			p.look(text, isWord)
		}
		p.generation++
		p.next = p.next[:0]
		matched := false
		for _, t := range p.current {
			if matched = p.follow(t); matched {
				break // the others are not preferred
			}
		}
		if found = found || matched; !found && (p.rune >= utf8.RuneSelf || p.rune >= 0 && p.first[p.rune]) {
			p.follow(thread{p.start, int32(p.pos), -1, -1})
		}
		if size == 0 || found && len(p.next) == 0 {
			break
		}
		p.current, p.next = p.next, p.current
		p.before = isWord
		p.pos += size
	}
	if token = [2]int{int(p.best.start), p.end}; p.group {
		token = [2]int{int(p.best.from), int(p.best.to)}
	}
	return token, p.end, found
}

// skip moves to the next character that may start a match.
func (p *Pattern) skip(text []byte) {
	from := p.pos
	for p.pos < len(text) && text[p.pos] < utf8.RuneSelf && !p.first[text[p.pos]] {
		p.pos++
	}
	if p.pos > from {
		p.before = isWordCharacter(rune(text[p.pos-1]))
	}
}

// look sets the conditions that hold at p.pos.
func (p *Pattern) look(text []byte, isWord bool) {
	p.flags = syntax.EmptyNoWordBoundary
	if isWord != p.before {
		p.flags = syntax.EmptyWordBoundary
	}
	if p.pos == 0 {
		p.flags |= syntax.EmptyBeginText | syntax.EmptyBeginLine
	} else if text[p.pos-1] == '\n' {
		p.flags |= syntax.EmptyBeginLine
	}
	if p.pos == len(text) {
		p.flags |= syntax.EmptyEndText | syntax.EmptyEndLine
	} else if text[p.pos] == '\n' {
		p.flags |= syntax.EmptyEndLine
	}
}

// follow runs a thread until it has read the character at p.pos, and reports whether it has found a match.
func (p *Pattern) follow(t thread) bool {
	for p.seen[t.pc] != p.generation {
		p.seen[t.pc] = p.generation
		i := &p.insts[t.pc]
		next := t
		next.pc = int32(i.Out)
		switch i.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			if p.follow(next) {
				return true
			}
			next.pc = int32(i.Arg)
		case syntax.InstCapture:
			if i.Arg%2 == 0 {
				next.from = int32(p.pos)
			} else {
				next.to = int32(p.pos)
			}
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(i.Arg)&^p.flags != 0 {
				return false
			}
		case syntax.InstNop:
		case syntax.InstMatch:
			p.best, p.end = t, p.pos
			return true
		case syntax.InstFail:
			return false
		default:
			if i.matches(p.rune) {
				p.next = append(p.next, next)
			}
			return false
		}
		t = next
	}
	return false
}

func isWordCharacter(r rune) bool {
	if r < utf8.RuneSelf {
		_, word := foldByte(byte(r))
		return word == 1
	}
	return isLetterOrNumber(r)
}
