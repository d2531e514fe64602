module github.com/sparsenb/sparsenb

go 1.26.0
