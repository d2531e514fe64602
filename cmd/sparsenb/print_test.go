package main

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"strings"
	"testing"
)

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"naïve 朝日 👩‍👩‍👧": "naïve 朝日 👩‍👩‍👧",
		"a\x1b[31m\r\nb": `a\x1b[31m\r\nb`,
		"a\u202eb\u2028": `a\u202eb\u2028`,
		"a\xff\xc3":      `a\xff\xc3`,
		"\u009b":         `\u009b`,
	} {
		got := printable(text)
		if got != want {
			t.Errorf("printable(%q) = %q, want %q", text, got, want)
		}
		if again := printable(got); again != got {
			t.Errorf("printable(%q) = %q: what was escaped is escaped again", got, again)
		}
	}
}

func TestPrintfEscapesItsArguments(t *testing.T) {
	var b strings.Builder
	type label string
	printf(&b, "%s %v %d %.1f\n", label("\x1b"), []string{"\a"}, 3, 1.5)
	if got, want := b.String(), `\x1b [\a] 3 1.5`+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestOnlyPrintfPrints checks that all output is written by printf.
func TestOnlyPrintfPrints(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if name == "print.go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(gotoken.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			selector, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, _ := selector.X.(*ast.Ident)
			if of != nil && of.Name == "fmt" && (strings.HasPrefix(selector.Sel.Name, "Print") || strings.HasPrefix(selector.Sel.Name, "Fprint")) && !toBuilder(call) {
				t.Errorf("%s prints with fmt.%s, not with printf", name, selector.Sel.Name)
			}
			return true
		})
	}
}

// toBuilder reports whether a call writes to the address of a variable, such as a strings.Builder.
func toBuilder(call *ast.CallExpr) bool {
	if len(call.Args) == 0 {
		return false
	}
	address, ok := call.Args[0].(*ast.UnaryExpr)
	return ok && address.Op == gotoken.AND
}
