package kernel

import "github.com/sparsenb/sparsenb/feature"

// Columns is a fixed list of features: the columns of a matrix whose rows are documents. Several goroutines may use it at once.
type Columns struct {
	config Config
	names  []string
}

// NewColumns returns columns in the order of the names, which must be distinct; with Config.HashBits they are those of
// buckets. The values in a column are what the configuration adds up: occurrences, or Config.Weights, which are not rounded.
func NewColumns(config Config, names []string) (*Columns, error) {
	return &Columns{config, names}, nil
}

// Names returns the names of the columns.
func (c *Columns) Names() []string { return c.names }

// Vector is a sparse row: the columns with values other than 0, ascending.
type Vector struct {
	Columns []int32
	Values  []float64
}

// Vectorizer turns documents into rows. It is for one goroutine, and reuses its memory: a row is valid until the next call.
type Vectorizer struct {
	columns *Columns
}

// NewVectorizer returns a vectorizer for these columns.
func (c *Columns) NewVectorizer() *Vectorizer { return &Vectorizer{c} }

// Text returns the row of a text. An error is a *ValueError.
func (v *Vectorizer) Text(text []byte) (Vector, error) { panic("to be written") }

// Features returns the row of a document whose features are known.
func (v *Vectorizer) Features(features []feature.Value) (Vector, error) { panic("to be written") }
