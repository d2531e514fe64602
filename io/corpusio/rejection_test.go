package corpusio

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// Every Reason that the package declares has a sentence, which fits into one line of a message.
func TestEveryReasonHasASentence(t *testing.T) {
	packages, err := parser.ParseDir(token.NewFileSet(), ".", nil, parser.SkipObjectResolution) //lint:ignore SA1019 without build tags
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[Reason]bool{}
	for _, file := range packages["corpusio"].Files {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if name, ok := spec.Type.(*ast.Ident); ok && name.Name == "Reason" {
				for _, value := range spec.Values {
					literal, ok := value.(*ast.BasicLit)
					if !ok {
						t.Fatalf("%v: not a literal", spec.Names)
					}
					reason, err := strconv.Unquote(literal.Value)
					if err != nil {
						t.Fatal(err)
					}
					reasons[Reason(reason)] = true
				}
			}
			return true
		})
	}
	if !reasons[NoTab] || !reasons[TooLong] {
		t.Fatalf("found only %v", reasons)
	}
	for reason := range reasons {
		if s := sentences[reason]; s == "" || strings.ContainsAny(s, "\n") || strings.HasSuffix(s, ".") {
			t.Errorf("%s: %q", reason, s)
		}
	}
	if len(sentences) != len(reasons) {
		t.Errorf("%d sentences for %d reasons", len(sentences), len(reasons))
	}
}
