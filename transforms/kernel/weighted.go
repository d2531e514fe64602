package kernel

// AddWeighted counts a document as often as n equal ones: what n calls of Add count. n is at least 1 and at most MaxWeight of
// the text. It is for counters of occurrences.
func (c *Counter) AddWeighted(label, text []byte, n int64) {
	if n == 1 {
		c.Add(label, text)
		return
	}
	cl := c.startDocument(label)
	if cl == nil {
		return
	}
	cl.Documents += n - 1
	c.prepare.fold(&c.words, text)
	c.visit = func(name []byte) { c.addFeature(cl, name, uint32(n), uint32(n)) }
	stopped, overlong := c.stopped, c.overlong
	c.countGrams(cl)
	c.stopped += (n - 1) * (c.stopped - stopped)
	c.overlong += (n - 1) * (c.overlong - overlong)
	c.visit = c.config.visit
	c.endDocument(cl)
}

// MaxWeight returns the largest n of AddWeighted: the tables have room for 2³⁰ occurrences between two calls of Full.
func (c *Counter) MaxWeight(text []byte) int64 {
	return max(1, 1<<30/int64(1+c.config.Analyzer.NameBytes(len(text))))
}
