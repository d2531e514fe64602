package model_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/sparsenb/sparsenb/model"
)

// A service opens a model once, and predicts in any number of goroutines.
func ExampleModel_Predict() {
	dir := trainFederalist("9") // sparsenb train --input=testdata/federalist/train.tsv --k=9 --output=DIR
	defer os.RemoveAll(dir)

	m, err := model.Open(context.Background(), dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{
		"The states depend upon the people.",
		"Whilst the people are on the side of liberty, the states depend on them.",
	} {
		p, err := m.Predict(text)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %.3f\n", p.Label, p.Probability)
	}
	// Output:
	// Hamilton 0.982
	// Madison 0.618
}

// A run with several ks has several decisions.
func ExampleModel_At() {
	dir := trainFederalist("9", "100") // sparsenb train --input=testdata/federalist/train.tsv --k=9,100 --output=DIR
	defer os.RemoveAll(dir)

	m, err := model.Open(context.Background(), dir)
	if err != nil {
		log.Fatal(err)
	}
	_, err = m.Predict("upon")
	fmt.Println(err)
	_, err = m.At(10, 1)
	fmt.Println(err)
	if m, err = m.At(9, 1); err != nil {
		log.Fatal(err)
	}
	p, err := m.Predict("upon")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Label)
	// Output:
	// the model has 2 decisions, Madison vs Hamilton, smoothing 1, k = 9; Madison vs Hamilton, smoothing 1, k = 100; choose one with At
	// the model has no k = 10 with smoothing 1; the nearest is k = 9 with smoothing 1
	// Hamilton
}

func trainFederalist(ks ...string) string {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		log.Fatal(err)
	}
	if err := of(federalist, ks...).train(dir); err != nil {
		log.Fatal(err)
	}
	return dir
}
