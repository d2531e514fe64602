package kernel

import (
	"fmt"
	"reflect"
	"testing"
)

// A document of weight n counts as n equal documents do, for every analyzer.
func TestAddWeighted(t *testing.T) {
	texts := []string{"to be or not to be", "", "be that as it may", "上海 to Be, be"}
	for _, config := range []Config{
		{},
		{StopWords: [][]byte{[]byte("to")}},
		{Analyzer: Analyzer{Min: 1, Max: 2}, StopWords: [][]byte{[]byte("to")}},
		{Analyzer: Analyzer{Unit: CharWB, Min: 2, Max: 3}},
		{HashBits: 3},
		{Analyzer: Analyzer{KeepCase: true}},
	} {
		weighted, repeated := NewCounter(config), NewCounter(config)
		for i, text := range texts {
			label := []byte(fmt.Sprint("class", i%2))
			weighted.AddWeighted(label, []byte(text), int64(i+1))
			for range i + 1 {
				repeated.Add(label, []byte(text))
			}
			if n := weighted.MaxWeight([]byte(text)); n < 1000 {
				t.Errorf("at most %d", n)
			}
		}
		got, want := blocksOf(t, weighted), blocksOf(t, repeated)
		if !reflect.DeepEqual(got, want) || len(want) == 0 {
			t.Errorf("%+v: %v, want %v", config, got, want)
		}
		if got, want := weighted.TakeTotals(), repeated.TakeTotals(); !reflect.DeepEqual(got.Classes, want.Classes) || got.Stopped != want.Stopped {
			t.Errorf("%+v: totals %+v, want %+v", config, got, want)
		}
	}
}

func blocksOf(t *testing.T, c *Counter) (blocks []string) {
	t.Helper()
	err := c.Flush(3, 1<<20, false, func(shard int, b []byte) error {
		blocks = append(blocks, fmt.Sprint(shard, b))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}
