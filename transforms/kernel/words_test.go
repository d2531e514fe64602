package kernel

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/sparsenb/sparsenb/internal/outside"
)

const script = "../../testdata/analyzer/words.py"

func split(w *Words, text []byte) []string {
	w.Split(text)
	words := []string{}
	for i := 0; i < len(w.edges); i += 2 {
		start, end := int(w.edges[i]), int(w.edges[i+1])
		if end-start > utf8.UTFMax || isWord(w.lower[start], end-start) {
			words = append(words, string(w.Text()[start:end]))
		}
	}
	return words
}

func TestWordsAreThoseOfCountVectorizer(t *testing.T) {
	b, err := os.ReadFile("../../testdata/analyzer/words.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Text  string
		Words []string
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	var w Words
	for _, c := range cases {
		if got := split(&w, []byte(c.Text)); !slices.Equal(got, c.Words) {
			t.Errorf("%q\n got %q\nwant %q", c.Text, got, c.Words)
		}
	}
}

// lowerCase appends the lower case of a text to lower, one character at a time, by the definition.
func lowerCase(lower []rune, text []byte) (_ []rune, replaced int64) {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			replaced++
			n = invalidBytes(text[i:])
			lower = append(lower, utf8.RuneError)
		case r == 'İ':
			lower = append(lower, 'i', '\u0307')
		case r == 'Σ' && isFinal(text[:i], text[i+n:]):
			lower = append(lower, 'ς')
		default:
			lower = append(lower, unicode.ToLower(r))
		}
		i += n
	}
	return lower, replaced
}

// reference finds words by the definition.
func reference(text []byte) (words []string, replaced int64) {
	lower, replaced := lowerCase(nil, text)
	words = []string{}
	for _, word := range strings.FieldsFunc(string(lower), func(r rune) bool { return !isWordRune(r) }) {
		if utf8.RuneCountInString(word) >= 2 {
			words = append(words, word)
		}
	}
	return words, replaced
}

// foldChecker compares texts in lower case, and the marks of their bytes, with the definition. It reuses its memory, as it
// is for millions of texts.
type foldChecker struct {
	words Words
	runes []rune
	lower []byte
	marks []uint64
}

func (c *foldChecker) check(t *testing.T, text []byte) {
	w := &c.words
	w.Replaced = 0
	w.fold(text)
	var replaced int64
	c.runes, replaced = lowerCase(c.runes[:0], text)
	c.lower = c.lower[:0]
	c.marks = append(c.marks[:0], make([]uint64, w.size/64+1)...)
	for _, r := range c.runes {
		at := len(c.lower)
		if c.lower = utf8.AppendRune(c.lower, r); !isWordRune(r) {
			continue
		}
		for ; at < len(c.lower) && at < 64*len(c.marks); at++ {
			c.marks[at/64] |= 1 << (at % 64)
		}
	}
	if !bytes.Equal(w.Text(), c.lower) || w.Replaced != replaced {
		t.Fatalf("%q\n got %q, %d replaced\nwant %q, %d replaced", text, w.Text(), w.Replaced, c.lower, replaced)
	}
	if got := w.isWord[:len(c.marks)]; !slices.Equal(got, c.marks) {
		t.Fatalf("%q\n got marks %x\nwant      %x", text, got, c.marks)
	}
}

// The table that init makes from the ranges of package unicode agrees with the package for every code point.
func TestFoldingsAreThoseOfUnicode(t *testing.T) {
	t.Parallel()
	var c foldChecker
	var text []byte
	for r := rune(utf8.RuneSelf); r <= unicode.MaxRune; r++ {
		want := odd
		if utf8.ValidRune(r) {
			want = foldingOf(r)
			text = utf8.AppendRune(append(text[:0], 'a'), r)
			c.check(t, text)
		}
		if got := blocks[blockOf[r>>6]][r&63]; got != want {
			t.Errorf("%U: folding %x, want %x", r, got, want)
		}
	}
}

