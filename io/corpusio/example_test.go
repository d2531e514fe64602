package corpusio_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sparsenb/sparsenb/io/corpusio"
)

// Ranges of any size give every document once. Malformed lines are reported, and do not end the reading.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	content := "spam\tbuy now\nham\tsee you at noon\nno label here\nspam\tlast chance\n"
	if err := os.WriteFile(filepath.Join(dir, "mail.tsv"), []byte(content), 0o666); err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	files, err := corpusio.List(ctx, []string{filepath.Join(dir, "*.tsv")}, corpusio.Reading{})
	if err != nil {
		log.Fatal(err)
	}
	options := corpusio.Options{
		Reading: corpusio.Reading{MaxRecordBytes: 1 << 20},
		Reject:  func(r corpusio.Rejection) { fmt.Printf("byte %d: %s\n", r.Offset, r.Reason.Sentence()) },
	}
	for _, file := range files {
		ranges, err := corpusio.Split(ctx, file, 20, options.Reading)
		if err != nil {
			log.Fatal(err)
		}
		for _, r := range ranges {
			reader, err := corpusio.Open(ctx, r, options)
			if err != nil {
				log.Fatal(err)
			}
			var d corpusio.Document
			for reader.Next(&d) {
				fmt.Printf("%s: %s\n", d.Label, d.Text)
			}
			if err := reader.Close(); err != nil {
				log.Fatal(err)
			}
		}
	}
	// Output:
	// spam: buy now
	// ham: see you at noon
	// byte 33: the line has no tab between label and text
	// spam: last chance
}
