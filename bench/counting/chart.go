package main

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/sparsenb/sparsenb/bench/internal/process"
)

//go:embed chart.svg
var chartFile string

var chartTemplate = template.Must(template.New("chart").Parse(chartFile))

// The chart's measures, in pixels.
const (
	labelWidth = 240
	panelWidth = 220
	barWidth   = 140 // of the longest; its value is at the right of it
	barHeight  = 24
	top        = 64
)

type panel struct {
	Title string
	X     int
	Bars  []bar
}

type bar struct {
	Name, Value string
	Y           int
	Width       float64
	Ours        bool
}

// chart draws the medians of the commands with the same text as horizontal bars.
func (r report) chart(w io.Writer) error {
	panels := []panel{
		r.panel("CPU, seconds", process.CPU, digits),
		r.panel("wall time, seconds", process.Wall, digits),
		r.panel("peak memory, MB", process.Memory, func(x float64) string { return fmt.Sprintf("%.0f", x) }),
	}
	for i := range panels {
		panels[i].X = labelWidth + i*panelWidth
	}
	return chartTemplate.Execute(w, map[string]any{
		"Title":  r.title,
		"Width":  labelWidth + len(panels)*panelWidth,
		"Height": top + len(panels[0].Bars)*barHeight + barHeight/2,
		"Names":  panels[0].Bars,
		"Panels": panels,
	})
}

func (r report) panel(title string, of func(process.Sample) float64, write func(float64) string) panel {
	p := panel{Title: title}
	longest := 0.0
	for _, row := range r.rows {
		if row.failure == "" && !row.larger {
			longest = max(longest, row.median(of))
		}
	}
	for _, row := range r.rows {
		if row.failure == "" && !row.larger {
			p.Bars = append(p.Bars, bar{
				Name:  strings.ReplaceAll(row.name, "`", ""),
				Value: write(row.median(of)),
				Y:     top + len(p.Bars)*barHeight,
				Width: max(1, barWidth*row.median(of)/longest),
				Ours:  row.name == ours,
			})
		}
	}
	return p
}