// All first and second bytes, with third and fourth ones at the borders of what UTF-8 allows.
func TestSequencesOfBytes(t *testing.T) {
	t.Parallel()
	var c foldChecker
	text := []byte("....B")
	borders := []byte{'A', 0x7f, 0x80, 0xbf, 0xc0}
	for first := 0x80; first < 0x100; first++ {
		for second := range 0x100 {
			for _, third := range borders {
				for _, fourth := range borders {
					text[0], text[1], text[2], text[3] = byte(first), byte(second), third, fourth
					c.check(t, text)
				}
			}
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add([]byte("Upon the WHOLE, it's a well-known, self_evident truth"))
	f.Add([]byte("ΟΔΟΣ ΑΣ'Β İstanbul Ⱥ \xe2\x82 \xf0\x9f\x98 \xff é"))
	f.Add(bytes.Repeat([]byte("aé"), 80))
	f.Fuzz(func(t *testing.T, text []byte) {
		var w Words
		w.Split([]byte("something longer that was there before, ÉTÉ"))
		got := split(&w, text)
		want, replaced := reference(text)
		if !slices.Equal(got, want) || w.Replaced != replaced {
			t.Errorf("%q\n got %q, %d replaced\nwant %q, %d replaced", text, got, w.Replaced, want, replaced)
		}
		new(foldChecker).check(t, text)
	})
}

// Alignment decides which path a character takes, so every short text is tried at every offset.
func TestWordsAtEveryOffset(t *testing.T) {
	var w Words
	var c foldChecker
	for _, text := range []string{"Ab", "é", "ÉÉ x", "a", "Σ", "ab İ", "\xff", "\xe2\x82x", "z_9", "한", "ẞ", "Ა", "😀", "𐐀", "𠀀 x"} {
		for before := range 140 {
			for _, filler := range []string{" ", "q", "é"} {
				b := []byte(strings.Repeat(filler, before) + text + strings.Repeat(filler, before%9))
				c.check(t, b)
				want, _ := reference(b)
				if got := split(&w, b); !slices.Equal(got, want) {
					t.Fatalf("%q\n got %q\nwant %q", b, got, want)
				}
			}
		}
	}
}

// Every code point that Python and Go both know is a word character for both or for neither, has the same lower case,
// and has the same effect on a capital sigma before and after it.
func TestCodePointsAreThoseOfPython(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(outside.Python(t), script, "--codepoints").Output()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	var w Words
	for scanner := bufio.NewScanner(bytes.NewReader(out)); scanner.Scan(); n++ {
		fields := strings.Fields(scanner.Text())
		if len(fields) != 5 {
			t.Fatalf("Python wrote %q", scanner.Text())
		}
		var runes [5]rune
		for _, i := range []int{0, 3, 4} {
			x, err := strconv.ParseInt(fields[i], 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			runes[i] = rune(x)
		}
		r, word, lower, after, before := runes[0], fields[1], fields[2], runes[3], runes[4]
		if !assigned(r) {
			continue
		}
		w.Split([]byte(string(r)))
		if got := hex.EncodeToString(w.Text()); got != lower {
			t.Errorf("%U: lower case %s, Python has %s", r, got, lower)
		}
		if got := isWordRune(r); got != (word == "1") {
			t.Errorf("%U: word character %v, Python has %v", r, got, word)
		}
		w.Split([]byte("Α" + string(r) + "Σ"))
		if got, _ := utf8.DecodeLastRune(w.Text()); got != after {
			t.Errorf("%U: sigma after it becomes %U, Python has %U", r, got, after)
		}
		w.Split([]byte("ΑΣ" + string(r) + "Α"))
		if got := []rune(string(w.Text()))[1]; got != before {
			t.Errorf("%U: sigma before it becomes %U, Python has %U", r, got, before)
		}
	}
	if n < 200_000 {
		t.Errorf("Python listed only %d code points", n)
	}
}

func assigned(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.C)
}

// Random documents of words, marks and broken bytes are split as scikit-learn splits them.
func TestRandomDocumentsAreThoseOfPython(t *testing.T) {
	t.Parallel()
	python := outside.Python(t)
	rng := rand.New(rand.NewPCG(1, 1))
	pieces := []string{"upon", "The", "É", "é", "Σ", "ΟΣ", "İ", "ß", "中文", "한", "½", "²", "_", "'", ".", " ", "  ", "\u0301", "\u200d", "😀",
		"\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\xaf", "x1", "9", "-", "\x00", "\ufeff", "ǅ", "ſ", "K"}
	var documents [][]byte
	var in bytes.Buffer
	for range 3000 {
		var d []byte
		for range 1 + rng.IntN(60) {
			d = append(d, pieces[rng.IntN(len(pieces))]...)
		}
		documents = append(documents, d)
		fmt.Fprintf(&in, "%x\n", d)
	}
	cmd := exec.Command(python, script, "--analyze")
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(out))
	for _, d := range documents {
		var want struct {
			Words    []string
			Replaced int64
		}
		if err := decoder.Decode(&want); err != nil {
			t.Fatal(err)
		}
		var w Words
		if got := split(&w, d); !slices.Equal(got, want.Words) || w.Replaced != want.Replaced {
			t.Fatalf("%q\n got %q, %d replaced\nwant %q, %d replaced", d, got, w.Replaced, want.Words, want.Replaced)
		}
	}
}

// passages are the first two articles of the Universal Declaration of Human Rights, in part.
var passages = map[string]string{
	"english": "All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience " +
		"and should act towards one another in a spirit of brotherhood. Everyone is entitled to all the rights and freedoms " +
		"set forth in this Declaration, without distinction of any kind.",
	"accents": "Upon the WHOLE, it's a well-known naïve café, self-evident truth; isn't it?",
	"french": "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de " +
		"conscience et doivent agir les uns envers les autres dans un esprit de fraternité. Chacun peut se prévaloir de tous " +
		"les droits et de toutes les libertés proclamés dans la présente Déclaration, sans distinction aucune.",
	"vietnamese": "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi. Mọi con người đều được tạo " +
		"hóa ban cho lý trí và lương tâm và cần phải đối xử với nhau trong tình bằng hữu.",
	"turkish": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve birbirlerine " +
		"karşı kardeşlik zihniyeti ile hareket etmelidirler. İnsan Hakları, İstanbul.",
	"russian": "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и " +
		"должны поступать в отношении друг друга в духе братства. Каждый человек должен обладать всеми правами и всеми " +
		"свободами, провозглашенными настоящей Декларацией, без какого бы то ни было различия.",
	"greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με " +
		"λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης.",
	"arabic": "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق. وقد وهبوا عقلاً وضميرًا وعليهم أن يعامل بعضهم بعضًا بروح " +
		"الإخاء. لكل إنسان حق التمتع بكافة الحقوق والحريات الواردة في هذا الإعلان، دون أي تمييز.",
	"hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। उन्हें बुद्धि और " +
		"अन्तरात्मा की देन प्राप्त है और परस्पर उन्हें भाईचारे के भाव से बर्ताव करना चाहिए।",
	"chinese": "人人生而自由, 在尊严和权利上一律平等。 他们赋有理性和良心, 并应以兄弟关系的精神相对待。 " +
		"人人有资格享有本宣言所载的一切权利和自由, 不分种族、肤色、性别、语言、宗教、政治或其他见解、国籍或社会出身、财产、出生或其他身分等任何区别。",
	"korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 서로 " +
		"형제애의 정신으로 행동하여야 한다.",
	"emoji": "great 😀 news 🎉🎉 everyone, see you all tonight 👍🏽 at eight 🍕",
}

func BenchmarkWords(b *testing.B) {
	texts := map[string]string{
		"ascii":    strings.Repeat("Upon the WHOLE, it's a well-known, self-evident truth; isn't it? ", 20),
		"cyrillic": strings.Repeat("Все счастливые семьи похожи друг на друга ", 20),
		"latin1":   strings.Repeat("Upon the WHOLE, it's a well-known na\xefve caf\xe9, self-evident truth; isn't it? ", 20),
		"capitals": strings.Repeat("ΟΛΟΙ ΟΙ ΑΝΘΡΩΠΟΙ ΓΕΝΝΙΟΥΝΤΑΙ ΕΛΕΥΘΕΡΟΙ ΚΑΙ ΙΣΟΙ ΣΤΗΝ ΑΞΙΟΠΡΕΠΕΙΑ ", 20),
	}
	// Words in random order, and enough of them, that the processor cannot learn where they end.
	for name, passage := range passages {
		rng := rand.New(rand.NewPCG(1, 1))
		var text strings.Builder
		for words := strings.Fields(passage); text.Len() < 1<<16; {
			text.WriteString(words[rng.IntN(len(words))])
			text.WriteByte(' ')
		}
		texts[name] = text.String()
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		b.Run(name, func(b *testing.B) {
			var w Words
			text := []byte(texts[name])
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				w.Split(text)
			}
		})
	}
}
