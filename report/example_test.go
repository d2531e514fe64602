package report_test

import (
	"fmt"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/report"
)

func ExampleSummarize() {
	spam, ham := int64(30), int64(70)
	run := modelio.Published{
		Dir: "out",
		Manifest: modelio.Manifest{
			Classes:  []modelio.Class{{Label: "ham", Documents: &ham, Tokens: 9000}, {Label: "spam", Documents: &spam, Tokens: 4000}},
			Features: 1200,
		},
		Models: []modelio.ModelRow{{
			Problem: "spam vs ham", Positive: "spam", Negative: "ham", Model: "multinomial", Method: "nfs", Strategy: modelio.Binary,
			K: 1, M: 1200, Gain: 12.5, UpperBoundGain: 13, Gap: 0.5, Certificate: "optimal",
		}},
		Features: []modelio.FeatureRow{{
			Problem: "spam vs ham", K: 1, Rank: 1, Feature: "prize", Weight: 2.25, CountPositive: 40, CountNegative: 3, Score: 12.5,
		}},
	}
	s := report.Summarize(run)
	fmt.Println(s.Corpus)
	for _, m := range s.Models {
		fmt.Println(m.Title())
		for _, f := range m.Features {
			fmt.Println(f.Rank, f.Name, f.Weight, f.Class, f.Counts, f.Gain)
		}
		for _, remark := range m.Remarks() {
			fmt.Println(remark)
		}
	}
	// Output:
	// ham (70 documents, 9,000 words), spam (30 documents, 4,000 words); 1,200 distinct words
	// 1 of 1,200 words distinguishes spam from ham
	// 1 prize 2.25 spam [40 3] 12.5
	// log-likelihood gain 12.50, proven optimal: no other word gains more (relaxation bound 13.00)
}
